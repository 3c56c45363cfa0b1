package clients

import (
	"path"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Env is what the place of a config depends on. It is passed in so that every platform's table is tested on every platform.
type Env struct {
	OS      string // GOOS
	Home    string
	Config  string                // XDG_CONFIG_HOME; empty for its default; Linux only
	Roaming string                // %APPDATA%
	Local   string                // %LOCALAPPDATA%
	Project string                // the working directory
	Getenv  func(string) string   // for the few variables clients honour, such as CLAUDE_CONFIG_DIR; nil for none
	Glob    func(string) []string // for folders whose name is not fixed; nil for none
	Exists  func(string) bool     // for files that win over others; nil for none
	Read    func(string) []byte   // for lists of what is installed; nil, or nothing read, for none
}

// Join joins a folder of the target platform with names below it. A folder that is not known has nothing below it: the result is empty too.
func (e Env) Join(folder string, names ...string) string {
	if folder == "" {
		return ""
	}
	if e.OS != "windows" {
		return path.Join(append([]string{folder}, names...)...)
	}
	folder = strings.TrimRight(strings.ReplaceAll(folder, "/", `\`), `\`)
	return strings.Join(append([]string{folder}, names...), `\`)
}

// Abs reports whether p is absolute on the target platform.
func (e Env) Abs(p string) bool {
	if e.OS != "windows" {
		return strings.HasPrefix(p, "/")
	}
	p = strings.ReplaceAll(p, "/", `\`)
	drive := len(p) >= 3 && p[1] == ':' && p[2] == '\\'
	return drive || strings.HasPrefix(p, `\\`)
}

// ancestors lists a folder and every folder above it, nearest first.
func (e Env) ancestors(folder string) []string {
	if !e.Abs(folder) {
		return nil
	}
	if e.OS == "windows" {
		return windowsAncestors(folder)
	}
	list := []string{path.Clean(folder)}
	for at := list[0]; at != "/"; {
		at = path.Dir(at)
		list = append(list, at)
	}
	return list
}

// windowsAncestors climbs to the drive (C:\) or the share (\\host\share), which have nothing above them.
func windowsAncestors(folder string) []string {
	parts := strings.FieldsFunc(folder, func(r rune) bool { return r == '\\' || r == '/' })
	top, prefix := 1, ""
	if folder[1] != ':' {
		top, prefix = 2, `\\`
	}
	var list []string
	for n := len(parts); n >= top; n-- {
		at := prefix + strings.Join(parts[:n], `\`)
		if n == 1 {
			at += `\`
		}
		list = append(list, at)
	}
	return list
}

func (e Env) getenv(name string) string {
	if e.Getenv == nil {
		return ""
	}
	return e.Getenv(name)
}

func (e Env) glob(pattern string) []string {
	if e.Glob == nil || pattern == "" {
		return nil
	}
	return e.Glob(pattern)
}

func (e Env) exists(file string) bool {
	return e.Exists != nil && file != "" && e.Exists(file)
}

// document reads one of a client's own files, as far as it can be read: what it lists is only reported.
func (e Env) document(file string) *jsonc.Doc {
	if e.Read == nil || file == "" {
		return &jsonc.Doc{}
	}
	doc, err := jsonc.Parse(e.Read(file), jsonc.Comments)
	if err != nil {
		return &jsonc.Doc{}
	}
	return doc
}

// text returns a string that keys lead to, or nothing.
func text(doc *jsonc.Doc, v jsonc.Value, key string) string {
	i, err := doc.Member(v, key)
	if err != nil || i < 0 {
		return ""
	}
	s, _ := doc.Text(v.Members[i].Value)
	return s
}

// below returns the file that a relative path of slashes names inside a folder, or nothing when it leads out of it.
func (e Env) below(folder, rel string) string {
	rel = path.Clean(rel)
	if folder == "" || path.IsAbs(rel) || rel == ".." || strings.HasPrefix(rel, "../") {
		return ""
	}
	return e.Join(folder, strings.Split(rel, "/")...)
}

// base is the last element of a path.
func (e Env) base(p string) string {
	if e.OS == "windows" {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	return path.Base(p)
}

// folder is the path without its last element.
func (e Env) folder(p string) string {
	if list := e.ancestors(p); len(list) > 1 {
		return list[1]
	}
	return ""
}

// known drops the places that this environment has no folder for.
func known(files ...string) []string {
	var list []string
	for _, file := range files {
		if file != "" {
			list = append(list, file)
		}
	}
	return list
}
