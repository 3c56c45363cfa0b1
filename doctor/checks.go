package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// Checks lists every check, in the order in which its findings are shown.
func Checks() []Check {
	only := func(s ...Severity) []Severity { return s }
	return []Check{
		{"client-found", only(Info), "a client is installed", clientsFound},
		{"client-configs", only(Info), "a client has several configs; the one that the running program reads is named when it can be told", clientConfigs},
		{"config-unreadable", only(Error), "a config can't be read; the place of a syntax error is given", configUnreadable},
		{"config-managed", only(Warning), "an organisation's config lists servers that bouncer is not put in front of", configManaged},
		{"config-exposed", only(Warning), "others on this computer can write a config, or read one that holds secrets", configExposed},
		{"secret-plain", only(Warning, Info), "a config holds a secret written out: a warning where the file is shared", secretPlain},
		{"server-undone", only(Warning), "a server was wrapped, and its client or another program has taken that back", serverUndone},
		{"server-added", only(Warning), "a server came after init and starts without bouncer", serverAdded},
		{"server-unwrapped", only(Warning), "a server starts without bouncer", serverUnwrapped},
		{"server-aside", only(Info), "a server is left alone because init --skip was told so", serverAside},
		{"server-gone", only(Info), "a server that was wrapped is not in its file any more", serverGone},
		{"server-remote", only(Warning), "a server is reached over the network and bypasses bouncer", serverRemote},
		{"server-denied", only(Warning, Info), "the client's own allow or deny list keeps bouncer away from a server: a warning when the server starts all the same", serverDenied},
		{"server-invalid", only(Warning), "the client can't start an entry", serverInvalid},
		{"server-uncovered", only(Warning), "a plugin, an agent or an extension brings a server that starts without bouncer", serverUncovered},
		{"server-duplicate", only(Warning, Info), "one name stands for servers in several scopes", serverDuplicate},
		{"server-unpinned", only(Info), "a server is fetched anew in whatever version is the newest", serverUnpinned},
		{"project-approved", only(Info), "a project's server is approved by its name alone, whatever the file makes of it later", projectApproved},
		{"launcher-missing", only(Error), "a wrapped server starts a bouncer that does not exist", launcherMissing},
		{"launcher-moved", only(Warning), "a wrapped server starts another copy of bouncer than this one", launcherMoved},
		{"launcher-versioned", only(Warning), "a wrapped server starts bouncer from a path that won't last, such as one version's folder", launcherVersioned},
		{"launcher-shadowed", only(Error), "another program named bouncer is first on PATH", launcherShadowed},
		{"arguments-refused", only(Error), "bouncer refuses the arguments that a wrapped server starts it with", argumentsRefused},
		{"home-differs", only(Warning, Info), "a wrapped server keeps to another home than the one that was asked for", homeDiffers},
		{"launcher-unfit", only(Info), "the running bouncer has no path that lasts", launcherUnfit},
		{"hook-missing", only(Warning, Info), "a client does not tell bouncer what you type: a warning when it did before", hookMissing},
		{"hook-barred", only(Info), "a client's settings keep the hook from running, or can't be written", hookBarred},
		{"hook-launcher", only(Warning), "the hook runs a bouncer that is missing, another one, or one from a path that won't last", hookLauncher},
		{"hook-unguarded", only(Warning), "the hook's command may end with a code by which the client refuses what you type", hookUnguarded},
		{"hook-idle", only(Info), "there is a hook, and no server that starts through bouncer", hookIdle},
		{"upstream-missing", only(Error), "the program behind a server, or the interpreter that it needs, is not found", upstreamMissing},
		{"upstream-off-path", only(Warning, Info), "a program is found from a terminal, but not by a client that the desktop starts", upstreamOffPath},
		{"sentinel-stale", only(Warning), "an entry carries bouncer's record but starts without bouncer", sentinelStale},
		{"sentinel-disagrees", only(Warning), "bouncer's record and the command line name different servers", sentinelDisagrees},
		{"sentinel-dropped", only(Info), "a client has dropped bouncer's record from a wrapped entry", sentinelDropped},
		{"entry-legacy", only(Error, Info), "an entry was wrapped by the original Python bouncer", entryLegacy},
		{"project-flags", only(Warning), "a project file chooses the policy or the profile", projectFlags},
		{"server-observed", only(Info), "a server is only observed: its calls pass, and the log has what would have been blocked", serverObserved},
		{"policy-invalid", only(Error), "a policy file does not load", policyInvalid},
		{"pins-waiting", only(Warning), "a wrapped server has changed its tools or instructions, and nobody has accepted that yet", pinsWaiting},
		{"audit-unreadable", only(Error), "the audit log can't be read", auditUnreadable},
		{"audit-broken", only(Error), "the audit log was altered or cut", auditBroken},
		{"state-left", only(Info), "no server is wrapped any more, and bouncer's backups are still there", stateLeft},
		{"tools-listed", only(Info), "with --probe: the tools of a server, and the rules that hold for them", toolsListed},
		{"tools-unlisted", only(Warning), "with --probe: a server does not start, or does not list its tools", toolsUnlisted},
		{"tools-skipped", only(Info), "with --probe: a server was not started, and why", toolsSkipped},
		{"sink-undeclared", only(Warning), "with --probe: a parameter looks like a destination, and the rule of its tool leaves it out", sinkUndeclared},
	}
}

func clientsFound(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		if file.Client == "" {
			found = append(found, Finding{Severity: Info, File: file.Path, Message: "the config of a client that bouncer doesn't know"})
		}
	}
	if len(f.Clients)+len(found) == 0 {
		return []Finding{{Severity: Info, Message: "no client that bouncer knows is installed here"}}
	}
	for _, c := range f.Clients {
		files := 0
		for _, file := range f.Files {
			if file.Client == c.ID || slices.Contains(file.Also, c.ID) {
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

// serverUnwrapped gives each server the command that wraps it. Where none is wrapped yet, one init does it for all but those
// in files that a project shares.
func serverUnwrapped(f Facts) []Finding {
	begun, private, last := false, 0, -1
	for _, file := range f.Files {
		begun = begun || slices.ContainsFunc(file.Entries, func(e Entry) bool { return e.Launcher != "" })
	}
	found := entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("starts %s without bouncer%s", shown(e.Command), effect(e)),
			Repair:   command("init", file, e),
		}, e.State == wrap.Plain && !e.Aside && e.Undone.IsZero() && !e.Added
	})
	shared := func(path string) bool {
		return slices.ContainsFunc(f.Files, func(file File) bool { return file.Path == path && (file.Shared || file.Client == "") })
	}
	for i, finding := range found {
		if !shared(finding.File) {
			private, last = private+1, i
		}
	}
	if begun || private < 2 {
		return found
	}
	for i := range found {
		if !shared(found[i].File) {
			found[i].Repair = ""
		}
	}
	found[last].Repair = "bouncer init puts bouncer in front of these " + counted(private, "server", "servers")
	return found
}

// effect says what is to know about a server that its client does not start as things are.
func effect(e Entry) string {
	switch e.Effect {
	case wrap.Off:
		return "; it is switched off now"
	case wrap.Pending:
		return "; nobody has approved it yet"
	case wrap.Shadowed:
		return "; another scope's server of this name stands in its place now"
	case wrap.Hidden:
		return "; an organisation's file stands in its place now"
	}
	return ""
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
		switch {
		case e.State == wrap.Wrapped && !e.Legacy && e.Reason != "":
			return Finding{
				Severity: Warning,
				Message:  "starts through bouncer, and its client's own lists don't fit that: without bouncer it is " + e.Reason,
				Repair:   command("unwrap", file, e),
			}, true
		case e.State == wrap.Listed:
			return Finding{
				Severity: Warning,
				Message:  "starts without bouncer: " + e.Reason,
				Repair:   "allow the server by its name in the client's list, then " + command("init", file, e),
			}, true
		}
		return Finding{
			Severity: Info,
			Message:  "is left alone, and its client does not start it: " + e.Reason,
		}, e.State == wrap.Denied
	})
}

func serverInvalid(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		finding := Finding{Severity: Warning, Message: "can't be started by its client: " + e.Reason, Repair: "correct the entry or remove it"}
		if file.Client == "" { // which may start what no client that is known would
			finding.Message = "is written in a way that bouncer doesn't know, and left alone: " + e.Reason
			finding.Repair = "write it with a command and args, if its client reads that"
		}
		if e.Restorable {
			finding.Repair = command("unwrap", file, e) + " gives the server back that it was"
		}
		return finding, e.State == wrap.Invalid
	})
}

func configUnreadable(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		if file.Err == nil {
			continue
		}
		line, col, msg := fault(file.Err)
		finding := Finding{
			Severity: Error, Client: file.Client, File: file.Path, Line: line, Column: col,
			Message: "its servers are unknown: " + msg,
			Repair:  "correct the file; bouncer does not touch a file it can't read exactly",
		}
		if file.Bare {
			finding.Message = "these settings can't be read: " + msg
		}
		found = append(found, finding)
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
			Message: fmt.Sprintf("belongs to an organisation, and bouncer does not edit it; it holds %s, and the client reads no other config, plugin or agent",
				counted(len(file.Entries), "server", "servers")),
			Repair: "ask the organisation to start the servers through bouncer",
		})
	}
	return found
}

func sentinelStale(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		finding := Finding{
			Severity: Warning,
			Message:  "carries bouncer's record of a wrapped server but starts without bouncer",
			Repair:   fix(file) + " removes the record; after that, init can wrap the server",
		}
		if e.Restorable {
			finding.Message = "has bouncer's arguments but another command, so that it can't work: half of it was put back by hand"
			finding.Repair = fix(file) + " puts back what bouncer's record says; after that, init can wrap the server"
		}
		return finding, e.State == wrap.Stale
	})
}

func sentinelDisagrees(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		other := "names something else"
		if e.Reordered {
			other = "has other arguments"
		}
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("starts %s, but bouncer's record of it %s", shown(e.Command), other),
			Repair:   "check that this is what you mean; then " + fix(file) + " writes the record anew",
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

func serverObserved(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		finding := Finding{
			Severity: Info,
			Message:  "is only observed: every call passes, and the audit log has what would have been asked about or refused",
			Repair:   "when it has been watched for long enough, take profile: observe out of the policy",
		}
		if e.Profile != "" {
			finding.Repair = "when it has been watched for long enough: bouncer init --profile=balanced"
		}
		return finding, e.Observed
	})
}

func policyInvalid(f Facts) []Finding {
	var found []Finding
	for _, p := range f.Policies {
		for _, err := range each(p.Err) {
			line, col, msg := fault(err)
			finding := Finding{
				Severity: Error, File: p.Path, Line: line, Column: col,
				Message: "the policy does not load, and servers under it do not start: " + msg,
				Repair:  "correct the file",
			}
			if errors.Is(err, fs.ErrNotExist) {
				finding.Message = "the policy file does not exist, and servers that are told to use it do not start"
				finding.Repair = "put the file back, or unwrap these servers and wrap them anew without --policy"
			}
			found = append(found, finding)
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
