// Package wrap plans putting bouncer in front of servers in client configs, and taking it away again; it applies plans.
package wrap

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Sentinel is the member that records what a wrapped entry's command and args were.
const Sentinel = "x-bouncer-upstream"

// File is one config as it was read.
type File struct {
	Client string   // id, empty for --config of an unknown kind
	Also   []string // ids of other clients whose path leads to this file too
	Path   string   // as configured, symlinks not resolved
	Maps   []clients.Map
	Format jsonc.Format
	Shared bool
	Lock   bool
	Data   []byte
	Mode   fs.FileMode
	Lists  Lists
	Hook   *Hook // of settings that hold no servers, but may hold a hook; nil for a config
}

// State is how an entry stands.
type State string

// The states. Every entry has exactly one.
const (
	Plain   State = "plain"   // a stdio server without bouncer
	Wrapped State = "wrapped" // starts through bouncer
	Remote  State = "remote"  // its client goes to a url, whatever command stands beside it: bypasses bouncer
	Stale   State = "stale"   // carries a sentinel but does not start bouncer
	Own     State = "own"     // bouncer serve, gateway: never wrapped
	Invalid State = "invalid" // can't be started by the client either
	Denied  State = "denied"  // the client's own lists keep it from starting
	Listed  State = "listed"  // starts without bouncer, but would not with it: the client's lists name its exact command
)

// Entry is one server in one file.
type Entry struct {
	Name       string
	Scope      clients.Scope
	Pointer    []string // of the entry, from the root
	State      State
	Reason     string   // why it is Invalid, Stale, Denied or Listed, or what is odd about a Wrapped one
	Note       string   // what is worth knowing about what it starts: a bridge to a remote server, another proxy
	Serves     bool     // Own, and as PlanWrap adds it: unwrapping takes it out
	Launcher   string   // of a wrapped entry, or one that serves: its command
	Policies   []string // --policy flags of a wrapped entry
	Profile    string   // --profile flag
	Command    string   // of the upstream, whether wrapped or not
	Args       []string
	URL        string   // of a remote server
	Home       string   // of a wrapped entry: what --home says, or BOUNCER_HOME in its env
	Settled    bool     // it is BOUNCER_HOME that says it
	Flags      []string // of a wrapped entry: what stands between run and the dashes
	Restorable bool     // Invalid or Stale, and unwrapping can give the server back that it was
	NoSentinel bool     // wrapped, and the sentinel is gone
	Disagree   bool     // wrapped, and sentinel and argv name different upstreams
	Reordered  bool     // they disagree about the arguments alone
	Legacy     bool     // written by the original Python bouncer
}

// FileError is a fault in one config.
type FileError struct {
	Client, Path string
	Err          error
}

func (e *FileError) Error() string {
	why := strings.TrimPrefix(e.Err.Error(), e.Path+": ") // it often begins with the path, which is enough once
	if e.Client == "" {
		return fmt.Sprintf("%s: %s", e.Path, why)
	}
	return fmt.Sprintf("%s: %s: %s", e.Client, e.Path, why)
}

func (e *FileError) Unwrap() error { return e.Err }

// fail makes a *FileError of a fault in f.
func (f File) fail(err error) error { return &FileError{Client: f.Client, Path: f.Path, Err: err} }

// Options choose what a plan does.
type Options struct {
	Launcher string          // absolute path of bouncer for private files
	Known    []string        // other launchers that count as this bouncer (shims, an earlier path)
	Servers  []string        // only these names; empty for all
	Scopes   []clients.Scope // only these; empty for all
	Pointers map[string]bool // only these entries, by PointerKey; nil for all
	Policies []string        // absolute paths, become --policy; empty leaves those of a wrapped entry alone
	Profile  string          // becomes --profile; empty leaves that of a wrapped entry alone
	// Home becomes --home for entries whose env moves the places that bouncer would look in, and with Homed, which says that
	// it is not the place where bouncer looks by itself, for all that one person has. Empty for none.
	Home  string
	Homed bool
	// Serve has PlanWrap add bouncer itself to the person's servers.
	Serve bool
	// Aside are the entries that PlanWrap leaves as they are whatever else is chosen, by PointerKey, and why.
	Aside map[string]string
	// Originals are what bouncer's store remembers of the file's entries, by PointerKey. It may be nil.
	Originals map[string]Original
}

// Original is how an entry's command and args were written before bouncer wrapped it: their literals.
type Original struct {
	Command string `json:"command"`
	Args    string `json:"args"` // empty when the entry had none
}

// PointerKey is the key of an entry in Options.Originals.
func PointerKey(pointer []string) string { return strings.Join(pointer, "\x00") }

// Change is one file before and after. Dry run prints it, apply writes it, undo reverses it.
type Change struct {
	Path          string
	Before, After []byte
	Mode          fs.FileMode
	Lock          bool
	New           bool // there is no file before, and Before is empty
	Gone          bool // there is none after, and After is empty
}

// Plan is what would happen to one file.
type Plan struct {
	Change
	File    File
	Steps   []Step
	Unadded string // why bouncer itself was not added although that was asked for

	edits []jsonc.Edit // what makes After of Before, as far as the planner knows
}

// Step is what would happen to one entry.
type Step struct {
	Entry    Entry
	Action   Action
	Reason   string   // for a skipped one
	Original Original // of one to be wrapped: what bouncer's store should remember
}

// Action is what a plan does with an entry.
type Action string

// The actions.
const (
	Wrap     Action = "wrap"
	Rewrap   Action = "rewrap" // launcher or flags out of date
	Unwrap   Action = "unwrap"
	Drop     Action = "drop"   // take a stale sentinel away
	Record   Action = "record" // write the sentinel anew
	AddHook  Action = "hook"   // have the client tell bouncer what the person types
	MoveHook Action = "rehook" // its command is out of date
	DropHook Action = "unhook"
	AddOwn   Action = "add"   // bouncer itself, as a server
	MoveOwn  Action = "renew" // its entry is out of date
	DropOwn  Action = "remove"
	Keep     Action = "keep"  // already as wanted
	FromPlan Action = "apply" // what a record calls a wrap that was planned in a file
	Skip     Action = "skip"  // can't be done, or not chosen; Reason says why
)
