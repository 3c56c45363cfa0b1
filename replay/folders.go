package replay

import (
	"maps"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// folders returns where a tool has written.
func (u *usage) folders(params []string) []Learned {
	count := map[string]int{}
	files := map[string]bool{}
	for _, c := range u.calls {
		for _, param := range params {
			for _, v := range policy.Select(c.first().Args, param) {
				for path := range texts(v) {
					dir, ok := parent(path)
					if !ok {
						return nil // a path that nobody can place
					}
					if !files[path] {
						files[path] = true
						count[dir]++
					}
				}
			}
		}
	}
	if len(files) < foldersFrom {
		return nil
	}
	dirs := slices.Sorted(maps.Keys(count))
	dirs = dropInner(dirs)
	for len(dirs) > foldersMost {
		if dirs = join(dirs); dirs == nil {
			return nil
		}
	}
	if slices.ContainsFunc(dirs, shallow) {
		return nil
	}
	var all []Learned
	for _, d := range dirs {
		n := 0
		for dir, files := range count {
			if below(dir, d) {
				n += files
			}
		}
		all = append(all, Learned{Value: d, Why: plural(n, "file", "files")})
	}
	return all
}

// texts ranges over the texts in a value.
func texts(v wire.Value) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for leaf := range v.Leaves() {
			if s, ok := leaf.Value.Text(); ok && !leaf.IsKey && !yield(s) {
				return
			}
		}
	}
}

// parent returns the folder of a path, with plain slashes; ok is false for what may lead elsewhere than it says.
func parent(path string) (dir string, ok bool) {
	if strings.Contains(path, "..") || strings.ContainsAny(path, "~%*?\x00") || strings.Contains(path, "://") ||
		strings.HasPrefix(path, "file:") || strings.TrimSpace(path) != path || wasCut(path) || strings.Contains(path, "[masked]") || path == "" {
		return "", false
	}
	path = strings.ReplaceAll(path, `\`, "/")
	i := strings.LastIndexByte(path, '/')
	switch {
	case i < 0:
		return ".", true
	case i == 0:
		return "/", true
	}
	return path[:i], true
}

// shallow reports whether a folder is too wide to be allowed as a whole. What lies below the folder that the server was started in
// is not: nobody knows where that is.
func shallow(dir string) bool {
	rooted := strings.HasPrefix(dir, "/") || len(dir) > 1 && dir[1] == ':'
	if !rooted {
		return false
	}
	names := strings.FieldsFunc(dir, func(r rune) bool { return r == '/' })
	if len(dir) > 1 && dir[1] == ':' {
		names = names[1:]
	}
	return len(names) <= shallowDepth
}

func below(dir, top string) bool {
	return dir == top || strings.HasPrefix(dir, top+"/") || top == "." && !strings.HasPrefix(dir, "/")
}

// dropInner leaves out folders inside others.
func dropInner(dirs []string) []string {
	var all []string
	for _, d := range dirs {
		if !slices.ContainsFunc(dirs, func(top string) bool { return top != d && below(d, top) }) {
			all = append(all, d)
		}
	}
	return all
}

// join puts the two folders together that have the most in common; nothing if all have too little.
func join(dirs []string) []string {
	best := ""
	for i, a := range dirs {
		for _, b := range dirs[i+1:] {
			if c := common(a, b); len(c) > len(best) && !shallow(c) && c != "." {
				best = c
			}
		}
	}
	if best == "" {
		return nil
	}
	return dropInner(slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(dirs), best)))))
}

// common is the deepest folder that both lie in.
func common(a, b string) string {
	as, bs := strings.Split(a, "/"), strings.Split(b, "/")
	n := 0
	for n < min(len(as), len(bs)) && as[n] == bs[n] {
		n++
	}
	return strings.Join(as[:n], "/")
}
