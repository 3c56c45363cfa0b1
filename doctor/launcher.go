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
		where := "does not exist"
		if bare(e.Launcher) {
			where = "is not on PATH"
		}
		return Finding{
			Severity: Error,
			Message:  fmt.Sprintf("starts %s, which %s", quote(e.Launcher), where),
			Repair:   command("init", file, e),
		}, e.State == wrap.Wrapped && e.Start.Missing()
	})
}

func launcherMoved(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("starts %s, which is not this bouncer (%s)", quote(e.Launcher), quote(f.Launcher)),
			Repair:   command("init", file, e),
		}, f.Launcher != "" && elsewhere(e) && !bare(e.Launcher)
	})
}

func launcherShadowed(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Error,
			Message:  fmt.Sprintf("starts %s, and the first on PATH is %s, which is not this bouncer", quote(e.Launcher), quote(e.Start.Path)),
			Repair:   "put this bouncer's folder first on PATH, or remove the other program",
		}, f.Launcher != "" && elsewhere(e) && bare(e.Launcher)
	})
}

// elsewhere reports that a wrapped entry starts some program, but not this one.
func elsewhere(e Entry) bool {
	return e.State == wrap.Wrapped && !e.Start.Unknown && !e.Start.Missing() && !e.Start.Self
}

func launcherVersioned(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("starts %s, a path that won't last", quote(e.Launcher)),
			Repair:   command("init", file, e),
		}, e.State == wrap.Wrapped && !e.Start.Missing() && e.Start.Fleeting
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
