//go:build !unix

package proxy

import "os"

// place is a file or directory, whatever name it is reached by.
type place struct{ info os.FileInfo }

// placeOf finds what a path leads to; ok is false if that is nothing.
func placeOf(path string) (p place, ok bool) {
	info, err := os.Stat(path)
	return place{info}, err == nil
}

func (p place) is(other place) bool { return os.SameFile(p.info, other.info) }
