package direct

import "os"

// File is an open regular file.
type File struct{ *os.File }

// Of returns f as a File.
func Of(f *os.File) File { return File{f} }
