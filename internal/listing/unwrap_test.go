package listing

import "testing"

func TestFences(t *testing.T) {
	for text, want := range map[string]string{
		"```yaml\n- a: b\n- a: c\n```":   `[{"a":"b"},{"a":"c"}]`,
		"```\na: b\n```\n":               `{"a":"b"}`,
		"```json\n{\"a\": \"b\"}\n```":   `{"a":"b"}`,
		"<<- a: b\n  c: d>>":             `[{"a":"b","c":"d"}]`,
		"<<a: b\nc: d>>":                 `{"a":"b","c":"d"}`,
		"<<\n- a: b\n  c: d\n>>":         `[{"a":"b","c":"d"}]`,
		"```\na: b\n```\nand more":       "",
		"Here it is:\n```\na: b\n```":    "",
		"```\na: b\n```\n```\nc: d\n```": "",
		"```yaml evil\na: b\n```":        "",
		"``````":                         "", "<<>>": "", "<<<>>": "", "```": "",
	} {
		got, ok := JSON(nil, text)
		if string(got) != want || ok != (want != "") {
			t.Errorf("%q: %q, %v; want %q", text, got, ok, want)
		}
	}
}
