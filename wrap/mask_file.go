package wrap

import (
	"bytes"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// maskFile returns a config's text for showing. Of the servers only literals that hold a secret change, so that equal lines
// stay equal. What else a client keeps in its file is nobody's business: of that, no text is shown.
func maskFile(doc *jsonc.Doc, f File) []byte {
	m := fileMasker{doc: doc, entries: entrySpans(doc, f)}
	m.value(doc.Root, "")
	m.comments()
	return jsonc.Apply(doc.Src, m.edits)
}

// entrySpans are the places of a file's servers.
func entrySpans(doc *jsonc.Doc, f File) []jsonc.Value {
	maps := f.Maps
	if c, ok := clients.ByID(f.Client); len(maps) == 0 && ok { // a file from the store's records
		for _, config := range c.Configs {
			maps = append(maps, config.Maps...)
		}
	}
	if len(maps) == 0 {
		maps = []clients.Map{{Pointer: usualKey()}}
	}
	spans := hookSpans(doc)
	for _, m := range maps {
		r := reader{doc: doc}
		if r.walk(doc.Root, m.Scope, nil, m.Pointer) != nil {
			continue // a faulty map has no servers that anybody could show
		}
		for i := range r.servers {
			spans = append(spans, r.servers[i].member.Value)
		}
	}
	return spans
}

// hookSpans are the places of bouncer's own commands among a client's hooks.
func hookSpans(doc *jsonc.Doc) []jsonc.Value {
	var spans []jsonc.Value
	hooks, _, err := doc.Lookup("hooks")
	if err != nil {
		return nil
	}
	for _, event := range hooks.Members {
		d := settingsDoc{maker: maker{doc}, event: event.Key}
		for _, group := range event.Value.Elems {
			for _, handler := range d.handlers(group).Elems {
				if _, ok := parseHookLine(d.text(handler), nil); ok {
					spans = append(spans, handler)
				}
			}
		}
	}
	return spans
}

// fileMasker gathers the edits that mask one file.
type fileMasker struct {
	doc     *jsonc.Doc
	entries []jsonc.Value
	edits   []jsonc.Edit
}

// value masks what is inside v, which is the member key of its object.
func (m *fileMasker) value(v jsonc.Value, key string) {
	switch v.Kind {
	case '{':
		for _, member := range v.Members {
			if key == "env" || key == "headers" || isSecretName(member.Key) && isScalar(member.Value) {
				m.hide(member.Value)
				continue
			}
			m.value(member.Value, member.Key)
		}
	case '[':
		words := masker{}
		for _, elem := range v.Elems {
			if elem.Kind == '"' {
				m.text(elem, &words)
			} else {
				m.value(elem, "")
			}
		}
	case '"':
		m.text(v, &masker{})
	}
}

func isScalar(v jsonc.Value) bool { return v.Kind == '"' || v.Kind == '0' }

// hide replaces a whole value.
func (m *fileMasker) hide(v jsonc.Value) {
	m.edits = append(m.edits, jsonc.Edit{Start: v.Start, End: v.End, Text: jsonc.Quote(masked)})
}

// text masks inside a string.
func (m *fileMasker) text(v jsonc.Value, words *masker) {
	if !slices.ContainsFunc(m.entries, func(e jsonc.Value) bool { return e.Start <= v.Start && v.End <= e.End }) {
		m.hide(v)
		return
	}
	text, ok := m.doc.Text(v)
	if !ok {
		return
	}
	if shown := words.arg(text); shown != text {
		m.edits = append(m.edits, jsonc.Edit{Start: v.Start, End: v.End, Text: jsonc.Quote(shown)})
	}
}

// comments masks the comments: they hold what somebody has taken out of the config for a while.
func (m *fileMasker) comments() {
	hidden := slices.Clone(m.edits)
	slices.SortFunc(hidden, func(a, b jsonc.Edit) int { return a.Start - b.Start })
	for start, end := range m.doc.Comments() {
		if i, _ := slices.BinarySearchFunc(hidden, start, func(e jsonc.Edit, at int) int { return e.End - at }); i < len(hidden) && hidden[i].Start <= start {
			continue // it goes with the value that it stands in
		}
		text := m.doc.Src[start:end]
		shown := []byte(maskComment(string(text)))
		if bytes.HasPrefix(text, []byte("/*")) && len(text) >= 4 {
			inside := strings.ReplaceAll(maskComment(string(text[2:len(text)-2])), "*/", "* /")
			shown = []byte("/*" + inside + "*/")
		}
		if !bytes.Equal(shown, text) {
			m.edits = append(m.edits, jsonc.Edit{Start: start, End: end, Text: shown})
		}
	}
}

// maskComment masks each line of a comment by itself. Any text in quotes goes: it was a value, and of what is not told.
func maskComment(text string) string {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		parts := strings.Split(strings.ReplaceAll(line, `\"`, "''"), `"`)
		for j := range parts {
			if j%2 == 1 && parts[j] != "" && !isKey(parts, j) {
				parts[j] = masked
			}
		}
		lines[i] = maskProse(strings.Join(parts, `"`))
	}
	return strings.Join(lines, "")
}

// isKey reports whether a text in quotes stands before a colon.
func isKey(parts []string, j int) bool {
	return j+1 < len(parts) && strings.HasPrefix(strings.TrimLeft(parts[j+1], " \t"), ":")
}

// maskProse masks a line of words, the long and opaque ones among them too.
func maskProse(line string) string {
	ending := line[len(strings.TrimRight(line, "\r\n")):]
	var m masker
	words := strings.Split(m.arg(strings.TrimSuffix(line, ending)), " ")
	for i, w := range words {
		if isOpaque(w) && !strings.Contains(w, masked) {
			words[i] = masked
		}
	}
	return strings.Join(words, " ") + ending
}
