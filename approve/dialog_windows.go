package approve

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/windows"
)

// runWindow runs a window without a console beside it.
func runWindow(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW}
	return cmd.Run()
}

func environs() [][]string { return nil }
