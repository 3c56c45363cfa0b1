package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/wrap"
)

func serverUndone(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message: fmt.Sprintf("was wrapped on %s, and starts %s without bouncer now: its client, or another program, has written the entry anew",
				e.Undone.Format("2006-01-02"), shown(e.Command)),
			Repair: fix(file) + " wraps it again",
		}, !e.Undone.IsZero() && e.State == wrap.Plain && !e.Aside
	})
}

func serverAdded(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("came after init, and starts %s without bouncer", shown(e.Command)),
			Repair:   fix(file) + " wraps it",
		}, e.Added && e.State == wrap.Plain && e.Undone.IsZero() && !e.Aside
	})
}

func serverAside(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		message := "is left alone, as init --skip was told"
		if e.State == wrap.Wrapped {
			message = "starts through bouncer until it is unwrapped; init leaves it alone from then on, as --skip was told"
		}
		return Finding{
			Severity: Info,
			Message:  message,
			Repair:   command("init", file, e) + " takes that back",
		}, e.Aside
	})
}

func serverGone(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		for _, gone := range file.Gone {
			found = append(found, Finding{
				Severity: Info, Client: file.Client, File: file.Path, Server: gone.Name,
				Message: fmt.Sprintf("was wrapped on %s, and is not in the file any more", gone.When.Format("2006-01-02")),
				Repair:  "if you did not remove it: bouncer undo --list shows the file as it was",
			})
		}
	}
	return found
}

func serverUncovered(f Facts) []Finding {
	var found []Finding
	for _, u := range f.Sources {
		if u.Err != nil {
			_, _, msg := fault(u.Err)
			found = append(found, Finding{
				Severity: Warning, Client: u.Client, File: u.Path,
				Message: fmt.Sprintf("belongs to %s, and its servers are unknown: %s", owner(u), msg),
			})
			continue
		}
		for _, e := range u.Entries {
			if e.State == wrap.Own {
				continue
			}
			found = append(found, Finding{
				Severity: Warning, Client: u.Client, File: u.Path, Server: e.Name,
				Message: fmt.Sprintf("comes from %s and starts without bouncer%s", owner(u), twin(f, u, e)),
				Repair:  "enter the server in a config of your own, wrap it, and switch off the one it comes from",
			})
		}
	}
	return found
}

// twin tells of a wrapped server that starts the same program: the client, which used to see that both are one, sees two now.
func twin(f Facts, u wrap.Uncovered, e wrap.Entry) string {
	for _, file := range f.Files {
		if file.Client != u.Client {
			continue
		}
		for _, own := range file.Entries {
			if own.State == wrap.Wrapped && e.Command != "" && sameServer(own.Entry, e) {
				return fmt.Sprintf(", beside %q, which is the same server", own.Name)
			}
		}
	}
	return ""
}

func owner(u wrap.Uncovered) string {
	if u.Owner == "" {
		return "the " + string(u.Kind) + "'s settings"
	}
	return fmt.Sprintf("the %s %q", u.Kind, u.Owner)
}

func projectApproved(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		return Finding{
			Severity: Info,
			Message:  "is approved by its name: if the file makes it start something else one day, its client does not ask again",
			Repair:   "look at the file's changes before you pull them",
		}, e.Effect == wrap.Approved
	})
}

func serverUnpinned(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		pkg := unpinned(e.Command, e.Args)
		return Finding{
			Severity: Info,
			Message:  fmt.Sprintf("starts whatever version of %s is the newest", shown(pkg)),
			Repair:   "name a version, as in " + shown(pkg+"@1.2.3") + ", and raise it when you have looked at the next one",
		}, pkg != "" && e.State != wrap.Invalid && e.State != wrap.Stale
	})
}

// unpinned returns the package that a runner fetches without a version of its own, or nothing.
func unpinned(command string, args []string) string {
	words := append([]string{command}, args...)
	if program(words[0]) == "cmd" && len(words) > 2 && strings.EqualFold(words[1], "/c") {
		words = words[2:]
	}
	runner := program(words[0])
	words = words[1:]
	switch {
	case slices.Contains([]string{"npx", "bunx", "uvx"}, runner):
	case slices.Contains([]string{"pnpm", "yarn"}, runner) && len(words) > 0 && words[0] == "dlx",
		runner == "pipx" && len(words) > 0 && words[0] == "run",
		runner == "npm" && len(words) > 0 && words[0] == "exec":
		words = words[1:]
	default:
		return ""
	}
	pkg := fetched(words)
	if pkg == "" || strings.ContainsAny(pkg, ":$%") || strings.HasPrefix(pkg, ".") || strings.HasPrefix(pkg, "/") {
		return "" // a folder, an address, or for the client to expand
	}
	name, version := pkg, ""
	if i := strings.LastIndexByte(pkg, '@'); i > 0 {
		name, version = pkg[:i], pkg[i+1:]
	} else if before, after, ok := strings.Cut(pkg, "=="); ok {
		name, version = before, after
	}
	if version != "" && strings.Trim(version[:1], "0123456789v") == "" {
		return ""
	}
	return name
}

// fetched is the first word of a runner's that is no flag, or what a flag names as the package.
func fetched(words []string) string {
	for i := 0; i < len(words); i++ {
		flag, value, inline := strings.Cut(words[i], "=")
		switch {
		case slices.Contains([]string{"--package", "-p", "--from"}, flag) && inline:
			return value
		case slices.Contains([]string{"--package", "-p", "--from"}, flag) && i+1 < len(words):
			return words[i+1]
		case slices.Contains([]string{"--python", "--with", "--index-url", "--registry", "--cache"}, flag) && !inline:
			i++
		case !strings.HasPrefix(flag, "-"):
			return words[i]
		}
	}
	return ""
}

// program is the name of a program's file, without the endings that Windows has for it.
func program(command string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(command, `\`, "/")))
	for _, ending := range []string{".exe", ".cmd", ".bat"} {
		base = strings.TrimSuffix(base, ending)
	}
	return base
}
