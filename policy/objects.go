package policy

import (
	"slices"
	"strings"
)

// strength is how surely a parameter's name says which thing a tool acts on.
type strength uint8

const (
	noObject  strength = iota
	mayName            // name, path, title: if nothing else does
	namesKind          // the kind of thing that the tool's own name speaks of: booking, in cancel_booking
	isKey              // id, key, number
)

// candidates are the parameters that may name what an altering tool alters.
type candidates struct {
	keys, kinds, names []string
}

// consider looks at one parameter of no inner structure.
func (c *candidates) consider(in intent, tool, param []string, path string) {
	if !in.alters || in.reads {
		return
	}
	switch in.strength(tool, param) {
	case isKey:
		c.keys = add(c.keys, path)
	case namesKind:
		c.kinds = add(c.kinds, path)
	case mayName:
		if ofKind(tool, param) && len(c.names) < maxSinks {
			c.names = slices.Insert(c.names, 0, path) // the project's name, before the organization's
		} else {
			c.names = add(c.names, path)
		}
	}
}

// strength judges a parameter of an altering tool by its name. Files are confined by prefixes unless they are deleted.
func (in intent) strength(tool, ws []string) strength {
	n := len(ws) - 1
	if n < 0 || fresh(ws[0]) || slices.Equal(ws, []string{"user", "google", "email"}) {
		return noObject
	}
	if in.holdsPath(ws) {
		return when(in.deletes || slices.Contains(tool, "trash"), mayName, noObject)
	}
	before := ""
	if n > 0 {
		before = ws[n-1]
	}
	if ofKind(tool, ws) {
		switch {
		case !in.sets:
			return namesKind
		case n == 0 && slices.ContainsFunc(tool, remakes) && !trait(ws[n]):
			return mayName // update_subscription(subscription, items)
		}
	}
	switch ws[n] {
	case "id", "ids", "uuid", "uuids", "guid", "guids", "gid", "gids", "iid", "iids", "arn", "arns", "ts":
		switch before {
		case "client", "correlation", "trace", "idempotency", "template", "model", "label", "labels", "category", "tag", "status", "priority", "type",
			"color", "assignee", "commit":
			return when(slices.Contains(tool, singular(before)), isKey, noObject) // or it is what something becomes
		}
		return isKey
	case "key", "keys":
		switch before {
		case "api", "secret", "access", "private", "public", "encryption", "idempotency", "sort", "license":
			return noObject
		}
		return isKey
	case "number", "numbers", "no", "nr":
		switch before {
		case "phone", "page", "line", "version", "port", "row", "column", "street", "house", "card":
			return noObject
		}
		return isKey
	case "name", "names", "title", "slug", "identifier", "identifiers", "handle", "login", "username", "code", "alias", "ref", "reference":
		switch before {
		case "first", "last", "middle", "given", "family", "full", "display", "zip", "postal", "country", "currency", "language", "promo", "commit":
			return noObject
		}
		return when(in.sets && slices.Contains(tool, "set"), noObject, mayName) // set_reminder(title) makes one
	case "query", "filter", "where", "condition", "pattern", "selector", "match":
		return when(in.deletes, mayName, noObject)
	case "email", "emails", "user", "users", "member", "members", "account", "target", "item", "items", "resource":
		return when(in.sets, noObject, mayName)
	}
	return noObject
}

// fresh reports whether the name of a parameter begins by saying that it holds the new state, not the old one.
func fresh(word string) bool {
	switch word {
	case "new", "to", "dest", "destination", "updated", "next", "replacement", "desired", "in", "on", "by", "is", "has", "add", "remove", "set":
		return true
	}
	return false
}

// ofKind reports whether a parameter is named for the kind of thing that the tool's name speaks of, whose verb it is not.
func ofKind(tool, param []string) bool {
	kind := param[len(param)-1]
	switch kind {
	case "name", "names", "slug", "title", "path", "handle":
		kind = param[max(0, len(param)-2)]
	}
	kind = singular(kind)
	return slices.ContainsFunc(tool, func(w string) bool { return singular(w) == kind && meaningOf(w)&altering == 0 })
}

// remakes recognises the verbs whose object is a thing with several fields.
func remakes(verb string) bool {
	switch verb {
	case "update", "modify", "edit", "patch", "replace", "change":
		return true
	}
	return false
}

// trait recognises what is a field of something rather than a thing: update_status(status) gives the new one.
func trait(noun string) bool {
	switch noun {
	case "status", "state", "description", "password", "email", "phone", "address", "settings", "setting", "config", "configuration", "theme", "language",
		"bio", "avatar", "profile", "preferences", "content", "text", "plan", "role", "policy",
		"priority", "location":
		return true
	}
	return isProse([]string{noun})
}

func singular(w string) string {
	switch {
	case len(w) > 4 && strings.HasSuffix(w, "ies"):
		return w[:len(w)-3] + "y"
	case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
		return w[:len(w)-1]
	}
	return w
}

// chooseObjects returns the parameters that name what the tool alters: keys and kinds, all of them; and where those are missing
// or only say where it is, the first other name. Of a tool that gives something other contents, that one must be required,
// since it may be part of the contents.
func (c *classifier) chooseObjects() []string {
	all := c.objects.keys
	for _, path := range c.objects.kinds {
		all = add(all, path)
	}
	nested := func(path string) bool { return strings.Contains(path, ".") }
	switch {
	case !slices.ContainsFunc(all, func(path string) bool { return !nested(path) }):
		all = append(c.firstName(), all...)
	case !c.in.sets && !slices.ContainsFunc(all, c.specific) && len(c.objects.names) > 0:
		all = add(all, c.objects.names[0])
	}
	for _, path := range all {
		c.noteParam(roleObject, path, "name word "+c.word(altering)+": it names what the tool acts on")
	}
	return all
}

// specific reports whether a key is one of the kind of thing that the tool acts on. The project_id of delete_file only says
// where the file is.
func (c *classifier) specific(path string) bool {
	ws := words(path[strings.LastIndexByte(path, '.')+1:])
	return len(ws) == 1 || len(ws) > 1 && ofKind(c.words, ws[:len(ws)-1])
}

func (c *classifier) firstName() []string {
	if !c.in.alters || c.in.reads {
		return nil
	}
	for _, path := range c.objects.names {
		if !c.in.sets || c.required(path) && len(openParams(c.tool)) > 1 {
			return []string{path}
		}
	}
	if c.in.sets || len(c.rule.WriteParams) > 0 {
		return nil
	}
	for _, name := range openParams(c.tool) {
		if ws := words(name); c.required(name) && !isProse(ws) && len(ws) > 0 && !fresh(ws[0]) && ws[len(ws)-1] != "reason" {
			return []string{name}
		}
	}
	return nil
}
