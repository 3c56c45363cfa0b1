package policy

import (
	"iter"
	"slices"
)

// role is what a parameter's name says it carries.
type role uint8

const (
	content     role = iota // anything but a destination
	location                // an address that the tool opens
	destination             // whom or what the call reaches
	owner                   // a destination if a repository stands beside it
	end                     // a destination unless it is one end of a pair, from and to
)

// counts reports whether a parameter of this role is a destination in the company of its neighbours.
func (r role) counts(with func() company) bool {
	switch r {
	case location, destination:
		return true
	case owner:
		return with().repo
	case end:
		return !with().from
	}
	return false
}

// company is what the other parameters of the same object say of one.
type company struct{ repo, from bool }

func companyOf(names iter.Seq[string]) company {
	var c company
	for name := range names {
		for _, w := range words(name) {
			c.repo = c.repo || w == "repo" || w == "repository"
			c.from = c.from || w == "from" || w == "source" || w == "origin" || w == "departure"
		}
	}
	return c
}

// role judges a parameter by the words of its name. Where the last word says nothing, the value is content: channel_type,
// email_body, in_reply_to.
func (in intent) role(ws []string) role {
	for len(ws) > 1 && ws[len(ws)-1][0] <= '9' {
		ws = ws[:len(ws)-1] // cc2
	}
	if len(ws) == 0 {
		return content
	}
	switch ws[len(ws)-1] {
	case "url", "urls", "uri", "uris", "href", "link", "links", "endpoint", "endpoints":
		if slices.Contains(ws, "webhook") || slices.Contains(ws, "callback") {
			return destination
		}
		return location
	case "webhook", "webhooks", "callback":
		return destination
	case "host", "hosts", "hostname", "hostnames", "domain", "domains":
		if in.opens && len(ws) == 1 {
			return location
		}
	}
	switch {
	case in.reads, own(ws):
		return content
	case len(ws) == 1 && ws[0] == "to":
		return when(in.sends || in.pays, destination, end)
	case in.to(ws):
		return destination
	}
	return in.noun(ws)
}

// own reports whether the name tells of the sender: whose account it is, not whom the call reaches.
func own(ws []string) bool {
	switch ws[0] {
	case "from", "sender", "my", "own", "self", "author", "source":
		return true
	}
	// The signed-in account and its aliases, on tools of two widely used mail servers.
	return slices.Equal(ws, []string{"user", "google", "email"}) || slices.Equal(ws, []string{"send", "as", "email"})
}

// to recognises the names whose preposition carries the sense.
func (in intent) to(ws []string) bool {
	n := len(ws) - 1
	switch {
	case n > 0 && ws[0] == "to":
		return in.noun(ws[1:]) != content || ws[n] == "number" || ws[n] == "id" || ws[n] == "name"
	case n == 0:
		return ws[0] == "forward"
	case ws[n] == "with":
		return ws[n-1] == "share" || ws[n-1] == "shared"
	case ws[n] == "to" && ws[n-1] == "reply":
		return n == 1 && in.mails
	case ws[n] == "to":
		return meaningOf(ws[n-1])&(sending|paying) != 0
	}
	return false
}

// noun judges the last word that is no mere qualifier.
func (in intent) noun(ws []string) role {
	n := len(ws) - 1
	qualified := false
	for n > 0 {
		switch ws[n] {
		case "id", "ids", "name", "names", "list", "handle", "slug", "number", "numbers":
			qualified = true
			n--
			continue
		}
		break
	}
	switch ws[n] {
	case "recipient", "recipients", "cc", "bcc", "invitee", "invitees", "attendee", "attendees", "participant", "participants", "guest", "guests",
		"payee", "payees", "beneficiary", "beneficiaries", "addressee", "addressees", "iban", "delegate", "wallet", "spender":
		return destination
	case "room", "rooms":
		return when(in.sends, destination, content) // others are booked, or heated
	case "channel", "channels", "chat", "chats", "conversation", "conversations", "repo", "repos", "repository", "repositories",
		"remote", "remotes":
		return destination
	case "email", "emails", "address", "addresses":
		// An email_id is a message's.
		return when((!qualified || ws[len(ws)-1] == "list") && (n == 0 || ws[n-1] != "mac" && ws[n-1] != "memory"), destination, content)
	case "host", "hosts", "hostname", "hostnames", "domain", "domains":
		return when(!qualified || ws[len(ws)-1] == "name", destination, content)
	case "user", "users", "username", "usernames", "member", "members", "contact", "contacts", "friend", "friends", "collaborator", "collaborators":
		return when(in.sends, destination, content)
	case "phone", "phones", "mobile", "msisdn", "whatsapp":
		return when(in.sends, destination, content)
	case "account", "accounts":
		return when(in.pays && !in.unknown, destination, content)
	case "destination", "destinations":
		if in.unknown {
			return end // or where a journey ends
		}
		return when(in.sends || in.pays, destination, content)
	case "dest", "target", "targets":
		return when((in.sends || in.pays) && !in.unknown, destination, content)
	case "owner", "org", "organization", "organisation":
		return owner
	}
	return content
}

func when[T any](is bool, then, otherwise T) T {
	if is {
		return then
	}
	return otherwise
}

// isProse reports whether a parameter holds text for people. What is formatted in it, such as a link, reaches nobody.
func isProse(ws []string) bool {
	if len(ws) == 0 {
		return false
	}
	switch ws[len(ws)-1] {
	case "text", "title", "description", "caption":
		return true
	}
	return false
}

// holdsPath reports whether a parameter holds a path in the file system.
func (in intent) holdsPath(ws []string) bool {
	if len(ws) == 0 {
		return false
	}
	switch ws[len(ws)-1] {
	case "path", "paths", "filepath", "filepaths", "filename", "filenames", "file", "files", "dir", "directory", "directories", "folder", "folders":
		return true
	case "dest", "destination", "target", "source", "src", "output":
		return in.files
	}
	return false
}

// identifies recognises the parts of a recipient that say which one it is, in an object that stands for one.
func (in intent) identifies(ws []string) bool {
	if len(ws) == 0 {
		return false
	}
	if in.role(ws) != content {
		return true
	}
	switch ws[len(ws)-1] {
	case "address", "email", "id", "user", "login", "username", "handle", "number", "phone", "value", "iban", "account", "channel", "domain", "host":
		return true
	}
	return false
}

// carriesPayload reports whether a parameter of a fetching tool takes data along.
func carriesPayload(ws []string) bool {
	if len(ws) == 0 {
		return false
	}
	switch ws[len(ws)-1] {
	case "body", "data", "payload", "json", "form", "header", "headers", "cookie", "cookies", "content", "params", "parameters", "file", "files",
		"script", "method":
		return true
	}
	return false
}
