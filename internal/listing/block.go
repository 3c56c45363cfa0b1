package listing

// block reads a scalar that keeps its lines (|) or folds them (>), below the line that announces it.
func (p *parser) block(n int) bool {
	folds := p.text[p.i] == '>'
	chomp, deeper := p.blockHeader()
	if p.at(p.i) != '\n' || p.i == len(p.text) {
		return false
	}
	p.i++
	indent := n + deeper
	if deeper == 0 {
		if indent = p.blockIndent(); indent <= n {
			return false
		}
	}
	p.out = append(p.out, '"')
	broken, empty, indented := false, 0, false // of the lines so far: one ended, how many empty ones followed it, it began with a space
	for {
		line := p.i
		for p.i-line < indent && p.at(p.i) == ' ' {
			p.i++
		}
		if p.i == len(p.text) {
			break
		}
		if p.text[p.i] == '\n' {
			empty++
			p.i++
			continue
		}
		if p.i-line < indent {
			if p.text[p.i] == '\t' {
				return false
			}
			p.i = line
			break
		}
		more := p.text[p.i] == ' ' || p.text[p.i] == '\t'
		switch {
		case broken && folds && !indented && !more:
			p.fold(empty)
		case broken:
			p.breaks(1 + empty)
		default:
			p.breaks(empty)
		}
		length := lineLength(p.text[p.i:])
		p.out = appendText(p.out, p.text[p.i:p.i+length])
		p.i += length
		broken, empty, indented = p.i < len(p.text), 0, more
		if broken {
			p.i++
		}
	}
	if broken && chomp != '-' {
		p.breaks(1)
	}
	if chomp == '+' {
		p.breaks(empty)
	}
	p.out = append(p.out, '"')
	p.content()
	return true
}

// blockHeader reads what follows | or >: what to do with the last line breaks, and how much deeper the text is indented,
// 0 if that is to be seen from its first line.
func (p *parser) blockHeader() (chomp byte, deeper int) {
	for p.i++; ; p.i++ {
		switch c := p.at(p.i); {
		case (c == '+' || c == '-') && chomp == 0:
			chomp = c
		case '1' <= c && c <= '9' && deeper == 0:
			deeper = int(c - '0')
		default:
			p.spaces()
			return chomp, deeper
		}
	}
}

// blockIndent returns the indentation of the first line that is not empty, -1 where YAML readers differ: an empty line
// before it is longer, or a tab follows the spaces.
func (p *parser) blockIndent() int {
	longest := 0
	for i := p.i; i < len(p.text); i++ {
		line := i
		for p.at(i) == ' ' {
			i++
		}
		longest = max(longest, i-line)
		if p.at(i) != '\n' {
			if longest > i-line || p.at(i) == '\t' {
				return -1
			}
			return i - line
		}
	}
	return -1
}
