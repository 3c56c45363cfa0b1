package audit

import (
	"strconv"
	"strings"
)

// headSize is the fixed size of the head file, so that rewriting it in place never leaves a rest of the old line.
const headSize = 128

// head says where the chain ends: the head file holds one, and locking that file is the right to append.
type head struct {
	seq   uint64 // of the last record, 0 before the first
	hash  string // of the last record; empty before the first, and when an earlier head file was lost
	size  int64  // of the current file, up to where it has been looked at
	first uint64 // seq of the first record in the current file
}

// behind reports whether h lacks records that known has. Then h is not the newest head, whoever wrote it.
func (h head) behind(known head) bool {
	return h.seq < known.seq || (h.seq == known.seq && h.hash != known.hash)
}

// noHash stands in the head file for an empty hash, in its width.
const noHash = "----------------------------------------------------------------"

// encode returns the line of the head file: seq, hash, size and first.
func (h head) encode() []byte {
	hash := h.hash
	if hash == "" {
		hash = noHash
	}
	b := make([]byte, 0, headSize)
	b = appendPadded(b, h.seq)
	b = append(append(append(b, ' '), hash...), ' ')
	b = append(appendPadded(b, uint64(h.size)), ' ')
	return append(appendPadded(b, h.first), '\n')
}

func appendPadded(b []byte, n uint64) []byte {
	const width = 20 // of the largest
	var digits [width]byte
	s := strconv.AppendUint(digits[:0], n, 10)
	for range width - len(s) {
		b = append(b, '0')
	}
	return append(b, s...)
}

// parseHead is the inverse of encode.
func parseHead(b []byte) (head, bool) {
	fields := strings.Fields(string(b))
	if len(b) != headSize || len(fields) != 4 {
		return head{}, false
	}
	seq, err1 := strconv.ParseUint(fields[0], 10, 64)
	size, err2 := strconv.ParseInt(fields[2], 10, 64)
	first, err3 := strconv.ParseUint(fields[3], 10, 64)
	if err1 != nil || err2 != nil || err3 != nil {
		return head{}, false
	}
	h := head{seq: seq, hash: fields[1], size: size, first: first}
	if h.hash == noHash {
		h.hash = ""
	}
	// Only what encode would write is a head.
	if string(h.encode()) != string(b) {
		return head{}, false
	}
	return h, true
}
