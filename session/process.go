package session

import (
	"os"
	"strings"
)

// Process names one process of one machine: no later one has the same name. The zero Process is nobody.
type Process struct {
	PID     int    `json:"pid"`
	Start   uint64 `json:"start"`   // in the system's own unit
	Machine string `json:"machine"` // where and since when that means something
}

// Self names this process; the zero Process where the system doesn't tell.
func Self() Process {
	p, ok := findProcess(os.Getpid())
	if !ok {
		return Process{}
	}
	return p.named()
}

// Client names the program that this run works for. Of one that is several processes it is the one that has started the
// others: its terminals descend from that as its agent does. It is the zero Process where that can't be told.
func Client() Process {
	p, ok := client(os.Getpid(), findProcess)
	if !ok || p.pid == os.Getpid() {
		return Process{}
	}
	return outermost(p, findProcess).named()
}

// outermost is the first of the processes of the program that p is part of.
func outermost(p process, find func(pid int) (process, bool)) process {
	for range maxAncestors {
		above, ok := find(p.parent)
		if !ok || above.pid == p.pid || above.start > p.start || isHost(above) || !partOf(p, above) {
			return p
		}
		p = above
	}
	return p
}

// partOf reports whether a process belongs to the program of the one that has started it, as "Cursor Helper (Plugin)" does.
func partOf(p, above process) bool {
	name, whole := p.program(), above.program()
	return name == whole || strings.HasPrefix(name, whole+" ")
}

// Running reports whether the process is there; known is false where that can't be seen from here, as in another container.
func (p Process) Running() (running, known bool) {
	if p.Machine != short(machine()) {
		return false, false
	}
	found, ok := findProcess(p.PID)
	return ok && found.start == p.Start, true
}

// Began reports whether this process descends from p.
func (p Process) Began() bool { return descends(os.Getpid(), p, findProcess) }

func descends(self int, from Process, find func(pid int) (process, bool)) bool {
	p, ok := find(self)
	if !ok {
		return false
	}
	for above := range ancestors(p, find) {
		if above.named() == from {
			return true
		}
	}
	return false
}

// BelowRun reports whether this process descends from a bouncer that stands before a server.
func BelowRun() bool { return belowRun(os.Getpid(), findProcess) }

func (p process) named() Process { return Process{p.pid, p.start, short(machine())} }
