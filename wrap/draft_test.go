package wrap

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"
)

const draftText = `{"mcpServers": {
  "gh": {"command": "npx", "args": ["server", "--token", "arg-s3cr3t"], "env": {"TOKEN": "env-s3cr3t"}},
  "fs": {"command": "srv"},
  "old": {"command": "/old/bouncer", "args": ["run", "--upstream-name=old", "--", "srv"]}
}}`

func draft(t *testing.T, f File, o Options) Draft {
	t.Helper()
	return NewDraft([]Plan{mustWrap(t, f, o)}, o, time.Date(2026, 11, 30, 12, 0, 0, 1, time.UTC))
}

func TestDraft(t *testing.T) {
	f := config(draftText)
	o := options()
	o.Policies, o.Profile, o.Servers = []string{"/p.yaml"}, "strict", []string{"gh", "old"}
	want := mustWrap(t, f, o)
	data, err := draft(t, f, o).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []string{"s3cr3t", "npx", "srv", "TOKEN"} {
		if bytes.Contains(data, []byte(foreign)) {
			t.Errorf("holds %s of the file:\n%s", foreign, data)
		}
	}
	d, err := ParseDraft(data)
	if err != nil {
		t.Fatal(err)
	}
	p, err := d.Plan(f, options())
	if err != nil || !bytes.Equal(p.After, want.After) {
		t.Errorf("planned %v\n%s\nwant\n%s", err, p.After, want.After)
	}
	if actions(p) != "wrap skip rewrap" {
		t.Errorf("planned %s", actions(p))
	}
	if empty := NewDraft([]Plan{mustWrap(t, config("{}"), options())}, options(), time.Now()); len(empty.Files) != 0 {
		t.Errorf("a file in which nothing changes: %+v", empty.Files)
	}
}

func TestDraftRefuses(t *testing.T) {
	f := config(draftText)
	for _, tt := range []struct {
		name   string
		change func(*Draft, *File, *Options)
		is     error
		says   string
	}{
		{"changed file", func(_ *Draft, f *File, _ *Options) { f.Data = append([]byte(" "), f.Data...) }, ErrChanged, "/home/ada/config.json"},
		{"other file", func(_ *Draft, f *File, _ *Options) { f.Path = "/elsewhere" }, nil, "not in the plan"},
		{"other launcher", func(_ *Draft, _ *File, o *Options) { o.Launcher = "/opt/bouncer" }, nil, "and this bouncer would by /opt/bouncer"},
		{"other outcome", func(d *Draft, _ *File, _ *Options) { d.Policies = []string{"/evil.yaml"} }, nil, "would not write what was planned"},
		{"more servers", func(d *Draft, _ *File, _ *Options) { d.Files[0].Entries = d.Files[0].Entries[:1] }, nil, "would not write what was planned"},
		{"other spans", func(d *Draft, _ *File, _ *Options) { d.Files[0].Spans[0].Start++ }, nil, "would not write what was planned"},
		{"left alone since", func(_ *Draft, _ *File, o *Options) {
			o.Aside = map[string]string{PointerKey([]string{"mcpServers", "gh"}): "left alone"}
		}, nil, "would not write what was planned"},
		{"denied since", func(_ *Draft, f *File, _ *Options) { f.Lists.DenyNames = []string{"gh"} }, nil, "would not write what was planned"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, file, o := draft(t, f, options()), f, options()
			tt.change(&d, &file, &o)
			_, err := d.Plan(file, o)
			if _, ok := errors.AsType[*FileError](err); !ok || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want %q", err, tt.says)
			}
		})
	}
}

func TestParseDraftRefuses(t *testing.T) {
	data, err := draft(t, config(draftText), options()).Encode()
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for name, harm := range map[string]string{
		"nothing":        "",
		"an array":       "[]",
		"no version":     "{}",
		"later version":  strings.Replace(text, `"version": 1`, `"version": 2`, 1),
		"key twice":      strings.Replace(text, `"profile"`, `"launcher": "/evil", "profile"`, 1),
		"other case":     strings.Replace(text, `"launcher"`, `"Launcher"`, 1),
		"unknown key":    strings.Replace(text, `"profile"`, `"more": 1, "profile"`, 1),
		"text behind it": text + "{}",
		"cut":            text[:len(text)-3],
	} {
		if d, err := ParseDraft([]byte(harm)); err == nil {
			t.Errorf("%s: read %+v", name, d)
		}
	}
}
