package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestLinked keeps the program small. As soon as anything in it looks up a method by a name that is known only at run time, as the
// template packages do, the linker must keep every exported method of every type.
func TestLinked(t *testing.T) {
	const most = 15_000_000 // bytes
	program := filepath.Join(t.TempDir(), "bouncer")
	// The version sets this build apart in Go's cache, which would repeat what -dumpdep prints at every build like it.
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -dumpdep -X main.version=linked", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	edges, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, edges)
	}
	if !strings.Contains(string(edges), "main.main -> ") {
		t.Fatalf("the linker doesn't say what it links: %.500s", edges)
	}
	lookups := regexp.MustCompile(`\S+ <ReflectMethod>`).FindAllString(string(edges), -1)
	slices.Sort(lookups)
	for _, function := range slices.Compact(lookups) {
		t.Errorf("the linker keeps all methods because of %s", function)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > most {
		t.Errorf("the program has %d bytes, more than %d", info.Size(), most)
	}
}

// TestNoTemplates finds no template package in the program but the one that the command line brings along, of which TestLinked
// sees that nothing is executed.
func TestNoTemplates(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", `{{.ImportPath}} {{join .Imports " "}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(out), "\ngithub.com/bouncer-mcp/bouncer/dashboard ") {
		t.Fatalf("the dashboard is not among the packages:\n%s", out)
	}
	for line := range strings.Lines(string(out)) {
		fields := strings.Fields(line)
		for _, imported := range fields[1:] {
			if imported == "html/template" || imported == "text/template" && fields[0] != "github.com/spf13/cobra" {
				t.Errorf("%s imports %s", fields[0], imported)
			}
		}
	}
}
