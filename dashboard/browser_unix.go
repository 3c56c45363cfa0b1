//go:build unix

package dashboard

import "syscall"

// apart keeps a Ctrl-C in bouncer's terminal from a browser that it has started.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
