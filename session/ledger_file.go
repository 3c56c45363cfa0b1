package session

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
)

// A ledger file is a sign, which holds the number of the format, and frames behind it. A frame is a length, a checksum, and as
// many bytes of records, each behind its own length. The first frame tells whose file it is.
const (
	ledgerSign = "bouncer\x01"
	frameHead  = 8
	maxPayload = 256 << 10 // bytes of one frame
	maxRecord  = 64 << 10  // bytes of one record
	maxOwner   = 4 << 10   // bytes of each part of what the first frame tells
)

var errRecordTooLong = errors.New("a record is too long for the ledger")

// appendFrames appends records to dst in as many frames as it takes.
func appendFrames(dst []byte, records [][]byte) ([]byte, error) {
	start := -1
	for _, r := range records {
		if len(r) > maxRecord {
			return dst, errRecordTooLong
		}
		if start >= 0 && len(dst)-start-frameHead+binary.MaxVarintLen32+len(r) > maxPayload {
			sealFrame(dst[start:])
			start = -1
		}
		if start < 0 {
			start = len(dst)
			dst = append(dst, make([]byte, frameHead)...)
		}
		dst = binary.AppendUvarint(dst, uint64(len(r)))
		dst = append(dst, r...)
	}
	if start >= 0 {
		sealFrame(dst[start:])
	}
	return dst, nil
}

func sealFrame(frame []byte) {
	payload := frame[frameHead:]
	binary.LittleEndian.PutUint32(frame, uint32(len(payload)))
	binary.LittleEndian.PutUint32(frame[4:], checksum(payload))
}

// checksum uses a polynomial that processors have an instruction for.
func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// takeFrame returns the records of the whole frame that data begins with, and how long that is. It is 0 for one that is not
// complete, or not what was once written: what a frame holds counts as a whole or not at all.
func takeFrame(data []byte) (records []byte, n int) {
	if len(data) < frameHead {
		return nil, 0
	}
	size := binary.LittleEndian.Uint32(data)
	if size == 0 || size > maxPayload || int(size) > len(data)-frameHead {
		return nil, 0
	}
	records = data[frameHead : frameHead+int(size)]
	if checksum(records) != binary.LittleEndian.Uint32(data[4:]) || !wellFormed(records) {
		return nil, 0
	}
	return records, frameHead + int(size)
}

func wellFormed(records []byte) bool {
	for len(records) > 0 {
		size, n := binary.Uvarint(records)
		if n <= 0 || size > maxRecord || size > uint64(len(records)-n) {
			return false
		}
		records = records[n+int(size):]
	}
	return true
}

// eachRecord calls yield for each record of a well-formed frame.
func eachRecord(records []byte, yield func([]byte)) {
	for len(records) > 0 {
		size, n := binary.Uvarint(records)
		end := n + int(size)
		yield(records[n:end:end])
		records = records[end:]
	}
}

// fileHead is the sign and the frame that tells whose file it is.
func fileHead(p Peer) ([]byte, error) {
	person := []byte{0}
	if p.Person {
		person[0] = 1
	}
	if len(p.Server) > maxOwner || len(p.Identity) > maxOwner {
		return nil, fmt.Errorf("the name or the identity of a server is too long for the ledger")
	}
	return appendFrames([]byte(ledgerSign), [][]byte{person, []byte(p.Server), []byte(p.Identity)})
}

// parseHead reads what fileHead writes, and returns how long it is: 0 when it isn't there in full.
func parseHead(data []byte) (p Peer, n int, err error) {
	if len(data) < len(ledgerSign) {
		return Peer{}, 0, nil
	}
	if string(data[:len(ledgerSign)]) != ledgerSign {
		return Peer{}, 0, errors.New("not a ledger, or of another version of bouncer")
	}
	records, n := takeFrame(data[len(ledgerSign):])
	if n == 0 {
		return Peer{}, 0, nil
	}
	var parts [][]byte
	eachRecord(records, func(r []byte) { parts = append(parts, r) })
	if len(parts) != 3 || len(parts[0]) != 1 {
		return Peer{}, 0, errors.New("a ledger without an owner")
	}
	return Peer{Server: string(parts[1]), Identity: string(parts[2]), Person: parts[0][0] == 1}, len(ledgerSign) + n, nil
}

// entry is what the pulse tells of one file of the session: a line of a table that everybody reads before each decision.
type entry struct {
	end  uint64 // bytes in it
	open bool   // an output is under way: what it says is not in the file yet, and the client may have it
	lost bool   // something that was said could not be written
}

const entrySize = 16

func (e entry) appendTo(dst []byte) []byte {
	var flags uint64
	if e.open {
		flags |= 1
	}
	if e.lost {
		flags |= 2
	}
	dst = binary.LittleEndian.AppendUint64(dst, e.end)
	return binary.LittleEndian.AppendUint64(dst, flags)
}

func parseEntry(b []byte) entry {
	flags := binary.LittleEndian.Uint64(b[8:])
	return entry{end: binary.LittleEndian.Uint64(b), open: flags&1 != 0, lost: flags&2 != 0}
}

// grow returns b with room for n bytes.
func grow(b []byte, n int) []byte { return slices.Grow(b[:0], n)[:n] }
