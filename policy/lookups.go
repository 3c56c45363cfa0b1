package policy

import (
	"slices"
)

// lookUp decides what the results of the tool are: whom they may vouch for, and how private they are.
func (c *classifier) lookUp() {
	if why, ok := c.own(); ok {
		c.rule.Identity = true
		c.note(traitIdentity, why)
	} else if why, ok := c.directory(); ok {
		c.rule.Directory = true
		c.note(traitDirectory, why)
	}
	if c.rule.Identity {
		c.rule.Changing = false // it takes nothing along
		c.notes = slices.DeleteFunc(c.notes, func(n note) bool { return n.trait == traitChanging })
	}
	if w, ok := private(c.words[:phraseEnd(c.words)]); ok && (c.in.reads || c.in.unknown) {
		c.rule.Sensitive = true
		c.note(traitSensitive, "name word "+w)
	}
}

// directory recognises a tool that looks up persons or places to reach. The last noun decides: get_channel_history tells
// what was said in a channel, and whoever may write there may say anything.
func (c *classifier) directory() (why string, is bool) {
	if !c.in.reads || c.in.opens {
		return "", false
	}
	head, i := headNoun(c.words)
	switch head {
	case "contact", "contacts", "member", "members", "user", "users", "people", "person", "persons", "channel", "channels", "employee", "employees",
		"staff", "colleague", "colleagues", "coworker", "coworkers", "teammate", "teammates", "roster", "addressbook", "phonebook", "payee", "payees",
		"beneficiary", "beneficiaries", "recipient", "recipients", "friend", "friends", "collaborator", "collaborators", "assignee", "assignees":
		return "name word " + head, true
	case "book":
		if i > 0 && (c.words[i-1] == "address" || c.words[i-1] == "phone") {
			return "name words " + c.words[i-1] + " book", true
		}
	case "directory":
		if i > 0 && slices.Contains([]string{"company", "corporate", "employee", "user", "people", "staff", "phone", "contact", "team", "organization"}, c.words[i-1]) {
			return "name words " + c.words[i-1] + " directory", true
		}
	}
	return "", false
}

// headNoun returns the noun that the rest of a name qualifies: the last one before a preposition, without words such as
// list and details, which say how much of it there is.
func headNoun(ws []string) (string, int) {
	end := phraseEnd(ws)
	for i := end - 1; i >= 0; i-- {
		switch ws[i] {
		case "info", "information", "details", "detail":
			if end < len(ws) {
				return ws[i], i // of what comes behind the preposition
			}
			continue
		case "list", "search", "find", "lookup", "get", "read", "profile", "profiles", "all", "id", "ids", "name", "names", "email", "phone", "v", "1", "2", "3":
			continue
		}
		return ws[i], i
	}
	return "", -1
}

// phraseEnd returns where the first preposition of a name stands.
func phraseEnd(ws []string) int {
	for i, w := range ws {
		switch w {
		case "by", "in", "of", "for", "from", "with", "on", "at", "to", "and", "or", "using", "via":
			if i > 0 {
				return i
			}
		}
	}
	return len(ws)
}

// own recognises a tool that tells of the person's own account: nobody else's can be asked for.
func (c *classifier) own() (why string, is bool) {
	if c.tool.InputSchema.Kind() != '{' || !c.in.reads && !c.in.unknown || c.asksForSomebody() {
		return "", false
	}
	ws := slices.DeleteFunc(slices.Clone(c.words), func(w string) bool {
		switch w {
		case "get", "read", "show", "fetch", "retrieve", "view", "describe", "the", "info", "information", "details", "detail", "data", "api":
			return true
		}
		return false
	})
	if len(ws) == 0 {
		return "", false
	}
	head, before := ws[len(ws)-1], ws[:len(ws)-1]
	mine := has(before, "my", "own", "current", "self", "authenticated", "me", "logged", "signed", "viewer")
	switch head {
	case "whoami", "me", "self", "myself", "viewer":
		is = true
	case "i":
		is = adjacent(ws, "who", "am")
	case "iban":
		is = true
	case "profile", "account", "identity", "user":
		is = mine || c.in.reads && len(topParams(c.tool)) == 0 && !has(before, "latest", "last", "newest", "new", "next", "first", "random", "top", "other", "recent")
	case "email", "address", "phone", "number", "name":
		is = mine || has(before, "user", "account")
	}
	return "name word " + head + ", and no parameter says whose", is
}

// asksForSomebody reports whether an argument may choose whose account is told of: any required one, and any that
// holds free text.
func (c *classifier) asksForSomebody() bool {
	for _, shape := range c.shapes {
		for range shape.Get("required").Elems() {
			return true
		}
	}
	for name := range topParams(c.tool) {
		ws := words(name)
		if len(ws) == 0 || c.in.role(ws) != content || c.in.identifies(ws) || has(ws, "id", "ids", "name", "username", "user", "query", "login", "account") {
			return true
		}
	}
	return false
}

// private recognises the names of what is secret, or nobody else's business.
func private(ws []string) (word string, is bool) {
	for i, w := range ws {
		switch w {
		case "password", "passwords", "secret", "secrets", "token", "tokens", "credential", "credentials", "env", "environment", "mail", "mails",
			"email", "emails", "gmail", "inbox", "mailbox", "message", "messages", "dm", "dms", "bank", "transaction", "transactions", "balance",
			"balances", "iban", "statement", "statements", "salary", "salaries", "payroll", "payslip", "medical", "patient", "patients",
			"prescription", "prescriptions", "diagnosis", "private", "ssn", "passport", "vault", "keychain", "diary", "conversation", "conversations",
			"history", "thread", "threads":
			return w, true
		case "key", "keys":
			if i > 0 && slices.Contains([]string{"api", "ssh", "private", "access", "secret", "signing", "encryption"}, ws[i-1]) {
				return ws[i-1] + " " + w, true
			}
		}
	}
	return "", false
}
