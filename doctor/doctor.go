// Package doctor checks gathered facts: is bouncer really protecting what its user thinks?
package doctor

import (
	"cmp"
	"slices"

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
}

// Check looks for one kind of thing.
type Check struct {
	Code  string // stable, and unique
	About string // what it looks for, as in docs/doctor.md
	Run   func(Facts) []Finding
}

// Facts are what was gathered before any check runs. Checks read nothing else.
type Facts struct {
	Launcher string // what init would write as a private entry's command; empty when this binary can't be written there
	Unfit    string // why, when it is empty
	Clients  []Client
	Files    []File
	Policies []Policy
	Audit    Audit
}

// Client is a client that is installed.
type Client struct {
	ID, Name string
}

// File is one config that exists.
type File struct {
	Client  string
	Path    string
	Shared  bool  // committed to version control
	Managed bool  // an organisation's, never edited
	Err     error // why its servers are unknown
	Entries []Entry
}

// Entry is one server, and what its command lines would start.
type Entry struct {
	wrap.Entry
	Project  string  // the folder it belongs to; empty for an entry that holds everywhere
	Start    Program // of a wrapped entry: its launcher
	Upstream Program // of an entry with a command: the server itself
}

// Program is what a command was found to start.
type Program struct {
	Unknown  bool   // it can't be told from here: the client expands it first, or resolves it against its own folder
	Path     string // what would start; empty when there is nothing
	Self     bool   // it is this bouncer
	Fleeting bool   // the path won't last: it names a version, or lies in a temporary folder
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
