package atomicfile

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempPattern names temporary files. It is short and independent of the target's name, which may already be as long as a name can be.
const tempPattern = ".bouncer-*.tmp"

// Abandoned is the age at which a temporary file beside somebody's config counts as left behind: a replacement takes
// milliseconds. One that was only slow, on a machine that slept, finds its file gone and changes nothing.
const Abandoned = time.Minute

// Sweep removes temporary files that replacements in dir have left behind when they were killed: regular files of this user
// that bear the name of one, at least as old as age. What it can't remove stays for the next time.
func Sweep(dir string, age time.Duration) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if !isTemp(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && time.Since(info.ModTime()) >= age && isMine(info) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// isTemp reports whether a name is one that os.CreateTemp makes of tempPattern.
func isTemp(name string) bool {
	before, after, _ := strings.Cut(tempPattern, "*")
	rest, begins := strings.CutPrefix(name, before)
	number, ends := strings.CutSuffix(rest, after)
	return begins && ends && number != "" && strings.Trim(number, "0123456789") == ""
}
