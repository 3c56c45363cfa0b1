package session

// Started reports whether the process with a pid descends from p, or from a bouncer that stands before a server.
func (p Process) Started(pid int) bool {
	return descends(pid, p, findProcess) || belowRun(pid, findProcess)
}
