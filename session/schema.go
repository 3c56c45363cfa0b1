package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// subject names what a schema is about; the schema of all arguments has the empty path.
func subject(at string) string {
	if at == "" {
		return "the object of arguments"
	}
	return "argument " + quoted(at)
}

func of(at string) string {
	if at == "" {
		return "of the arguments"
	}
	return "of argument " + quoted(at)
}

func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// schema goes through the keywords of two schemas.
func (e *explainer) schema(at string, old, now wire.Value) {
	if old.Kind() != '{' || now.Kind() != '{' {
		e.value(loosened, "schema_changed", "the schema "+of(at), member{"", old, now})
		return
	}
	e.arguments(at, old, now)
	for _, m := range differing(old, now) {
		key, a, b := m.key, m.old, m.now
		switch key {
		case "properties", "required":
			// above
		case "type":
			e.types(at, a, b)
		case "enum":
			e.enum(at, a, b)
		case "additionalProperties", "unevaluatedProperties":
			e.others(at, m)
		case "default":
			e.value(loosened, "default_changed", "the default "+of(at), m)
		case "description", "title":
			e.prose(details, "argument_"+key+"_changed", "the "+key+" "+of(at), m)
		case "items", "contains", "propertyNames", "not", "if", "then", "else":
			e.schema(at+"["+strings.TrimPrefix(key, "items")+"]", a, b)
		case "$defs", "definitions", "patternProperties", "dependentSchemas":
			for _, m := range differing(a, b) {
				e.schema(below(at, key+"."+m.key), m.old, m.now)
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			e.alternatives(at, m)
		default:
			e.limit(at, m)
		}
	}
}

// arguments compares which members an object has, and which it must have.
func (e *explainer) arguments(at string, old, now wire.Value) {
	mustOld, mustNow := texts(old.Get("required")), texts(now.Get("required"))
	had, has := members(old.Get("properties")), members(now.Get("properties"))
	for _, m := range differing(old.Get("properties"), now.Get("properties")) {
		path := below(at, m.key)
		switch {
		case m.old == nil && mustNow[m.key]:
			e.say(grave, "argument_added_required", "new required argument %s%s", quoted(path), about(m.now))
		case m.old == nil:
			e.say(loosened, "argument_added", "new argument %s%s", quoted(path), about(m.now))
		case m.now == nil:
			e.say(rest, "argument_removed", "argument %s is gone", quoted(path))
		default:
			e.schema(path, m.old, m.now)
		}
	}
	for _, name := range sorted(mustOld, mustNow) {
		path := below(at, name)
		switch {
		case mustOld[name] == mustNow[name], mustNow[name] && had[name] == nil && has[name] != nil, mustOld[name] && had[name] != nil && has[name] == nil:
			// the same, or said with the argument itself
		case mustNow[name]:
			e.say(grave, "argument_required", "argument %s is now required", quoted(path))
		default:
			e.say(loosened, "argument_optional", "argument %s is no longer required", quoted(path))
		}
	}
}

// about describes a new argument.
func about(schema wire.Value) string {
	var s string
	if named := sorted(texts(schema.Get("type"))); len(named) > 0 {
		s = " (" + kinds(named) + ")"
	}
	if description, ok := schema.Get("description").Text(); ok {
		s += ", described as " + quoted(description)
	}
	if value := schema.Get("default"); value != nil {
		s += ", by default " + literal(value)
	}
	return s
}

func (e *explainer) types(at string, old, now wire.Value) {
	was, is := sorted(texts(old)), sorted(texts(now))
	switch {
	case len(is) == 0:
		e.say(loosened, "type_dropped", "%s takes any type, it took %s", subject(at), kinds(was))
	case len(was) == 0:
		e.say(rest, "type_added", "%s takes only %s, it took any type", subject(at), kinds(is))
	default:
		e.say(loosened, "type_changed", "%s takes %s, it took %s", subject(at), kinds(is), kinds(was))
	}
}

func (e *explainer) enum(at string, old, now wire.Value) {
	was, is := elements(old), elements(now)
	switch {
	case now == nil:
		e.say(loosened, "enum_dropped", "%s takes any value, it took only %s", subject(at), list(sorted(was)))
		return
	case old == nil:
		e.say(rest, "enum_added", "%s takes only %s", subject(at), list(sorted(is)))
		return
	}
	added, removed := without(is, was), without(was, is)
	if len(added) > 0 {
		e.say(loosened, "enum_widened", "%s also takes %s", subject(at), list(added))
	}
	if len(removed) > 0 {
		e.say(rest, "enum_narrowed", "%s no longer takes %s", subject(at), list(removed))
	}
	if len(added)+len(removed) == 0 {
		e.say(rest, "enum_reordered", "the values %s stand in another order", of(at))
	}
}

// others is about members that a schema does not name. Without the keyword they are welcome.
func (e *explainer) others(at string, m member) {
	old, now := m.old, m.now
	closed := func(v wire.Value) bool { return v.Kind() == 'f' }
	open := func(v wire.Value) bool { return v == nil || v.Kind() == 't' || bytes.Equal(v, []byte("{}")) }
	switch {
	case old.Kind() == '{' && now.Kind() == '{' && !open(now) && !open(old):
		e.schema(at+"["+m.key+"]", old, now)
	case !open(old) && open(now), closed(old) && !closed(now):
		e.say(loosened, "others_allowed", "%s may now have members that the schema does not name", subject(at))
	case closed(now):
		e.say(rest, "others_refused", "%s may no longer have members that the schema does not name", subject(at))
	default:
		e.value(rest, "others_changed", m.key+" "+of(at), m)
	}
}

func (e *explainer) alternatives(at string, m member) {
	was, is := slices.Collect(m.old.Elems()), slices.Collect(m.now.Elems())
	if len(was) != len(is) {
		e.value(loosened, "alternatives_changed", m.key+" "+of(at), m)
		return
	}
	for i := range was {
		if !bytes.Equal(was[i], is[i]) {
			e.schema(fmt.Sprintf("%s[%s %d]", at, m.key, i+1), was[i], is[i])
		}
	}
}

// limit is about a keyword that a value must meet: pattern, format, maxLength, const, or one that nobody here knows.
func (e *explainer) limit(at string, m member) {
	subject := quoted(m.key) + " " + of(at)
	if plainKeyword(m.key) {
		subject = "the " + m.key + " " + of(at)
	}
	switch {
	case m.now == nil:
		e.value(loosened, "limit_dropped", subject, m)
	case m.old == nil:
		e.value(rest, "limit_added", subject, m)
	default:
		e.value(loosened, "limit_changed", subject, m)
	}
}

func plainKeyword(key string) bool {
	return key != "" && len(key) < 32 && !strings.ContainsFunc(key, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' })
}

// texts are the strings of a list, or the one that stands alone.
func texts(v wire.Value) map[string]bool {
	set := map[string]bool{}
	if s, ok := v.Text(); ok {
		set[s] = true
	}
	for elem := range v.Elems() {
		if s, ok := elem.Text(); ok {
			set[s] = true
		}
	}
	return set
}

// elements are the values of a list as they are shown.
func elements(v wire.Value) map[string]bool {
	set := map[string]bool{}
	for elem := range v.Elems() {
		set[string(elem)] = true
	}
	return set
}

func without(set, other map[string]bool) []string {
	rest := map[string]bool{}
	for s := range set {
		if !other[s] {
			rest[s] = true
		}
	}
	return sorted(rest)
}

func sorted(sets ...map[string]bool) []string {
	var all []string
	for _, set := range sets {
		for s := range set {
			all = append(all, s)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// kinds shows the names of types.
func kinds(names []string) string {
	shown := make([]string, 0, len(names))
	for _, name := range names {
		if !plainKeyword(name) {
			name = quoted(name)
		}
		shown = append(shown, name)
	}
	return some(shown, " or ")
}

// list shows values that are spelled as JSON.
func list(values []string) string {
	shown := make([]string, 0, len(values))
	for _, v := range values {
		shown = append(shown, literal(wire.Value(v)))
	}
	return some(shown, ", ")
}

// some joins a few, and says how many more there are.
func some(shown []string, between string) string {
	const enough = 8
	s := strings.Join(shown[:min(len(shown), enough)], between)
	if more := len(shown) - enough; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}
