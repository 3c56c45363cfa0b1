package taint

// latin returns the Latin letter or sign that r looks like, or r.
func latin(r rune) rune {
	if r < 0x80 {
		return r
	}
	switch r {
	case 'а', 'ɑ', 'α':
		return 'a'
	case 'А', 'Α', 'Ꭺ':
		return 'A'
	case 'Ь', 'Ƅ':
		return 'b'
	case 'В', 'Β', 'Ᏼ', 'ʙ':
		return 'B'
	case 'с', 'ϲ', 'ᴄ', 'ⅽ':
		return 'c'
	case 'С', 'Ϲ', 'Ꮯ':
		return 'C'
	case 'ԁ', 'ժ', 'Ꮷ':
		return 'd'
	case 'Ꭰ':
		return 'D'
	case 'е', 'ҽ', 'ε', 'є', 'ҿ':
		return 'e'
	case 'Е', 'Ε', 'Ꭼ':
		return 'E'
	case 'ғ', 'ƒ':
		return 'f'
	case 'Ϝ':
		return 'F'
	case 'ɡ', 'ց', 'ƍ':
		return 'g'
	case 'Ԍ', 'Ꮐ':
		return 'G'
	case 'һ', 'հ', 'Ꮒ':
		return 'h'
	case 'Н', 'Η', 'Ꮋ', 'ʜ', 'н':
		return 'H'
	case 'і', 'ι', 'ı', 'ɩ', 'ɪ', 'Ꭵ':
		return 'i'
	case 'І', 'Ι':
		return 'I'
	case 'ј', 'ϳ':
		return 'j'
	case 'Ј', 'Ꭻ':
		return 'J'
	case 'к', 'κ', 'ĸ':
		return 'k'
	case 'К', 'Κ', 'Ꮶ':
		return 'K'
	case 'ӏ', 'Ӏ', 'ǀ', 'ן', '∣':
		return 'l'
	case 'Ꮮ', 'ʟ':
		return 'L'
	case 'м', 'ᴍ':
		return 'm'
	case 'М', 'Μ', 'Ϻ', 'Ꮇ':
		return 'M'
	case 'ո', 'п', 'ռ', 'η':
		return 'n'
	case 'Ν', 'ɴ':
		return 'N'
	case 'о', 'ο', 'σ', 'օ', 'ᴏ', 'ס', '๐', '໐', '०', '০', '੦', '૦', '௦', '౦', '೦', '൦', '٥', '۵', 'ഠ', 'ဝ', 'ᴑ':
		return 'o'
	case 'О', 'Ο', 'Օ', 'Ⴍ':
		return 'O'
	case 'р', 'ρ', 'ϱ':
		return 'p'
	case 'Р', 'Ρ', 'Ꮲ':
		return 'P'
	case 'ԛ', 'գ', 'զ':
		return 'q'
	case 'Ԛ':
		return 'Q'
	case 'г', 'ᴦ':
		return 'r'
	case 'Ꭱ', 'ʀ':
		return 'R'
	case 'ѕ', 'ƽ', 'ꜱ':
		return 's'
	case 'Ѕ', 'Տ', 'Ꮪ':
		return 'S'
	case 'τ', 'т', 'ᴛ':
		return 't'
	case 'Т', 'Τ', 'Ꭲ':
		return 'T'
	case 'υ', 'ս', 'ʋ', 'ᴜ':
		return 'u'
	case 'Ս', '∪':
		return 'U'
	case 'ν', 'ѵ', 'ᴠ':
		return 'v'
	case 'Ѵ', 'Ꮩ':
		return 'V'
	case 'ѡ', 'ԝ', 'ա', 'ᴡ', 'ω':
		return 'w'
	case 'Ԝ', 'Ꮃ':
		return 'W'
	case 'х', 'χ', '×':
		return 'x'
	case 'Х', 'Χ':
		return 'X'
	case 'у', 'γ', 'ү', 'ʏ', 'ყ':
		return 'y'
	case 'У', 'Υ', 'Ү', 'Ꮍ':
		return 'Y'
	case 'ᴢ', 'ʐ':
		return 'z'
	case 'Ζ', 'Ꮓ':
		return 'Z'
	case '‐', '‑', '‒', '–', '—', '−', '﹣', '⁃', '﹘':
		return '-'
	case '․', '۰', '٠', '。':
		return '.'
	case '∕', '⁄', '⧸', '╱', '〳':
		return '/'
	case '∶', '։', '׃', 'ː', '˸', '꞉':
		return ':'
	}
	return r
}
