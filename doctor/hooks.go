package doctor

import (
	"fmt"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// Hook is a place in a client's settings for a command that tells bouncer what the person types.
type Hook struct {
	wrap.Entry           // its State is Wrapped when the command is there
	Client     Client    // whose settings they are
	File       string    // the settings
	Barred     string    // why the command would not run; empty when nothing stands in the way
	Wrapped    bool      // the client starts a server through bouncer
	Aside      bool      // a person wants it left as it is
	Lost       time.Time // init put it in then, and nobody has taken it out since; zero for one that never was there
	Start      Program   // of one that is there: its launcher
}

func (h Hook) installed() bool { return h.State == wrap.Wrapped }

// hooks runs a check over every hook, and says where a finding stands.
func hooks(f Facts, check func(Hook) (Finding, bool)) []Finding {
	var found []Finding
	for _, h := range f.Hooks {
		if finding, ok := check(h); ok {
			finding.Client, finding.File, finding.Scope, finding.Server = h.Client.ID, h.File, h.Scope, h.Name
			found = append(found, finding)
		}
	}
	return found
}

// command is the line that puts a hook in or takes it out.
func (h Hook) command(verb string) string {
	return command(verb, File{Client: h.Client.ID, Path: h.File}, Entry{Entry: h.Entry})
}

func hookMissing(f Facts) []Finding {
	return hooks(f, func(h Hook) (Finding, bool) {
		finding := Finding{
			Severity: Info,
			Message:  h.Client.Name + " does not tell bouncer what you type, so that bouncer asks about addresses you have named yourself",
			Repair:   "bouncer init puts the hook in",
		}
		if !h.Lost.IsZero() {
			finding.Severity = Warning
			finding.Message = fmt.Sprintf("was put in on %s, and is not there any more", h.Lost.Format("2006-01-02"))
			finding.Repair = "bouncer doctor --fix puts it back; bouncer init --skip=" + h.Name + " keeps it out"
		}
		return finding, !h.installed() && h.Wrapped && h.Barred == "" && !h.Aside
	})
}

func hookBarred(f Facts) []Finding {
	return hooks(f, func(h Hook) (Finding, bool) {
		return Finding{
			Severity: Info,
			Message:  "can't tell bouncer what you type: " + h.Barred,
		}, h.Barred != "" && (h.installed() || h.Wrapped)
	})
}

func hookLauncher(f Facts) []Finding {
	return hooks(f, func(h Hook) (Finding, bool) {
		finding := Finding{Severity: Warning, Repair: "bouncer doctor --fix writes it anew"}
		switch p := h.Start; {
		case p.Missing():
			finding.Message = fmt.Sprintf("runs %s, which does not exist", shown(h.Launcher))
		case f.Launcher != "" && !p.Unknown && !p.Self:
			finding.Message = fmt.Sprintf("runs %s, which is not this bouncer (%s)", shown(h.Launcher), quote(f.Launcher))
		case f.Home != "" && !sameHome(h.Home, f.Home):
			finding.Message = fmt.Sprintf("is not told to use %s, where your servers write down what they see", quote(f.Home))
		case p.Fleeting:
			finding.Message = fmt.Sprintf("runs %s, a path that won't last", shown(h.Launcher))
		}
		return finding, h.installed() && finding.Message != ""
	})
}

// sameHome compares folders; a hook's are written with the slashes that all shells take.
func sameHome(a, b string) bool {
	return strings.ReplaceAll(a, `\`, "/") == strings.ReplaceAll(b, `\`, "/")
}

func hookUnguarded(f Facts) []Finding {
	return hooks(f, func(h Hook) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  h.Reason,
			Repair:   "let the command end with: || exit 0",
		}, h.installed() && h.Reason != ""
	})
}

func hookIdle(f Facts) []Finding {
	return hooks(f, func(h Hook) (Finding, bool) {
		return Finding{
			Severity: Info,
			Message:  fmt.Sprintf("tells bouncer what you type, and no server of %s that was found starts through bouncer", h.Client.Name),
			Repair:   h.command("unwrap"),
		}, h.installed() && !h.Wrapped
	})
}
