package wrap

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Diff returns a unified diff of a change in which values under env and headers, and args that look like secrets, are
// masked, and everything outside the servers. It is for reading, not for patching: a file that is all one line is laid out. Empty when nothing changes.
func Diff(p Plan) string {
	if bytes.Equal(p.Before, p.After) {
		return ""
	}
	before, after := shown(p.Before, p.File), shown(p.After, p.File)
	if len(before) > 0 && bytes.Count(bytes.TrimSpace(before), []byte("\n")) == 0 {
		before, after = layOut(before, p.File.Format), layOut(after, p.File.Format)
	}
	if bytes.Equal(before, after) {
		return "--- " + p.Path + "\n+++ " + p.Path + "\n(the files differ in what is not shown)\n"
	}
	_, hunks, _ := bytes.Cut(diff.Diff(p.Path, before, p.Path, after), []byte("\n")) // the first line names the file twice more
	return string(hunks)
}

// shown returns a file's masked text. One that does not parse can't be masked, so nothing of it is shown.
func shown(data []byte, f File) []byte {
	doc, err := jsonc.Parse(data, f.Format)
	if err != nil {
		return []byte("(this text can't be read as a config: " + err.Error() + ")\n")
	}
	return maskFile(doc, f)
}

// layOut puts every member and element of a text on a line of its own. Comments are left out.
func layOut(data []byte, f jsonc.Format) []byte {
	doc, err := jsonc.Parse(data, f)
	if err != nil {
		return data
	}
	var b bytes.Buffer
	layOutValue(&b, doc, doc.Root, "\n")
	b.WriteByte('\n')
	return b.Bytes()
}

func layOutValue(b *bytes.Buffer, doc *jsonc.Doc, v jsonc.Value, line string) {
	if len(v.Members)+len(v.Elems) == 0 {
		b.Write(doc.Literal(v))
		return
	}
	separator := line + "  "
	next := func() {
		b.WriteString(separator)
		separator = "," + line + "  "
	}
	b.WriteByte(v.Kind)
	for _, m := range v.Members {
		next()
		b.Write(doc.Src[m.KeyStart:m.KeyEnd])
		b.WriteString(": ")
		layOutValue(b, doc, m.Value, line+"  ")
	}
	for _, e := range v.Elems {
		next()
		layOutValue(b, doc, e, line+"  ")
	}
	b.WriteString(line)
	b.WriteByte(v.Kind + 2) // ] and } stand two behind [ and {
}
