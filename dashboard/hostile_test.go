package dashboard

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/bouncer-mcp/bouncer/dashboard/internal/dom"
	"github.com/bouncer-mcp/bouncer/taint"
)

// fill sets every field that x has, and those of its fields, to one text; lists get two entries each.
func fill(x reflect.Value, text string) {
	switch {
	case x.Type() == reflect.TypeFor[time.Time]():
		x.Set(reflect.ValueOf(time.Unix(0, 0)))
	case x.Type() == reflect.TypeFor[dom.Path]():
		x.Set(reflect.ValueOf(dom.Root("root")))
	case x.Kind() == reflect.Struct: // frame among them, which can't be set as a whole
		for i := range x.NumField() {
			fill(x.Field(i), text)
		}
	case !x.CanSet():
	case x.Kind() == reflect.String:
		x.SetString(text)
	case x.Kind() == reflect.Bool:
		x.SetBool(true)
	case x.CanInt():
		x.SetInt(7)
	case x.CanUint():
		x.SetUint(7)
	case x.Kind() == reflect.Pointer:
		x.Set(reflect.New(x.Type().Elem()))
		fill(x.Elem(), text)
	case x.Kind() == reflect.Slice:
		x.Set(reflect.MakeSlice(x.Type(), 2, 2))
		for i := range 2 {
			fill(x.Index(i), text)
		}
	}
}

func filled[T any](text string, change ...func(*T)) T {
	var x T
	fill(reflect.ValueOf(&x).Elem(), text)
	for _, c := range change {
		c(&x)
	}
	return x
}

// everyPage is each page in each of its shapes, with the same text in every field of what it shows.
func everyPage(text string) map[string]page {
	pages := map[string]page{
		"enter":                  enterPage(dom.Root(text)),
		"code":                   codePage(text),
		"refused":                refusedPage(text),
		"index":                  filled[indexPage](text).page(),
		"call":                   filled[callPage](text).page(),
		"servers":                filled[serversPage](text).page(),
		"question without a yes": filled(text, func(p *questionPage) { p.ReadOnly = "" }).page(),
		"question": filled(text, func(p *questionPage) {
			p.Why = ""
			p.Diff = append(p.Diff, diffLine{"+", text}, diffLine{"-", text})
		}).page(),
	}
	for _, state := range []string{"blocked", "observed"} {
		pages["index, "+state] = filled(text, func(p *indexPage) {
			p.Picture.State = state
			p.Picture.Flows[0].State = state
		}).page()
	}
	return pages
}

// tree is the elements of a page with their attributes, and its texts.
func tree(t *testing.T, data []byte) (elements, texts []string) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		depth := 0
		for range n.Ancestors() {
			depth++
		}
		switch n.Type {
		case html.ElementNode:
			elements = append(elements, fmt.Sprintf("%d %s %s %q", depth, n.Namespace, n.Data, n.Attr))
		case html.TextNode:
			elements = append(elements, fmt.Sprintf("%d text", depth))
			texts = append(texts, n.Data)
		case html.DoctypeNode:
		default:
			t.Errorf("a node of type %v: %q", n.Type, n.Data)
		}
	}
	return elements, texts
}

// TestHostile shows texts that would be markup in every field of every page. Each page keeps the elements and attributes that it
// has with a harmless text, and shows the same as with that, but for the text, which is spelled out.
func TestHostile(t *testing.T) {
	const harmless = "PLAIN TEXT" // as little a word as the others, so that it adds no attribute
	v := newViews()
	plain := everyPage(harmless)
	for _, text := range []string{
		`"><script>alert(1)</script>`, `'><img src=x onerror=alert(1)>`, `" onfocus="alert(1)" x="`, "' autofocus onfocus=alert(1) '", `javascript:alert(1)`,
		"</title></style></script></noscript></bdi></form><form action=//evil.example>", "<!--", "-->", "<![CDATA[", "]]>", "&quot;&lt;b&gt;", "&#60;b&#62;", "{{.}}",
		"a\nb\r\n\tc", "\u202egnirts\u2066", "a\x00b", "\x00<\x00script>", "\xff\xc0\x80<b>", "\u2028\u200b\ufeff", "`${alert(1)}`", `\"><b>`, "＜script＞",
	} {
		shown := taint.Visible(text, len(text))
		for name, p := range everyPage(text) {
			data := v.document(p)
			if strings.ContainsAny(string(data), "\x00\u202e\u2066\u2028\u200b\ufeff\r\t") {
				t.Errorf("%s: %q stands there as it is:\n%s", name, text, data)
			}
			elements, texts := tree(t, data)
			wantElements, wantTexts := tree(t, v.document(plain[name]))
			if strings.Join(elements, "\n") != strings.Join(wantElements, "\n") {
				t.Errorf("%s: %q changes the page:\n%s", name, text, data)
				continue
			}
			found := 0
			for i, got := range texts {
				found += strings.Count(wantTexts[i], harmless)
				if want := strings.ReplaceAll(wantTexts[i], harmless, shown); got != want {
					t.Errorf("%s: %q shows as %q, not %q", name, text, got, want)
				}
			}
			if found == 0 && name != "code" && name != "enter" {
				t.Errorf("%s shows nothing of it", name)
			}
		}
	}
}
