package approve

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// State is what bouncer seals into requestState so that a retry can be recognised (2026-07-28 clients).
type State struct {
	Tool     string
	Digest   [32]byte // of the exact arguments
	Pairs    []engine.Pair
	Expires  time.Time
	Approved bool   // the person has said yes; Upstream is the server's own state
	Upstream string // requestState of the upstream, when HasUp
	HasUp    bool
	Key      string   // inputRequests key that carries bouncer's question
	Always   []string // of the question
}

// Digest binds a tool to the exact bytes of its arguments, since what was asked about is what must be forwarded.
// No arguments and an empty object differ.
func Digest(tool string, args wire.Value) [32]byte {
	head := binary.AppendUvarint(nil, uint64(len(tool)))
	head = append(head, tool...)
	if args != nil {
		head = append(head, 1)
	}
	h := sha256.New()
	h.Write(head) // a hash never fails to write
	h.Write(args)
	return [32]byte(h.Sum(nil))
}

// Errors of Open.
var (
	ErrForged  = errors.New("not sealed by this process")
	ErrExpired = errors.New("expired")
	ErrUsed    = errors.New("used before")
)

const (
	sealPrefix = "bouncer1." // the version of the format; also what is authenticated beside the state
	nonceSize  = 12
	maxUsed    = 16 << 10 // seals remembered as used; beyond, nothing opens until some expire
)

type nonce [nonceSize]byte

// Sealer seals and opens states with a key of its own process. Each state opens once. It is safe for concurrent use;
// the zero Sealer has no key and refuses everything.
type Sealer struct {
	aead cipher.AEAD

	mu   sync.Mutex
	used map[nonce]time.Time // by when each may be forgotten
	now  time.Time           // the latest seen, so that a clock set back revives nothing
}

// NewSealer makes a sealer with a fresh random key.
func NewSealer() (*Sealer, error) {
	var key [32]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	block, err := aes.NewCipher(key[:])
	if err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, fmt.Errorf("sealing key: %w", err)
	}
	return &Sealer{aead: aead, used: make(map[nonce]time.Time)}, nil
}

// sealed is how a state lies in its envelope. Byte slices keep strings exact, whatever is in them.
type sealed struct {
	Tool     []byte
	Digest   []byte
	Pairs    [][3][]byte // parameter, value, and a byte if it stands for the tool
	Expires  int64
	Approved bool
	Upstream []byte
	HasUp    bool
	Key      []byte
	Always   [][]byte
}

// Sealed reports whether a requestState looks like one of bouncer's, of whatever process.
func Sealed(state string) bool { return strings.HasPrefix(state, sealPrefix) }

// Seal returns an opaque ASCII string.
func (s *Sealer) Seal(st State) (string, error) {
	if s.aead == nil {
		return "", errors.New("sealing: no key")
	}
	pairs := make([][3][]byte, len(st.Pairs))
	for i, p := range st.Pairs {
		pairs[i] = [3][]byte{[]byte(p.Param), []byte(p.Value)}
		if p.Tool {
			pairs[i][2] = []byte{1}
		}
	}
	var always [][]byte
	for _, d := range st.Always {
		always = append(always, []byte(d))
	}
	plain, err := json.Marshal(sealed{
		[]byte(st.Tool), st.Digest[:], pairs, st.Expires.UnixNano(), st.Approved, []byte(st.Upstream), st.HasUp, []byte(st.Key), always,
	})
	if err != nil {
		return "", fmt.Errorf("sealing: %w", err)
	}
	var n nonce
	if _, err := rand.Read(n[:]); err != nil {
		return "", fmt.Errorf("sealing: %w", err)
	}
	return sealPrefix + base64.RawURLEncoding.EncodeToString(s.aead.Seal(n[:], n[:], plain, []byte(sealPrefix))), nil
}

// Open reverses Seal and refuses what is forged, expired at now, or already used.
func (s *Sealer) Open(text string, now time.Time) (State, error) {
	body, ok := strings.CutPrefix(text, sealPrefix)
	if !ok || s.aead == nil {
		return State{}, ErrForged
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(body)
	// The decoder skips line breaks, which would give one envelope many spellings.
	if err != nil || len(raw) < nonceSize || strings.ContainsAny(body, "\r\n") {
		return State{}, ErrForged
	}
	n := nonce(raw)
	plain, err := s.aead.Open(nil, n[:], raw[nonceSize:], []byte(sealPrefix))
	if err != nil {
		return State{}, ErrForged
	}
	var in sealed
	if err := json.Unmarshal(plain, &in); err != nil || len(in.Digest) != sha256.Size {
		return State{}, ErrForged
	}
	st := State{
		Tool: string(in.Tool), Digest: [32]byte(in.Digest), Expires: time.Unix(0, in.Expires),
		Approved: in.Approved, Upstream: string(in.Upstream), HasUp: in.HasUp, Key: string(in.Key),
	}
	for _, p := range in.Pairs {
		st.Pairs = append(st.Pairs, engine.Pair{Param: string(p[0]), Value: string(p[1]), Tool: len(p[2]) > 0})
	}
	for _, d := range in.Always {
		st.Always = append(st.Always, string(d))
	}
	if err := s.use(n, st.Expires, now); err != nil {
		return State{}, err
	}
	return st, nil
}

// use takes note that an envelope was opened.
func (s *Sealer) use(n nonce, expires, now time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.After(s.now) {
		s.now = now
	}
	if !expires.After(s.now) {
		return ErrExpired
	}
	if _, ok := s.used[n]; ok {
		return ErrUsed
	}
	if len(s.used) >= maxUsed {
		for old, until := range s.used {
			if !until.After(s.now) {
				delete(s.used, old)
			}
		}
	}
	if len(s.used) >= maxUsed {
		return ErrUsed
	}
	s.used[n] = expires
	return nil
}
