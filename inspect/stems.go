package inspect

// stems are the first four letters of the words at which cues are looked for; shorter ones are those of whole words.
const stems = "igno disr forg over disc verg oubl olvi esqu dime" + // orders to ignore
	" ai llm llms gpt ki ia chat copi mixt assi clau gemi mist llam bard lang agen mode asis" + // names of machines
	" inst user task tool ment with syst"

// filter lets through hardly any other word. It has a digit for each hash of the first four letters of one, which is odd for those of a
// stem, and the same digit for each pair of first letters, which is 2 or 3 for those of a stem of less than four. The test of this
// package says what it must be when the stems change.
const filter = "" +
	"00000000000000000000000000000000000000000200001000000000000000000000000000000000000000100100000000000000100010000000000000000000" +
	"00000000000000000000000000000000000000000000000000000000000000001000000000000000000000000000000000000000000000000000000000010000" +
	"00000000001001000000000000000000020000000002000000000000000000000000000000000000000000000000000000000010000000000000000100000000" +
	"00000000000020000000001000100000000000000001000000000000000000000000000000000000000100000000100000000000000000000000000000000000" +
	"00000002000000100000001000000000000000000000000000001000000000000000000000000000000001000000000000000000000000100000000010000000" +
	"00001000000000000100000000000010000000000000000000000000000000000000000000000000010000000000010000000000000000100000000000000000" +
	"00000000000000000000000010000000000000000100001000000000000000000000000000000000000000000000000000000000000000000000010000000000" +
	"00000100000000000000000000000000001000000000000000000000000000000000000000000000001000000000000000000000000000000100000000000000"

const (
	filterBits = 10
	mix        = 0xd22e5ced // of some that were tried, it lets through the fewest words of manuals and licences
)

// stem returns the first four letters of a word in lower case, with zeros for what a shorter one lacks.
func stem(s string) uint32 {
	key := uint32(0)
	for n := range min(len(s), 4) {
		key |= uint32(s[n]|0x20) << (8 * n)
	}
	return key
}

func isStem(key uint32) bool { return filter[key*mix>>(32-filterBits)]&1 != 0 }

// pair is where the first two letters of a word have their digit.
func pair(key uint32) uint32 { return key&31 | key>>3&(31<<5) }

// MayBegin says whether a cue may begin at a word, by its first four bytes as they are in memory; the last of them need not belong
// to the word. For most words it says no. The two answers are worked out without a branch, since nobody can guess them.
func MayBegin(first uint32) bool {
	key := first | 0x20202020
	return (filter[key*mix>>(32-filterBits)]&1 | filter[pair(key)]&2) != 0
}
