package dashboard

import (
	"fmt"
	"strconv"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/dashboard/internal/dom"
)

func (p indexPage) page() page {
	title := "bouncer"
	if n := len(p.Waiting); n > 0 {
		title = fmt.Sprintf("(%d) bouncer", n)
	}
	return page{
		title: title,
		again: dom.El("noscript", dom.Refresh(3, p.Root)),
		body: append(p.top(), dom.El("main", dom.Word("data-stamp", "", p.Stamp), dom.To("data-wait", p.Root.At("wait")),
			dom.If(p.Notice != "", note(p.Notice, dom.Attr("role", "status"))),
			p.waiting(),
			p.picture(),
			p.calls(),
		)),
		live: true,
	}
}

func (p indexPage) waiting() dom.Part {
	return dom.El("section", dom.Attr("aria-labelledby", "h-waiting"),
		dom.El("h2", dom.Attr("id", "h-waiting"), dom.Text("Waiting for you")),
		dom.El("div", dom.Attr("role", "status"),
			dom.Each(p.Waiting, p.ask),
			dom.If(len(p.Waiting) == 0, dim("Nothing.")),
		),
	)
}

// ask leads to a question.
func (p indexPage) ask(q approve.Waiting) dom.Part {
	number := strconv.Itoa(q.Number)
	return dom.El("article", dom.Class("ask"),
		dom.El("p", dom.Class("number"), dom.Text(number)),
		dom.El("div",
			dom.El("p", dom.Text(q.Headline)),
			dim(listing(q.Client, clock(q.Asked))),
		),
		dom.El("p",
			dom.El("a", dom.Class("button"), dom.Word("id", "q-", q.ID), dom.To("href", p.Root.Of("question/", q.ID)),
				dom.If(q.Number < 10, dom.Word("accesskey", "", number)),
				dom.Text("Read and answer"),
				dom.El("span", dom.Class("unseen"), dom.Text(" question "+number)),
			),
		),
	)
}

func (p indexPage) picture() dom.Part {
	if p.Picture == nil {
		return nil
	}
	did := "Blocked"
	if p.Picture.State == "observed" {
		did = "Watched"
	}
	return dom.El("section", dom.Attr("aria-labelledby", "h-picture"),
		dom.El("h2", dom.Attr("id", "h-picture"), dom.Text(did+" last: "+p.Picture.name()+", "+clock(p.Picture.Time))),
		dom.Each(p.Picture.Flows, flow.part),
	)
}

func (p indexPage) calls() dom.Part {
	list := dim("None yet.")
	if len(p.Calls) > 0 {
		list = dom.El("table",
			headings("Time", "Server: tool", "Verdict", "Why", "End"),
			dom.El("tbody", dom.Each(p.Calls, p.row)),
		)
	}
	return dom.El("section", dom.Attr("aria-labelledby", "h-calls"),
		dom.El("h2", dom.Attr("id", "h-calls"), dom.Text("Calls")),
		dom.If(p.Damaged > 0, note(fmt.Sprintf("%d records at the end of the log can't be read: bouncer audit verify says where.", p.Damaged))),
		list,
	)
}

func (p indexPage) row(c call) dom.Part {
	seq := strconv.FormatUint(c.Seq, 10)
	return dom.El("tr",
		dom.El("td", dom.Text(clock(c.Time))),
		dom.El("td", dom.Class("name"),
			dom.El("a", dom.Word("id", "c-", seq), dom.To("href", p.Root.Of("call/", seq)), dom.Text(c.name())),
		),
		dom.El("td", verdictPart(c.State, c.Verdict)),
		dom.El("td", dom.Class("why"), dom.Text(c.Reason)),
		dom.El("td", dom.Text(c.Outcome)),
	)
}

func (p callPage) page() page {
	c := p.Call
	flows := dom.Each(c.Flows, flow.part)
	if len(flows) == 0 {
		flows = dom.All{dim("No value of this call was judged.")}
	}
	return page{
		title: c.name() + " - bouncer",
		body: append(p.top(), dom.El("main",
			dom.El("h2", dom.Text(c.name())),
			dom.El("p",
				verdictPart(c.State, c.Verdict),
				dom.Text(" "),
				dom.El("span", dom.Class("dim"), dom.Text(listing(day(c.Time), c.Client, c.Outcome))),
			),
			dom.If(c.Reason != "", dom.El("p", dom.Text(c.Reason+"."))),
			flows,
			dom.If(len(c.Layers) > 0, dim("By "+listing(c.Layers...)+".")),
			dim(fmt.Sprintf("bouncer audit show %d prints the record.", c.Seq)),
		)),
	}
}

func (c call) name() string { return c.Server + ": " + c.Tool }

func verdictPart(state, verdict string) dom.Part {
	return dom.El("span", dom.Class("verdict", state), dom.Text(verdict))
}

// part is the picture of a value's way.
func (f flow) part() dom.Part {
	return dom.El("div", dom.Class("flow"), dom.Attr("role", "group"), dom.Attr("aria-label", "Where a value came from and where it would go"),
		dom.El("div", dom.Class("box source"),
			dom.El("h3", dom.Text("Source")),
			f.source(),
		),
		arrow(dom.Class("arrow"), nil),
		dom.El("div", dom.Class("box value", "class-"+f.Class),
			dom.El("h3", dom.Text("Value")),
			dom.If(f.Value != "", dom.El("p", dom.Class("name"), dom.El("bdi", dom.Text(f.Value)))),
			dim(f.Means),
		),
		arrow(dom.Class("arrow to", f.State),
			dom.If(f.State == "blocked", dom.El("path", dom.Class("stop"), dom.Attr("d", "M12 1l10 14M22 1L12 15")))),
		dom.El("div", dom.Class("box sink", f.State),
			dom.El("h3", dom.Text("Sink")),
			dom.El("p", dom.Class("name"), dom.Text(f.Sink)),
			dom.If(f.Param != "", dim("argument "+f.Param)),
			dom.El("p", verdictPart(f.State, f.Verdict)),
		),
	)
}

func (f flow) source() dom.Part {
	if f.Source == "" {
		return dim("nowhere in this session")
	}
	return dom.All{
		dom.El("p", dom.Class("name"), dom.Text(f.Source)),
		dom.If(f.Path != "", dim("at "+f.Path)),
		dom.If(len(f.Context) > 0, dom.El("blockquote", dom.Each(f.Context, func(m marked) dom.Part {
			if m.Is {
				return dom.El("mark", dom.Text(m.Text))
			}
			return dom.Text(m.Text)
		}))),
	}
}

// arrow says nothing to those who don't see it.
func arrow(class, across dom.Part) dom.Part {
	return dom.El("svg", class, dom.Attr("viewBox", "0 0 40 16"), dom.Attr("aria-hidden", "true"),
		dom.El("path", dom.Attr("d", "M0 8h32M26 2l8 6-8 6")),
		across,
	)
}
