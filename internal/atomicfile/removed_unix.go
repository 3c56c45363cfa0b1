//go:build unix && !linux

package atomicfile

import "os"

// removed reports whether the open file has lost its name.
func removed(f *os.File) bool { return unlinked(f) }
