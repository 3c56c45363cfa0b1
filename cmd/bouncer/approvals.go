package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/internal/term"
)

// byTerminal is the channel that these commands answer through, as the audit log names it.
const byTerminal = "terminal"

func newApprovalsCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "approvals",
		Short: "Answer what waits for you",
		Long: `approvals shows the calls that wait for your word, as long as you let it, and takes your
answer by a key: y once, s for this session, a always, n no. While it is open, calls
wait for you; otherwise they are refused where their client can't ask, and a yes counts
when the same call comes again within ten minutes.

Where standard output is no terminal it prints what waits, once.

The agent has a shell, too. So only a terminal can say yes, and none that the asking
client has started.
` + codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.approvals(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what waits as JSON, once")
	cmd.AddCommand(newApproveCmd(a), newDenyCmd(a))
	return cmd
}

type approveOptions struct {
	id              string
	session, always bool
}

func newApproveCmd(a *app) *cobra.Command {
	var o approveOptions
	cmd := &cobra.Command{
		Use:   "approve ID",
		Short: "Say yes to one call",
		Long: `approve lets the call pass whose question has this ID: once, or with the same values for
the rest of its session, or always, which writes them into your policy. The first four
characters will do, and so will its number. Since another question may have got that
meanwhile, approve then shows what it is about and asks.
` + codes(exitDone, exitFailed, exitMisused),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("bouncer approvals --json lists the ids", "approve takes one id or number")
			}
			if o.session && o.always {
				return misuse("always includes this session", "--session and --always exclude each other")
			}
			o.id = args[0]
			return a.approve(o)
		},
	}
	cmd.Flags().BoolVar(&o.session, "session", false, "for the rest of the session")
	cmd.Flags().BoolVar(&o.always, "always", false, "from now on, by your policy")
	return cmd
}

func newDenyCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "deny ID",
		Short: "Say no to one call",
		Long:  "deny refuses the call whose question has this ID, this number, or an ID that begins so.\n" + codes(exitDone, exitFailed, exitMisused),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("bouncer approvals --json lists the ids", "deny takes one id or number")
			}
			return a.deny(args[0])
		},
	}
}

func (a *app) openApprovals() (*approve.Store, error) {
	at, err := a.kept()
	if err != nil {
		return nil, err
	}
	return approve.OpenStore(at.State)
}

// approvalsReport is what --json prints.
type approvalsReport struct {
	Waiting []approve.Waiting `json:"waiting"`
}

func (a *app) approvals(asJSON bool) error {
	store, err := a.openApprovals()
	if err != nil {
		return err
	}
	if a.interactive && !asJSON && !a.wide {
		return a.answerByKeys(store)
	}
	list, err := store.List()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printJSON(approvalsReport{append([]approve.Waiting{}, list...)})
	}
	if len(list) == 0 {
		a.printf("Nothing waits for you.\n")
		return nil
	}
	for i, w := range list {
		if i > 0 {
			a.printf("\n")
		}
		a.printf("%d  %s  (%s)\n%s\n", w.Number, w.ID, asked(w, time.Now()), w.Text)
	}
	return nil
}

// mayApprove refuses to take a yes from what may be the agent.
func mayApprove(w approve.Waiting) error {
	err := w.CheckCaller()
	if errors.Is(err, approve.ErrCaller) {
		return advise(err, "open a terminal of your own, outside of the client, and answer there")
	}
	return err
}

func (a *app) approve(o approveOptions) error {
	if !a.interactive || !term.Controls() {
		return misuse("open a terminal and run it there", "approve needs a terminal: a person has to say yes")
	}
	store, w, err := a.question(o.id)
	if err != nil {
		return err
	}
	if err := mayApprove(w); err != nil {
		return err
	}
	answer := approve.Once
	switch {
	case o.always:
		answer = approve.Always
	case o.session:
		answer = approve.Session
	}
	if isNumber(o.id) {
		a.printf("%s\n\n", w.Text)
	}
	if answer == approve.Always && len(w.Always) > 0 {
		a.printDiff(w.Diff)
	}
	if isNumber(o.id) {
		if yes, err := a.ask("Allow this call?"); err != nil {
			return err
		} else if !yes {
			a.printf("Nothing was answered.\n")
			return nil
		}
	}
	if err := store.Answer(w.ID, answer, byTerminal); err != nil {
		return unanswered(err)
	}
	a.printf("%s\n", given(w, answer, time.Now()))
	return nil
}

func (a *app) deny(id string) error {
	store, w, err := a.question(id)
	if err != nil {
		return err
	}
	if err := store.Answer(w.ID, approve.No, byTerminal); err != nil {
		return unanswered(err)
	}
	a.printf("%s\n", given(w, approve.No, time.Now()))
	return nil
}

// question is the one that waits under an id, under its beginning, or under a number.
func (a *app) question(id string) (*approve.Store, approve.Waiting, error) {
	store, err := a.openApprovals()
	if err != nil {
		return nil, approve.Waiting{}, err
	}
	list, err := store.List()
	if err != nil {
		return nil, approve.Waiting{}, err
	}
	found := slices.DeleteFunc(slices.Clone(list), func(w approve.Waiting) bool { return !goesBy(w, id) })
	switch len(found) {
	case 1:
		return store, found[0], nil
	case 0:
		return nil, approve.Waiting{}, advise(fmt.Errorf("no question %q waits", id), whatWaits(list))
	}
	return nil, approve.Waiting{}, advise(fmt.Errorf("%d questions begin with %q", len(found), id), whatWaits(found))
}

// leastID is how much of an id tells which is meant.
const leastID = 4

// goesBy reports whether a question is the one that is meant. Digits are a number, although an id may begin with them.
func goesBy(w approve.Waiting, id string) bool {
	if isNumber(id) {
		return strconv.Itoa(w.Number) == id
	}
	return len(id) >= leastID && strings.HasPrefix(w.ID, id)
}

func isNumber(id string) bool {
	return id != "" && len(id) < leastID && strings.Trim(id, "0123456789") == ""
}

// whatWaits is for somebody who has named something else.
func whatWaits(list []approve.Waiting) string {
	const most = 5
	if len(list) == 0 {
		return "it was answered, or taken back; nothing waits now"
	}
	var each []string
	for _, w := range list[:min(len(list), most)] {
		each = append(each, fmt.Sprintf("%d %s (%s)", w.Number, w.ID, w.Tool))
	}
	if more := len(list) - most; more > 0 {
		each = append(each, fmt.Sprintf("and %d more", more))
	}
	return "these wait: " + strings.Join(each, ", ")
}

func unanswered(err error) error {
	if errors.Is(err, approve.ErrNoAlways) {
		return advise(err, "allow it for this session with --session")
	}
	return err
}

// asked says who asks, and since when: the time of day, which doesn't change while somebody reads.
func asked(w approve.Waiting, now time.Time) string {
	who := w.Server
	if w.Client != "" {
		who = w.Client
	}
	s := who + ", since " + w.Asked.Local().Format(time.TimeOnly)
	if now.After(w.Until) {
		s += ", refused meanwhile"
	}
	return s
}

// given says what an answer does.
func given(w approve.Waiting, a approve.Answer, now time.Time) string {
	call := w.Tool + " (" + w.Server + ")"
	if a == approve.No {
		return "Refused: " + call + "."
	}
	s := map[approve.Answer]string{
		approve.Once:    "Allowed once: ",
		approve.Session: "Allowed for this session: ",
		approve.Always:  "Allowed from now on: ",
	}[a] + call + "."
	if now.After(w.Until) {
		s += " The call was refused meanwhile; it passes when the client makes it again."
	}
	return s
}
