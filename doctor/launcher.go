package doctor

import (
	"fmt"
	"strings"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// bare reports whether a command is looked up on PATH.
func bare(command string) bool { return !strings.ContainsAny(command, `/\`) }

func launcherMissing(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		where, repair := "does not exist", relaunch(file)
		if bare(e.Launcher) {
			where = "is not on PATH"
		}
		if bare(e.Launcher) && file.Shared {
			repair = "put this bouncer's folder on PATH"
		}
		return Finding{
			Severity: Error,
			Message:  fmt.Sprintf("starts %s, which %s", shown(e.Launcher), where),
			Repair:   repair,
		}, startsUs(e) && e.Start.Missing()
	})
}

// relaunch is how an entry comes to start this bouncer. A file that a project shares must be asked for by its client.
func relaunch(file File) string {
	return fix(file) + " makes it start this bouncer"
}

func launcherMoved(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("starts %s, which is not this bouncer (%s)", shown(e.Launcher), quote(f.Launcher)),
			Repair:   relaunch(file),
		}, f.Launcher != "" && elsewhere(e) && !bare(e.Launcher)
	})
}

func launcherShadowed(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Error,
			Message:  fmt.Sprintf("starts %s, and the first on PATH is %s, which is not this bouncer", shown(e.Launcher), quote(e.Start.Path)),
			Repair:   "put this bouncer's folder first on PATH, or remove the other program",
		}, f.Launcher != "" && elsewhere(e) && bare(e.Launcher)
	})
}

// startsUs reports whether an entry is to start bouncer: in front of a server, or as one.
func startsUs(e Entry) bool { return e.State == wrap.Wrapped || e.Serves }

// elsewhere reports that an entry that is to start bouncer starts some program, but not this one.
func elsewhere(e Entry) bool {
	return startsUs(e) && !e.Start.Unknown && !e.Start.Missing() && !e.Start.Self
}

func launcherVersioned(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("starts %s, a path that won't last", shown(e.Launcher)),
			Repair:   relaunch(file),
		}, startsUs(e) && !e.Start.Missing() && e.Start.Fleeting
	})
}

func argumentsRefused(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Error,
			Message:  "does not start, because bouncer refuses its arguments: " + e.Refused,
			Repair:   command("unwrap", file, e) + ", then " + command("init", file, e),
		}, e.State == wrap.Wrapped && e.Refused != ""
	})
}

// homeDiffers finds servers whose policy and audit log are not those that this command was told to look at.
func homeDiffers(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		finding := Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("is not told to use %s: its policy and its audit log are elsewhere", quote(f.Home)),
			Repair:   command("init", file, e) + " " + quote("--home="+f.Home),
		}
		if file.Shared {
			finding.Severity, finding.Repair = Info, "start the client with BOUNCER_HOME set; a shared file can't name one person's folder"
		}
		return finding, f.Home != "" && startsUs(e) && !e.Legacy && e.Home != f.Home && !e.Settled
	})
}

func launcherUnfit(f Facts) []Finding {
	if f.Launcher != "" || f.Unfit == "" {
		return nil
	}
	return []Finding{{
		Severity: Info,
		Message:  "this bouncer can't be written into a config: " + f.Unfit,
		Repair:   "install bouncer where it stays",
	}}
}
