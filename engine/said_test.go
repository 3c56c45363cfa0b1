package engine

import (
	"slices"
	"strings"
	"testing"
)

func TestNamedNumbers(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                    nil,
		"close issue 17":                      {"17"},
		"Close Issue #17.":                    {"17"},
		"merge #4, #5 and 6":                  {"4", "5", "6"},
		"files 4, 5 and 17 are old":           {"4", "5", "17"},
		"ticket no. 12: close it":             {"12"},
		"event ID: 12":                        {"12"},
		"on June 13 at 10:30":                 nil,
		"in 2024, pay 1200":                   nil,
		"issue a refund of 20":                nil,
		"for 4 guests in room 12":             {"12"},
		"order 12345":                         nil, // long enough to speak for itself
		strings.Repeat("#1 ", 1000)[:3*2]:     {"1", "1"},
		"pull request 17, then 3 coffees, #9": {"17", "9"},
	} {
		if got := namedNumbers(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if n := len(namedNumbers(strings.Repeat("#1 ", 1000))); n != maxNumbers {
		t.Errorf("%d numbers", n)
	}
}
