package taint

import (
	"html"
	"strings"
)

const (
	maxLinks    = 1 << 10 // that are read out of the markup of one text
	maxReadings = 1 << 20 // bytes of text that is also read as markup
)

// shown calls read with a text, and with what a program that takes it for HTML or Markdown sees in it: characters that
// are written as entities, and the links of its elements, put together as such a program does.
func shown(text string, read func(string)) {
	read(text)
	if len(text) > maxReadings {
		return
	}
	if plain, ok := unentity(text); ok {
		read(plain)
	}
	if links := links(text); links != "" {
		read(links)
	}
}

// links returns the addresses to which the attributes of a text's elements lead, one a line.
func links(text string) string {
	if strings.IndexByte(text, '=') < 0 {
		return ""
	}
	var out strings.Builder
	var relative []string
	base := ""
	n := 0
	eachAttribute(text, func(element, value string) bool {
		switch link := linkOf(value); {
		case link == "":
		case strings.EqualFold(element, "base"):
			if base == "" && strings.Contains(link, "://") {
				base = link
			}
		case strings.Contains(link, "://"):
			out.WriteString(link + "\n")
		default:
			relative = append(relative, link)
		}
		n++
		return n < maxLinks
	})
	if base != "" {
		for _, link := range relative {
			out.WriteString(joined(base, link) + "\n")
		}
	}
	return out.String()
}

// eachAttribute yields the value of each attribute that holds an address, and the element before it.
func eachAttribute(text string, yield func(element, value string) bool) {
	element := ""
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '<':
			element = text[i+1 : nameEnd(text, i+1)]
		case '=':
			name := strings.TrimRight(text[max(0, i-16):i], " \t\r\n")
			if !leadsSomewhere(name[strings.LastIndexAny(name, " \t\r\n/\"'<")+1:]) {
				continue
			}
			value, end := attribute(text, i+1)
			if i = end - 1; !yield(element, value) {
				return
			}
		}
	}
}

func leadsSomewhere(name string) bool {
	switch strings.ToLower(name) {
	case "href", "src", "action", "formaction", "data", "poster", "background":
		return true
	}
	return false
}

// attribute reads the value of an attribute behind its = at i, and returns where it ends.
func attribute(text string, i int) (value string, end int) {
	for i < len(text) && isBlank(text[i]) {
		i++
	}
	window := text[i:min(len(text), i+maxURL)]
	if window == "" {
		return "", i
	}
	if quote := window[0]; quote == '"' || quote == '\'' {
		if n := strings.IndexByte(window[1:], quote); n >= 0 {
			return window[1 : 1+n], i + n + 2
		}
		return "", i + 1
	}
	if n := strings.IndexAny(window, " \t\r\n>"); n >= 0 {
		window = window[:n]
	}
	return window, i + len(window)
}

// linkOf returns an address as browsers read it: without white space, with any number of slashes of either kind before the
// host, and secure where it doesn't say.
func linkOf(value string) string {
	link := strings.Map(func(r rune) rune {
		switch {
		case r <= ' ':
			return -1
		case r == '\\':
			return '/'
		}
		return r
	}, html.UnescapeString(value))
	for _, scheme := range [...]string{"https:", "http:"} {
		if len(link) > len(scheme) && strings.EqualFold(link[:len(scheme)], scheme) {
			return scheme + "//" + strings.TrimLeft(link[len(scheme):], "/")
		}
	}
	if strings.HasPrefix(link, "//") {
		return "https://" + strings.TrimLeft(link, "/")
	}
	return link
}

// joined puts a relative address behind the one that a page names as its base.
func joined(base, link string) string {
	host := strings.Index(base, "://") + len("://")
	path := host + max(0, strings.IndexByte(base[host:], '/'))
	switch {
	case path == host: // the base has no path
		return base + "/" + strings.TrimLeft(link, "/")
	case link[0] == '/':
		return base[:path] + link
	}
	return base[:strings.LastIndexByte(base, '/')+1] + link
}
