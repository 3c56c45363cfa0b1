package inspect_test

import (
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/inspect"
)

const (
	prose = `The council met on Tuesday evening to talk about the new bridge. After a long discussion it was decided to ask
two more engineers for their opinion, since the price that was named in spring no longer holds. Ms Baker will write to the
owner of the land on the other side, and the office sends everybody the minutes before the end of the month.
`
	technical = `The tool reads its instructions from a file and asks the user before it overwrites anything. An agent that
runs on another system sends the model's output with each task, and the assistant mentions which tools were used.
`
	umlauts = "Die Gemeinde prüft, ob die Brücke über den Fluß noch größer werden könnte – „später“, sagte der Bürgermeister.\n"
)

func BenchmarkAddresses(b *testing.B) {
	for name, text := range map[string]string{"prose": prose, "technical": technical, "umlauts": umlauts} {
		b.Run(name, func(b *testing.B) {
			text := strings.Repeat(text, 1<<20/len(text))
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				inspect.Addresses(text, func(int) bool { b.Error("a cue"); return true })
			}
		})
	}
}
