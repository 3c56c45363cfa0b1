package dashboard

import (
	"net/http"
	"os"
	"path/filepath"
	"strconv"
)

// peerOf asks the kernel whose the other end of a request's connection is.
func peerOf(r *http.Request) peer {
	local, remote, ok := ends(r)
	if !ok {
		return peer{}
	}
	readable := false
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		readable = true
		if uid, inode, ok := findSocket(string(table), remote, local); ok {
			return peer{known: true, ours: uid == os.Getuid(), inode: inode}
		}
	}
	return peer{known: readable} // a socket that isn't there any more, or of another network: nobody of ours
}

// processes are those that hold the socket, as far as it may be seen.
func (p peer) processes() []int {
	if p.inode == "" || p.inode == "0" {
		return nil
	}
	var pids []int
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is well-formed
	for _, file := range files {
		to, err := os.Readlink(file)
		if err != nil || to != "socket:["+p.inode+"]" {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(file)))); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
