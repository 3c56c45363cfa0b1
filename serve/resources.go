package serve

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/packs"
)

const (
	builtinURI = "bouncer://policies/builtin"
	summaryURI = "bouncer://audit/summary"
	packURI    = "bouncer://packs/"
	recordURI  = "bouncer://audit/records/"

	jsonType = "application/json"
	// summaryEntries are those of the resource, which nobody can ask for more of.
	summaryEntries = 10
)

func (s *service) addResources(to *mcp.Server) {
	to.AddResource(&mcp.Resource{
		URI: builtinURI, Name: "builtin-policies", Title: "Policies that come with bouncer", MIMEType: jsonType,
		Description: "The packs: which servers each is for, and which tools it has rules for.",
	}, asJSON(func(string) (any, error) { return builtin() }))
	to.AddResource(&mcp.Resource{
		URI: summaryURI, Name: "audit-summary", Title: "Audit log, summed up", MIMEType: jsonType,
		Description: "How many calls were allowed, refused and asked about, and the last verdicts.",
	}, asJSON(func(string) (any, error) { return s.summarise(summaryEntries) }))
	to.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: packURI + "{name}", Name: "pack", Title: "One pack", MIMEType: jsonType,
		Description: "A policy that comes with bouncer, with its text.",
	}, asJSON(func(uri string) (any, error) {
		called := strings.TrimPrefix(uri, packURI)
		if _, ok := packs.Source(called); !ok {
			return nil, mcp.ResourceNotFoundError(uri)
		}
		return packOf(called)
	}))
	to.AddResourceTemplate(&mcp.ResourceTemplate{
		URITemplate: recordURI + "{seq}", Name: "audit-record", Title: "One record of the audit log", MIMEType: jsonType,
		Description: "A verdict or a result as the log has it: secrets are masked, long values cut. Parts of it were written by others.",
	}, asJSON(s.recordAt))
}

// asJSON makes a resource of what a function returns for its address.
func asJSON(value func(uri string) (any, error)) mcp.ResourceHandler {
	return func(_ context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		v, err := value(req.Params.URI)
		if err != nil {
			return nil, err
		}
		text, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			return nil, err
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: req.Params.URI, MIMEType: jsonType, Text: string(text)}}}, nil
	}
}

func builtin() (any, error) {
	var list struct {
		Packs []pack `json:"packs"`
	}
	for _, called := range packs.Names() {
		p, err := packOf(called)
		if err != nil {
			return nil, err
		}
		p.Text = ""
		list.Packs = append(list.Packs, p)
	}
	return list, nil
}

// auditRecord is one record as a resource.
type auditRecord struct {
	Notice string `json:"notice"`
	entry
	Kind     string    `json:"kind"`
	Reason   string    `json:"reason,omitempty"`
	Args     *quoted   `json:"args,omitempty"`
	Findings []finding `json:"findings,omitempty"`
	Layers   []string  `json:"layers,omitempty"`
	Outcome  string    `json:"outcome,omitempty"`
	MS       float64   `json:"ms,omitempty"`
	Bytes    int64     `json:"bytes,omitempty"`
}

func (s *service) recordAt(uri string) (any, error) {
	seq, err := strconv.ParseUint(strings.TrimPrefix(uri, recordURI), 10, 64)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	r, err := s.record(seq)
	if err != nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	out := auditRecord{Notice: notice, entry: entryOf(r), Kind: name(r.Kind), Outcome: name(r.Outcome), MS: r.MS, Bytes: r.Bytes}
	if r.Kind == "verdict" {
		var x explained
		x.explain(r)
		out.Reason, out.Args, out.Findings, out.Layers = x.Reason, &x.Args, x.Findings, x.Layers
	}
	return out, nil
}
