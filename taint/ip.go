package taint

import (
	"net/netip"
	"strconv"
	"strings"
)

// parseIP reads an IP address in any spelling that a program might take for one: a dotted quad, its parts in octal and
// hexadecimal, fewer parts of which the last fills the rest, version 6 with or without brackets.
func parseIP(s string) (netip.Addr, bool) {
	s = strings.TrimSuffix(strings.TrimPrefix(s, "["), "]")
	s = strings.TrimPrefix(s, "ipv6:") // as in the domain of a mail address
	if strings.IndexByte(s, ':') >= 0 {
		s, _, _ = strings.Cut(s, "%")
		ip, err := netip.ParseAddr(s)
		return ip.Unmap(), err == nil
	}
	return parseNumericIP(s)
}

func parseNumericIP(s string) (ip netip.Addr, ok bool) {
	var sum uint64
	for i := 0; ; i++ {
		part, rest, more := strings.Cut(s, ".")
		base := 10
		switch {
		case strings.HasPrefix(part, "0x"):
			part, base = part[2:], 16
		case len(part) > 1 && part[0] == '0':
			part, base = part[1:], 8
		}
		n, err := strconv.ParseUint(part, base, 32)
		if err != nil || i > 3 {
			return ip, false
		}
		if !more { // the last part fills what is left
			if n >= 1<<(8*(4-i)) {
				return ip, false
			}
			sum |= n
			break
		}
		if n > 255 {
			return ip, false
		}
		sum |= n << (24 - 8*i)
		s = rest
	}
	return netip.AddrFrom4([4]byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)}), true
}
