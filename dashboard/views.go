package dashboard

import (
	"embed"
	"net/http"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/dashboard/internal/dom"
)

//go:embed style.css script.js
var files embed.FS

// views is what all pages have in common, and the policy under which browsers show them: nothing from anywhere, but this very
// style and this very script.
type views struct {
	style, script dom.Source
	csp           string
}

func newViews() *views {
	style, errStyle := dom.Read(files, "style.css")
	script, errScript := dom.Read(files, "script.js")
	if errStyle != nil || errScript != nil {
		panic("dashboard: files of the program are missing from it")
	}
	return &views{
		style:  style,
		script: script,
		csp: "default-src 'none'; style-src " + style.Hash() + "; script-src " + script.Hash() +
			"; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	}
}

// page is one page: beside what all have.
type page struct {
	title string
	again dom.Part // where a browser goes from here by itself, if it does
	body  dom.All
	live  bool // it has the script
}

func (v *views) document(p page) []byte {
	return dom.Document(
		dom.El("head",
			dom.El("meta", dom.Attr("charset", "utf-8")),
			dom.El("meta", dom.Attr("name", "viewport"), dom.Attr("content", "width=device-width, initial-scale=1")),
			dom.El("meta", dom.Attr("name", "color-scheme"), dom.Attr("content", "light dark")),
			dom.Style(v.style),
			p.again,
			dom.El("title", dom.Text(p.title)),
		),
		dom.El("body", p.body, dom.If(p.live, dom.Script(v.script))),
	)
}

// write sends a page.
func (v *views) write(w http.ResponseWriter, code int, p page) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(v.document(p)) // a browser that has gone misses nothing
}

// top is the head of the pages inside.
func (f frame) top() dom.All {
	top := dom.All{dom.El("header",
		dom.El("h1", dom.El("a", dom.To("href", f.Root), dom.Attr("accesskey", "b"), dom.Text("bouncer"))),
		dom.El("nav",
			dom.El("a", dom.To("href", f.Root), dom.Text("Calls")),
			dom.Text(" "),
			dom.El("a", dom.To("href", f.Root.At("servers")), dom.Attr("accesskey", "v"), dom.Text("Servers")),
		),
	)}
	if f.ReadOnly != "" {
		top = append(top, note("Nothing can be allowed on this page: "+f.ReadOnly+". It shows what happens, and takes a no."))
	}
	return top
}

// enterPage leads a browser in that has just got its cookie.
func enterPage(root dom.Path) page {
	return page{
		title: "bouncer",
		again: dom.Refresh(0, root),
		body:  dom.All{dom.El("p", dom.El("a", dom.To("href", root), dom.Text("Go on to bouncer")))},
	}
}

// codePage asks for the code in the terminal, and says why it does so again.
func codePage(why string) page {
	return page{title: "bouncer", body: dom.All{dom.El("main",
		dom.El("h1", dom.Text("bouncer")),
		dom.If(why != "", dom.El("p", dom.Attr("role", "alert"), dom.Text(why))),
		dom.El("form", dom.Attr("method", "post"), dom.Attr("action", "/enter"), dom.Attr("autocomplete", "off"),
			dom.El("p", dom.El("label", dom.Attr("for", "code"), dom.Text("The code that bouncer dashboard has printed in your terminal:"))),
			dom.El("p", dom.Class("answers"),
				dom.El("input", dom.Attr("id", "code"), dom.Attr("name", "code"), dom.Attr("size", "10"), dom.Attr("maxlength", "20"),
					dom.Attr("autofocus", ""), dom.Attr("spellcheck", "false"), dom.Attr("autocapitalize", "characters")),
				dom.Text(" "),
				dom.El("button", dom.Text("Go on")),
			),
		),
	)}}
}

// refusedPage says why there is no other page.
func refusedPage(why string) page {
	return page{title: "bouncer", body: dom.All{dom.El("main",
		dom.El("h1", dom.Text("bouncer")),
		dom.El("p", dom.Text(why)),
	)}}
}

func note(text string, more ...dom.Part) dom.Part {
	return dom.El("p", dom.Class("note"), dom.All(more), dom.Text(text))
}

func dim(text string) dom.Part { return dom.El("p", dom.Class("dim"), dom.Text(text)) }

// headings is the first row of a table.
func headings(names ...string) dom.Part {
	return dom.El("thead", dom.El("tr", dom.Each(names, func(name string) dom.Part {
		return dom.El("th", dom.Attr("scope", "col"), dom.Text(name))
	})))
}

// listing joins words that may be missing.
func listing(words ...string) string {
	var said []string
	for _, w := range words {
		if w != "" {
			said = append(said, w)
		}
	}
	return strings.Join(said, ", ")
}

func clock(t time.Time) string { return t.Local().Format("15:04:05") }

func day(t time.Time) string { return t.Local().Format("2 January 15:04:05") }
