package taint

import "strings"

// maxExtended is how much of a URL, behind its host, is compared with what was aimed.
const maxExtended = 512

// Aims reports whether text that addresses the agent named this URL itself, one that it goes on from, or its host without
// more. A page elsewhere on the same host is no such URL, although Trace marks it: half the world shares some hosts.
func (x *Index) Aims(url string) bool {
	u, ok := parseURL(strings.TrimSpace(url))
	if !ok {
		return false
	}
	canon := u.append(nil, true)
	host := strings.Index(string(canon), "://") + len("://")
	path := host + max(0, strings.IndexByte(string(canon[host:]), '/'))
	if path-host > 2*longestHost {
		return x.aimed(kindURL, canon)
	}
	for end := min(len(canon), path+maxExtended); end > path; end-- {
		if x.aimed(kindURL, canon[:end]) {
			return true
		}
	}
	for name := string(appendHost(nil, u.host)); strings.Contains(name, "."); _, name, _ = strings.Cut(name, ".") {
		if x.aimed(kindURL, bareHost([]byte(name))) {
			return true
		}
	}
	return x.aimed(kindURL, canon)
}

func (x *Index) aimed(kind byte, canon []byte) bool {
	e := x.table.find(x.hash.key(folded, kind, canon))
	return e != nil && e.marks&MarkAimed != 0
}

// bareHost stands for every URL at a host that a text named without one.
func bareHost(host []byte) []byte { return append([]byte("//"), host...) }
