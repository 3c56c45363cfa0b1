package session

import (
	"bytes"
	"encoding/binary"
)

// splitArguments takes apart arguments that end with a zero byte each. A last one that was cut off doesn't count, unless it is
// the only one.
func splitArguments(b []byte) []string {
	var argv []string
	for len(b) > 0 {
		arg, rest, whole := bytes.Cut(b, []byte{0})
		if !whole && len(argv) > 0 {
			break
		}
		argv = append(argv, string(arg))
		b = rest
	}
	return argv
}

// parseProcargs reads what macOS tells of a process's arguments: their number, the program's path, zeros, the arguments, and
// behind them the environment, which is not looked at.
func parseProcargs(b []byte) []string {
	if len(b) < 4 {
		return nil
	}
	n := int(int32(binary.NativeEndian.Uint32(b)))
	_, rest, ok := bytes.Cut(b[4:], []byte{0})
	if !ok || n <= 0 {
		return nil
	}
	argv := splitArguments(bytes.TrimLeft(rest, "\x00"))
	return argv[:min(n, len(argv))]
}
