package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// ask puts a yes-or-no question to the person; anything but a yes is a no. The question goes to standard error, because
// standard output is the command's answer.
func (a *app) ask(question string) (bool, error) {
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	line, err := readLine(a.in)
	if err != nil {
		return false, fmt.Errorf("read the answer: %w", err)
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, nil
}

// readLine reads one line and no byte more, so that a second question finds its answer.
func readLine(r io.Reader) (string, error) {
	var line strings.Builder
	var b [1]byte
	for {
		n, err := r.Read(b[:])
		if n == 1 && b[0] != '\n' {
			line.WriteByte(b[0])
		}
		if n == 1 && b[0] == '\n' || errors.Is(err, io.EOF) {
			return line.String(), nil
		}
		if err != nil {
			return "", err
		}
	}
}
