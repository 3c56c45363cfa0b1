package dashboard

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// peer is who is at the other end of a connection.
type peer struct {
	known bool // the system tells
	ours  bool // a process of the same user
	inode string
}

// ends are the addresses of a connection, as seen from here.
func ends(r *http.Request) (local, remote netip.AddrPort, ok bool) {
	addr, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if addr == nil {
		return local, remote, false
	}
	local, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return local, remote, false
	}
	remote, err = netip.ParseAddrPort(r.RemoteAddr)
	return local, remote, err == nil
}

// findSocket looks in a table of the kernel's, such as /proc/net/tcp, for the socket that has these ends, and returns whose it is.
func findSocket(table string, local, remote netip.AddrPort) (uid int, inode string, ok bool) {
	from, to := spell(local, false), spell(remote, false)
	from6, to6 := spell(local, true), spell(remote, true)
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) >= 10 && (f[1] == from && f[2] == to || f[1] == from6 && f[2] == to6) {
			uid, err := strconv.Atoi(f[7])
			return uid, f[9], err == nil
		}
	}
	return 0, "", false
}

// spell writes an address as the kernel does: words of four bytes in the machine's own order. wide is for a socket of IPv6
// that speaks IPv4.
func spell(a netip.AddrPort, wide bool) string {
	four := a.Addr().Unmap().As4()
	host := fmt.Sprintf("%08X", binary.NativeEndian.Uint32(four[:]))
	if wide {
		mark := [4]byte{0, 0, 0xff, 0xff}
		host = fmt.Sprintf("%016d%08X%s", 0, binary.NativeEndian.Uint32(mark[:]), host)
	}
	return fmt.Sprintf("%s:%04X", host, a.Port())
}
