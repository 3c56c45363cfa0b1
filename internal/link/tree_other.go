//go:build unix && !linux

package link

import "syscall"

const fionread = 0x4004667f // FIONREAD, by its value on macOS and the BSDs, which x/sys doesn't give a name

// childAttr puts the server at the head of a process group of its own. Only Linux can signal the death of a parent as well; the guard does without.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// lookout has nothing to look for: outside of containers the first process reaps every orphan.
type lookout struct{}

func (*lookout) onlyZombies(int) bool { return false }
