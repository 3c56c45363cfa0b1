package policy

import (
	"iter"
	"slices"
)

// The profiles. Observe is none by itself: calls pass, and what would become of them follows from the next profile that
// is named.
const (
	ProfileBalanced = "balanced"
	ProfileStrict   = "strict" // under which deletes have a budget
	ProfileObserve  = "observe"
)

// Profiles returns the names of all profiles.
func Profiles() []string { return []string{ProfileBalanced, ProfileStrict, ProfileObserve} }

// Profile returns the profile that the server's calls are judged under, as the caller or else the highest layer has it;
// empty when none is named. A tool may have another one: see Rule.
func (s *Set) Profile() string {
	profile, _, _ := s.profileOf(nil)
	return profile
}

// Observes reports whether the server's calls pass whatever is found, unless a tool has a profile of its own.
func (s *Set) Observes() bool {
	_, observed, _ := s.profileOf(nil)
	return observed
}

// profileOf returns what Rule has of a tool, and the entry that decided it, if it was one. Without a tool it is about the
// server.
func (s *Set) profileOf(tool *Tool) (profile string, observed bool, by source) {
	for p, at := range s.profiles(tool) {
		if !observed { // the first one decides
			by = at
		}
		if p != ProfileObserve {
			return p, observed, by
		}
		observed = true
	}
	return "", observed, by
}

// profiles ranges over every profile that is named, the one that counts most first: the caller's, then layer by layer. Each
// comes with its entry; the zero source where that is none.
func (s *Set) profiles(tool *Tool) iter.Seq2[string, source] {
	return func(yield func(string, source) bool) {
		if s == nil || s.profile != "" && !yield(s.profile, source{}) {
			return
		}
		for _, l := range s.layers {
			if !l.Pack && !l.eachProfile(s.server, tool, yield) {
				return
			}
		}
	}
}

// eachProfile hands over the layer's profiles. That of a section counts like an entry for all of its tools, and that of the
// file when no other does.
func (l *Layer) eachProfile(of Server, tool *Tool, yield func(string, source) bool) bool {
	type choice struct {
		profile string
		rank    rank
		by      source
	}
	var all []choice
	add := func(c choice) {
		i := 0 // the most specific first, and of equals the later
		for i < len(all) && all[i].rank.compare(c.rank) > 0 {
			i++
		}
		all = slices.Insert(all, i, c)
	}
	for _, s := range l.parsed().sections {
		if k, ok := (scoped{server: s.server, tool: "*"}).matches(of, ""); ok && s.profile != "" {
			add(choice{s.profile, k, source{}})
		}
	}
	if tool != nil {
		for _, e := range l.parsed().rules {
			if e.profile == "" {
				continue
			}
			if k, ok := e.matches(of, tool.Name); ok {
				add(choice{e.profile, k, l.place(e)})
			}
		}
	}
	for _, c := range all {
		if !yield(c.profile, c.by) {
			return false
		}
	}
	return l.Profile == "" || yield(l.Profile, source{})
}
