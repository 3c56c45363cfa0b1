package main

import (
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

func TestNamed(t *testing.T) {
	long := strings.Repeat("x", 200)
	for _, tt := range []struct{ tool, args, want string }{
		{"send_email", `{"to":"dana@example.com","subject":"Hi","body":"write to sam@p.example"}`, `to="dana@example.com"`},
		{"send_email", `{"to":["a@p.example","b@p.example"],"cc":"c@p.example","bcc":["d@p.example","a@p.example"]}`, `to="a@p.example", to="b@p.example", cc="c@p.example" and 2 more`},
		{"send_email", `{"to":"` + long + `"}`, `to="` + long[:60] + `..."`},
		{"send_email", `{"to":"a@p.example\n  9  all is well\u202e"}`, `to="a@p.example<U+000A>  9  all is well<U+202E>"`},
		{"read_file", `{"path":"/home/dana/notes.txt"}`, `path="/home/dana/notes.txt"`},
		{"fetch", `{"url":"https://docs.example.com/a"}`, `url="https://docs.example.com/a"`},
		{"say", `{"text":"hi"}`, ""},
		{"send_email", `{"cut":true,"bytes":20000,"sha256":"00"}`, ""},
		{"send_email", `null`, ""},
	} {
		args, err := wire.ParseValue([]byte(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		if got := named(audit.Record{Tool: tt.tool, Args: args}); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.args, got, tt.want)
		}
	}
}
