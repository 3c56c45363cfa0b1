package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Set by the linker in a release.
var (
	version string
	commit  string //nolint:gochecknoglobals // like version, which the linter knows
)

// build is what a bug report must name. Its JSON fields are a promise.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// thisBuild falls back to what the go command recorded when the linker was told nothing.
func thisBuild() build {
	b := build{Version: version, Commit: commit, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if b.Version == "" && ok {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	if b.Commit == "" && ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				b.Commit = s.Value
			}
		}
	}
	return b
}

// line is what a person reads.
func (b build) line() string {
	return fmt.Sprintf("bouncer %s (%s, %s/%s)\n", b.Version, b.Go, b.OS, b.Arch)
}

func newVersionCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Say which bouncer this is",
		Long:  "version prints the version, and with --json what a bug report should name.\n" + codes(exitDone, exitMisused),
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if asJSON {
				return json.NewEncoder(a.out).Encode(b)
			}
			fmt.Fprint(a.out, b.line())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
