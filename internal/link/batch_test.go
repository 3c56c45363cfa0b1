package link

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestBatchLine(t *testing.T) {
	const npx = `C:\Program Files\nodejs\npx.cmd`
	const head = `cmd.exe /d /e:on /v:off /s /c ""` + npx + `"`
	tests := []struct {
		args []string
		want string // behind the batch file
	}{
		{nil, ``},
		{[]string{"-y", "@scope/server@1.2.3", `C:\work`}, ` -y @scope/server@1.2.3 C:\work`},
		{[]string{""}, ` ""`},
		{[]string{"a b"}, ` "a b"`},
		{[]string{`C:\work\`}, ` "C:\work\\"`},
		{[]string{`say "hi"`}, ` "say ""hi"""`},
		{[]string{`\"`}, ` "\\"""`},
		{[]string{`"&calc.exe`}, ` """&calc.exe"`},
		{[]string{"a&b|c<d>e^f(g)h!i"}, ` "a&b|c<d>e^f(g)h!i"`},
		{[]string{"%PATH%"}, ` "%%cd:~,%PATH%%cd:~,%"`},
		{[]string{"a=b,c;d"}, ` "a=b,c;d"`},
		{[]string{"größe"}, ` "größe"`},
	}
	for _, test := range tests {
		got, err := batchLine(npx, test.args)
		if want := head + test.want + `"`; err != nil || got != want {
			t.Errorf("batchLine(%q)\n got %s, %v\nwant %s", test.args, got, err, want)
		}
	}
}

func TestBatchLineRefuses(t *testing.T) {
	tests := []struct {
		file string
		arg  string
	}{
		{`C:\a.cmd`, "line\nbreak"},
		{`C:\a.cmd`, "carriage\rreturn"},
		{`C:\a.cmd`, "nul\x00"},
		{`C:\a.cmd`, strings.Repeat("x", batchLineMax)},
		{`C:\a.cmd`, strings.Repeat("%", batchLineMax/8)},
		{`C:\a".cmd`, ""},
		{"C:\\a\n.cmd", ""},
		{`C:\a.cmd\`, ""},
	}
	for _, test := range tests {
		if line, err := batchLine(test.file, []string{test.arg}); err == nil {
			t.Errorf("batchLine(%q, %.20q) = %.60s, want an error", test.file, test.arg, line)
		}
	}
}

func TestNeedsShell(t *testing.T) {
	for file, want := range map[string]bool{
		`C:\node\node.exe`: false, `C:\x.COM`: false, `C:\a.b\tool`: false, `C:\x.exe. `: false,
		`C:\node\npx.cmd`: true, `C:\x.BAT`: true, `C:\x.cmd.. .`: true, `C:\s.py`: true, `C:\x.exe.bat`: true,
	} {
		if got := needsShell(file); got != want {
			t.Errorf("needsShell(%q) = %t, want %t", file, got, want)
		}
	}
}

// FuzzBatchLine reads the line back as Windows would, through a batch file that says "program %*".
func FuzzBatchLine(f *testing.F) {
	for _, arg := range []string{"", "plain", `a"b`, `a\"b`, `\\"`, `c:\dir\`, "%PATH%", "%%", "%cd:~,%", `"%x%"&calc`, "^&|<>!()", `""`, `" "`, "ä\xff", "100%", `%"%\`} {
		f.Add(`C:\100% sure\npx.cmd`, arg, "second")
		f.Add(`npx.cmd`, "first", arg)
	}
	f.Fuzz(func(t *testing.T, file, first, second string) {
		line, err := batchLine(file, []string{first, second})
		if err != nil {
			return
		}
		const head = `cmd.exe /d /e:on /v:off /s /c "`
		if !strings.HasPrefix(line, head) || !strings.HasSuffix(line, `"`) {
			t.Fatalf("malformed line %q", line)
		}
		read, err := shellReads(line[len(head) : len(line)-1])
		if err != nil {
			t.Fatalf("%v\nfile %q\nargs %q %q\nline %q", err, file, first, second, line)
		}
		want := []string{file, first, second}
		if got := runtimeSplits(read); !slices.Equal(got, want) {
			t.Fatalf("arrives as %q, want %q\nline %q", got, want, line)
		}
	})
}

// shellReads is the part of cmd.exe that can do harm: it expands variables, of which every one is taken to exist, and finds what it would obey outside of
// quotes. Arguments that pass this pass a second reading in the batch file, which expands nothing, in the same way.
func shellReads(line string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '%' {
			name, _, closed := strings.Cut(line[i+1:], "%")
			if closed && name == "cd:~," {
				i += len("%cd:~,")
				continue
			}
			if closed && name != "" {
				return "", fmt.Errorf("variable %q is expanded", name)
			}
		}
		b.WriteByte(line[i])
	}
	quoted := false
	for _, r := range b.String() {
		if r == '"' {
			quoted = !quoted
		}
		if !quoted && strings.ContainsRune("&|<>^()!=,;\t", r) {
			return "", fmt.Errorf("%q stands outside of quotes", r)
		}
	}
	if quoted {
		return "", fmt.Errorf("a quote is open at the end")
	}
	return b.String(), nil
}

// runtimeSplits splits a command line as the C runtime does since 2008.
func runtimeSplits(line string) []string {
	var args []string
	for line = strings.TrimLeft(line, " "); line != ""; line = strings.TrimLeft(line, " ") {
		var arg strings.Builder
		quoted := false
		i := 0
		for ; i < len(line) && (quoted || line[i] != ' '); i++ {
			slashes := len(line[i:]) - len(strings.TrimLeft(line[i:], `\`))
			switch i += slashes; {
			case i == len(line) || line[i] != '"':
				arg.WriteString(strings.Repeat(`\`, slashes))
				i-- // what follows is looked at afresh
				if slashes == 0 {
					i++
					arg.WriteByte(line[i])
				}
			case slashes%2 == 1:
				arg.WriteString(strings.Repeat(`\`, slashes/2) + `"`)
			case quoted && strings.HasPrefix(line[i:], `""`):
				arg.WriteString(strings.Repeat(`\`, slashes/2) + `"`)
				i++
			default:
				arg.WriteString(strings.Repeat(`\`, slashes/2))
				quoted = !quoted
			}
		}
		args = append(args, arg.String())
		line = line[i:]
	}
	return args
}
