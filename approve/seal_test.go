package approve

import (
	"encoding/base64"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/engine"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 123, time.UTC)

func asked() State {
	return State{
		Tool:     "send\xff",
		Digest:   Digest("send", []byte(`{"to":"x"}`)),
		Pairs:    []engine.Pair{{Param: "to", Value: "x\u2028\x00"}, {Param: "cc", Value: ""}},
		Expires:  noon.Add(time.Minute),
		Upstream: "\x80 opaque",
		HasUp:    true,
		Key:      "k",
		Always:   []string{"x\u2028\x00", ""},
	}
}

func newSealer(t testing.TB) *Sealer {
	t.Helper()
	s, err := NewSealer()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func seal(t testing.TB, s *Sealer, st State) string {
	t.Helper()
	text, err := s.Seal(st)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestSealOpensOnce(t *testing.T) {
	s := newSealer(t)
	for _, st := range []State{asked(), {Expires: noon.Add(time.Hour), Approved: true}} {
		text := seal(t, s, st)
		if !Sealed(text) || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
			t.Errorf("not recognisable plain ASCII: %q", text)
		}
		got, err := s.Open(text, noon)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Expires.Equal(st.Expires) {
			t.Errorf("expires %v, want %v", got.Expires, st.Expires)
		}
		got.Expires = st.Expires
		if !reflect.DeepEqual(got, st) {
			t.Errorf("got %+v\nwant %+v", got, st)
		}
		if _, err := s.Open(text, noon); !errors.Is(err, ErrUsed) {
			t.Errorf("a second time: %v", err)
		}
	}
}

func TestSealExpires(t *testing.T) {
	s := newSealer(t)
	text := seal(t, s, asked())
	if _, err := s.Open(text, asked().Expires); !errors.Is(err, ErrExpired) {
		t.Errorf("at its expiry: %v", err)
	}
	if _, err := s.Open(text, noon); !errors.Is(err, ErrExpired) {
		t.Errorf("after the clock was set back: %v", err)
	}
	if _, err := s.Open(seal(t, s, State{}), noon); !errors.Is(err, ErrExpired) {
		t.Errorf("without an expiry: %v", err)
	}
}

func TestSealIsOfThisProcess(t *testing.T) {
	s := newSealer(t)
	if _, err := s.Open(seal(t, newSealer(t), asked()), noon); !errors.Is(err, ErrForged) {
		t.Errorf("another key: %v", err)
	}
	text := seal(t, s, asked())
	for _, forged := range []string{"", "bouncer1.", "bouncer2." + text[len(sealPrefix):], text[len(sealPrefix):], text + "\n", text + "=", text[:20] + "\n" + text[20:], strings.ToUpper(text)} {
		if _, err := s.Open(forged, noon); !errors.Is(err, ErrForged) {
			t.Errorf("%q: %v", forged, err)
		}
	}
	if _, err := (&Sealer{}).Open(text, noon); !errors.Is(err, ErrForged) {
		t.Errorf("no key: %v", err)
	}
	if _, err := (&Sealer{}).Seal(asked()); err == nil {
		t.Error("a sealer without a key seals")
	}
}

func TestUsedSealsAreBounded(t *testing.T) {
	s := newSealer(t)
	for range maxUsed {
		if _, err := s.Open(seal(t, s, asked()), noon); err != nil {
			t.Fatal(err)
		}
	}
	late := asked()
	late.Expires = noon.Add(time.Hour)
	text := seal(t, s, late)
	if _, err := s.Open(text, noon); !errors.Is(err, ErrUsed) {
		t.Errorf("one more than is remembered: %v", err)
	}
	if _, err := s.Open(text, noon.Add(2*time.Minute)); err != nil {
		t.Errorf("when the others have expired: %v", err)
	}
	if len(s.used) != 1 {
		t.Errorf("%d are still remembered", len(s.used))
	}
}

func TestOnlyOneOfManyOpens(t *testing.T) {
	s := newSealer(t)
	text := seal(t, s, asked())
	var opened atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if _, err := s.Open(text, noon); err == nil {
				opened.Add(1)
			}
		})
	}
	wg.Wait()
	if n := opened.Load(); n != 1 {
		t.Errorf("%d opened it", n)
	}
}

func TestDigest(t *testing.T) {
	seen := map[[32]byte]string{}
	for _, c := range []struct{ tool, args string }{
		{"a", `{}`}, {"a", `{ }`}, {"b", `{}`}, {"a{", `}`}, {"", `a{}`},
	} {
		d := Digest(c.tool, []byte(c.args))
		if other, ok := seen[d]; ok {
			t.Errorf("%v has the digest of %s", c, other)
		}
		seen[d] = c.tool + c.args
	}
	if Digest("a", nil) == Digest("a", []byte{}) {
		t.Error("absent and empty arguments are the same")
	}
	if again := Digest("b", []byte(`{}`)); seen[again] != "b{}" {
		t.Error("the same call has two digests")
	}
}

func FuzzOpen(f *testing.F) {
	s := newSealer(f)
	good := seal(f, s, asked())
	raw, err := base64.RawURLEncoding.DecodeString(good[len(sealPrefix):])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(0, byte(0), good)
	f.Add(5, byte(1), "bouncer1.AAAA")
	f.Add(len(raw)-1, byte(128), sealPrefix)
	f.Fuzz(func(t *testing.T, at int, flip byte, text string) {
		if _, err := s.Open(text, noon); err == nil && text != good {
			t.Fatalf("%q opens", text)
		}
		if at < 0 || flip == 0 {
			return
		}
		changed := append([]byte(nil), raw...)
		changed[at%len(changed)] ^= flip
		if _, err := s.Open(sealPrefix+base64.RawURLEncoding.EncodeToString(changed), noon); !errors.Is(err, ErrForged) {
			t.Fatalf("byte %d changed by %d: %v", at%len(changed), flip, err)
		}
	})
}
