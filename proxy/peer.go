package proxy

import (
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Keys of a request's _meta in 2026-07-28, where each request carries what initialize used to say once.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaClient       = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// peer is what the client said about itself.
type peer struct {
	name    string // "name version"
	elicits bool   // declared form elicitation in initialize
}

// meta is what one request says about the client that sent it.
type meta struct {
	modern  bool // follows 2026-07-28
	client  string
	elicits bool
	version wire.Value // views into the request
	info    wire.Value
}

// readMeta reads a request's params._meta.
func readMeta(m wire.Value) meta {
	version := m.Get(metaVersion)
	if version == nil {
		return meta{}
	}
	return meta{
		modern:  true,
		client:  clientName(m.Get(metaClient)),
		elicits: elicitsForm(m.At(metaCapabilities, "elicitation")),
		version: version,
		info:    m.Get(metaClient),
	}
}

// own returns the _meta of a request of bouncer's own in the client's place: same version, same client, no capabilities,
// so that the server asks nothing of it.
func (m meta) own() []byte {
	if !m.modern {
		return nil
	}
	out := append(wire.AppendQuoted([]byte{'{'}, metaVersion), ':')
	out = append(out, m.version...)
	if m.info != nil {
		out = append(wire.AppendQuoted(append(out, ','), metaClient), ':')
		out = append(out, m.info...)
	}
	out = append(wire.AppendQuoted(append(out, ','), metaCapabilities), ":{}"...)
	return append(out, '}')
}

// clientName makes one line of a clientInfo.
func clientName(info wire.Value) string {
	name, _ := info.Get("name").Text()
	version, _ := info.Get("version").Text()
	return strings.TrimSpace(name + " " + version)
}

// elicitsForm reads the elicitation capability: {} and {"form": ...} mean forms, {"url": ...} alone does not.
func elicitsForm(capability wire.Value) bool {
	return capability.Kind() == '{' && (capability.Get("form") != nil || capability.Get("url") == nil)
}

// requestID reads params.requestId of a cancellation.
func requestID(params wire.Value) wire.ID {
	v := params.Get("requestId")
	if s, ok := v.Text(); ok {
		return wire.StringID(s)
	}
	if n, ok := v.Int(); ok {
		return wire.NumberID(n)
	}
	return wire.ID{}
}

// twin returns the same id as the other type: some servers answer "1" to 1, which is no answer.
func twin(id wire.ID) (wire.ID, bool) {
	s, isText := id.Text()
	if !isText {
		return wire.StringID(id.String()), true
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return wire.NumberID(n), err == nil
}

// newID makes an id for a request of bouncer's own. r.mu is held.
func (r *relay) newID() wire.ID {
	r.serial++
	return wire.StringID(r.prefix + strconv.FormatUint(r.serial, 10))
}

func (r *relay) isOwn(id wire.ID) bool {
	s, ok := id.Text()
	return ok && r.isOwnText(s)
}

func (r *relay) isOwnText(s string) bool { return strings.HasPrefix(s, r.prefix) }
