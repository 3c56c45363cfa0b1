package main

import (
	"strings"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// What somebody types while they sit there is short. A longer text may have been copied from anywhere, and then it is only
// known that the person has sent it, not that they have read it.
const (
	maxOwnRunes = 500
	maxOwnLines = 5
)

// prompt is what a person has sent to the agent.
type prompt struct {
	own    string // typed by themselves, as far as can be told
	pasted string // brought from elsewhere, or nobody knows
}

// wordsIn reads a hook's input. Nothing counts that does not come from the person: a subagent is prompted by its agent.
func wordsIn(v wire.Value, getenv func(string) string) prompt {
	text, ok := v.Get("prompt").Text()
	event, _ := v.Get("hook_event_name").Text()
	agent := v.Get("agent_id")
	switch {
	case !ok || event != "UserPromptSubmit" || agent.Kind() == '"':
		return prompt{}
	case strings.HasSuffix(getenv("AI_AGENT"), "_agent"):
		return prompt{} // the agent's own shell has called, not its client
	case !attended(v, getenv) || isMachineMade(text):
		return prompt{pasted: text}
	}
	own, pasted := withoutPasted(text)
	if utf8.RuneCountInString(own) > maxOwnRunes || lines(own) > maxOwnLines {
		return prompt{pasted: text}
	}
	return prompt{own, pasted}
}

// attended reports whether somebody sits at the client. Its newer versions say so in the source of a prompt, those before in
// the environment, and the older ones only how they were started.
func attended(v wire.Value, getenv func(string) string) bool {
	if source := v.Get("source"); source != nil {
		text, _ := source.Text()
		return text == "user"
	}
	if attended := getenv("CLAUDE_CODE_SESSION_ATTENDED"); attended != "" {
		return attended == "1"
	}
	return !strings.HasPrefix(getenv("CLAUDE_CODE_ENTRYPOINT"), "sdk-")
}

const (
	pastedBegin = "<pasted_content"
	pastedEnd   = "</pasted_content"
)

// isMachineMade finds prompts that the client has made, or has put something into: notices of tasks and hooks, expanded
// commands. They begin with a tag.
func isMachineMade(text string) bool {
	text = strings.TrimSpace(text)
	if strings.Contains(text, "<system-reminder") {
		return true
	}
	rest, tag := strings.CutPrefix(text, "<")
	first, _ := utf8.DecodeRuneInString(rest)
	return tag && !strings.HasPrefix(text, pastedBegin) && (first >= 'a' && first <= 'z' || first >= 'A' && first <= 'Z')
}

// withoutPasted takes out what the client has marked as pasted: from the first mark to the last, whatever stands between them,
// since a pasted text may hold marks too. Where a mark has no end, all is pasted.
func withoutPasted(text string) (own, pasted string) {
	begin := strings.Index(text, pastedBegin)
	if begin < 0 {
		return text, ""
	}
	end := strings.LastIndex(text, pastedEnd)
	if end < begin {
		return text[:begin], text[begin:]
	}
	if closing := strings.IndexByte(text[end:], '>'); closing >= 0 {
		end += closing + 1
	} else {
		end = len(text)
	}
	return text[:begin] + "\n" + text[end:], text[begin:end]
}

// lines counts the lines of a text, blank ones at its ends left out.
func lines(text string) int {
	text = strings.ReplaceAll(strings.TrimSpace(text), "\r\n", "\n")
	return 1 + strings.Count(text, "\n") + strings.Count(text, "\r") + strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
}
