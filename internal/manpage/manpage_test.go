package manpage

import (
	"strings"
	"testing"
)

func TestRoff(t *testing.T) {
	got := Page{
		Name:    "prog-sub",
		Summary: "do it",
		Date:    "2026-12-01",
		Source:  "prog 1.0",
		Usage:   "prog sub [flags] --to=NAME FILE",
		Description: `sub does it:

  prog sub -x   # as it stands

.and a line that begins with a dot, and C:\new 'quoted'
`,
		Options:   []Option{{"-n, --lines MANY", `how "MANY"`}},
		ExitCodes: []Code{{"0", "done"}},
		SeeAlso:   []string{"prog", "prog-other"},
	}.Roff()
	want := `.TH "PROG\-SUB" 1 "2026-12-01" "prog 1.0" "User Commands"
.SH "NAME"
prog\-sub \- do it
.SH "SYNOPSIS"
\fBprog\fR \fBsub\fR \fB[flags]\fR \fB\-\-to=NAME\fR \fIFILE\fR
.SH "DESCRIPTION"
sub does it:
.PP
.RS 4
.EX
prog sub \-x   # as it stands
.EE
.RE
.PP
\&.and a line that begins with a dot, and C:\enew \(aqquoted\(aq
.SH "OPTIONS"
.TP
.B "\-n, \-\-lines MANY"
how "MANY"
.SH "EXIT STATUS"
.TP
.B "0"
done
.SH "SEE ALSO"
.BR "prog" "(1),"
.BR "prog\-other" "(1)"
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// FuzzRoff: no text becomes a request, and none is lost.
func FuzzRoff(f *testing.F) {
	f.Add("plain")
	f.Add(".so /etc/passwd")
	f.Add("'br")
	f.Add("a\n.b\n  .c\n\n'd")
	f.Add(`\n(.x "quoted" \`)
	f.Fuzz(func(t *testing.T, text string) {
		page := Page{Name: "p", Summary: "s", Usage: "p", Description: text, Examples: text, Options: []Option{{Flag: text, Text: text}}}
		known := []string{".TH ", ".SH ", ".PP", ".RS 4", ".RE", ".EX", ".EE", ".TP", ".B "}
	lines:
		for line := range strings.Lines(page.Roff()) {
			if !strings.HasPrefix(line, ".") && !strings.HasPrefix(line, "'") {
				continue
			}
			for _, request := range known {
				if strings.HasPrefix(line, request) {
					continue lines
				}
			}
			t.Errorf("%q becomes the request %q", text, line)
		}
	})
}
