package wrap

import (
	"slices"
	"strings"
	"time"
)

// Past is what bouncer's store tells of the servers of one file.
type Past struct {
	Wrapped map[string]time.Time // servers that were wrapped and that nobody has unwrapped since, by PointerKey: when
	Known   map[string]bool      // servers that stood in the file when init last wrapped some of it, by PointerKey; nil when it never did
}

// Undone says when an entry was wrapped that starts without bouncer now although nobody has unwrapped it; zero for others.
func (p Past) Undone(e Entry) time.Time {
	if e.State != Plain {
		return time.Time{}
	}
	return p.Wrapped[PointerKey(e.Pointer)]
}

// Came reports whether an entry, one of all those of its file, starts without bouncer and came after init into a file whose
// servers are meant to be wrapped: one of them is, or was until something undid that.
func (p Past) Came(e Entry, all []Entry) bool {
	if e.State != Plain || p.Known == nil || p.Known[PointerKey(e.Pointer)] {
		return false
	}
	return slices.ContainsFunc(all, func(other Entry) bool { return other.State == Wrapped || !p.Undone(other).IsZero() })
}

// History is all that was ever applied, read once.
type History struct {
	store       *Store
	generations []Generation
}

// History reads the records. What can't be read is not remembered: it only means that less can be found out.
func (s *Store) History() History {
	generations, err := s.Generations()
	if err != nil {
		generations = nil
	}
	return History{s, generations}
}

// Len is how many generations there are.
func (h History) Len() int { return len(h.generations) }

// Past returns what is remembered of a file. known are launchers that count as bouncer, as in Entries.
func (h History) Past(f File, known ...string) Past {
	names := map[string]time.Time{}
	p := Past{Wrapped: map[string]time.Time{}}
	for _, g := range h.generations {
		i := slices.IndexFunc(g.Files, func(saved Saved) bool { return saved.Path == f.Path })
		if i < 0 || g.Reversed {
			continue
		}
		if h.unwraps(g) {
			if h.emptied(f, g, i, known) {
				clear(names) // also of what others had taken out before
			}
			for _, name := range g.Files[i].Entries {
				delete(names, name)
			}
			continue
		}
		for _, name := range g.Files[i].Entries {
			names[name] = g.Time
		}
	}
	if len(names) == 0 {
		return p
	}
	// A record names servers; which entries of that name they were, the originals tell.
	for key := range h.store.Originals(f.Path) {
		if when, ok := names[key[strings.LastIndexByte(key, 0)+1:]]; ok {
			p.Wrapped[key] = when
		}
	}
	p.Known = h.known(f, known)
	return p
}

// Hooked says when bouncer put a hook into settings that nobody has taken out since through bouncer; zero for never.
func (h History) Hooked(f File) time.Time {
	var when time.Time
	for _, g := range h.generations {
		i := slices.IndexFunc(g.Files, func(saved Saved) bool { return saved.Path == f.Path && saved.Hook == f.Hook.Event })
		switch {
		case i < 0 || g.Reversed:
		case h.unwraps(g):
			when = time.Time{}
		default:
			when = g.Time
		}
	}
	return when
}

// unwraps reports whether a generation took bouncer away: by unwrapping, or by undoing what had put it there.
func (h History) unwraps(g Generation) bool {
	if g.Undoes == 0 {
		return g.Command == string(Unwrap)
	}
	i := slices.IndexFunc(h.generations, func(other Generation) bool { return other.Number == g.Undoes })
	return i < 0 || g.Undoes >= g.Number || !h.unwraps(h.generations[i])
}

// emptied reports whether a generation, which unwraps in its file number i, left nothing there that starts through bouncer.
func (h History) emptied(f File, g Generation, i int, launchers []string) bool {
	entries, err := h.before(f, g, i, launchers)
	return err == nil && !slices.ContainsFunc(entries, func(e Entry) bool {
		return e.State == Wrapped && !slices.Contains(g.Files[i].Entries, e.Name)
	})
}

// before are the entries of a file as a generation found it, whose file number i it is.
func (h History) before(f File, g Generation, i int, launchers []string) ([]Entry, error) {
	data, err := h.store.backup(g, g.Files[i])
	if err != nil {
		return nil, err
	}
	f.Data = data
	return Entries(f, launchers...)
}

// known are the entries that a file had when init last wrapped some of it.
func (h History) known(f File, launchers []string) map[string]bool {
	for _, g := range slices.Backward(h.generations) {
		i := slices.IndexFunc(g.Files, func(saved Saved) bool { return saved.Path == f.Path })
		if i < 0 || g.Reversed || g.Command != string(Wrap) && g.Command != string(FromPlan) {
			continue
		}
		entries, err := h.before(f, g, i, launchers)
		if err != nil {
			return nil
		}
		keys := map[string]bool{}
		for _, e := range entries {
			keys[PointerKey(e.Pointer)] = true
		}
		return keys
	}
	return nil
}
