package approve

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/session"
)

// LateFor is how long a question stays open when its call has been refused for want of an answer: a yes then counts when the
// same call comes again.
const LateFor = 10 * time.Minute

const (
	storeFormat = 1
	maxStored   = 64 << 10 // bytes of a file in the store
	idLength    = 16
)

// Waiting is an open question, as whoever answers it gets to see it.
type Waiting struct {
	ID       string    `json:"id"`
	Number   int       `json:"number"` // tells questions apart that are open at once, from 1
	Client   string    `json:"client"` // empty when unknown
	Server   string    `json:"server"`
	Tool     string    `json:"tool"`
	Headline string    `json:"headline"` // what is about to happen, in one line
	Text     string    `json:"text"`     // the whole question
	Asked    time.Time `json:"asked"`
	Until    time.Time `json:"until"` // from then on a yes counts for the next attempt of the call only

	Always []string `json:"always,omitempty"` // the destinations that a yes for good would trust; none: it is no possible answer
	Policy string   `json:"policy,omitempty"` // the file that this would change
	Diff   string   `json:"diff,omitempty"`   // and how

	Process session.Process `json:"process"` // the client's: nothing that it has started may say yes
}

// CheckCaller returns ErrCaller if this process must not say yes: the agent has a shell, too.
func (w Waiting) CheckCaller() error {
	if w.Process.Began() || session.BelowRun() {
		return ErrCaller
	}
	return nil
}

// stored is the file of a question.
type stored struct {
	Format int             `json:"format"`
	Digest string          `json:"digest"` // of the call
	Run    session.Process `json:"run"`    // that asks
	Waiting
}

// Reply is an answer from the store.
type Reply struct {
	Answer Answer
	By     string // the channel
}

// storedReply is the file of an answer.
type storedReply struct {
	Format int    `json:"format"`
	Digest string `json:"digest"` // of the call that it is for
	Answer string `json:"answer"`
	By     string `json:"by"`
}

// Posting says what the store tells of a question besides itself.
type Posting struct {
	Client  string          // its name
	Process session.Process // the client's
	For     time.Duration   // how long its call waits
}

// Posted is a question in the store, for the run that asks it.
type Posted struct {
	Question
	store  *Store
	id     string
	digest string
	data   []byte
}

// Post puts a question where anybody can see it who may answer, and numbers it.
func (s *Store) Post(q Question, o Posting) (*Posted, error) {
	if err := s.make(); err != nil {
		return nil, err
	}
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	s.sweep(files)
	q.Number = 1
	for _, other := range s.questions(files) {
		q.Number = max(q.Number, other.Number+1)
	}
	digest := Digest(q.Tool, q.Args)
	p := &Posted{Question: q, store: s, id: newID(), digest: hex.EncodeToString(digest[:])}
	now := time.Now()
	p.data, err = json.Marshal(stored{storeFormat, p.digest, s.self, Waiting{
		ID: p.id, Number: q.Number, Client: show(o.Client, maxName), Server: show(q.Server, maxName), Tool: show(q.Tool, maxName),
		Headline: q.headline(), Text: q.Text(), Asked: now, Until: now.Add(o.For), Always: q.Always, Policy: q.Policy, Diff: q.Diff, Process: o.Process,
	}})
	if err == nil && len(p.data) > maxStored {
		err = errors.New("the question is too long")
	}
	if err != nil {
		return nil, err
	}
	// Nothing is synced: a question does not outlive its run, and a run no power cut.
	fresh, final := s.path(p.id, newEnd), s.path(p.id, askEnd)
	err = os.WriteFile(fresh, p.data, 0o600)
	if err == nil {
		err = os.Rename(fresh, final)
	}
	if err != nil {
		return nil, errors.Join(err, remove(fresh))
	}
	return p, nil
}

// Look returns the answer, once, if there is one.
func (p *Posted) Look() (Reply, bool) {
	path := p.store.path(p.id, answerEnd)
	data, err := readSmall(path)
	if err != nil {
		return Reply{}, false
	}
	reply := p.decode(data)
	asked, err := readSmall(p.store.path(p.id, claimedEnd))
	if err != nil || !bytes.Equal(asked, p.data) {
		reply.Answer = No // whoever has answered read something else
	}
	if err := remove(path); err != nil {
		reply.Answer = No // a yes counts once, so one that stays counts never
	}
	_ = remove(p.store.path(p.id, claimedEnd)) // what nobody waits for is swept
	return reply, true
}

// Wait looks for the answer until there is one or ctx is done.
func (p *Posted) Wait(ctx context.Context) (Reply, bool) {
	look := time.NewTicker(pollEvery)
	defer look.Stop()
	for {
		if reply, ok := p.Look(); ok {
			return reply, true
		}
		select {
		case <-ctx.Done():
			return Reply{}, false
		case <-look.C:
		}
	}
}

// Close takes the question back, or, if somebody has just answered it, returns the answer.
func (p *Posted) Close() (Reply, bool) {
	if errors.Is(p.store.claim(p.id), ErrAnswered) {
		for range 10 { // an answer is written right after its question was claimed
			if r, ok := p.Look(); ok {
				return r, true
			}
			time.Sleep(time.Millisecond)
		}
	}
	for _, end := range []string{askEnd, claimedEnd, answerEnd} {
		_ = remove(p.store.path(p.id, end)) // what stays is swept
	}
	return Reply{}, false
}

// decode reads an answer. What is none for this question is No.
func (p *Posted) decode(data []byte) Reply {
	var in storedReply
	if json.Unmarshal(data, &in) != nil || in.Format != storeFormat || in.Digest != p.digest {
		return Reply{}
	}
	return Reply{answerOf(in.Answer), in.By}
}

func encodeReply(digest string, r Reply) []byte {
	data, err := json.Marshal(storedReply{storeFormat, digest, r.Answer.String(), r.By})
	if err != nil {
		panic(err) // strings always marshal
	}
	return data
}

func (s *Store) path(id, end string) string { return filepath.Join(s.dir, id+end) }

// read reads a question, open or claimed.
func (s *Store) read(id, end string) (stored, error) {
	if !isID(id) {
		return stored{}, fmt.Errorf("%q is no id", id)
	}
	data, err := readSmall(s.path(id, end))
	if err != nil {
		return stored{}, err
	}
	var q stored
	if err := json.Unmarshal(data, &q); err != nil {
		return stored{}, err
	}
	if q.Format != storeFormat || q.ID != id {
		return stored{}, errors.New("no question of this version")
	}
	return q, nil
}

// readSmall reads a file of the store, which nobody else should have written; one that is too long is none.
func readSmall(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxStored {
		return nil, errors.New("no file of the store")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, maxStored))
}

// remove removes a file if it is there.
func remove(path string) error {
	err := patiently(func() error { return os.Remove(path) })
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// patiently moves a file that somebody may be reading: on Windows nobody can meanwhile.
func patiently(move func() error) error {
	err := move()
	for tries := 0; err != nil && !errors.Is(err, os.ErrNotExist) && tries < 20; tries++ {
		time.Sleep(5 * time.Millisecond)
		err = move()
	}
	return err
}

// newID makes an id that nobody guesses.
func newID() string {
	var random [idLength * 5 / 8]byte
	_, _ = rand.Read(random[:]) // it never fails
	return strings.ToLower(base32.StdEncoding.EncodeToString(random[:]))
}

func isID(id string) bool {
	return len(id) == idLength && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
