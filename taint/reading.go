package taint

import (
	"hash/maphash"
	"iter"
	"strings"
)

// A belief is a Reading made ready for a walk.
type belief struct {
	Reading
	trusted, untrusted [][]string // paths by their steps
	any                bool
}

func believe(r Reading) belief {
	return belief{
		Reading: r, trusted: parsePaths(r.Trusted), untrusted: parsePaths(r.Untrusted),
		any: r.Directory || r.Identity || len(r.Trusted)+len(r.Untrusted) > 0,
	}
}

// digest tells readings apart.
func (b *belief) digest(seed maphash.Seed) uint64 {
	if !b.any {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(seed)
	if b.Directory {
		h.WriteByte('d')
	}
	if b.Identity {
		h.WriteByte('i')
	}
	for _, list := range [][]string{b.Trusted, b.Untrusted} {
		for _, path := range list {
			h.WriteString(path)
			h.WriteByte(0)
		}
		h.WriteByte(1)
	}
	return h.Sum64()
}

func parsePaths(paths []string) [][]string {
	var all [][]string
	for _, path := range paths {
		all = append(all, parsePath(path))
	}
	return all
}

// parsePath cuts $.items[*].email into its names. Lists are transparent, and so is what MCP puts around a document.
func parsePath(path string) []string {
	path = strings.TrimPrefix(path, "$")
	var steps []string
	for step := range strings.SplitSeq(path, ".") {
		if i := strings.IndexByte(step, '['); i >= 0 {
			step = step[:i]
		}
		if step != "" {
			steps = append(steps, step)
		}
	}
	switch {
	case len(steps) > 1 && steps[0] == "structuredContent":
		return steps[1:]
	case len(steps) > 2 && steps[0] == "content" && steps[1] == "text":
		return steps[2:]
	}
	return steps
}

// leadsTo reports whether one of the paths names exactly the place; a lone * names every place.
func leadsTo(paths [][]string, names []string) bool {
	for _, path := range paths {
		if len(path) == 1 && path[0] == "*" || len(path) == len(names) && begins(path, names) {
			return true
		}
	}
	return isWrapped(names) && leadsTo(paths, names[1:])
}

// leadsAbove reports whether one of the paths names the place or something around it.
func leadsAbove(paths [][]string, names []string) bool {
	for _, path := range paths {
		if len(path) <= len(names) && begins(path, names) {
			return true
		}
	}
	return isWrapped(names) && leadsAbove(paths, names[1:])
}

// isWrapped reports whether names begin with the one under which a widespread library puts the answer of any tool.
func isWrapped(names []string) bool { return len(names) > 0 && names[0] == "result" }

func begins(path, names []string) bool {
	for i, step := range path {
		if step != "*" && step != names[i] {
			return false
		}
	}
	return true
}

// A role is what a member is for, by the last word of its name.
type role uint8

const (
	roleOther role = iota
	roleIdentifies
	roleNames // identifies too, but whoever is listed may choose it freely
	roleSpeaks
	roleApart // of somebody who is not of the listing itself: whoever wants to gets there
)

// memberRole reads the last word of a member's name: contact_email, displayNames, id_.
func memberRole(name string) role {
	if isApart(name) {
		return roleApart
	}
	switch singular(lastWord(name)) {
	case "email", "mail", "address", "id", "user", "phone", "telephone", "mobile", "tel", "fax", "iban", "bic",
		"account", "channel", "number", "key", "uid", "guid", "uuid", "jid", "member", "participant", "person", "people", "contact", "extension", "recipient", "payee":
		return roleIdentifies
	case "name", "nickname", "nick", "alias", "displayname", "fullname", "handle", "username", "login", "slug":
		return roleNames
	case "note", "description", "body", "content", "text", "bio", "status", "topic", "purpose", "title", "subject", "message",
		"summary", "comment", "about", "remark", "memo", "reference", "snippet", "preview", "detail", "instruction", "caption", "headline":
		return roleSpeaks
	}
	return roleOther
}

// isApart finds a word for what is kept beside the entries of a listing, or what others ask to be in it.
func isApart(name string) bool {
	for word := range nameWords(name) {
		switch singular(word) {
		case "blocked", "ignored", "muted", "spam", "junk", "banned", "pending", "request", "requested", "invited", "invitation", "invite", "suggested", "suggestion",
			"recent", "unknown", "unverified", "declined", "rejected", "removed", "deleted", "custom", "tag", "label", "link", "url", "recovery":
			return true
		}
	}
	return false
}

// nameWords ranges over the words of a member's name in small letters.
func nameWords(name string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name = strings.TrimRight(name, "_-. "); name != ""; name = strings.TrimRight(name, "_-. ") {
			word := lastWord(name)
			if !yield(word) {
				return
			}
			name = name[:len(name)-len(word)]
		}
	}
}

func singular(word string) string {
	switch {
	case strings.HasSuffix(word, "sses"):
		return word[:len(word)-2]
	case strings.HasSuffix(word, "ss"), strings.HasSuffix(word, "us"), strings.HasSuffix(word, "as"):
		return word
	}
	return strings.TrimSuffix(word, "s")
}

func lastWord(name string) string {
	name = strings.TrimRight(name, "_-. ")
	start := strings.LastIndexAny(name, "_-. ") + 1
	for i := len(name) - 1; i > start; i-- {
		if isUpper(name[i]) && !isUpper(name[i-1]) {
			start = i
			break
		}
	}
	return strings.ToLower(name[start:])
}

// speaksFor reports whether a cell under such names may vouch for a value of its kind.
func speaksFor(kind byte, s string, names []string) bool {
	if isTyped(kind) && len(names) > 0 && memberRole(names[len(names)-1]) == roleNames {
		return false // nobody vouches for an address by calling himself that
	}
	return kind != kindMail || strings.IndexByte(s, '<') < 0 // a display name may hold any address
}

// isTyped reports whether a value is a destination by its form.
func isTyped(kind byte) bool {
	switch kind {
	case kindMail, kindURL, kindHost, kindIBAN, kindPhone, kindCard:
		return true
	}
	return false
}
