package dashboard

import (
	"fmt"

	"github.com/bouncer-mcp/bouncer/dashboard/internal/dom"
)

func (p serversPage) page() page {
	return page{
		title: "Servers - bouncer",
		body: append(p.top(), dom.El("main",
			dom.El("h2", dom.Text("Servers")),
			dim("Every server that bouncer has met, with its tools as they were last accepted and what your policy makes of them. "+
				"Why, says: bouncer policy explain TOOL --server NAME"),
			dom.Each(p.Servers, serverView.part),
			dom.If(len(p.Servers) == 0, dim("None yet.")),
		)),
	}
}

func (v serverView) part() dom.Part {
	tools := dim("No tools are known.")
	if len(v.Tools) > 0 {
		tools = dom.El("table",
			headings("Tool", "Is", "Destinations", "Objects", "By"),
			dom.El("tbody", dom.Each(v.Tools, toolView.part)),
		)
	}
	return dom.El("section",
		dom.El("h3", dom.Class("name"), dom.Text(v.Name)),
		dim(listing(v.Package, v.use())),
		tools,
	)
}

// use is what the end of the log tells.
func (v serverView) use() string {
	if v.Calls == 0 {
		return "none of the last calls"
	}
	use := fmt.Sprintf("%d of the last calls, %d blocked, the newest at %s", v.Calls, v.Blocked, day(v.Last))
	if v.Client != "" {
		use += " from " + v.Client
	}
	return use
}

func (v toolView) part() dom.Part {
	return dom.El("tr",
		dom.El("td", dom.Class("name"), dom.Text(v.Name)),
		dom.El("td", dom.Each(v.Is, func(trait string) dom.Part {
			return dom.All{dom.El("span", dom.Class("trait", trait), dom.Text(trait)), dom.Text(" ")}
		})),
		dom.El("td", dom.Class("name"), dom.Text(listing(v.Destinations...))),
		dom.El("td", dom.Class("name"), dom.Text(listing(v.Objects...))),
		dom.El("td", dom.Class("dim"), dom.Text(listing(v.Layers...))),
	)
}
