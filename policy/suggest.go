package policy

import "strings"

// didYouMean returns a clause naming the known word that got most likely meant, or nothing.
func didYouMean(got string, known ...string) string {
	best, least := "", max(1, len(got)/3)+1
	for _, k := range known {
		if d := distance(plain(got), plain(k)); d < least {
			best, least = k, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// plain drops what spellings of one name differ in: sinkParams, SINK-PARAMS.
func plain(s string) string {
	return strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(s))
}

// distance counts the insertions, deletions, changes and swaps of neighbours between a and b.
func distance(a, b string) int {
	const longest = 64 // keeps a hostile key from costing its square
	a, b = a[:min(len(a), longest)], b[:min(len(b), longest)]
	var before []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(prev[j+1]+1, row[j]+1, prev[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(b)]
}
