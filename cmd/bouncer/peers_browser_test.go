package main

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// fakeBrowser is a program of the scripts: a browser without JavaScript, and the person before it.
//
//	fakebrowser STATE LOOKING DONE ANSWER...
//
// It gets into the dashboard of a state directory by the file that was left for it, writes the empty file LOOKING, answers as
// many questions as there are answers, and writes the empty file DONE. It prints what the pages say.
func fakeBrowser() {
	var ticket string
	check(eventually(func() bool {
		files, _ := filepath.Glob(filepath.Join(os.Args[1], "dashboard", "*.html"))
		if len(files) == 0 {
			return false
		}
		data, err := os.ReadFile(files[0])
		ticket = between(string(data), "url=", `"`)
		return err == nil && ticket != ""
	}))
	jar, err := cookiejar.New(nil)
	check(err)
	b := browser{client: http.Client{Jar: jar}}
	start, err := url.Parse(ticket)
	check(err)
	root := start.ResolveReference(&url.URL{Path: between(b.get(ticket), "url=", `"`)}).String()
	b.get(root)
	check(os.WriteFile(os.Args[2], nil, 0o600))
	for _, answer := range os.Args[4:] {
		b.answer(root, answer)
	}
	check(os.WriteFile(os.Args[3], nil, 0o600))
}

type browser struct{ client http.Client }

func (b browser) get(address string) string { return bodyOf(b.client.Get(address)) }

// answer takes the first question that waits, reads it, and presses a button.
func (b browser) answer(root, answer string) {
	var link string
	check(eventually(func() bool {
		link = regexp.MustCompile(`/question/\w+`).FindString(b.get(root))
		return link != ""
	}))
	address := strings.TrimSuffix(root, "/") + link
	page := b.get(address)
	fmt.Fprintln(os.Stdout, textOf(page))
	time.Sleep(600 * time.Millisecond) // nobody reads faster
	form := url.Values{"answer": {answer}}
	for _, field := range regexp.MustCompile(`name="(form|read)" value="(\w+)"`).FindAllStringSubmatch(page, -1) {
		form.Set(field[1], field[2])
	}
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(form.Encode()))
	check(err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", "http://"+r.Host)
	fmt.Fprintln(os.Stdout, textOf(bodyOf(b.client.Do(r))))
}

func bodyOf(answer *http.Response, err error) string {
	check(err)
	body, err := io.ReadAll(answer.Body)
	check(err)
	check(answer.Body.Close())
	return string(body)
}

// textOf is what a page shows.
func textOf(page string) string {
	page = regexp.MustCompile(`(?s)<(style|script)>.*?</(style|script)>|<[^>]*>`).ReplaceAllString(page, " ")
	return html.UnescapeString(strings.Join(strings.Fields(page), " "))
}

func between(text, before, behind string) string {
	_, text, _ = strings.Cut(text, before)
	text, _, _ = strings.Cut(text, behind)
	return text
}
