package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// The limits of what a record repeats. Together they keep every record well below maxRecord.
const (
	maxText   = 256     // bytes of one string
	maxReason = 4 << 10 // bytes of a reason, which may list many destinations
	maxArgs   = 16 << 10
	maxDepth  = 64 // of args
	maxList   = 50 // elements of evidence and of layers
	maxRecord = 1 << 20
)

// appendTime appends a time as RFC 3339 with microseconds has it, always as wide.
func appendTime(dst []byte, at time.Time) []byte {
	at = at.UTC()
	dst = at.AppendFormat(dst, time.RFC3339) // the one form that package time writes without reading a layout
	dst[len(dst)-1] = '.'                    // instead of the Z
	for micros, unit := at.Nanosecond()/1000, 100_000; unit > 0; unit /= 10 {
		dst = append(dst, byte('0'+micros/unit%10))
	}
	return append(dst, 'Z')
}

// record builds one line. Its buffers are reused.
type record struct {
	body    []byte // from the comma before time to before the comma of hash
	text    []byte // a string being looked at
	altered bool   // something in args was masked or cut
}

func (r *record) verdict(v *Verdict) {
	r.begin("verdict", v.Time, v.Session)
	r.field("client", v.Client, maxText)
	r.field("server", v.Server, maxText)
	r.number("call", v.Call)
	r.field("tool", v.Tool, maxText)
	r.name("args")
	r.args(v.Args)
	r.field("verdict", v.Verdict, maxText)
	if v.Observed != "" {
		r.field("observed", v.Observed, maxText)
	}
	r.field("reason", v.Reason, maxReason)
	r.field("contract", v.Contract, maxText)
	r.layers(v.Layers)
	r.evidence(v.Evidence)
	if v.Answer != "" {
		r.field("answer", v.Answer, maxText)
	}
	if v.Channel != "" {
		r.field("channel", v.Channel, maxText)
	}
}

func (r *record) result(v *Result) {
	r.begin("result", v.Time, v.Session)
	r.field("server", v.Server, maxText)
	r.number("call", v.Call)
	r.field("tool", v.Tool, maxText)
	r.field("outcome", v.Outcome, maxText)
	r.name("ms")
	r.body = strconv.AppendFloat(r.body, float64(v.Duration)/float64(time.Millisecond), 'f', 3, 64)
	r.number("bytes", uint64(max(v.Bytes, 0)))
}

// seal gives a record its place in the chain: it appends the finished line to dst, and returns the record's hash.
func seal(dst, body []byte, seq uint64, prev string) (lines []byte, hash string) {
	start := len(dst)
	dst = append(dst, `{"seq":`...)
	dst = strconv.AppendUint(dst, seq, 10)
	dst = append(dst, `,"prev":"`...)
	dst = append(dst, prev...)
	dst = append(dst, '"')
	dst = append(dst, body...)
	sum := sha256.Sum256(dst[start:])
	dst = append(dst, hashMember...)
	at := len(dst)
	dst = hex.AppendEncode(dst, sum[:])
	hash = string(dst[at:])
	return append(dst, "\"}\n"...), hash
}

func (r *record) begin(kind string, at time.Time, session string) {
	r.body = append(r.body[:0], `,"time":"`...)
	r.body = appendTime(r.body, at)
	r.body = append(r.body, `","kind":"`...)
	r.body = append(r.body, kind...)
	r.body = append(r.body, '"')
	r.field("session", session, maxText)
}

// name begins a member. Only names that need no escaping are used.
func (r *record) name(name string) {
	r.body = append(r.body, `,"`...)
	r.body = append(r.body, name...)
	r.body = append(r.body, `":`...)
}

func (r *record) number(name string, n uint64) {
	r.name(name)
	r.body = strconv.AppendUint(r.body, n, 10)
}

func (r *record) field(name, value string, limit int) {
	r.name(name)
	r.string(value, limit)
}

// list appends n elements, or the first of them and the number of those left out in a member of its own.
func (r *record) list(name string, n int, elem func(i int)) {
	r.name(name)
	r.body = append(r.body, '[')
	for i := range min(n, maxList) {
		if i > 0 {
			r.body = append(r.body, ',')
		}
		elem(i)
	}
	r.body = append(r.body, ']')
	if n > maxList {
		r.number(name+"_left_out", uint64(n-maxList))
	}
}

func (r *record) layers(layers []string) {
	r.list("layers", len(layers), func(i int) { r.string(layers[i], maxText) })
}

func (r *record) evidence(all []Evidence) {
	r.list("evidence", len(all), func(i int) {
		e := &all[i]
		value := e.Value
		if secretName(e.Param) {
			value = mask
		}
		r.body = append(r.body, `{"param":`...)
		r.string(e.Param, maxText)
		r.field("value", value, maxText)
		if e.Role != "" {
			r.field("role", e.Role, maxText)
		}
		r.field("class", e.Class, maxText)
		r.field("server", e.Server, maxText)
		r.field("tool", e.Tool, maxText)
		r.field("path", e.Path, maxText)
		r.field("snippet", e.Snippet, maxText)
		r.body = append(r.body, '}')
	})
}

// args appends the arguments with secrets masked and long strings cut, or only their size and digest when they are too much.
func (r *record) args(v wire.Value) {
	start := len(r.body)
	if v == nil {
		r.body = append(r.body, "null"...)
		return
	}
	r.altered = false
	if r.value(v, start+maxArgs, maxDepth) && (!r.altered || strict(r.body[start:])) {
		return
	}
	sum := sha256.Sum256(v)
	r.body = fmt.Appendf(r.body[:start], `{"cut":true,"bytes":%d,"sha256":"%x"}`, len(v), sum)
}

// strict reports whether what was altered is still good JSON: two member names may have become one.
func strict(raw []byte) bool {
	_, err := wire.ParseValue(raw)
	return err == nil
}

// value appends v without white space. It gives up and returns false when the body grows beyond end or v nests beyond depth.
func (r *record) value(v wire.Value, end, depth int) bool {
	if len(r.body) > end || depth < 0 {
		return false
	}
	switch v.Kind() {
	case '{':
		r.body = append(r.body, '{')
		first := true
		for name, member := range v.Members() {
			r.comma(&first)
			r.string(name, maxText)
			r.body = append(r.body, ':')
			if secretName(name) && mayHoldSecret(member) {
				r.altered = true
				r.body = append(r.body, `"`+mask+`"`...)
			} else if !r.value(member, end, depth-1) {
				return false
			}
		}
		r.body = append(r.body, '}')
	case '[':
		r.body = append(r.body, '[')
		first := true
		for elem := range v.Elems() {
			r.comma(&first)
			if !r.value(elem, end, depth-1) {
				return false
			}
		}
		r.body = append(r.body, ']')
	case '"':
		r.leaf(v)
	default:
		r.body = append(r.body, v...) // as it is spelled: no number is rounded
	}
	return len(r.body) <= end
}

func (r *record) comma(first *bool) {
	if !*first {
		r.body = append(r.body, ',')
	}
	*first = false
}

// leaf appends a string value in its own spelling, which keeps even a lone surrogate, unless it has to be altered.
func (r *record) leaf(v wire.Value) {
	text := []byte(v[1 : len(v)-1])
	if bytes.IndexByte(text, '\\') >= 0 {
		r.text, _ = v.AppendText(r.text[:0])
		text = r.text
	}
	if len(text) <= maxText && !hasSecret(text) {
		r.body = append(r.body, v...)
		return
	}
	r.shorten(text, maxText)
}

// string appends s as a JSON string, masked, and cut when longer than limit.
func (r *record) string(s string, limit int) {
	r.text = append(r.text[:0], s...)
	if len(s) <= limit && !hasSecret(r.text) {
		r.body = wire.AppendQuoted(r.body, s)
		return
	}
	r.shorten(r.text, limit)
}

// shorten appends text with its secrets masked. Of a text longer than limit only the beginning stays, with the size and digest of
// the whole, by which somebody who has the text can tell that it was this one.
func (r *record) shorten(text []byte, limit int) {
	r.altered = true
	if len(text) <= limit {
		r.body = wire.AppendQuoted(r.body, string(appendMasked(nil, text, len(text))))
		return
	}
	keep := limit / 4
	for keep > 0 && !utf8.RuneStart(text[keep]) {
		keep--
	}
	sum := sha256.Sum256(text)
	cut := fmt.Appendf(appendMasked(nil, text, keep), "… (%d bytes, sha256:%x)", len(text), sum[:8])
	r.body = wire.AppendQuoted(r.body, string(cut))
}
