package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/taint"
)

func (s *service) addLogTools(to *mcp.Server) error {
	return errors.Join(
		add(to, tool{
			name: "bouncer_audit_summary", title: "Sum up the audit log",
			about: "Counts the calls in bouncer's audit log by what became of them, and lists the last ones, without their arguments.",
		}, s.auditSummary),
		add(to, tool{
			name: "bouncer_explain_decision", title: "Explain a decision",
			about: "Says why a call was allowed, refused or asked about: what the rule is that decided, which values it looked at and where they were from, and what the person answered. seq is the number of a record in the audit log.",
		}, s.explainDecision),
	)
}

type summaryInput struct {
	Limit int `json:"limit,omitempty" jsonschema:"how many of the last verdicts are listed, 1 to 200; default 20"`
}

type summary struct {
	Notice    string         `json:"notice"`
	Calls     int            `json:"total_calls"`
	Counts    map[string]int `json:"verdict_counts" jsonschema:"by the last verdict on each call: allow, deny, and ask where nobody has answered"`
	Asked     int            `json:"asked" jsonschema:"calls that somebody was asked about"`
	Contracts map[string]int `json:"contract_counts" jsonschema:"by the rule that spoke first, for calls that were not simply allowed"`
	Unread    int            `json:"unreadable,omitempty" jsonschema:"lines that are no records: bouncer audit verify tells more"`
	Recent    []entry        `json:"recent_entries" jsonschema:"oldest first"`
}

// entry is a verdict in a list. What was called with which arguments is for bouncer_explain_decision to tell.
type entry struct {
	Seq      uint64 `json:"seq"`
	Time     string `json:"time"`
	Client   string `json:"client,omitempty"`
	Server   string `json:"server"`
	Tool     string `json:"tool"`
	Verdict  string `json:"verdict"`
	Observed string `json:"observed,omitempty" jsonschema:"of an allow: what it would have been if the tool were not only observed"`
	Contract string `json:"contract"`
	Answer   string `json:"answer,omitempty" jsonschema:"of an earlier question about the call: once, session, or no and why"`
}

const (
	defaultLimit = 20
	maxLimit     = 200
	maxAsked     = 10_000 // questions whose answers are looked for at one time
)

func (s *service) auditSummary(_ context.Context, _ call, in summaryInput) (summary, *question, error) {
	limit := in.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	if limit < 1 || limit > maxLimit {
		return summary{}, nil, fmt.Errorf("limit is %d, and must be 1 to %d", limit, maxLimit)
	}
	out, err := s.summarise(limit)
	return out, nil, err
}

// summarise reads the log once, in memory that does not grow with it.
func (s *service) summarise(limit int) (summary, error) {
	out := summary{Notice: notice, Counts: map[string]int{"allow": 0, "deny": 0, "ask": 0}, Contracts: map[string]int{}, Recent: []entry{}}
	open := map[string]bool{} // calls with a question that has no answer yet
	for line, err := range audit.Records(s.Log) {
		if err != nil {
			return out, err
		}
		r, err := audit.ParseRecord(line)
		if err != nil {
			out.Unread++
			continue
		}
		if r.Kind != "verdict" {
			continue
		}
		out.count(r, open)
		out.Recent = append(out.Recent, entryOf(r))
		if len(out.Recent) > 2*limit {
			out.Recent = slices.Clone(out.Recent[len(out.Recent)-limit:])
		}
	}
	out.Recent = out.Recent[max(0, len(out.Recent)-limit):]
	return out, nil
}

// count adds a verdict. One that follows a question about the same call takes the place of the question: under the call's number,
// or from a client that asks by being called again under another, then with the answer and the same arguments.
func (o *summary) count(r audit.Record, open map[string]bool) {
	same := fmt.Sprintf("%q %q %d", r.Session, r.Server, r.Call)
	again := fmt.Sprintf("%q %q %q %s", r.Session, r.Server, r.Tool, r.Args)
	asked := open[same] || r.Answer != "" && open[again]
	switch {
	case asked:
		o.Counts["ask"]--
	default:
		o.Calls++
		if r.Contract != "default" {
			o.Contracts[name(r.Contract)]++
		}
	}
	if r.Verdict == "ask" && !asked {
		o.Asked++
	}
	delete(open, same)
	delete(open, again)
	if r.Verdict == "ask" && len(open) < maxAsked {
		open[same], open[again] = true, true
	}
	o.Counts[name(r.Verdict)]++
}

func entryOf(r audit.Record) entry {
	return entry{
		Seq: r.Seq, Time: r.Time.UTC().Format(time.RFC3339), Client: name(r.Client), Server: name(r.Server), Tool: name(r.Tool),
		Verdict: name(r.Verdict), Observed: name(r.Observed), Contract: name(r.Contract), Answer: name(r.Answer),
	}
}

type explainInput struct {
	Seq uint64 `json:"seq" jsonschema:"number of a record in the audit log"`
}

type explained struct {
	Notice   string    `json:"notice"`
	Call     []entry   `json:"verdicts" jsonschema:"every verdict on the call, in order: one that asks is followed by what came of the answer"`
	Rule     string    `json:"rule" jsonschema:"what the rule is that spoke first"`
	Reason   string    `json:"reason" jsonschema:"why, in a sentence; empty when no rule objected"`
	Args     quoted    `json:"args" jsonschema:"the arguments as the log has them: secrets are masked and long values cut"`
	Findings []finding `json:"findings" jsonschema:"the values that the rule looked at"`
	Layers   []string  `json:"layers" jsonschema:"the policies that had a say, highest first"`
	Outcome  string    `json:"outcome,omitempty" jsonschema:"how the call ended, if it was made: ok, tool_error, rpc_error, cancelled or lost"`
}

func (s *service) explainDecision(_ context.Context, _ call, in explainInput) (explained, *question, error) {
	asked, err := s.record(in.Seq)
	if err != nil {
		return explained{}, nil, err
	}
	out := explained{Notice: notice, Call: []entry{}, Findings: []finding{}, Layers: []string{}}
	for line, err := range audit.Records(s.Log) {
		if err != nil {
			return out, nil, err
		}
		r, err := audit.ParseRecord(line)
		if err != nil || r.Session != asked.Session || r.Server != asked.Server || r.Call != asked.Call {
			continue
		}
		if r.Kind != "verdict" {
			out.Outcome = name(r.Outcome)
			continue
		}
		if len(out.Call) == 0 {
			out.explain(r)
		}
		out.Call = append(out.Call, entryOf(r))
	}
	if len(out.Call) == 0 {
		return out, nil, fmt.Errorf("record %d belongs to no verdict", in.Seq)
	}
	return out, nil, nil
}

// explain tells what the first verdict on a call says.
func (o *explained) explain(r audit.Record) {
	o.Rule, o.Reason, o.Args = ruleOf(r.Contract), taint.Visible(r.Reason, maxQuote), quote(string(r.Args), maxQuote)
	o.Layers = names(r.Layers)
	for _, e := range r.Evidence {
		f := finding{
			Param: name(e.Param), Value: taint.Visible(e.Value, maxValue), Class: name(e.Class),
			Server: name(e.Server), Tool: name(e.Tool), Path: name(e.Path),
		}
		if e.Snippet != "" {
			q := quote(e.Snippet, maxQuote)
			f.Around = &q
		}
		o.Findings = append(o.Findings, f)
	}
}

// record finds a record by its number.
func (s *service) record(seq uint64) (audit.Record, error) {
	for line, err := range audit.Records(s.Log) {
		if err != nil {
			return audit.Record{}, err
		}
		r, err := audit.ParseRecord(line)
		if err == nil && r.Seq == seq {
			r.Args = slices.Clone(r.Args) // the line is good until the next
			return r, nil
		}
	}
	return audit.Record{}, fmt.Errorf("the log holds no record %d", seq)
}

// ruleOf says in a sentence what a contract is for.
func ruleOf(contract string) string {
	switch contract {
	case "self_protection":
		return "self_protection: no tool may touch bouncer's own files or the configs that start servers"
	case "pinning":
		return "pinning: a tool that appeared, or changed its definition, after it was first met is used only when the person agrees"
	case "budget":
		return "budget: a tool may be called so many times in a session (max_calls); attempts count"
	case "constraint":
		return "constraint: an argument must match its pattern (arg_patterns), and a path must lie below an allowed folder (allowed_path_prefixes)"
	case "sink_gate":
		return "sink_gate: a destination, or what a tool deletes or changes, must come from the person, a lookup or the policy; one that text addressing the agent brought up is refused"
	case "toxic_flow":
		return "toxic_flow: a session that holds private data and has read untrusted text must not take the two to a place that such text named"
	case "default":
		return "default: no rule objected"
	case "approval":
		return "approval: what the person answered"
	}
	return name(contract)
}
