package link

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const fionread = unix.TIOCINQ

// childAttr puts the server at the head of a process group of its own, and has the system ask it to end when bouncer dies. That reaches only the server
// itself; it is for the moment in which the guard is not there yet, and asks rather than kills so that wrappers such as npx pass it on.
func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: unix.SIGTERM}
}

// lookout finds out what a process group consists of, at a bounded rate.
type lookout struct{ next time.Time }

// onlyZombies reports whether all of a group has ended and waits to be reaped, for ever perhaps: the first process of a container often is one that
// doesn't reap what falls to it, and a signal seems to reach zombies like the living.
func (l *lookout) onlyZombies(group int) bool {
	now := time.Now()
	if now.Before(l.next) {
		return false
	}
	l.next = now.Add(100 * time.Millisecond) // every process of the system is looked at
	dir, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer closeAll(dir)
	names, _ := dir.Readdirnames(-1) // those that could be read
	members := 0
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		state, pgrp := processState(name)
		if pgrp != group {
			continue
		}
		members++
		if state != 'Z' && state != 'X' {
			return false
		}
	}
	return members > 0
}

// processState returns the state and process group of a process, or zeros if it is gone.
func processState(pid string) (state byte, group int) {
	stat, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return 0, 0
	}
	// pid (name) state parent group ..., where the name may hold anything.
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0, 0
	}
	group, _ = strconv.Atoi(string(fields[2])) // the kernel writes numbers
	return fields[0][0], group
}
