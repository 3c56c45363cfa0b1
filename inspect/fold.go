package inspect

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// asciiLength returns how many bytes of ASCII s begins with.
func asciiLength(s string) int {
	i := 0
	for i+32 <= len(s) && (eight(s, i)|eight(s, i+8)|eight(s, i+16)|eight(s, i+24))&highs == 0 {
		i += 32
	}
	for i+8 <= len(s) && eight(s, i)&highs == 0 {
		i += 8
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

// padding fills up what folding makes shorter, at the end of the word, so that places stay the same.
const padding = 0

// padded returns the place behind the padding that begins at j.
func (t *reader) padded(j int) int {
	for j < len(t.s) && t.s[j] == padding {
		j++
	}
	return j
}

// fold replaces s, which is ASCII up to at, by what it looks like in ASCII as far as it does. On the way it finds the cues
// in characters that have no such look.
func (t *reader) fold(at int) {
	s := t.s
	f := folder{out: append(make([]byte, 0, len(s)), s[:at]...)}
	for i := at; i < len(s); {
		if s[i] < utf8.RuneSelf {
			n := asciiLength(s[i:])
			f.ascii(s[i:i+n], i)
			f.hidden, i = 0, i+n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if hidden := isHidden(r); hidden {
			i += n
			if f.hides(r) {
				t.add(i)
			}
			continue
		}
		f.hidden = 0
		f.flag = r == blackFlag
		if end := foreign(s, i, r); end > 0 {
			t.add(end)
		}
		switch {
		case isIdeograph(r):
			f.out = append(f.out, s[i:i+n]...)
			i += n
		case isLookAlike(r):
			i = f.letters(s, i)
		default:
			f.rune(s[i:i+n], r, i)
			i += n
		}
	}
	f.pad(len(s))
	t.s = string(f.out)
}

// add notes a cue found while folding; ends that come out of order say no more than the one before.
func (t *reader) add(end int) {
	if n := len(t.other); n == 0 || t.other[n-1] < end {
		t.other = append(t.other, end)
	}
}

// A folder holds the folded text so far.
type folder struct {
	out    []byte
	hidden int  // how many invisible characters came last
	flag   bool // they follow a flag, which is made with them
}

// pad fills up to place i of the text.
func (f *folder) pad(i int) {
	for len(f.out) < i {
		f.out = append(f.out, padding)
	}
}

// ascii appends what stands at place i of the text as it is, with the padding behind the word that it may continue.
func (f *folder) ascii(s string, i int) {
	if n := len(f.out); n < i {
		word := 0
		for word < len(s) && isWord(s[word]) {
			word++
		}
		f.out = append(f.out, s[:word]...)
		if s = s[word:]; s == "" {
			return
		}
		f.pad(i + word)
	}
	f.out = append(f.out, s...)
}

// latin has the letters from U+00C0 to U+017F without what adorns them.
const latin = "" +
	"AAAAAAACEEEEIIIIDNOOOOO*OUUUUYTsaaaaaaaceeeeiiiidnooooo/ouuuuyty" +
	"AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlL" +
	"lLlNnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs"

// rune appends what one character at place i looks like in ASCII, or itself.
func (f *folder) rune(s string, r rune, i int) {
	if 0xc0 <= r && r < 0xc0+rune(len(latin)) {
		f.out = append(f.out, latin[r-0xc0])
		return
	}
	if sign := signOf(r); sign != 0 {
		f.pad(i)
		f.out = append(f.out, sign)
		return
	}
	if unicode.Is(unicode.Mn, r) {
		return
	}
	simpler := norm.NFKD.PropertiesString(s).Decomposition()
	switch {
	case len(simpler) > 0 && (simpler[0] < utf8.RuneSelf || r < 0x250):
		for _, c := range simpler[:min(len(simpler), len(s))] {
			if c < utf8.RuneSelf {
				f.ascii(string(rune(c)), i)
			}
		}
	case unicode.IsPunct(r) || unicode.IsSpace(r) || unicode.IsSymbol(r):
		f.pad(i)
		f.out = append(f.out, ' ')
	default:
		f.out = append(f.out, s...)
	}
}

// signOf returns the ASCII sign that some frequent ones stand for, 0 for others.
func signOf(r rune) byte {
	switch r {
	case '\u2018', '\u2019', '\u02bc':
		return '\''
	case '\u201c', '\u201d', '\u201e', '\u00ab', '\u00bb':
		return '"'
	case '\u2013', '\u2014':
		return '-'
	case '\u3001':
		return ','
	case '\u3002':
		return '.'
	case '\u00a0':
		return ' '
	}
	return 0
}

// letters appends a run of letters that could be Latin ones. They are if one among them or before them is.
func (f *folder) letters(s string, i int) int {
	latin := len(f.out) > 0 && isASCIILetter(f.out[len(f.out)-1])
	end := i
	for end < len(s) && end-i < 64 {
		if s[end] < utf8.RuneSelf {
			latin = latin || isASCIILetter(s[end])
			break
		}
		r, n := utf8.DecodeRuneInString(s[end:])
		if !isLookAlike(r) && !isHidden(r) {
			break
		}
		end += n
	}
	for i < end {
		r, n := utf8.DecodeRuneInString(s[i:])
		if isHidden(r) {
			i += n
			continue
		}
		look := byte(0)
		if latin {
			look = lookOf(r)
		}
		if look != 0 {
			f.out = append(f.out, look)
		} else {
			f.out = append(f.out, s[i:i+n]...)
		}
		i += n
	}
	return i
}

func isASCIILetter(c byte) bool { return c|0x20-'a' < 26 }

// isLookAlike says whether r is of a script that shares shapes with the Latin one.
func isLookAlike(r rune) bool { return 0x370 <= r && r < 0x590 }

// lookOf returns the Latin letter that a Greek, Cyrillic or Armenian one looks like, 0 for none.
func lookOf(r rune) byte {
	const (
		from = "аеорсухіјѕԁԛԝһӏвмнктгпАЕОРСУХІЈЅԀԚԜҺӀВМНКТαεικνορτυχωγΑΕΙΚΝΟΡΤΥΧΒΗΜΖօոսցհ"
		to   = "aeopcyxijsdqwhlbmhktrnAEOPCYXIJSDQWHLBMHKTaeiknoptuxwyAEIKNOPTYXBHMZonugh"
	)
	n := 0
	for _, c := range from {
		if c == r {
			return to[n]
		}
		n++
	}
	return 0
}

// isIdeograph says whether r is of the scripts that write without spaces and look like no other.
func isIdeograph(r rune) bool { return 0x3040 <= r && r < 0xa000 || 0xac00 <= r && r < 0xd7b0 }

const blackFlag = 0x1f3f4

// maxHidden is from how many invisible characters on a run of them is a message rather than layout.
const maxHidden = 24

// hides counts an invisible character, and says whether with it they have become a cue.
func (f *folder) hides(r rune) bool {
	f.hidden++
	if 0xe0020 <= r && r <= 0xe007f {
		// The flags of regions are spelled with up to six of them and an end mark.
		return !f.flag && f.hidden == 1 || f.flag && f.hidden == 8
	}
	return f.hidden == maxHidden
}

// isHidden says whether r is drawn as nothing.
func isHidden(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x3164, r == 0xfeff, r == 0xffa0,
		0x180b <= r && r <= 0x180f, 0x200b <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2060 <= r && r <= 0x206f,
		0xfe00 <= r && r <= 0xfe0f, 0xe0000 <= r && r <= 0xe0fff:
		return true
	}
	return false
}

// foreign finds cues in Chinese, Japanese and Russian that begin with the character r at i.
func foreign(s string, i int, r rune) int {
	switch r {
	case '忽', '无', '無', '忘', '不':
		return near(s, i, "忽略|忽视|忽視|无视|無視|忘记|忘記|忘掉|不要理会|不要理會",
			"之前|以上|先前|前面|上述|此前|以前|所有|一切|上面", "指令|指示|提示词|提示詞|命令|说明|說明|规则|規則|设定|設定")
	case '前', '以', 'こ', 'す', '全', '上', '今':
		return near(s, i, "前の|以前の|これまでの|すべての|全ての|上記の|今までの|以上の", "指示|命令|プロンプト|指令|ルール", "無視し|無視せ|忘れ")
	case '作':
		return near(s, i, "作为|作為", "AI|人工智能|人工智慧|语言模型|語言模型", "你必须|你必須|你应该|你應該|你需要|你要|请你|請你|您")
	case '致', '给', '給':
		return near(s, i, "致|给|給", "AI助手|AI助理|人工智能助手|AI模型|语言模型|語言模型|AI代理", "：|:|，")
	case '你':
		return near(s, i, "你是|你现在是|你現在是", "AI助手|AI助理|人工智能|人工智慧|语言模型|語言模型", "")
	case 'あ':
		return near(s, i, "あなたは", "AI|人工知能|言語モデル", "")
	case 'ア':
		return near(s, i, "アシスタント", "へ：|へ:|へ、|は次|は以下|の皆さん", "")
	}
	if !isLookAlike(r) || i > 0 && s[i-1] >= utf8.RuneSelf {
		return 0
	}
	switch unicode.ToLower(r) {
	case 'и', 'п', 'з', 'н':
		return near(s, i, "игнорируй|проигнорируй|забудь|не обращай внимания на", "предыдущ|прежн|вышеуказан|вышеизложен|ранее|все |всё|свои",
			"инструкц|указани|команд|распоряжен|правил|выше")
	case 'д':
		if end := near(s, i, "для", " ии| языков| нейросет", ":"); end > 0 {
			return end
		}
		return near(s, i, "дорог", " ии,| ии!| ии-| нейросет| языковая модель", "")
	case 'у', 'в', 'э':
		return near(s, i, "уважаем|внимание|эй", " ии,| ии:| ии!| ии-| нейросет| языковая модель", "")
	case 'т', 'к':
		return near(s, i, "ты|как", " ии-| ии,| языковая модель| нейросеть| искусственный интеллект", "ассистент|ты|вы|модель|сеть|интеллект")
	}
	return 0
}

// maxNear is how many bytes may lie between two parts of a cue in a script of long characters.
const maxNear = 36

// near matches one of first at i and, close behind it, one of each of the others in that order.
func near(s string, i int, first, second, third string) int {
	end := 0
	for first != "" {
		var one string
		one, first, _ = strings.Cut(first, "|")
		if begins(s[i:], one) {
			end = i + len(one)
			break
		}
	}
	for _, words := range []string{second, third} {
		if end == 0 || words == "" {
			return end
		}
		end = soon(s, end, words)
	}
	return end
}

// soon returns the end of the first of words that begins within a few characters of i, unless a sentence ends before.
func soon(s string, i int, words string) int {
	for at := i; at < len(s) && at-i <= maxNear; {
		for rest := words; rest != ""; {
			var one string
			one, rest, _ = strings.Cut(rest, "|")
			if begins(s[at:], one) {
				return at + len(one)
			}
		}
		r, n := utf8.DecodeRuneInString(s[at:])
		if r == '。' || r == '.' || r == '!' || r == '！' || r == '\n' {
			return 0
		}
		at += n
	}
	return 0
}

// begins says whether s begins with one of our words, in any case if its script has cases.
func begins(s, one string) bool {
	const ideographs = 0xe0 // lead bytes from here on
	if len(s) < len(one) || (s[0] >= ideographs || one[0] >= ideographs) && s[0] != one[0] {
		return false
	}
	if s[:len(one)] == one {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s)
	first, _ := utf8.DecodeRuneInString(one)
	return unicode.ToLower(r) == unicode.ToLower(first) && strings.EqualFold(s[:len(one)], one)
}
