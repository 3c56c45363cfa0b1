package serve

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestPage asks what docs/serve.md asks, and must get the answer that stands there.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(strings.ReplaceAll(string(page), "\r\n", "\n"), "```") {
		if body, ok := strings.CutPrefix(part, "json\n{"); ok && i%2 == 1 {
			blocks = append(blocks, "{"+body)
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	w := newWorld(t)
	w.Recorded = nothingRecorded
	var got, want any
	if fault := ask(t, w.connect(t, eras[1], nil), "bouncer_evaluate_call", blocks[0], &got); fault != "" {
		t.Fatal(fault)
	}
	if err := json.Unmarshal([]byte(blocks[1]), &want); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		text, _ := json.MarshalIndent(got, "", "  ")
		t.Errorf("%s", text)
	}
}
