package doctor

import (
	"fmt"
	"strings"
)

func toolsListed(f Facts) []Finding {
	return probed(f, func(p Probe) (Finding, bool) {
		sinks := 0
		for _, t := range p.Tools {
			if t.Sink {
				sinks++
			}
		}
		return Finding{
			Severity: Info,
			Message:  fmt.Sprintf("lists %s, %d of which can send data out", counted(len(p.Tools), "tool", "tools"), sinks),
			Tools:    p.Tools,
		}, p.Err == nil && p.Skipped == ""
	})
}

func toolsUnlisted(f Facts) []Finding {
	return probed(f, func(p Probe) (Finding, bool) {
		if p.Err == nil {
			return Finding{}, false
		}
		return Finding{
			Severity: Warning,
			Message:  "did not list its tools: " + p.Err.Error(),
			Repair:   "start its command in a terminal to see what it says",
		}, true
	})
}

func toolsSkipped(f Facts) []Finding {
	return probed(f, func(p Probe) (Finding, bool) {
		return Finding{Severity: Info, Message: "was not asked for its tools: " + p.Skipped}, p.Skipped != ""
	})
}

func sinkUndeclared(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		for _, e := range file.Entries {
			if e.Probe == nil {
				continue
			}
			for _, loose := range e.Probe.Loose {
				found = append(found, Finding{
					Severity: Warning, Client: file.Client, File: file.Path, Scope: e.Scope, Server: e.Name,
					Message: fmt.Sprintf("%s: %s looks like a destination, but %s leaves it out", loose.Tool, loose.Param, loose.Source),
					Repair:  fmt.Sprintf("add %s to sink_params of %s in your policy, if it is one", loose.Param, loose.Tool),
				})
			}
		}
	}
	return found
}

// probed runs a check over the servers that were asked for their tools.
func probed(f Facts, check func(Probe) (Finding, bool)) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		if e.Probe == nil {
			return Finding{}, false
		}
		return check(*e.Probe)
	})
}

// Words are a tool's rule in a few words.
func (t Tool) Words() (rule, destinations string) {
	rule, destinations = strings.Join(t.Sources, " + "), "-"
	if rule == "" {
		rule = "-"
	}
	switch {
	case t.Sink && len(t.Params) == 0:
		destinations = "any argument"
	case t.Sink:
		destinations = strings.Join(t.Params, ", ")
	}
	return rule, destinations
}
