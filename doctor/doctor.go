// Package doctor checks gathered facts: is bouncer really protecting what its user thinks?
package doctor

import (
	"cmp"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// Severity says how much a finding matters.
type Severity string

// The severities. Errors and warnings make the command exit with 3.
const (
	Error   Severity = "error"   // something does not start, or is broken
	Warning Severity = "warning" // something is less protected than it looks
	Info    Severity = "info"    // worth knowing
)

// Finding is one thing a check found. The JSON names are a promise: fields are added, never renamed.
type Finding struct {
	Code     string        `json:"code"`
	Severity Severity      `json:"severity"`
	Client   string        `json:"client,omitempty"`
	Scope    clients.Scope `json:"scope,omitempty"`
	Server   string        `json:"server,omitempty"`
	File     string        `json:"file,omitempty"`
	Line     int           `json:"line,omitempty"`
	Column   int           `json:"column,omitempty"`
	Message  string        `json:"message"`          // what is the case, one sentence without a full stop
	Repair   string        `json:"repair,omitempty"` // what to do about it
	Tools    []Tool        `json:"tools,omitempty"`  // of tools-listed
}

// Tool is one tool that a probed server lists, and what bouncer will do with calls of it.
type Tool struct {
	Name    string   `json:"name"`
	Sink    bool     `json:"sink"`    // it can send data out
	Params  []string `json:"params"`  // that carry destinations; a sink without any is judged by all of its arguments
	Sources []string `json:"sources"` // where its rule comes from, highest first: a policy, a pack, inference
	Limit   *int     `json:"limit,omitempty"`
}

// Check looks for one kind of thing.
type Check struct {
	Code       string     // stable, and unique
	Severities []Severity // that its findings may have
	About      string     // what it looks for, as in docs/doctor.md
	Run        func(Facts) []Finding
}

// Facts are what was gathered before any check runs. Checks read nothing else.
type Facts struct {
	Launcher string // what init would write as a private entry's command; empty when this binary can't be written there
	Unfit    string // why, when it is empty
	Home     string // of bouncer's files, when a person has chosen it; empty for the system's places
	Clients  []Client
	Files    []File
	Sources  []wrap.Uncovered
	Hooks    []Hook
	Policies []Policy
	Audit    Audit
	State    State
}

// Client is a client that is installed.
type Client struct {
	ID, Name string
	Reads    string // of several configs, the one that the running program reads; empty when it can't be told
}

// File is one config that exists.
type File struct {
	Client  string
	Also    []string // ids of other clients that read it too
	Path    string
	Key     []string // where its servers stand, when a command has to be told so
	Shared  bool     // committed to version control
	Managed bool     // an organisation's, never edited
	Bare    bool     // holds settings and no servers
	Legible bool     // others on this computer may read it
	Open    bool     // others on this computer may write it
	Err     error    // why its servers are unknown
	Gone    []Gone   // servers that stood in it when they were wrapped
	Entries []Entry
}

// Gone is a server that init wrapped and that is not in its file any more.
type Gone struct {
	Name string
	When time.Time
}

// Entry is one server, and what its command lines would start.
type Entry struct {
	wrap.Entry
	Project  string      // the folder it belongs to; empty for an entry that holds everywhere
	Effect   wrap.Effect // whether its client starts it
	Secrets  []string    // the places of what looks like a secret written out
	Start    Program     // of a wrapped entry: its launcher
	Refused  string      // of a wrapped entry: why bouncer would not take its arguments
	Upstream Program     // of an entry with a command: the server itself
	Undone   time.Time   // init wrapped it then, nobody has unwrapped it since, and it is not wrapped now
	Added    bool        // it is not wrapped, and came into a file with wrapped servers after init
	Aside    bool        // a person wants it left as it is
	Pins     Pins        // of a wrapped entry: what it says of its tools
	Observed bool        // of a wrapped entry: nothing is blocked
	Probe    *Probe      // nil when it was not asked for its tools
}

// Pins is what a server has changed about its tools since that was accepted.
type Pins struct {
	Waiting int    // changes that nobody has looked at
	Home    string // that a command must be told to find them; empty when it goes without saying
}

// Program is what a command was found to start.
type Program struct {
	Unknown  bool   // it can't be told from here: the client expands it first, or resolves it against its own folder
	Path     string // what would start; empty when there is nothing
	Self     bool   // it is this bouncer
	Fleeting bool   // the path won't last: it names a version, or lies in a temporary folder
	Needs    string // the interpreter in its first line, when that is not found
	Beyond   Beyond // of what a terminal finds: whether its client does too
	PATH     string // that its client is sure to have, where Beyond is Lost
}

// Beyond says whether a program that is found from a terminal is found by a client that the desktop has started.
type Beyond uint8

// The answers.
const (
	Found    Beyond = iota
	Doubtful        // it lies in the person's home, which desktops rarely have on PATH
	Unlikely        // it is not on the desktop's PATH, but its client asks the login shell for another
	Lost            // it is not on the desktop's PATH
)

// Probe is what a server said when it was started and asked for its tools.
type Probe struct {
	Skipped string // why it was not started
	Err     error  // why it has no tools to show
	Tools   []Tool
	Loose   []Loose
}

// Loose is a parameter that looks like a destination and that the rule of its tool leaves out.
type Loose struct {
	Tool, Param string
	Source      string // the layer that leaves it out
}

// State is bouncer's own folder.
type State struct {
	Dir         string
	Generations int  // how often something was applied
	Partial     bool // not all clients were looked at
}

// Missing reports that nothing would start.
func (p Program) Missing() bool { return !p.Unknown && p.Path == "" }

// Policy is one policy file that some server runs under.
type Policy struct {
	Path string
	Err  error // why it does not load
}

// Audit is the state of the audit log.
type Audit struct {
	Dir    string
	Report audit.Report
	Err    error // why it could not be read
}

// Diagnose runs every check. Errors come first, then warnings; among equals the order of Checks holds.
func Diagnose(f Facts) []Finding {
	var found []Finding
	for _, check := range Checks() {
		for _, finding := range check.Run(f) {
			finding.Code = check.Code
			found = append(found, finding)
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Compare(a.Severity.rank(), b.Severity.rank())
	})
	return found
}

// Problems reports whether a finding is an error or a warning.
func Problems(found []Finding) bool {
	return slices.ContainsFunc(found, func(f Finding) bool { return f.Severity != Info })
}

// rank puts an unknown severity first, so that it can't be overlooked.
func (s Severity) rank() int { return slices.Index([]Severity{Error, Warning, Info}, s) }
