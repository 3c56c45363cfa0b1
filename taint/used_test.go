package taint

import (
	"slices"
	"strings"
	"testing"
)

// What a call holds is found without looking at brackets, and is all that is in it.
func TestScalars(t *testing.T) {
	for _, doc := range []string{
		`1`, `"a"`, `null`, `[]`, `{}`, ` [ 1 , -2.5e3,"x" ,true,false , null ] `, `{"a":1,"b@x":"c","d\u002e":{"e":["f",{"g":-1}]}}`,
		`{"s":":", "t":"\":", "u" : "\\", "v":"a\"b"}`, `{"inner":"{\"k\":\"v\",\"n@\":[1,\"2\"]}","list":"[1,2]"}`,
	} {
		v := parse(t, doc)
		var got, want []string
		scalars(v, maxNested, func(text string) { got = append(got, text) })
		for leaf := range v.Leaves() {
			text, isText := leaf.Value.View()
			if leaf.IsKey && strings.ContainsAny(text, `@.+\:/`) || !leaf.IsKey && (isText || leaf.Value.Kind() == '0') {
				want = append(want, text)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
	}
	var got []string
	scalars(parse(t, `{"a":"{\"k\":\"v\",\"n@\":[1,\"2\"]}"}`), 0, func(text string) { got = append(got, text) })
	if want := []string{`{"k":"v","n@":[1,"2"]}`, "v", "n@", "1", "2"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
