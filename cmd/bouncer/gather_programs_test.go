//go:build !windows

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// TestUpstream looks programs up as each client would find them, on a machine where a package manager of the person's own
// has installed them.
func TestUpstream(t *testing.T) {
	home := t.TempDir()
	bin, lone := filepath.Join(home, "bin"), filepath.Join(home, "lone")
	for name, text := range map[string]string{
		"bin/npx-of-mine": "#!/usr/bin/env node-of-mine\n", "bin/node-of-mine": "\x7fELF", "bin/wrapper": "#!/usr/bin/env -S X=1 node-of-mine --flag\n",
		"lone/orphan": "#!/usr/bin/env node-of-mine\n", "lone/native": "\x7fELF", "lone/shell": "#!/bin/sh\n",
	} {
		file := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	const launchd = "/usr/bin:/bin:/usr/sbin:/sbin"
	at := func(dir, name string) string { return filepath.Join(dir, name) }
	tests := []struct {
		name, os, client, command string
		path                      string // of the entry's own env
		want                      doctor.Program
	}{
		{"Claude Desktop from the Dock", "darwin", "claude-desktop", "npx-of-mine", "", doctor.Program{Path: at(bin, "npx-of-mine"), Beyond: doctor.Lost, PATH: launchd}},
		{"Cursor may ask the shell", "darwin", "cursor", "npx-of-mine", "", doctor.Program{Path: at(bin, "npx-of-mine"), Beyond: doctor.Unlikely, PATH: launchd}},
		{"Claude Code is in the terminal", "darwin", "claude-code", "npx-of-mine", "", doctor.Program{Path: at(bin, "npx-of-mine")}},
		{"a whole path, but its interpreter is lost", "darwin", "claude-desktop", at(bin, "npx-of-mine"), "", doctor.Program{Path: at(bin, "npx-of-mine"), Beyond: doctor.Lost, PATH: launchd, Needs: "node-of-mine"}},
		{"a whole path, natively", "darwin", "claude-desktop", at(lone, "native"), "", doctor.Program{Path: at(lone, "native")}},
		{"what the system has", "darwin", "claude-desktop", "sh", "", doctor.Program{}},
		{"a desktop session of Linux", "linux", "claude-desktop", "npx-of-mine", "", doctor.Program{Path: at(bin, "npx-of-mine"), Beyond: doctor.Doubtful}},
		{"an entry with its own PATH", "darwin", "claude-desktop", "npx-of-mine", bin, doctor.Program{Path: at(bin, "npx-of-mine")}},
		{"an entry with another PATH", "linux", "claude-code", "npx-of-mine", lone, doctor.Program{}},
		{"an entry whose PATH the client completes", "linux", "claude-code", "npx-of-mine", "${HOME}/bin", doctor.Program{Unknown: true}},
		{"no interpreter anywhere", "linux", "claude-code", "orphan", lone, doctor.Program{Path: at(lone, "orphan"), Needs: "node-of-mine"}},
		{"an interpreter behind flags", "linux", "claude-code", "wrapper", "", doctor.Program{Path: at(bin, "wrapper")}},
		{"an interpreter by its path", "linux", "claude-code", "shell", lone, doctor.Program{Path: at(lone, "shell")}},
		{"nothing", "linux", "claude-code", "no-such-program", "", doctor.Program{}},
		{"for the client to expand", "linux", "claude-code", "${TOOLS}/x", "", doctor.Program{Unknown: true}},
		{"relative to the client's folder", "linux", "claude-code", "./x", "", doctor.Program{Unknown: true}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := lookup{env: clients.Env{OS: test.os, Home: home}, path: bin + ":/bin:/usr/bin"}
			s := wrap.Server{Entry: wrap.Entry{Command: test.command}, File: wrap.File{Client: test.client}, Path: test.path, HasPath: test.path != ""}
			got := l.upstream(s)
			if test.command == "sh" { // wherever it is
				got.Path = ""
			}
			if got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// TestExpand puts in what clients put in before they start a server; what only they know is named.
func TestExpand(t *testing.T) {
	env := map[string]string{"A": "1", "EMPTY": ""}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	tests := []struct{ text, want, unknown string }{
		{"plain", "plain", ""},
		{"${A}-${env:A}-${B:-2}-${EMPTY:-3}", "1-1-2-", ""},
		{"${userHome}/x:${workspaceFolder}${/}y", "/home/ada/x:/w/y", ""},
		{"${input:token}", "", "input:token"},
		{"a${A", "a${A", ""},
	}
	for _, test := range tests {
		x := expander{lookup: lookup, folder: "/w", home: "/home/ada"}
		if got := x.expand(test.text); got != test.want || x.unknown != test.unknown {
			t.Errorf("%s: %q, unknown %q", test.text, got, x.unknown)
		}
	}
}
