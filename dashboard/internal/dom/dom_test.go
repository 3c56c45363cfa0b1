package dom

import (
	"embed"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/bouncer-mcp/bouncer/taint"
)

//go:embed dom.go
var files embed.FS

func TestDocument(t *testing.T) {
	root := Root("ab12")
	for _, tt := range []struct {
		part Part
		want string
	}{
		{nil, ``},
		{Text(`<b> & "c" 'd'`), `&lt;b&gt; &amp; &#34;c&#34; &#39;d&#39;`},
		{Text("a\u202eb\x00\n\u200b\xff"), `a&lt;U+202E&gt;b&lt;U+0000&gt;&lt;U+000A&gt;&lt;U+200B&gt;&lt;0xFF&gt;`},
		{Text("grüße 日本"), `grüße 日本`},
		{El("p"), `<p></p>`},
		{El("br", Text("x")), `<br>`},
		{El("p", Text("a"), Attr("role", "x"), nil, El("b", Text("c"))), `<p role="x">a<b>c</b></p>`},
		{El("p", All{Attr("role", "x"), Text("a")}, Attr("hidden", "")), `<p role="x" hidden>a</p>`},
		{If(true, Text("a")), `a`},
		{If(false, Text("a")), ``},
		{Each([]string{"a", "<"}, func(s string) Part { return El("i", Text(s)) }), `<i>a</i><i>&lt;</i>`},
		{El("script", Text("alert(1)")), ``},
		{El("style", Text("*{}")), ``},
		{El("i", Attr("title", `"><b>`)), `<i title="&#34;&gt;&lt;b&gt;"></i>`},
		{El("i", Class("a b", "c-1", "d e", `"x`, "", "é")), `<i class="a b c-1"></i>`},
		{El("i", Word("id", "q-", "a7-z")), `<i id="q-a7-z"></i>`},
		{El("i", Word("id", "q-", "A"), Word("id", "q-", ""), Word("id", "q-", "a b"), Word("id", "q-", "a\n")), `<i></i>`},
		{El("a", To("href", root)), `<a href="/ab12/"></a>`},
		{El("a", To("href", root.At("servers"))), `<a href="/ab12/servers"></a>`},
		{El("a", To("href", root.Of("call/", "7"))), `<a href="/ab12/call/7"></a>`},
		{El("a", To("href", root.Of("call/", "../x"))), `<a></a>`},
		{El("a", To("href", root.Of("call/", ""))), `<a></a>`},
		{El("a", To("href", Root("//evil.example").At("x"))), `<a></a>`},
		{El("a", To("href", Root("").Of("call/", "7"))), `<a></a>`},
		{Refresh(3, root), `<meta http-equiv="refresh" content="3;url=/ab12/">`},
		{Refresh(3, Path{}), ``},
	} {
		page := string(Document(tt.part))
		if want := "<!doctype html>\n<html lang=\"en\">" + tt.want + "</html>\n"; page != want {
			t.Errorf("got  %q\nwant %q", page, want)
		}
	}
}

func TestSource(t *testing.T) {
	s, err := Read(files, "dom.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("dom.go")
	if err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string]Part{"script": Script(s), "style": Style(s)} {
		if page := string(Document(part)); !strings.Contains(page, "<"+name+">"+string(text)+"</"+name+">") {
			t.Errorf("the %s is another:\n%s", name, page)
		}
	}
	if _, err := Read(files, "nothing.js"); err == nil {
		t.Error("a file that isn't there")
	}
}

// TestOutside has the compiler refuse each way to pass a string for markup.
func TestOutside(t *testing.T) {
	const file = "testdata/outside/outside.go"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "build", "-gcflags=-e", "./testdata/outside").CombinedOutput()
	if err == nil {
		t.Fatal("it compiles")
	}
	tries := 0
	for i, line := range strings.Split(string(text), "\n") {
		if !strings.Contains(line, "// refused") {
			continue
		}
		tries++
		if at := fmt.Sprintf("outside.go:%d:", i+1); !strings.Contains(string(out), at) {
			t.Errorf("%s compiles:\n%s", strings.TrimSpace(line), out)
		}
	}
	if tries == 0 || tries != strings.Count(string(out), "cannot use s (variable of type string) as") {
		t.Errorf("%d tries:\n%s", tries, out)
	}
}

// FuzzText finds in the tree of a page one element, one attribute and one text, whatever the text, the word and the path are.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain", `"><script>alert(1)</script>`, "</title><b>", "<!--", "]]>", "&lt;", "a\r\n\tb", "\u202e\x00\xff", "é\u0301 \u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		page := Document(El("body", El("p", Class("a", s), Word("id", "", s), To("href", Root(s)), Text(s))))
		doc, err := html.Parse(strings.NewReader(string(page)))
		if err != nil {
			t.Fatal(err)
		}
		var elements []string
		var text strings.Builder
		for n := range doc.Descendants() {
			switch n.Type {
			case html.ElementNode:
				elements = append(elements, n.Data)
				for _, a := range n.Attr {
					value := strings.TrimSpace(strings.TrimPrefix(strings.Trim(a.Val, "/"), "a "))
					if n.Data == "p" && value != s && a.Val != "a" {
						t.Errorf("%q made the attribute %s=%q", s, a.Key, a.Val)
					}
				}
			case html.TextNode:
				text.WriteString(n.Data)
			case html.CommentNode, html.ErrorNode, html.RawNode:
				t.Errorf("%q made a comment", s)
			}
		}
		if got := strings.Join(elements, " "); got != "html head body p" {
			t.Errorf("%q made the elements %s", s, got)
		}
		if got := strings.TrimSuffix(text.String(), "\n"); got != taint.Visible(s, len(s)) {
			t.Errorf("%q shows as %q", s, got)
		}
	})
}
