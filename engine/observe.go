package engine

import (
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// Output is one thing a server said: the result of a call, a resource, a question of its own, an error.
type Output struct {
	taint.Source
	Tool      policy.Tool // the pinned definition of the tool that said it; zero when no tool did
	Unvouched bool        // its cells vouch for nothing: the tool's pin does not hold, or the call failed
	Output    wire.Value
	Args      wire.Value // of the call that led to it; nil for none
}

// Observe records an output. It must happen before the client can act on it.
func (e *Engine) Observe(o Output) {
	var rule policy.Rule
	if o.Tool.Name != "" {
		rule = e.resolve(o.Tool).rule
	}
	as := taint.Reading{Untrusted: rule.UntrustedOutputs}
	if vouches := rule.Directory || rule.Identity || len(rule.TrustedOutputs) > 0; vouches && !o.Unvouched && !failed(o.Output) {
		as.Directory, as.Identity, as.Trusted = rule.Directory, rule.Identity, rule.TrustedOutputs
	}
	e.seen.Record(o.Source, o.Output, o.Args, as)
	if !as.Identity || e.quotesOthers(o.Output) { // what a server says of the person's own account is seldom written by others
		e.flag(&e.untrusted, flagUntrusted, o.Source)
	}
	if rule.Sensitive {
		e.flag(&e.sensitive, flagSensitive, o.Source)
	}
}

// failed reports whether a tool's result is one of a call that went wrong.
func failed(result wire.Value) bool {
	wrong, ok := result.Get("isError").Bool()
	return wrong || !ok && result.Get("isError") != nil
}

// flag remembers the first output of its sort, and tells the neighbours.
func (e *Engine) flag(first **taint.Source, which byte, from taint.Source) {
	if *first == nil {
		*first = &from
		e.facts.flag(which, from)
	}
}

// ObserveDefinition records only addresses, URLs and the like, of what a server says about itself: the words of tool
// definitions and instructions are too many and too common to hold against a call.
func (e *Engine) ObserveDefinition(from taint.Source, output wire.Value) {
	e.seen.RecordTyped(from, output)
}

// Doubt makes the engine assume what it can't know any more, because facts of its neighbours were lost: that the
// session has read what others wrote, and private data, and that text may have named any entry of a lookup.
func (e *Engine) Doubt() {
	for _, first := range []**taint.Source{&e.untrusted, &e.sensitive} {
		if *first == nil {
			*first = &taint.Source{}
		}
	}
	e.doubts = true
}
