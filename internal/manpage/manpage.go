// Package manpage writes a command's help as a manual page, in the macros that every man understands.
package manpage

import (
	"fmt"
	"strings"
)

// Page is one command's page in section 1.
type Page struct {
	Name    string // bouncer-audit-tail
	Summary string
	Date    string // 2026-12-01; the same source must give the same page, so it is not today
	Source  string // bouncer 1.4.0

	Usage       string // the whole command line
	Description string // paragraphs; lines that begin with blanks are shown as they are
	Options     []Option
	Inherited   []Option
	Examples    string
	Commands    []Ref
	ExitCodes   []Code
	SeeAlso     []string // names of pages
}

// Option is a flag: "--client ID", or "-n, --lines MANY".
type Option struct{ Flag, Text string }

// Ref names another page and says what it is about.
type Ref struct{ Name, Text string }

// Code is an exit code and its meaning.
type Code struct{ Number, Meaning string }

// Roff renders the page. Nothing in it is taken for a macro, whatever the texts hold.
func (p Page) Roff() string {
	r := new(roff)
	date := strings.ReplaceAll(escape(p.Date), `\-`, "-") // man parses it
	fmt.Fprintf(r, ".TH \"%s\" 1 \"%s\" \"%s\" \"User Commands\"\n", quoted(strings.ToUpper(p.Name)), date, quoted(p.Source))
	r.macro("SH", "NAME")
	r.text(p.Name + " - " + p.Summary)
	r.macro("SH", "SYNOPSIS")
	r.synopsis(p.Usage)
	r.macro("SH", "DESCRIPTION")
	r.prose(p.Description)
	r.options("OPTIONS", p.Options)
	r.options("GLOBAL OPTIONS", p.Inherited)
	if len(p.Commands) > 0 {
		r.macro("SH", "COMMANDS")
		for _, c := range p.Commands {
			r.macro("TP")
			r.macro("BR", c.Name, "(1)")
			r.text(c.Text)
		}
	}
	if p.Examples != "" {
		r.macro("SH", "EXAMPLES")
		r.prose(p.Examples)
	}
	if len(p.ExitCodes) > 0 {
		r.macro("SH", "EXIT STATUS")
		for _, c := range p.ExitCodes {
			r.macro("TP")
			r.macro("B", c.Number)
			r.text(c.Meaning)
		}
	}
	if len(p.SeeAlso) > 0 {
		r.macro("SH", "SEE ALSO")
		for i, name := range p.SeeAlso {
			comma := ""
			if i < len(p.SeeAlso)-1 {
				comma = ","
			}
			r.macro("BR", name, "(1)"+comma)
		}
	}
	return r.String()
}

type roff struct{ strings.Builder }

// macro writes one request with its arguments.
func (r *roff) macro(name string, args ...string) {
	r.WriteString("." + name)
	for _, arg := range args {
		fmt.Fprintf(r, ` "%s"`, quoted(arg))
	}
	r.WriteByte('\n')
}

// text writes a line that begins no request.
func (r *roff) text(line string) {
	line = escape(line)
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	r.WriteString(line + "\n")
}

// synopsis shows a command line: lower case is typed as it stands, upper case stands for something else.
func (r *roff) synopsis(usage string) {
	words := strings.Fields(usage)
	for i, word := range words {
		if word == strings.ToUpper(word) && strings.ContainsAny(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			words[i] = `\fI` + escape(word) + `\fR`
		} else {
			words[i] = `\fB` + escape(word) + `\fR`
		}
	}
	r.WriteString(strings.Join(words, " ") + "\n")
}

// prose fills paragraphs below a heading, and leaves lines that begin with blanks as they are.
func (r *roff) prose(text string) {
	asIs, apart := false, false
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		line = strings.TrimRight(line, " \n")
		if line == "" {
			apart = true
			continue
		}
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		if asIs && !indented {
			r.WriteString(".EE\n.RE\n")
		}
		if apart {
			r.macro("PP")
		}
		if indented && !asIs {
			r.WriteString(".RS 4\n.EX\n")
		}
		asIs, apart = indented, false
		r.text(strings.TrimPrefix(strings.TrimPrefix(line, "\t"), "  "))
	}
	if asIs {
		r.WriteString(".EE\n.RE\n")
	}
}

func (r *roff) options(heading string, options []Option) {
	if len(options) == 0 {
		return
	}
	r.macro("SH", heading)
	for _, o := range options {
		r.macro("TP")
		r.macro("B", o.Flag)
		r.text(o.Text)
	}
}

// quoted is for use between quotes.
func quoted(s string) string { return strings.ReplaceAll(escape(s), `"`, `\(dq`) }

// escape makes roff print every character as it is: a backslash begins an escape, and a plain hyphen, caret, quote or
// grave may be printed as another character, which nobody could copy.
func escape(s string) string {
	return strings.NewReplacer(
		`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "`", `\(ga`, `^`, `\(ha`, `~`, `\(ti`, "\n", " ",
	).Replace(s)
}
