package term

import (
	"errors"
	"os"

	"golang.org/x/term"
)

// Raw has a terminal hand over each key as it is pressed, and show none of them, until restore is called.
func Raw(stream any) (restore func() error, err error) {
	f, ok := stream.(*os.File)
	if !ok {
		return nil, errors.New("not a terminal")
	}
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, err
	}
	return func() error { return term.Restore(int(f.Fd()), state) }, nil
}

// Size is how many columns and lines a terminal has, 80 and 24 where it doesn't tell.
func Size(stream any) (columns, lines int) {
	if f, ok := stream.(*os.File); ok {
		if columns, lines, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 && lines > 0 {
			return columns, lines
		}
	}
	return 80, 24
}

// Moves reports whether the cursor of a terminal can be moved.
func Moves(stream any, getenv func(string) string) bool {
	f, ok := stream.(*os.File)
	return ok && Is(f) && getenv("TERM") != "dumb" && enableEscapes(f)
}

// Controls reports whether this process belongs to a terminal, whatever its streams are.
func Controls() bool {
	f, err := os.OpenFile(controlling, os.O_RDWR, 0)
	return err == nil && f.Close() == nil
}
