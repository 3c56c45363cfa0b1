package session

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

const (
	format  = 1
	maxFile = 64 << 20
)

// ErrDamaged means that a file of pins is not as it was written.
var ErrDamaged = errors.New("not as bouncer wrote it")

// ErrNewer means that a file of pins has a format that this version does not know.
var ErrNewer = errors.New("written by a newer bouncer")

// record is everything kept of one server.
type record struct {
	since        time.Time // zero when nothing has been recorded
	instructions pin
	tools        map[string]*pin
}

// pin is one thing in the form that was accepted and in the form that waits for a person. Of a tool, one of the two is there.
type pin struct{ accepted, pending *definition }

// definition is one form of a tool, or of the instructions.
type definition struct {
	at     time.Time // when it was accepted, or first seen
	digest [sha256.Size]byte
	text   []byte // as the server wrote it; nil when it is known by its digest alone
	keep   bool   // the text goes into the file
}

// define takes a listing, of which texts are kept if all of them together have no more than limit bytes. Two definitions are
// the same if their canonical forms are.
func define(at time.Time, l Listing, limit int) (seen, error) {
	now := seen{tools: make(map[string]*definition, len(l.Tools))}
	total := 0
	if l.Instructions != nil {
		total = len(*l.Instructions)
	}
	for name, raw := range l.Tools {
		total += len(name) + len(raw)
	}
	keep := total <= limit
	if l.Instructions != nil {
		text := []byte(*l.Instructions)
		now.instructions = &definition{at: at, digest: sha256.Sum256(text), text: text, keep: keep}
	}
	for name, raw := range l.Tools {
		v, err := wire.ParseValue(raw)
		if err != nil {
			return seen{}, fmt.Errorf("the definition of the tool %q: %w", name, err)
		}
		now.tools[name] = &definition{at: at, digest: sha256.Sum256(wire.Canonical(v)), text: raw, keep: keep}
	}
	return now, nil
}

// empty reports whether a server has said nothing about itself.
func (s seen) empty() bool {
	return len(s.tools) == 0 && (s.instructions == nil || len(s.instructions.text) == 0)
}

// is reports whether both are the same forms of the same things.
func (s seen) is(other seen) bool {
	same := s.instructions == nil && other.instructions == nil || s.instructions.is(other.instructions)
	return same && maps.EqualFunc(s.tools, other.tools, (*definition).is)
}

func (d *definition) is(other *definition) bool {
	return d != nil && other != nil && d.digest == other.digest
}

// begin takes everything as it is.
func (r *record) begin(at time.Time, now seen) {
	r.since = at
	r.instructions = pin{accepted: now.instructions}
	for name, d := range now.tools {
		r.tools[name] = &pin{accepted: d}
	}
}

// compare holds a listing against the record and notes in it what waits for a person. stale reports whether the record
// now differs from the one in the file.
func (r *record) compare(now seen) (d Differences, stale bool) {
	switch p := &r.instructions; {
	case now.instructions == nil:
	case p.accepted == nil: // not known until now: the first use of them
		p.accepted = now.instructions
		stale = true
	default:
		stale = p.meet(now.instructions)
		if p.pending != nil {
			d.Instructions = p.difference("", now.instructions)
			d.Instructions.Instructions = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.tools)) {
		p := r.tools[name]
		if p == nil {
			p = &pin{}
			r.tools[name] = p
		}
		stale = p.meet(now.tools[name]) || stale
		switch {
		case p.pending == nil:
		case p.accepted == nil:
			d.New = append(d.New, *p.difference(name, now.tools[name]))
		default:
			d.Changed = append(d.Changed, *p.difference(name, now.tools[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.tools)) {
		if now.tools[name] != nil {
			continue
		}
		p := r.tools[name]
		stale = stale || p.pending != nil
		if p.pending = nil; p.accepted == nil {
			delete(r.tools, name)
			continue
		}
		d.Gone = append(d.Gone, *p.difference(name, nil))
	}
	return d, stale
}

// meet notes the form that is there now, unless it is the accepted one.
func (p *pin) meet(now *definition) (changed bool) {
	switch {
	case now.is(p.accepted):
		changed = p.pending != nil
		p.pending = nil
	case !now.is(p.pending):
		changed = true
		p.pending = now
	}
	return changed
}

// difference describes a pin beside the form that is there now, if any.
func (p *pin) difference(name string, now *definition) *Difference {
	d := &Difference{Tool: name}
	if p.accepted != nil {
		d.Old, d.Accepted = p.accepted.text, p.accepted.at
	}
	if now != nil {
		d.New, d.Seen = now.text, p.pending.at
	}
	return d
}

// accept makes d the accepted form. What else is pending goes on being so.
func (p *pin) accept(at time.Time, d *definition) (changed bool) {
	if d.is(p.pending) {
		p.pending = nil
		changed = true
	}
	if d.is(p.accepted) {
		return changed
	}
	own := *d
	own.at = at
	p.accepted = &own
	return true
}

// pending describes what waits for a person.
func (r *record) pending() Differences {
	var d Differences
	if p := r.instructions; p.pending != nil {
		d.Instructions = p.difference("", p.pending)
		d.Instructions.Instructions = true
	}
	for _, name := range slices.Sorted(maps.Keys(r.tools)) {
		switch p := r.tools[name]; {
		case p.pending == nil:
		case p.accepted == nil:
			d.New = append(d.New, *p.difference(name, p.pending))
		default:
			d.Changed = append(d.Changed, *p.difference(name, p.pending))
		}
	}
	return d
}

// waiting is what a person has not accepted yet.
func (r *record) waiting() seen {
	now := seen{instructions: r.instructions.pending, tools: map[string]*definition{}}
	for name, p := range r.tools {
		if p.pending != nil {
			now.tools[name] = p.pending
		}
	}
	return now
}

// slim keeps a record from growing without end by what many different listings have left in it: digests are enough to compare.
func (r *record) slim(limit int) {
	total := 0
	var all []*definition
	for _, p := range append(slices.Collect(maps.Values(r.tools)), &r.instructions) {
		for _, d := range []*definition{p.accepted, p.pending} {
			if d != nil && d.keep {
				total += len(d.text)
				all = append(all, d)
			}
		}
	}
	if total <= limit {
		return
	}
	for _, d := range all {
		d.keep = false
	}
}

// sumStart introduces the last member: the SHA-256 of all that stands before it. It finds what a crash, a disk or an
// editor did; whoever can write the file can compute it, too.
const sumStart = ",\n\"sum\":\""

// encode writes the record, one tool a line. Definitions stand as strings, so that they keep every byte and nest no deeper.
func (r *record) encode(identity string) []byte {
	b := fmt.Appendf(nil, "{\"format\":%d,\n\"identity\":", format)
	b = wire.AppendQuoted(b, identity)
	b = fmt.Appendf(b, ",\n\"since\":%q,\n\"instructions\":", r.since.UTC().Format(time.RFC3339))
	b = r.instructions.append(b)
	b = append(b, ",\n\"tools\":{"...)
	for i, name := range slices.Sorted(maps.Keys(r.tools)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(wire.AppendQuoted(append(b, '\n'), name), ':')
		b = r.tools[name].append(b)
	}
	return withSum(append(b, '}'))
}

func withSum(b []byte) []byte {
	sum := sha256.Sum256(b)
	b = append(b, sumStart...)
	return append(hex.AppendEncode(b, sum[:]), "\"}\n"...)
}

func (p *pin) append(b []byte) []byte {
	b = append(b, '{')
	if p.accepted != nil {
		b = p.accepted.append(append(b, `"accepted":`...))
	}
	if p.pending != nil {
		if p.accepted != nil {
			b = append(b, ',')
		}
		b = p.pending.append(append(b, `"pending":`...))
	}
	return append(b, '}')
}

func (d *definition) append(b []byte) []byte {
	b = fmt.Appendf(b, `{"at":%q,"sha256":"%x"`, d.at.UTC().Format(time.RFC3339), d.digest)
	if d.keep {
		b = wire.AppendQuoted(append(b, `,"text":`...), string(d.text))
	}
	return append(b, '}')
}

// decode reads what encode wrote.
func decode(data []byte) (identity string, r *record, err error) {
	damaged := func(what string) (string, *record, error) {
		return "", nil, fmt.Errorf("%w: %s", ErrDamaged, what)
	}
	v, err := wire.ParseValue(data)
	if err != nil {
		return damaged(err.Error())
	}
	switch n, ok := v.Get("format").Int(); {
	case !ok || n < 1:
		return damaged("no format")
	case n > format:
		return "", nil, fmt.Errorf("%w (format %s)", ErrNewer, strconv.FormatInt(n, 10))
	}
	at := bytes.LastIndex(data, []byte(sumStart))
	if at < 0 {
		return damaged("no sum")
	}
	sum := sha256.Sum256(data[:at])
	if string(data[at+len(sumStart):]) != hex.EncodeToString(sum[:])+"\"}\n" {
		return damaged("its sum is another")
	}
	identity, ok := v.Get("identity").Text()
	if !ok {
		return damaged("no identity")
	}
	r = &record{tools: map[string]*pin{}}
	if r.since, ok = moment(v.Get("since")); !ok {
		return damaged("no time")
	}
	instructions, ok := decodePin(v.Get("instructions"))
	if !ok {
		return damaged("instructions")
	}
	r.instructions = *instructions
	for name, raw := range v.Get("tools").Members() {
		p, ok := decodePin(raw)
		if r.tools[name] = p; !ok || p.accepted == nil && p.pending == nil {
			return damaged(fmt.Sprintf("the tool %q", name))
		}
	}
	return identity, r, nil
}

func decodePin(v wire.Value) (*pin, bool) {
	p := &pin{}
	for _, form := range []struct {
		name string
		to   **definition
	}{{"accepted", &p.accepted}, {"pending", &p.pending}} {
		raw := v.Get(form.name)
		if raw == nil {
			continue
		}
		d, ok := decodeDefinition(raw)
		if !ok {
			return nil, false
		}
		*form.to = d
	}
	return p, true
}

func decodeDefinition(v wire.Value) (*definition, bool) {
	d := &definition{}
	var ok bool
	if d.at, ok = moment(v.Get("at")); !ok {
		return nil, false
	}
	digest, _ := v.Get("sha256").Text()
	if n, err := hex.Decode(d.digest[:], []byte(digest[:min(len(digest), 2*sha256.Size)])); err != nil || n != sha256.Size {
		return nil, false
	}
	if text := v.Get("text"); text != nil {
		d.text, d.keep = text.AppendText([]byte{})
	}
	return d, true
}

func moment(v wire.Value) (time.Time, bool) {
	text, _ := v.Text()
	t, err := time.Parse(time.RFC3339, text)
	return t, err == nil && !t.IsZero()
}

// readFile reads a file that is not unreasonably large.
func readFile(path string) ([]byte, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if err := atomicfile.CheckPrivate(info); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %w: %d bytes", path, ErrDamaged, info.Size())
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return data, nil
}
