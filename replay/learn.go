package replay

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/policy"
)

// What has to be seen before it becomes a rule.
const (
	domainFrom   = 5  // addresses that a person agreed to, before their domain is trusted as a whole
	budgetFrom   = 3  // sessions in which a tool was used
	foldersFrom  = 3  // files that a tool wrote
	foldersMost  = 3  // folders that they lie in
	patternFrom  = 10 // calls, all with the argument
	patternMost  = 3  // different values in them
	patternEach  = 3  // calls with each
	longestWord  = 32 // bytes of such a value
	shallowDepth = 2  // names above a folder that is deep enough to be allowed: /home/dana/notes is, /home/dana is not
)

// Lesson is a rule that a log teaches, with what it was learned from.
type Lesson struct {
	Server, Tool string
	Field        string // trusted_destinations, max_calls, write_params, allowed_path_prefixes or arg_patterns
	Values       []Learned
}

// Learned is one value of a field.
type Learned struct {
	Param string // of a pattern
	Value string
	Why   string // how often, and when: a comment on one line
}

// Learn returns the rules that would have let pass what a person agreed to, and that keep tools to what they were used for. It
// trusts nothing that was ever refused, by anybody, or that text aimed at.
func Learn(log *Log, set *policy.Set, servers map[string][]Server) []Lesson {
	l := learning{tools: map[[2]string]*usage{}, refused: map[string]bool{}}
	for _, c := range log.Calls {
		l.distrust(c)
		l.use(c)
	}
	var all []Lesson
	for _, key := range slices.SortedFunc(maps.Keys(l.tools), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		for _, s := range servers[key[0]] {
			tool, known := s.tool(key[1])
			if !known || len(servers[key[0]]) > 1 || !plainName(key[0]) || !plainName(key[1]) {
				continue // which of several servers this was can't be told, or no policy can name it
			}
			bound, _ := engine.Bind(set, policy.Server{Name: key[0], Package: s.Package}, "")
			all = append(all, l.lessons(key, tool, bound.Resolve(tool))...)
		}
	}
	return all
}

// plainName reports whether a policy can name a server or a tool without meaning others, too.
func plainName(s string) bool {
	return s != "" && strings.TrimSpace(s) == s && !strings.ContainsAny(s, "*?") && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f })
}

type learning struct {
	tools   map[[2]string]*usage // by server and tool
	refused map[string]bool      // values, folded
}

// usage is what was done with one tool.
type usage struct {
	calls    []*Call // that passed
	agreed   []agreed
	sessions map[string]int // attempts in each
	most     int            // attempts in one, up to the last that was not simply refused
}

// agreed is one value that a person said yes to.
type agreed struct {
	param, value string
	at           time.Time
}

func fold(value string) string { return strings.ToLower(strings.TrimSpace(value)) }

// distrust remembers what a call was refused for. A question that reached nobody is no refusal.
func (l *learning) distrust(c *Call) {
	for i := range c.Verdicts {
		rec := &c.Verdicts[i]
		denied := rec.Judged() == "deny" && !unasked(rec.Answer)
		for _, e := range rec.Evidence {
			if denied || e.Class == "aimed" {
				l.refused[fold(e.Value)] = true
			}
		}
	}
}

func (l *learning) use(c *Call) {
	rec := c.first()
	key := [2]string{rec.Server, rec.Tool}
	u := l.tools[key]
	if u == nil {
		u = &usage{sessions: map[string]int{}}
		l.tools[key] = u
	}
	u.sessions[rec.Session]++
	judged, ok := c.Judged()
	if ok && verdict(judged) != "deny" {
		u.most = max(u.most, u.sessions[rec.Session])
	}
	if !c.Passed() || ok && verdict(judged) == "deny" { // one that was only observed is no example
		return
	}
	u.calls = append(u.calls, c)
	if answer := c.Answered(); !ok || answer != Once && answer != Session || judged.Contract != "sink_gate" {
		return
	}
	for _, e := range judged.Evidence {
		u.agreed = append(u.agreed, agreed{e.Param, e.Value, judged.Time})
	}
}

func (l *learning) lessons(key [2]string, tool policy.Tool, r policy.Rule) []Lesson {
	u := l.tools[key]
	var all []Lesson
	add := func(field string, values []Learned) {
		if len(values) > 0 {
			all = append(all, Lesson{key[0], key[1], field, values})
		}
	}
	if trusted := l.destinations(u, tool, r); len(trusted) > 0 {
		add("trusted_destinations", append(standing(r), trusted...))
	}
	if !r.Changing {
		return all
	}
	if !r.Limited {
		add("max_calls", u.budget())
	}
	if len(r.AllowedPathPrefixes) == 0 && len(r.WriteParams) > 0 {
		folders := u.folders(r.WriteParams)
		if len(folders) > 0 {
			var params []Learned
			for _, p := range r.WriteParams {
				params = append(params, Learned{Value: p})
			}
			add("write_params", params)
		}
		add("allowed_path_prefixes", folders)
	}
	if len(r.ArgPatterns) == 0 {
		add("arg_patterns", u.patterns(tool, r))
	}
	return all
}

// standing are the destinations that are trusted already: a list in a higher layer takes their place.
func standing(r policy.Rule) []Learned {
	var all []Learned
	for _, item := range r.TrustedDestinations {
		all = append(all, Learned{Value: item, Why: "trusted before"})
	}
	return all
}

// destinations returns what a person agreed to send to.
func (l *learning) destinations(u *usage, tool policy.Tool, r policy.Rule) []Learned {
	var values []string
	dates := map[string][]time.Time{}
	for _, a := range u.agreed {
		item, ok := trustable(a.value)
		if !ok || l.refused[fold(a.value)] || policy.Trusts(r.TrustedDestinations, a.value) || !isDestination(tool, r, a.param) {
			continue
		}
		if dates[item] == nil {
			values = append(values, item)
		}
		dates[item] = append(dates[item], a.at)
	}
	values, domains := l.domains(values)
	var all []Learned
	for _, d := range domains {
		var at []time.Time
		addresses := map[string]bool{}
		for item := range dates {
			if "@"+domainOf(item) == d {
				addresses[fold(item)] = true
				at = append(at, dates[item]...)
			}
		}
		all = append(all, Learned{Value: d, Why: plural(len(addresses), "address", "addresses") + ": " + times(at)})
	}
	for _, v := range values {
		all = append(all, Learned{Value: v, Why: times(dates[v])})
	}
	return all
}

// trustable returns how a policy says that exactly this value is trusted. What an allowlist would read as more than one value,
// and what the log has not kept whole, is nothing to learn from.
func trustable(value string) (item string, ok bool) {
	if strings.ContainsAny(value, "*\n") || strings.HasPrefix(value, "@") || strings.Contains(value, "[masked]") || wasCut(value) {
		return "", false
	}
	item = strings.TrimSpace(value)
	if at := strings.Index(item, "://"); at >= 0 && !strings.ContainsAny(item[at+len("://"):], "/?#") {
		item += "/" // without a path it would stand for all of them
	}
	return item, policy.Trusts([]string{item}, value) && !doubtful(item)
}

// isDestination reports whether an argument is one that a rule or its name makes a destination, and no object.
func isDestination(tool policy.Tool, r policy.Rule, param string) bool {
	plain := plainPath(param)
	is := func(path string) bool { return plain == path || strings.HasPrefix(plain, path+".") }
	if !r.Exfiltrating || slices.ContainsFunc(r.ObjectParams, is) {
		return false
	}
	return slices.ContainsFunc(r.SinkParams, is) || slices.ContainsFunc(policy.Infer(tool).SinkParams, is)
}

// plainPath is the path of an argument without the numbers of elements.
func plainPath(param string) string {
	var b strings.Builder
	for param != "" {
		head, rest, found := strings.Cut(param, "[")
		b.WriteString(head)
		if !found {
			break
		}
		_, param, _ = strings.Cut(rest, "]")
	}
	return b.String()
}

// domains replaces the addresses of a domain by the domain where there are many of them, none was refused, and the domain is
// somebody's own.
func (l *learning) domains(values []string) (rest, domains []string) {
	addresses := map[string]int{}
	seen := map[string]bool{}
	for _, v := range values {
		if d := domainOf(v); d != "" && !seen[fold(v)] {
			seen[fold(v)] = true
			addresses[d]++
		}
	}
	for _, d := range slices.Sorted(maps.Keys(addresses)) {
		if addresses[d] >= domainFrom && !l.refusedAt(d) && !doubtful("@"+d) {
			domains = append(domains, "@"+d)
		}
	}
	for _, v := range values {
		if !slices.Contains(domains, "@"+domainOf(v)) {
			rest = append(rest, v)
		}
	}
	return rest, domains
}

// domainOf returns the domain of an address, folded.
func domainOf(value string) string {
	_, domain, ok := strings.Cut(fold(value), "@")
	if !ok || !policy.Trusts([]string{"@" + domain}, value) {
		return ""
	}
	return domain
}

func (l *learning) refusedAt(domain string) bool {
	for value := range l.refused {
		if strings.Contains(value, "@"+domain) {
			return true
		}
	}
	return false
}

// doubtful reports whether a policy that trusts an item would be warned about: it is more than one address, or a domain where
// everybody can have one.
func doubtful(item string) bool {
	layer, err := policy.Parse("", []byte("tool: {trusted_destinations: ["+quoted(item)+"]}"))
	return err != nil || len(policy.Check(layer)) > 0
}

// budget returns twice what one session took at most, rounded up. Whatever a person refused counts as well, as it does for a budget.
func (u *usage) budget() []Learned {
	if len(u.sessions) < budgetFrom || len(u.calls) == 0 {
		return nil
	}
	why := "at most " + plural(u.most, "attempt", "attempts") + " in one of " + plural(len(u.sessions), "session", "sessions")
	return []Learned{{Value: itoa(roundUp(2 * u.most)), Why: why}}
}

// roundUp returns the next of 1, 2, 5, 10, 20, 50, ...
func roundUp(n int) int {
	for unit := 1; unit <= math.MaxInt32/10; unit *= 10 {
		for _, step := range []int{1, 2, 5} {
			if step*unit >= n {
				return step * unit
			}
		}
	}
	return math.MaxInt32
}

// patterns returns the arguments that were only ever one of a few words.
func (u *usage) patterns(tool policy.Tool, r policy.Rule) []Learned {
	if len(u.calls) < patternFrom {
		return nil
	}
	counts, present := map[string]map[string]int{}, map[string]int{}
	for _, c := range u.calls {
		for name, value := range c.first().Args.Members() {
			text, ok := value.Text()
			if !ok || !isWord(text) {
				continue
			}
			if counts[name] == nil {
				counts[name] = map[string]int{}
			}
			counts[name][text]++
			present[name]++
		}
	}
	judged := slices.Concat(r.SinkParams, r.ObjectParams, r.WriteParams, policy.Infer(tool).WriteParams)
	var all []Learned
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		words := slices.Sorted(maps.Keys(counts[name]))
		rare := slices.ContainsFunc(words, func(w string) bool { return counts[name][w] < patternEach })
		if present[name] != len(u.calls) || len(words) > patternMost || rare || slices.Contains(judged, name) || strings.Contains(name, ".") {
			continue
		}
		pattern := strings.Join(words, "|")
		pattern = strings.ReplaceAll(pattern, ".", `\.`)
		all = append(all, Learned{name, pattern, "in all of " + plural(len(u.calls), "call", "calls")})
	}
	return all
}

// isWord reports whether a text looks like one of a few fixed words, and not like something that was written.
func isWord(s string) bool {
	return s != "" && len(s) <= longestWord && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-", r)
	})
}

func times(at []time.Time) string {
	n := len(at)
	at = slices.SortedFunc(slices.Values(at), time.Time.Compare)
	first, last := at[0].UTC().Format(time.DateOnly), at[len(at)-1].UTC().Format(time.DateOnly)
	when := first
	if first != last {
		when = first + " to " + last
	}
	return "agreed to " + cmp.Or(map[int]string{1: "once", 2: "twice"}[n], itoa(n)+" times") + ", " + when
}

// Span returns when the calls of a log were made.
func (l *Log) Span() (first, last time.Time) {
	for _, c := range l.Calls {
		at := c.first().Time
		if first.IsZero() || at.Before(first) {
			first = at
		}
		if at.After(last) {
			last = at
		}
	}
	return first, last
}
