package policy

// meaning is what a word in a tool's name says about the tool.
type meaning uint16

const (
	reading  meaning = 1 << iota // looks something up
	fetching                     // opens an address
	acting                       // changes something, and is hardly ever a noun
	naming                       // changes something, or names what is looked up: post, message, share
	vague                        // looks something up, or is a noun itself: list, view
	sending                      // reaches persons
	paying                       // moves money
	deleting                     // can't be undone
	filing                       // handles files
	mailing                      // handles mail
	altering                     // acts on something that exists, as a whole: cancel, close, approve
	setting                      // gives something that exists other contents: update, edit, set
)

func meaningOf(word string) meaning {
	switch word {
	case "get", "read", "describe", "lookup", "retrieve", "search", "find", "show", "count", "inspect", "explain", "stat", "ls", "cat", "head",
		"tail", "grep", "compare", "diff", "summarize", "summarise", "analyze", "analyse", "validate", "preview", "select", "calculate",
		"compute", "is", "has", "peek", "recall", "parse", "explore", "locate", "geocode":
		return reading
	case "list", "view", "check", "query":
		return reading | vague
	case "fetch", "browse", "scrape", "crawl", "screenshot", "whois", "nslookup", "traceroute":
		return reading | fetching
	case "download", "extract", "load":
		return reading | fetching | filing
	case "request", "open", "http", "https", "navigate", "visit", "goto", "curl", "wget", "render", "ping", "tab", "tabs":
		return fetching
	case "delete", "del", "remove", "rm", "rmdir", "drop", "purge", "destroy", "erase", "wipe", "unlink", "truncate", "expunge",
		"prune", "flush", "flushall", "flushdb", "discard", "shred",
		"lösche", "löschen", "loesche", "loeschen", "entferne", "entfernen", "supprimer", "supprime", "effacer", "eliminar", "elimina", "borrar", "borra",
		"cancella", "rimuovi", "excluir", "apagar", "verwijder", "verwijderen", "usuń", "удалить", "удали":
		return acting | deleting | filing | altering
	case "send", "deliver", "dispatch", "broadcast", "forward":
		return acting | sending
	case "invite", "notify", "publish", "submit", "remind", "grant":
		return acting | sending
	case "upload":
		return acting | sending | filing
	case "write", "save", "put", "append", "create", "insert":
		return acting | filing
	case "edit", "modify", "replace":
		return acting | filing | altering | setting
	case "add":
		return acting | sending
	case "set":
		return acting | altering | setting
	case "push", "upsert", "execute":
		return acting
	case "post", "share", "message", "reply", "respond", "answer", "comment", "sms", "dm", "call", "dial", "whatsapp", "tweet", "mention", "contact":
		return naming | sending
	case "mail", "email":
		return naming | sending | mailing
	case "gmail", "emails":
		return mailing
	case "member", "members", "collaborator", "collaborators", "delegate", "delegates", "permission", "permissions", "access", "chat":
		return sending
	case "pay", "donate", "withdraw", "deposit", "refund", "remit", "payout":
		return acting | paying
	case "transfer", "wire", "charge", "purchase":
		return naming | paying | sending
	case "payment", "payments", "money", "transaction", "transactions":
		return paying
	case "copy", "export", "mkdir", "touch", "unzip":
		return naming | filing
	case "move", "rename", "overwrite", "trash":
		return naming | filing | altering
	case "update", "patch":
		return naming | filing | altering | setting
	case "file", "files", "directory", "folder", "path":
		return filing
	case "change", "reset", "rotate", "configure", "adjust":
		return naming | altering | setting
	case "cancel", "revoke", "close", "archive", "unarchive", "unsubscribe", "disable", "deactivate", "reschedule", "approve", "reject", "decline",
		"deny", "unlock", "suspend", "terminate", "shutdown", "kill", "stop", "ban", "kick", "evict", "block", "unpublish", "unshare", "unassign",
		"reassign", "detach", "uninstall", "revert", "rollback", "clear", "empty", "void", "expire", "invalidate", "restore", "merge",
		"finalize", "finalise", "withhold", "demote", "promote", "reopen":
		return naming | altering
	case "import", "fork", "run", "order", "book", "schedule", "subscribe", "register", "assign", "start", "lock", "convert", "translate", "format",
		"apply", "sort", "reorder", "duplicate", "resize", "click", "type", "fill", "press", "hover", "drag", "scroll", "wait", "evaluate",
		"snapshot", "buy", "reserve", "rent", "checkout", "sell", "bid", "redeem", "renew", "confirm", "accept", "sign", "complete", "mark",
		"enable", "activate", "arm", "disarm", "turn", "switch", "toggle", "dim", "play", "pause", "deploy", "release", "restart", "reboot",
		"generate", "make", "place", "announce", "rate", "follow", "unfollow", "dismiss", "exchange", "return", "ship", "track", "escalate", "manage",
		"freeze", "transition", "resolve", "unresolve", "untrash", "unapprove", "uncomplete", "scale", "exec", "launch", "trigger", "sync":
		return naming
	}
	return 0
}

// intent is what a tool's name says it does.
type intent struct {
	reads   bool // only looks something up: a channel or a user in its arguments is a question, not a destination
	fetches bool // only opens addresses, if it opens any
	opens   bool // its verb is to open an address
	unknown bool // no verb is known: it may do anything
	sends   bool
	pays    bool
	deletes bool
	alters  bool // acts on something that exists
	sets    bool // alters, by giving it other contents
	files   bool
	mails   bool
}

// intentOf reads a name's words. The first verb decides, except that words that are never nouns make a tool an acting
// one wherever they stand (check_and_send). A name without any verb may do everything.
func intentOf(name string) intent {
	ws := words(name)
	var lead, all, alters meaning
	acts, deletes := false, false
	for i, w := range ws {
		m := meaningOf(w)
		if w == "contact" && lead != 0 {
			m = 0 // the one in update_contact is nobody who is written to
		}
		if w == "option" || w == "options" {
			acts = acts || i > 0 && ws[i-1] == "select" // in a form
		}
		joined := i > 0 && (ws[i-1] == "and" || ws[i-1] == "or" || ws[i-1] == "then")
		question := lead&reading != 0 && lead&vague == 0 && !joined && i < len(ws)-1 // get_delete_status deletes nothing
		acts = acts || m&acting != 0 || m&naming != 0 && (joined || lead&reading == 0)
		deletes = deletes || m&deleting != 0 && !question && !drags(ws, i)
		if verb := lead == 0 || joined || lead&naming != 0 && lead&acting == 0 || lead&vague != 0 && i == len(ws)-1; verb && alters == 0 {
			alters = m & (altering | setting) // in create_update and get_reset_link, the word is a noun
		}
		if lead == 0 && m&(reading|fetching|acting|naming) != 0 {
			lead = m
			if i == 0 {
				lead &^= vague // list_posts lists, but mailing_list_post may post
			}
		}
		all |= m
	}
	if n := len(ws) - 1; n > 0 {
		switch last := meaningOf(ws[n]); {
		case lead == 0 && tells(ws[n]):
			lead = reading // conversations_history
		case lead&vague != 0 && last&naming != 0:
			acts = true
		case lead&naming != 0 && all&acting == 0 && asks(ws[n]) && ws[0] != "mark":
			lead, acts = last, false // email_search
		}
	}
	return intent{
		reads:   !acts && lead&reading != 0,
		fetches: !acts && lead&(reading|fetching) != 0,
		opens:   !acts && lead&fetching != 0,
		unknown: lead == 0,
		sends:   all&sending != 0 || lead == 0,
		pays:    all&paying != 0 || lead == 0,
		deletes: deletes,
		alters:  deletes || acts && alters&altering != 0,
		sets:    !deletes && alters&setting != 0,
		files:   all&filing != 0,
		mails:   all&mailing != 0,
	}
}

// asks reports whether a verb at the end of a name makes the words before it nouns.
func asks(word string) bool {
	switch word {
	case "get", "read", "search", "find", "lookup", "retrieve", "fetch":
		return true
	}
	return false
}

// tells reports whether the last noun of a name without a verb says what the tool returns.
func tells(word string) bool {
	switch word {
	case "history", "info", "information", "details", "stats", "statistics", "replies", "log", "logs", "tree", "schema", "metadata", "overview", "directions",
		"distance", "forecast", "weather":
		return true
	}
	return false
}

// drags reports whether the word is the drop of a pointer or of a name: drag_and_drop, drop_down.
func drags(ws []string, i int) bool {
	if ws[i] != "drop" {
		return false
	}
	if i > 0 && (ws[i-1] == "drag" || ws[i-1] == "browser" || ws[i-1] == "mouse" || i > 1 && ws[i-2] == "drag") {
		return true
	}
	return i+1 < len(ws) && (ws[i+1] == "down" || ws[i+1] == "off" || ws[i+1] == "zone" || ws[i+1] == "shadow")
}
