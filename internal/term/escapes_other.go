//go:build !windows

package term

import "os"

// controlling is the name by which a process opens its own terminal.
const controlling = "/dev/tty"

// enableEscapes has nothing to do where every terminal understands escape sequences.
func enableEscapes(*os.File) bool { return true }
