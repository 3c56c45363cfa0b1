package link

import (
	"runtime"
	"slices"
	"strings"
)

// Environ returns env without the two variables that let their holder speak as Claude Code itself. A server has no business with them.
func Environ(env []string) []string {
	return withhold(env, runtime.GOOS == "windows")
}

// withhold is Environ for a system whose variable names are compared with or without regard to case.
func withhold(env []string, foldCase bool) []string {
	kept := make([]string, 0, len(env))
	for _, entry := range env {
		name, _, _ := strings.Cut(entry, "=")
		if foldCase {
			name = strings.ToUpper(name)
		}
		if name != "CLAUDE_CODE_MESSAGING_TOKEN" && name != "CLAUDE_CODE_MESSAGING_SOCKET" {
			kept = append(kept, entry)
		}
	}
	return kept
}

// settled returns env with one entry for each name, the last: programs differ in which of several they take.
func settled(env []string, foldCase bool) []string {
	seen := make(map[string]bool, len(env))
	kept := make([]string, 0, len(env))
	for _, entry := range slices.Backward(env) {
		name, _, ok := strings.Cut(entry, "=")
		if foldCase {
			name = strings.ToUpper(name)
		}
		// What has no name is kept: the shells of Windows remember the working directory of each drive in entries like "=C:=C:\Users".
		if !seen[name] || name == "" || !ok {
			kept = append(kept, entry)
		}
		seen[name] = seen[name] || ok
	}
	slices.Reverse(kept)
	return kept
}

// variable returns the value of name in env. The last entry counts.
func variable(env []string, name string, foldCase bool) (string, bool) {
	for _, entry := range slices.Backward(env) {
		key, value, _ := strings.Cut(entry, "=")
		if key == name || foldCase && strings.EqualFold(key, name) {
			return value, true
		}
	}
	return "", false
}
