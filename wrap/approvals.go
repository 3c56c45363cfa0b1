package wrap

import (
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// approvals are the names of project servers to which a person has said yes or no, in Claude Code's settings.
type approvals struct {
	all     bool
	yes, no []string
}

// parseApprovals reads the approvals of one settings file. What has another shape approves nothing.
func parseApprovals(doc *jsonc.Doc) approvals {
	all, _, err := doc.Lookup("enableAllProjectMcpServers")
	return approvals{
		all: err == nil && all.Kind == 't',
		yes: namesIn(doc, doc.Root, "enabledMcpjsonServers"),
		no:  namesIn(doc, doc.Root, "disabledMcpjsonServers"),
	}
}

func (a approvals) merge(o approvals) approvals {
	return approvals{all: a.all || o.all, yes: slices.Concat(a.yes, o.yes), no: slices.Concat(a.no, o.no)}
}

// of says how a name stands. Claude Code takes names only from a folder that is trusted.
func (a approvals) of(name string, trusted bool) Effect {
	switch {
	case slices.Contains(a.no, name):
		return Off
	case trusted && (a.all || slices.Contains(a.yes, name)):
		return Approved
	}
	return Pending
}

// project is what Claude Code notes about one folder beside that folder's own servers.
type project struct {
	off     []string // servers of any scope that are switched off there
	trusted bool
}

func projectOf(doc *jsonc.Doc, v jsonc.Value) project {
	i, err := doc.Member(v, "hasTrustDialogAccepted")
	return project{
		off:     namesIn(doc, v, "disabledMcpServers"),
		trusted: err == nil && i >= 0 && v.Members[i].Value.Kind == 't',
	}
}

// namesIn returns the strings of a list that is a member of v.
func namesIn(doc *jsonc.Doc, v jsonc.Value, key string) []string {
	i, err := doc.Member(v, key)
	if err != nil || i < 0 {
		return nil
	}
	var names []string
	for _, elem := range v.Members[i].Value.Elems {
		if name, ok := doc.Text(elem); ok {
			names = append(names, name)
		}
	}
	return names
}
