package session

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// maxCommandLine bounds what is read of another process's arguments: its first words tell what it is.
const maxCommandLine = 4096

// findProcess reads what the kernel tells of a process.
func findProcess(pid int) (process, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return process{}, false
	}
	p, ok := parseStat(stat)
	if !ok || p.pid != pid {
		return process{}, false
	}
	if f, err := os.Open(dir + "/cmdline"); err == nil { // without it the name has to do
		line := make([]byte, maxCommandLine)
		n, _ := f.Read(line) // of a process that has just ended there is nothing
		_ = f.Close()
		p.argv = splitArguments(line[:n])
	}
	return p, true
}

// parseStat reads: pid (name) state parent ... start, where the name may hold anything.
func parseStat(stat []byte) (p process, ok bool) {
	open, end := bytes.IndexByte(stat, '('), bytes.LastIndexByte(stat, ')')
	if open < 0 || end < open {
		return process{}, false
	}
	fields := strings.Fields(string(stat[end+1:]))
	if len(fields) < 20 {
		return process{}, false
	}
	var errs [3]error
	p.name = string(stat[open+1 : end])
	p.pid, errs[0] = strconv.Atoi(strings.TrimSpace(string(stat[:open])))
	p.parent, errs[1] = strconv.Atoi(fields[1])
	p.start, errs[2] = strconv.ParseUint(fields[19], 10, 64)
	return p, errs == [3]error{}
}

// machine names where and until when pids mean what they mean: this boot, and this namespace of processes.
func machine() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // without it two boots may be taken for one, and a start for another
	space, _ := os.Readlink("/proc/self/ns/pid")
	host, _ := os.Hostname()
	return strings.Join([]string{host, string(bytes.TrimSpace(boot)), space}, "\n")
}
