package policy

import (
	"slices"
	"strings"
)

// commit decides whether what the tool does can be taken back.
func (c *classifier) commit() {
	if !c.rule.Changing || c.in.reads {
		return
	}
	why, ok := c.lasting()
	if !ok {
		return
	}
	c.rule.Irreversible = true
	c.note(traitIrreversible, why)
}

// lasting returns why a call to a changing tool can't be taken back.
func (c *classifier) lasting() (why string, is bool) {
	ws := c.words
	unnamed := len(c.rule.ObjectParams) == 0 && len(c.rule.WriteParams) == 0
	acts := slices.ContainsFunc(ws, func(w string) bool { return meaningOf(w)&(acting|naming) != 0 })
	switch {
	case c.in.deletes && !has(ws, "remove", "rm", "rmdir", "unlink"): // what is removed can mostly be put back
		return "name word " + c.word(deleting), true
	case c.in.deletes && unnamed:
		return "name word " + c.word(deleting) + ", and no parameter says of what", true
	case c.in.alters && unnamed && !c.in.sets && (has(ws, "all") || has(ws, "empty", "clear") && !onScreen(ws)):
		return "it acts on all of something", true
	case acts && credential(ws):
		return "it changes how somebody signs in", true
	case c.in.alters && len(c.objects.keys) == 0 && ownContact(ws):
		return "it changes where an account can be reached", true
	case acts && access(ws):
		return "it changes who may do what", true
	case c.in.alters && !c.in.unknown && has(ws, "deposit", "payout", "payroll", "bank"):
		return "it changes where money goes", true
	case begins(ws, "terminate", "shutdown", "kill", "deactivate"), adjacent(ws, "factory", "reset"), adjacent(ws, "shut", "down"),
		adjacent(ws, "format", "disk"), adjacent(ws, "format", "drive"):
		return "it ends something for good", true
	case has(ws, "unlock", "disarm"), begins(ws, "open") && has(ws, "door", "doors", "gate", "garage", "lock", "safe", "valve", "trunk"):
		return "it opens something in the world", true
	case guard(ws) && (c.in.alters && !c.in.sets || begins(ws, "turn", "switch") && has(ws, "off")):
		return "it switches off what guards", true
	case begins(ws, "publish", "deploy", "release", "merge", "promote", "announce"), has(ws, "publish"), adjacent(ws, "create", "release"), has(ws, "production") && c.in.alters:
		return "it brings something before others", true
	case c.everybody():
		return "it reaches everyone at once", true
	case begins(ws, "sign") && !has(ws, "in", "out", "up", "on", "off"), begins(ws, "accept") && has(ws, "offer", "terms", "contract", "agreement", "quote"):
		return "it commits somebody", true
	}
	if why, ok := c.buys(); ok {
		return why, true
	}
	return c.admits()
}

// access recognises the names of who may do or see what.
func access(ws []string) bool {
	return has(ws, "permission", "permissions", "ownership", "owner", "visibility", "privacy", "privilege", "privileges", "acl", "iam", "admin", "role",
		"roles", "public", "restrictions") ||
		adjacent(ws, "share", "link") || adjacent(ws, "sharing", "link") || adjacent(ws, "shared", "link")
}

// guard recognises the names of what warns or protects.
func guard(ws []string) bool {
	return has(ws, "alarm", "security", "firewall", "protection", "antivirus", "logging", "backup", "backups")
}

// everybody recognises messages that have no recipient, because they go to all there are.
func (c *classifier) everybody() bool {
	ws := c.words
	return begins(ws, "broadcast", "tweet") ||
		c.in.sends && !c.in.unknown && has(ws, "all", "everyone", "everybody", "bulk", "mass", "blast", "tweet") ||
		begins(ws, "send", "launch", "schedule", "start") && has(ws, "newsletter", "campaign")
}

// buys recognises purchases, bookings, and payments whose recipient is no argument.
func (c *classifier) buys() (why string, is bool) {
	ws := c.words
	if c.in.alters {
		// A cancelled order, a changed booking: the object is asked about.
		return "it settles something", begins(ws, "finalize", "finalise") && has(ws, "order", "booking", "purchase", "payment", "checkout")
	}
	if w, ok := buyingWord(ws); ok {
		return "name word " + w, true
	}
	switch {
	case adjacent(ws, "place", "bid"):
		return "it orders or books something", true
	case has(ws, "booking", "reservation", "order", "orders", "purchase", "subscription", "checkout", "appointment", "trade", "ride", "bet") &&
		begins(ws, "create", "make", "place", "add", "confirm", "submit", "complete", "start", "request", "execute", "schedule"):
		return "it orders or books something", true
	case c.in.pays && !c.in.unknown && !c.reaches &&
		(begins(ws, "pay", "donate", "withdraw", "deposit", "refund", "remit", "payout", "charge") || has(ws, "payment", "payments", "money", "funds", "refund") || c.hasAmount()):
		return "it moves money to nobody that a parameter names", true
	}
	return "", false
}

// buyingWord finds the verb of a purchase. Those that are nouns as well must come first, or behind the name of a vendor.
func buyingWord(ws []string) (string, bool) {
	for i, w := range ws {
		switch w {
		case "buy", "trade":
			return w, true
		case "purchase", "reserve", "rent", "redeem", "renew", "donate":
			return w, begins(ws, w)
		case "sell":
			return w, i == 0 || !begins(ws, "list", "view", "get")
		case "order", "book", "checkout", "bid":
			follows := i+1 < len(ws) && !tells(ws[i+1]) && !slices.Contains([]string{"by", "item", "items", "status", "id", "ids", "list", "book", "type"}, ws[i+1])
			if w == "checkout" && i > 0 && i == len(ws)-1 && !has(ws, "git", "branch", "commit", "repo") {
				return w, true
			}
			if ok := i == 0 && (len(ws) == 1 || follows) || i == 1 && follows && ws[0] != "git" && meaningOf(ws[0]) == 0; ok {
				return w, true
			}
		case "subscribe":
			return w, begins(ws, w) && has(ws, "plan", "subscription", "premium", "customer")
		}
	}
	return "", false
}

func (c *classifier) hasAmount() bool {
	for name := range topParams(c.tool) {
		if has(words(name), "amount", "price", "sum", "total") {
			return true
		}
	}
	return false
}

// admits takes the definition at its word where it says that there is no way back, unless the name contradicts: whole
// libraries set the annotation on every tool.
func (c *classifier) admits() (why string, is bool) {
	if phrase, ok := c.says("irreversible", "cannot be undone", "can't be undone", "can not be undone", "cannot be reversed", "permanently delete", "permanently remove"); ok {
		return "its description says " + strings.ReplaceAll(phrase, "can not", "cannot"), true
	}
	destructive := string(c.tool.Annotations.Get("destructiveHint")) == "true"
	if destructive && (c.in.unknown || c.in.alters) && len(c.rule.ObjectParams) == 0 && len(c.rule.WriteParams) == 0 {
		return "annotation destructiveHint", true
	}
	return "", false
}

// credential recognises the names of what somebody signs in with.
func credential(ws []string) bool {
	switch {
	case has(ws, "password", "passwords", "passwd", "passcode", "passkey", "credential", "credentials", "mfa", "otp", "totp", "authenticator"):
		return true
	case adjacent(ws, "api", "key") || adjacent(ws, "ssh", "key") || adjacent(ws, "access", "token") || adjacent(ws, "access", "key") || adjacent(ws, "deploy", "key") ||
		adjacent(ws, "two", "factor") || adjacent(ws, "2", "fa") || adjacent(ws, "pin", "code") || adjacent(ws, "security", "question") || adjacent(ws, "recovery", "email"):
		return true
	}
	return ws[len(ws)-1] == "pin" && len(ws) > 1
}

// ownContact recognises a name that is nothing but a verb and the address of the account itself: update_my_email.
func ownContact(ws []string) bool {
	rest := slices.DeleteFunc(slices.Clone(ws), func(w string) bool {
		switch w {
		case "my", "account", "user", "primary", "login", "contact", "profile", "address", "number":
			return true
		}
		return meaningOf(w)&altering != 0
	})
	return len(rest) == 1 && (rest[0] == "email" || rest[0] == "phone" || rest[0] == "mobile")
}

// onScreen reports whether a name is about what stands on a screen.
func onScreen(ws []string) bool {
	return has(ws, "browser", "field", "input", "console", "screen", "selection", "text", "cache", "cart", "form", "filter", "filters", "canvas")
}

func has(ws []string, any ...string) bool {
	return slices.ContainsFunc(ws, func(w string) bool { return slices.Contains(any, w) })
}

// begins reports whether the first verb of a name is one of these.
func begins(ws []string, any ...string) bool {
	for _, w := range ws {
		if slices.Contains(any, w) {
			return true
		}
		if meaningOf(w)&(reading|fetching|acting|naming) != 0 {
			return false
		}
	}
	return false
}

func adjacent(ws []string, a, b string) bool {
	for i := 1; i < len(ws); i++ {
		if ws[i-1] == a && ws[i] == b {
			return true
		}
	}
	return false
}
