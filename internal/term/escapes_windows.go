package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// controlling is the name by which a process opens its own console.
const controlling = "CONIN$"

// enableEscapes makes a console understand escape sequences; old consoles refuse and stay without colour.
func enableEscapes(f *os.File) bool {
	h := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(h, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(h, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
