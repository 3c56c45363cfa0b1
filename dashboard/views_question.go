package dashboard

import (
	"fmt"

	"github.com/bouncer-mcp/bouncer/dashboard/internal/dom"
)

func (p questionPage) page() page {
	title := fmt.Sprintf("Question %d", p.Q.Number)
	heading := title
	if p.Q.Client != "" {
		heading += ", from " + p.Q.Client
	}
	return page{
		title: title + " - bouncer",
		body: append(p.top(), dom.El("main",
			dom.El("h2", dom.Text(heading)),
			dom.If(p.Hasty, note("That was sooner than it can be read. Nothing has been answered yet.", dom.Attr("role", "alert"))),
			dom.If(p.Late, note("The call has been refused for want of an answer. A yes counts when it is tried again.")),
			dom.El("div", dom.Class("text"), dom.Each(p.Lines, func(line string) dom.Part {
				return dom.El("p", dom.El("bdi", dom.Text(line)))
			})),
			p.answers(),
			dom.If(p.Why != "" && p.ReadOnly == "", note("It can't be allowed here: "+p.Why+". Run bouncer approvals in a terminal of your own.")),
		)),
	}
}

// answers is the form, in which the no comes first.
func (p questionPage) answers() dom.Part {
	return dom.El("form", dom.Attr("method", "post"), dom.To("action", p.Root.Of("question/", p.Q.ID)), dom.Attr("autocomplete", "off"),
		dom.El("input", dom.Attr("type", "hidden"), dom.Attr("name", "form"), dom.Word("value", "", p.Form)),
		dom.El("input", dom.Attr("type", "hidden"), dom.Attr("name", "read"), dom.Word("value", "", p.Read)),
		dom.El("p", dom.Class("answers"),
			dom.El("button", dom.Attr("name", "answer"), dom.Attr("value", "no"), dom.Attr("accesskey", "n"), dom.Attr("autofocus", ""), dom.Text("Don't allow")),
			dom.If(p.Why == "",
				dom.Text(" "),
				dom.El("button", dom.Attr("name", "answer"), dom.Attr("value", "once"), dom.Attr("accesskey", "o"), dom.Text("Allow once")),
				dom.Text(" "),
				dom.El("button", dom.Attr("name", "answer"), dom.Attr("value", "session"), dom.Attr("accesskey", "s"), dom.Text("Allow for this session")),
			),
		),
		dom.If(len(p.Q.Always) > 0 && p.Why == "", p.always()),
	)
}

// always shows what a yes for good would write, above the button.
func (p questionPage) always() dom.Part {
	return dom.El("div", dom.Class("always"),
		dom.El("p", dom.Text("Allowing it from now on changes your policy:")),
		dom.El("pre", dom.Each(p.Diff, diffLine.part)),
		dom.El("p", dom.El("button", dom.Attr("name", "answer"), dom.Attr("value", "always"), dom.Attr("accesskey", "a"), dom.Text("Allow from now on"))),
	)
}

func (l diffLine) part() dom.Part {
	var line dom.Part = dom.Text(l.Text)
	switch l.Sign {
	case "+":
		line = dom.El("ins", line)
	case "-":
		line = dom.El("del", line)
	}
	return dom.All{line, dom.El("br")}
}
