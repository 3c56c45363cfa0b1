package wrap

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/clients"
)

// draftVersion is the format of a Draft. Another one is refused: nobody could say what it means.
const draftVersion = 1

// Draft is what stays of plans between planning and applying, in a file for review. It holds which servers are wrapped, which
// bytes that touches and what the files hash to, but no byte of theirs: the changes are planned anew when they are applied,
// and refused unless they come out the same to the byte.
type Draft struct {
	Version  int         `json:"version"`
	Time     time.Time   `json:"time"`
	Launcher string      `json:"launcher"`
	Policies []string    `json:"policies"`
	Profile  string      `json:"profile"`
	Key      []string    `json:"key,omitzero"` // where the servers stand in the files, when a person had to say that
	Files    []DraftFile `json:"files"`
}

// DraftFile is one file of a Draft.
type DraftFile struct {
	Client  string       `json:"client"`
	Path    string       `json:"path"`
	Before  string       `json:"before"` // SHA-256 in hexadecimal
	After   string       `json:"after"`
	Entries []DraftEntry `json:"entries"`
	Spans   []Span       `json:"spans"`
}

// DraftEntry is one server that a Draft wraps, or a hook that it writes.
type DraftEntry struct {
	Scope   clients.Scope `json:"scope"`
	Pointer []string      `json:"pointer"` // keys from the root of the file
	Action  Action        `json:"action"`
}

// Span says that the bytes from Start up to End give their place to as many as Length.
type Span struct {
	Start  int `json:"start"`
	End    int `json:"end"`
	Length int `json:"length"`
}

// NewDraft keeps what PlanWrap has planned with options. Plans that change nothing are left out.
func NewDraft(plans []Plan, o Options, now time.Time) Draft {
	d := Draft{
		Version: draftVersion, Time: now.UTC().Truncate(time.Second), Launcher: o.Launcher,
		Policies: append([]string{}, o.Policies...), Profile: o.Profile, Files: []DraftFile{},
	}
	for _, p := range plans {
		if !bytes.Equal(p.Before, p.After) {
			d.Files = append(d.Files, draftFile(p))
		}
	}
	return d
}

func draftFile(p Plan) DraftFile {
	f := DraftFile{
		Client: p.File.Client, Path: p.Path, Before: digest(p.Before), After: digest(p.After),
		Entries: []DraftEntry{}, Spans: p.spans(),
	}
	for _, step := range p.Steps {
		if slices.Contains([]Action{Wrap, Rewrap, AddHook, MoveHook, AddOwn, MoveOwn}, step.Action) {
			f.Entries = append(f.Entries, DraftEntry{Scope: step.Entry.Scope, Pointer: step.Entry.Pointer, Action: step.Action})
		}
	}
	return f
}

func (p Plan) spans() []Span {
	list := []Span{}
	for _, s := range p.splices() {
		list = append(list, Span{Start: s.Start, End: s.End, Length: len(s.Text)})
	}
	return list
}

// Encode writes a draft as its file has it.
func (d Draft) Encode() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return b.Bytes(), err
}

// ParseDraft reads a draft's file. It must be as Encode wrote it: what is read from an edited one could be something else than
// what a reviewer saw, as with a key that stands twice.
func ParseDraft(data []byte) (Draft, error) {
	var d Draft
	if err := json.Unmarshal(data, &d); err != nil {
		return Draft{}, fmt.Errorf("no plan: %w", err)
	}
	if d.Version != draftVersion {
		return Draft{}, fmt.Errorf("a plan of version %d; this bouncer knows version %d", d.Version, draftVersion)
	}
	if again, err := d.Encode(); err != nil || !bytes.Equal(again, data) {
		return Draft{}, errors.New("not as bouncer wrote it: a plan can't be edited")
	}
	return d, nil
}

// Paths are the files that a draft changes.
func (d Draft) Paths() []string {
	var list []string
	for _, f := range d.Files {
		list = append(list, f.Path)
	}
	return list
}

// Plan plans anew what the draft says about a file. It refuses, with a *FileError, a file that has changed (ErrChanged), and
// whatever would come out otherwise than it was reviewed.
func (d Draft) Plan(f File, o Options) (Plan, error) {
	i := slices.IndexFunc(d.Files, func(kept DraftFile) bool { return kept.Path == f.Path })
	if i < 0 {
		return Plan{}, f.fail(errors.New("not in the plan"))
	}
	kept := d.Files[i]
	switch {
	case digest(f.Data) != kept.Before:
		return Plan{}, f.fail(fmt.Errorf("%w that the plan was made for", ErrChanged))
	case o.Launcher != d.Launcher:
		return Plan{}, f.fail(fmt.Errorf("the plan starts servers by %s, and this bouncer would by %s", d.Launcher, o.Launcher))
	}
	o.Policies, o.Profile = d.Policies, d.Profile
	o.Servers, o.Scopes, o.Pointers, o.Serve = nil, nil, map[string]bool{}, false
	for _, e := range kept.Entries {
		o.Pointers[PointerKey(e.Pointer)] = true
		o.Serve = o.Serve || e.Action == AddOwn
	}
	p, err := PlanWrap(f, o)
	if err != nil {
		return Plan{}, err
	}
	now := draftFile(p)
	if now.After != kept.After || !slices.Equal(now.Spans, kept.Spans) || !slices.EqualFunc(now.Entries, kept.Entries, equalEntry) {
		return Plan{}, f.fail(errors.New("this bouncer would not write what was planned"))
	}
	return p, nil
}

func equalEntry(a, b DraftEntry) bool {
	return a.Scope == b.Scope && a.Action == b.Action && slices.Equal(a.Pointer, b.Pointer)
}
