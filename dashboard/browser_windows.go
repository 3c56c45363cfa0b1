package dashboard

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// apart keeps a Ctrl-C in bouncer's terminal from a browser that it has started.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}
