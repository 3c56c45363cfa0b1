package doctor

import (
	"fmt"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// Checks lists every check, in the order in which its findings are shown.
func Checks() []Check {
	return []Check{
		{"client-found", "a client is installed", clientsFound},
		{"config-unreadable", "a config can't be read; the place of a syntax error is given", configUnreadable},
		{"config-managed", "an organisation's config lists servers that bouncer is not put in front of", configManaged},
		{"server-unwrapped", "a server starts without bouncer", serverUnwrapped},
		{"server-remote", "a server is reached over the network and bypasses bouncer", serverRemote},
		{"server-denied", "the client's own allow or deny list keeps bouncer away from a server", serverDenied},
		{"server-invalid", "the client can't start an entry", serverInvalid},
		{"server-duplicate", "one name stands for servers in several scopes", serverDuplicate},
		{"launcher-missing", "a wrapped server starts a bouncer that does not exist", launcherMissing},
		{"launcher-moved", "a wrapped server starts another copy of bouncer than this one", launcherMoved},
		{"launcher-versioned", "a wrapped server starts bouncer from a path that won't last, such as one version's folder", launcherVersioned},
		{"launcher-shadowed", "another program named bouncer is first on PATH", launcherShadowed},
		{"launcher-unfit", "the running bouncer has no path that lasts", launcherUnfit},
		{"upstream-missing", "the program behind a wrapped server is not found", upstreamMissing},
		{"sentinel-stale", "an entry carries bouncer's record but starts without bouncer", sentinelStale},
		{"sentinel-disagrees", "bouncer's record and the command line name different servers", sentinelDisagrees},
		{"sentinel-dropped", "a client has dropped bouncer's record from a wrapped entry", sentinelDropped},
		{"entry-legacy", "an entry was wrapped by the original Python bouncer", entryLegacy},
		{"project-flags", "a project file chooses the policy or the profile", projectFlags},
		{"policy-invalid", "a policy file does not load", policyInvalid},
		{"audit-unreadable", "the audit log can't be read", auditUnreadable},
		{"audit-broken", "the audit log was altered or cut", auditBroken},
	}
}

func clientsFound(f Facts) []Finding {
	if len(f.Clients) == 0 {
		return []Finding{{Severity: Info, Message: "no client that bouncer knows is installed here"}}
	}
	var found []Finding
	for _, c := range f.Clients {
		files := 0
		for _, file := range f.Files {
			if file.Client == c.ID {
				files++
			}
		}
		found = append(found, Finding{
			Severity: Info, Client: c.ID,
			Message: fmt.Sprintf("%s, %s", c.Name, counted(files, "config", "configs")),
		})
	}
	return found
}

// entries runs a check over every entry of every file that could be read, and says where a finding stands.
func entries(f Facts, check func(File, Entry) (Finding, bool)) []Finding {
	var found []Finding
	for _, file := range f.Files {
		if file.Managed {
			continue // said once, by configManaged
		}
		for _, e := range file.Entries {
			finding, ok := check(file, e)
			if !ok {
				continue
			}
			finding.Client, finding.File = file.Client, file.Path
			finding.Scope, finding.Server = e.Scope, e.Name
			found = append(found, finding)
		}
	}
	return found
}

func serverUnwrapped(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("starts %s without bouncer", quote(e.Command)),
			Repair:   command("init", file, e),
		}, e.State == wrap.Plain
	})
}

func serverRemote(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  "is a remote server, and its calls bypass bouncer",
			Repair:   "this version can't stand in front of remote servers; remove the entry if its tools must not be used unjudged",
		}, e.State == wrap.Remote
	})
}

func serverDenied(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		if e.State == wrap.Wrapped && !e.Legacy && e.Reason != "" {
			return Finding{
				Severity: Warning,
				Message:  "starts through bouncer, which hides it from its client's own lists: without bouncer it is " + e.Reason,
				Repair:   command("unwrap", file, e),
			}, true
		}
		return Finding{
			Severity: Warning,
			Message:  "is left alone: " + e.Reason,
			Repair:   "change the client's list if the server should start through bouncer",
		}, e.State == wrap.Denied
	})
}

func serverInvalid(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  "can't be started by its client: " + e.Reason,
			Repair:   "correct the entry or remove it",
		}, e.State == wrap.Invalid
	})
}

func configUnreadable(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		if file.Err == nil {
			continue
		}
		line, col, msg := place(file.Err)
		found = append(found, Finding{
			Severity: Error, Client: file.Client, File: file.Path, Line: line, Column: col,
			Message: "its servers are unknown: " + msg,
			Repair:  "correct the file; bouncer does not touch a file it can't read exactly",
		})
	}
	return found
}

func configManaged(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		if !file.Managed {
			continue
		}
		found = append(found, Finding{
			Severity: Warning, Client: file.Client, File: file.Path,
			Message: fmt.Sprintf("belongs to an organisation, and bouncer does not edit it: %s, and the client may ignore its other configs", counted(len(file.Entries), "server", "servers")),
			Repair:  "ask the organisation to start the servers through bouncer",
		})
	}
	return found
}

func upstreamMissing(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Error,
			Message:  fmt.Sprintf("starts %s through bouncer, but there is no such program on PATH", quote(e.Command)),
			Repair:   "install the program, or correct the entry",
		}, e.State == wrap.Wrapped && e.Upstream.Missing()
	})
}

func sentinelStale(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  "carries bouncer's record of a wrapped server but starts without bouncer",
			Repair:   "bouncer doctor --fix removes the record; then " + command("init", file, e),
		}, e.State == wrap.Stale
	})
}

func sentinelDisagrees(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("starts %s, but bouncer's record of it names something else", quote(e.Command)),
			Repair:   "check which is meant; " + command("unwrap", file, e) + " keeps what starts, and init wraps it again",
		}, e.State == wrap.Wrapped && e.Disagree
	})
}

func sentinelDropped(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Info,
			Message:  "has lost bouncer's record, probably when its client rewrote the file; it still starts through bouncer and can be unwrapped",
		}, e.State == wrap.Wrapped && e.NoSentinel
	})
}

func entryLegacy(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		if e.Legacy && e.Reason != "" {
			return Finding{Severity: Error, Message: e.Reason, Repair: "enter the server anew"}, true
		}
		return Finding{
			Severity: Info,
			Message:  "was wrapped by the original Python bouncer; it starts and can be unwrapped",
			Repair:   command("unwrap", file, e) + ", then " + command("init", file, e),
		}, e.Legacy
	})
}

func projectFlags(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  "runs under a policy or profile that the project's file chooses, not you",
			Repair:   "keep the policy in your own policy file and take the flags out of the entry",
		}, file.Shared && e.State == wrap.Wrapped && (len(e.Policies) > 0 || e.Profile != "")
	})
}

func policyInvalid(f Facts) []Finding {
	var found []Finding
	for _, p := range f.Policies {
		for _, err := range each(p.Err) {
			line, col, msg := place(err)
			found = append(found, Finding{
				Severity: Error, File: p.Path, Line: line, Column: col,
				Message: "the policy does not load, and servers under it do not start: " + msg,
				Repair:  "correct the file",
			})
		}
	}
	return found
}

func auditUnreadable(f Facts) []Finding {
	if f.Audit.Err == nil {
		return nil
	}
	return []Finding{{
		Severity: Error, File: f.Audit.Dir,
		Message: "the audit log can't be read: " + f.Audit.Err.Error(),
		Repair:  "make the folder readable for you; calls are refused while nothing can be recorded",
	}}
}

func auditBroken(f Facts) []Finding {
	fault := f.Audit.Report.Fault
	if fault == nil {
		return nil
	}
	return []Finding{{
		Severity: Error, File: fault.File, Line: fault.Line,
		Message: fmt.Sprintf("the chain of audit records is broken at record %d: %s", fault.Seq, fault.Reason),
		Repair:  "records from there on prove nothing; keep the files and move them away to begin a new chain",
	}}
}
