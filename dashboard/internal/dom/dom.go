// Package dom writes HTML in which every tag and every attribute is the program's own. It has no way to turn a string that comes
// from outside into either: names and markup are constants, and whatever else is shown is text.
package dom

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/taint"
)

// own is a text of the program. Other packages can't name this type, so all that they can pass for one is a constant: a string
// that is made at run time doesn't compile.
type own string

// Part is a piece of a page: an element, an attribute, some text, or several of them. An attribute belongs to the element that it
// is given to, at whatever place among its parts. A nil part is nothing.
type Part interface {
	tag(b *bytes.Buffer)     // writes what belongs into the tag around it
	content(b *bytes.Buffer) // writes what belongs behind that tag
}

// Document is the text of a page.
func Document(parts ...Part) []byte {
	var b bytes.Buffer
	b.WriteString("<!doctype html>\n")
	El("html", Attr("lang", "en"), All(parts)).content(&b)
	b.WriteByte('\n')
	return b.Bytes()
}

// All is several parts in a row.
type All []Part

func (a All) tag(b *bytes.Buffer) {
	for _, p := range a {
		if p != nil {
			p.tag(b)
		}
	}
}

func (a All) content(b *bytes.Buffer) {
	for _, p := range a {
		if p != nil {
			p.content(b)
		}
	}
}

// If is parts that are there on a condition.
func If(is bool, parts ...Part) Part {
	if !is {
		return nil
	}
	return All(parts)
}

// Each makes a part of each thing in a list.
func Each[T any](list []T, part func(T) Part) All {
	parts := make(All, len(list))
	for i, x := range list {
		parts[i] = part(x)
	}
	return parts
}

// Text is text, whoever wrote it. It shows as one line in which nothing hides: what is invisible, or would turn the text around it,
// is spelled out.
type Text string

func (t Text) tag(*bytes.Buffer) {}

func (t Text) content(b *bytes.Buffer) {
	b.WriteString(html.EscapeString(taint.Visible(string(t), len(t))))
}

type element struct {
	name  own
	parts All
}

// El is an element. Those whose content browsers read as something else than text are Style and Script; the other ones of that
// kind don't exist here.
func El(name own, parts ...Part) Part {
	if slices.Contains([]own{"script", "style", "iframe", "noembed", "noframes", "plaintext", "xmp"}, name) {
		return nil
	}
	return element{name, parts}
}

func (e element) tag(*bytes.Buffer) {}

func (e element) content(b *bytes.Buffer) {
	b.WriteString("<" + string(e.name))
	e.parts.tag(b)
	b.WriteByte('>')
	if e.name == "br" || e.name == "input" || e.name == "meta" {
		return // these have no end
	}
	e.parts.content(b)
	b.WriteString("</" + string(e.name) + ">")
}

type attribute struct{ name, value string }

func (a attribute) tag(b *bytes.Buffer) {
	b.WriteString(" " + a.name)
	if a.value != "" {
		b.WriteString(`="` + html.EscapeString(a.value) + `"`)
	}
}

func (a attribute) content(*bytes.Buffer) {}

// Attr is an attribute of which all is known beforehand. Without a value it is a bare name.
func Attr(name, value own) Part { return attribute{string(name), string(value)} }

// Word is an attribute that ends with a word: small letters, digits and hyphens. With anything else there is no attribute.
func Word(name, begin own, word string) Part {
	if !isWord(word) {
		return nil
	}
	return attribute{string(name), string(begin) + word}
}

// Class is the classes of an element: the constant ones, and those of the other names that are words.
func Class(constant own, others ...string) Part {
	value := string(constant)
	for _, name := range others {
		if isWord(name) {
			value += " " + name
		}
	}
	return attribute{"class", value}
}

func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// Path is an address on the page's own server, made of constants and words. The zero path is none.
type Path struct{ text string }

// Root is the path under a name that is a word.
func Root(name string) Path {
	if !isWord(name) {
		return Path{}
	}
	return Path{"/" + name + "/"}
}

// At is what a constant leads to from p.
func (p Path) At(rest own) Path {
	if p.text == "" {
		return p
	}
	return Path{p.text + string(rest)}
}

// Of is what a constant and then a word lead to from p; no path if it is no word.
func (p Path) Of(rest own, word string) Path {
	if p.text == "" || !isWord(word) {
		return Path{}
	}
	return Path{p.text + string(rest) + word}
}

// To is an attribute that holds a path. Without a path there is no attribute.
func To(name own, p Path) Part {
	if p.text == "" {
		return nil
	}
	return attribute{string(name), p.text}
}

// Refresh leads a browser on after some seconds.
func Refresh(seconds int, to Path) Part {
	if to.text == "" {
		return nil
	}
	return El("meta", Attr("http-equiv", "refresh"), attribute{"content", strconv.Itoa(seconds) + ";url=" + to.text})
}

// Source is a style sheet or a script of the program.
type Source struct{ text string }

// Read takes a source from files that were compiled in: there are no others in an embed.FS.
func Read(files embed.FS, name own) (Source, error) {
	data, err := files.ReadFile(string(name))
	return Source{string(data)}, err
}

// Hash is how a content policy names the source.
func (s Source) Hash() string {
	sum := sha256.Sum256([]byte(s.text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// Style is the element with a style sheet.
func Style(s Source) Part { return raw("<style>" + s.text + "</style>") }

// Script is the element with a script.
func Script(s Source) Part { return raw("<script>" + s.text + "</script>") }

// raw is what needs no escaping, and can't be made elsewhere.
type raw string

func (r raw) tag(*bytes.Buffer) {}

func (r raw) content(b *bytes.Buffer) { b.WriteString(string(r)) }
