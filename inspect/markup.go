package inspect

import "strings"

// markup finds what frames the roles and orders in a prompt, at one of < [ #.
func (t *reader) markup(i int) int {
	rest := t.s[i:]
	switch {
	case strings.HasPrefix(rest, "<|"):
		return t.framed(i, "<|", "im_start|im_end|system|user|assistant|endoftext|end_of_turn|start_header_id|end_header_id|eot_id|begin_of_text|endofprompt|tool|channel", "|>")
	case strings.HasPrefix(rest, "<<"):
		return t.framed(i, "<<", "sys", ">>")
	case strings.HasPrefix(rest, "<!--"):
		return t.comment(i + len("<!--"))
	case rest[0] == '<':
		return t.tag(i)
	case strings.HasPrefix(rest, "[INST]"):
		return i + len("[INST]")
	case strings.HasPrefix(rest, "[/INST]"):
		return i + len("[/INST]")
	case strings.HasPrefix(rest, "### ") && (i == 0 || t.s[i-1] != '#') && t.opens(i):
		if end := t.ahead(i+4, "instruction|system|assistant"); end > 0 && strings.HasPrefix(t.gap(end), ":") {
			return t.padded(end) + 1
		}
	}
	return 0
}

// framed matches one of some words between two brackets.
func (t *reader) framed(i int, open, words, end string) int {
	if !strings.HasPrefix(t.s[i:], open) {
		return 0
	}
	w := t.word(i + len(open))
	if w.j == w.i || !is(t.text(w), words) || !strings.HasPrefix(t.gap(w.j), end) {
		return 0
	}
	return t.padded(w.j) + len(end)
}

// comment reads the beginning of an HTML comment, which a page does not show.
func (t *reader) comment(i int) int {
	w, ok := t.next(i)
	if !ok || strings.TrimSpace(t.s[i:w.i]) != "" {
		return 0
	}
	end := t.ahead(i, "ai|llm|assistant|claude|copilot|gpt|chatgpt|gemini agent|agents|assistant|assistants|model|instruction|instructions|note?")
	if end > 0 && strings.HasPrefix(t.gap(end), ":") {
		return t.padded(end) + 1
	}
	return 0
}

// tag reads a tag that stands in for a role. Real markup and placeholders have tags of such names too, but they are not
// followed by a sentence.
func (t *reader) tag(i int) int {
	w := t.word(i + 1)
	if w.j == w.i || !strings.HasPrefix(t.gap(w.j), ">") {
		return 0
	}
	switch s := t.text(w); s {
	case "INFORMATION", "SYSTEM", "INSTRUCTION", "INSTRUCTIONS", "ADMIN":
	default:
		if !is(s, "important|system_prompt|system_message|system_instruction|system_instructions|system_override|admin_override|tool_call|function_call") {
			return 0
		}
	}
	if i > 0 && (isWord(t.s[i-1]) || strings.IndexByte("=\"'/-`([|<", t.s[i-1]) >= 0) {
		return 0
	}
	end := t.padded(w.j) + 1
	j := end
	for n := 0; n < 3; n++ {
		next, ok := t.next(j)
		if !ok || strings.ContainsAny(t.s[j:next.i], "<>[]|`/") {
			return 0
		}
		j = next.j
	}
	return end
}
