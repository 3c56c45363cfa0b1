package wire

import "bytes"

// parseMethod decodes a request's method. A reason not to take it is returned as text.
func parseMethod(v Value) (method, reason string) {
	text := v.decoded()
	if len(text) == 0 {
		return "", "method is empty"
	}
	for _, c := range text {
		if c < ' ' || c > '~' {
			return "", "method is not printable ASCII"
		}
	}
	var room [64]byte
	known := spelled(foldMethod(room[:0], text))
	switch {
	case known == "":
		return string(text), ""
	case string(text) != known:
		return "", "misspelled method"
	}
	return known, ""
}

// foldMethod appends what a lenient server may take a method for: in lower case, without white space, with
// single slashes between its parts only. Compatibility forms are not ASCII and refused before.
func foldMethod(dst, method []byte) []byte {
	for _, c := range method {
		switch {
		case c == ' ':
			continue
		case c == '/' || c == '\\':
			if len(dst) == 0 || dst[len(dst)-1] == '/' {
				continue
			}
			c = '/'
		case c-'A' < 26:
			c |= 0x20
		}
		dst = append(dst, c)
	}
	return bytes.TrimSuffix(dst, []byte("/"))
}

// spelled returns the one spelling of a method of the protocol, any revision, given its folded form, or "" for
// a method that the protocol doesn't know.
func spelled(folded []byte) string {
	switch string(folded) {
	case "completion/complete":
		return "completion/complete"
	case "elicitation/create":
		return "elicitation/create"
	case "initialize":
		return "initialize"
	case "logging/setlevel":
		return "logging/setLevel"
	case "notifications/cancelled":
		return "notifications/cancelled"
	case "notifications/elicitation/complete":
		return "notifications/elicitation/complete"
	case "notifications/initialized":
		return "notifications/initialized"
	case "notifications/message":
		return "notifications/message"
	case "notifications/progress":
		return "notifications/progress"
	case "notifications/prompts/list_changed":
		return "notifications/prompts/list_changed"
	case "notifications/resources/list_changed":
		return "notifications/resources/list_changed"
	case "notifications/resources/updated":
		return "notifications/resources/updated"
	case "notifications/roots/list_changed":
		return "notifications/roots/list_changed"
	case "notifications/tasks":
		return "notifications/tasks"
	case "notifications/tasks/status":
		return "notifications/tasks/status"
	case "notifications/tools/list_changed":
		return "notifications/tools/list_changed"
	case "ping":
		return "ping"
	case "prompts/get":
		return "prompts/get"
	case "prompts/list":
		return "prompts/list"
	case "resources/list":
		return "resources/list"
	case "resources/read":
		return "resources/read"
	case "resources/subscribe":
		return "resources/subscribe"
	case "resources/templates/list":
		return "resources/templates/list"
	case "resources/unsubscribe":
		return "resources/unsubscribe"
	case "roots/list":
		return "roots/list"
	case "sampling/createmessage":
		return "sampling/createMessage"
	case "server/discover":
		return "server/discover"
	case "subscriptions/listen":
		return "subscriptions/listen"
	case "tasks/cancel":
		return "tasks/cancel"
	case "tasks/get":
		return "tasks/get"
	case "tasks/list":
		return "tasks/list"
	case "tasks/result":
		return "tasks/result"
	case "tasks/update":
		return "tasks/update"
	case "tools/call":
		return "tools/call"
	case "tools/list":
		return "tools/list"
	default:
		return ""
	}
}
