package wrap

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Lists are a client's own allow and deny lists, which match servers by name, exact argv or URL. Claude Code has them;
// its rules for stdio servers are those of denial.
type Lists struct {
	DenyNames    []string
	DenyCommands [][]string

	AllowSet      bool // there is an allow list, if only an empty one
	AllowNames    []string
	AllowCommands [][]string
}

// ParseLists reads the lists of one settings file. A file without lists yields the zero Lists.
func ParseLists(data []byte) (Lists, error) {
	doc, err := jsonc.Parse(data, jsonc.Comments)
	if err != nil {
		return Lists{}, err
	}
	var l Lists
	deny, _, err := doc.Lookup("deniedMcpServers")
	if err != nil {
		return Lists{}, err
	}
	if l.DenyNames, l.DenyCommands, err = parseItems(doc, deny); err != nil {
		return Lists{}, err
	}
	allow, _, err := doc.Lookup("allowedMcpServers")
	if err != nil {
		return Lists{}, err
	}
	l.AllowSet = allow.Kind == '['
	l.AllowNames, l.AllowCommands, err = parseItems(doc, allow)
	return l, err
}

// parseItems reads the items of one list. Those that match by URL never concern a stdio server.
func parseItems(doc *jsonc.Doc, list jsonc.Value) (names []string, commands [][]string, err error) {
	if list.Kind != '[' && list.Kind != 'n' && list.Kind != 0 {
		return nil, nil, doc.Errorf(list.Start, "an array was expected")
	}
	for _, item := range list.Elems {
		for _, key := range []string{"serverName", "serverCommand"} {
			i, err := doc.Member(item, key)
			if err != nil {
				return nil, nil, err
			}
			if i < 0 {
				continue
			}
			value := item.Members[i].Value
			if name, ok := doc.Text(value); ok && key == "serverName" {
				names = append(names, name)
			}
			if argv, bad := texts(doc, value); value.Kind == '[' && bad < 0 && key == "serverCommand" {
				commands = append(commands, argv)
			}
		}
	}
	return names, commands, nil
}

// Merge returns the lists of two files together, as the client joins them.
func (l Lists) Merge(o Lists) Lists {
	return Lists{
		DenyNames:     slices.Concat(l.DenyNames, o.DenyNames),
		DenyCommands:  slices.Concat(l.DenyCommands, o.DenyCommands),
		AllowSet:      l.AllowSet || o.AllowSet,
		AllowNames:    slices.Concat(l.AllowNames, o.AllowNames),
		AllowCommands: slices.Concat(l.AllowCommands, o.AllowCommands),
	}
}

// denial says why wrapping a stdio server would go against the lists, or nothing: it must neither revive a server
// that is hidden now nor hide one that is allowed now.
func (l Lists) denial(name string, argv []string) string {
	matches := func(listed []string) bool { return matchesArgv(listed, argv) }
	switch {
	case slices.Contains(l.DenyNames, name) || slices.ContainsFunc(l.DenyCommands, matches):
		return "on the client's deny list"
	case !l.AllowSet:
		return ""
	case len(l.AllowCommands) > 0: // then a name alone allows no stdio server
		if slices.ContainsFunc(l.AllowCommands, matches) {
			return "allowed by its exact command, which wrapping changes"
		}
	case slices.Contains(l.AllowNames, name):
		return ""
	}
	return "not on the client's allow list"
}

// matchesArgv reports whether a listed command can be this argv. The client compares it both as it is written and with
// variables expanded; their values are not known here, so a variable stands for any text.
func matchesArgv(listed, argv []string) bool {
	return slices.Equal(listed, argv) || slices.EqualFunc(listed, argv, matchesExpanded)
}

// matchesExpanded reports whether s can be what the client makes of pattern.
func matchesExpanded(s, pattern string) bool {
	for first := true; ; first = false {
		literal, rest, found := strings.Cut(pattern, "${")
		_, after, closed := strings.Cut(rest, "}")
		switch {
		case !found || !closed: // the last literal is everything that is left
			return first && s == pattern || !first && strings.HasSuffix(s, pattern)
		case first && !strings.HasPrefix(s, literal):
			return false
		}
		i := strings.Index(s, literal)
		if i < 0 {
			return false
		}
		s, pattern = s[i+len(literal):], after
	}
}
