package inspect

// stems are the first four letters of the words at which cues are looked for; shorter ones are those of whole words.
const stems = "igno disr forg over disc verg oubl olvi esqu dime" + // orders to ignore
	" ai llm llms gpt ki ia chat copi mixt assi clau gemi mist llam bard lang agen mode asis" + // names of machines
	" inst user task tool ment with syst"

// filter has one bit for each stem and a few by chance, so that hardly any other word is looked at. The test of this
// package says what it must be when the stems change.
const filter = "" +
	"\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x40\x02\x00\x11\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x08" +
	"\x00\x24\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x40\x00\x80\x00" +
	"\x00\x00\x40\x04\x00\x08\x00\x00\x00\x00\x08\x10\x00\x00\x00\x00" +
	"\x00\x40\x40\x00\x00\x00\x10\x00\x00\x00\x20\x00\x00\x40\x00\x01" +
	"\x10\x00\x02\x40\x00\x00\x00\x00\x00\x00\x02\x20\x00\x40\x00\x00" +
	"\x00\x00\x00\x01\x00\x42\x00\x00\x00\x00\x00\x00\x00\x00\x20\x00" +
	"\x20\x00\x00\x00\x04\x00\x00\x00\x00\x00\x04\x00\x00\x00\x02\x00"

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

func isStem(key uint32) bool {
	h := key * mix >> (32 - filterBits)
	return filter[h>>3]>>(h&7)&1 != 0
}

// MayBegin says whether a cue may begin at a word, by its first four bytes as they are in memory; the last of them need not belong
// to the word. For most words it says no. The two answers are worked out without a branch, since nobody can guess them.
func MayBegin(first uint32) bool {
	key := first | 0x20202020
	h, pair := key*mix>>(32-filterBits), key&31|key>>3&(31<<5)
	return (filter[h>>3]>>(h&7)|short[pair>>3]>>(pair&7))&1 != 0
}

// short has one bit for the first two letters of each stem of less than four.
const short = "" +
	"\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x02\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
