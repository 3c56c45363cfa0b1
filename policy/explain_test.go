package policy

import (
	"encoding/json"
	"iter"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	set := NewSet(
		layer(t, "policy.yaml", `version: 1
tools:
  "*": {max_calls: 9}
  send_email:
    trusted_destinations: ["@corp.example"]
    arg_patterns: {subject: '[^\n]*'}
servers:
  mail:
    profile: strict
`),
		pack(t, "mail", `version: 1
pack: {servers: [{package: 'npm:mail'}]}
tools:
  send_email:
    sink_params: [to, sender]
  delete_email: {trusted_outputs: [id], object_params: [which]}
`)).For(Server{"mail", "npm:mail"})
	for _, tt := range []struct {
		tool Tool
		want string
	}{
		{
			signature(t, "send_email(to* cc subject body)"),
			`send_email
  exfiltrating  yes  pack mail line 4
  fetch         no   it is not known to read from addresses and do nothing else
  changing      yes  its name does not say that it only reads
  irreversible  no   nothing says so
  directory     no   its name is not that of a lookup of persons or places to reach
  identity      no   its definition leaves open whose account it tells of
  sensitive     no   no name word is that of something private
  untrusted     yes  what a server returns may come from anybody
  argument to: destination, pack mail line 4
  argument cc: destination, by its name, beside those that are declared
  argument subject: content, its name is that of no destination, object or path
  argument body: content, its name is that of no destination, object or path
  argument sender: destination, pack mail line 4; the tool lists no such argument
  trusted_destinations: [@corp.example], policy policy.yaml line 4
  arg_patterns: ["subject: [^\\n]*"], policy policy.yaml line 4
  max_calls: [9], policy policy.yaml line 3 (*)
`,
		},
		{
			signature(t, "delete_email(email_id*)"),
			`delete_email
  exfiltrating  no   no parameter is a destination
  fetch         no   it is not known to read from addresses and do nothing else
  changing      yes  its name does not say that it only reads
  irreversible  yes  name word delete
  directory     no   its name is not that of a lookup of persons or places to reach
  identity      no   its definition leaves open whose account it tells of
  sensitive     no   no name word is that of something private
  untrusted     yes  what a server returns may come from anybody
  argument email_id: content, pack mail line 6 leaves it out of the objects
  argument which: object, pack mail line 6; the tool lists no such argument
  max_calls: [9], policy policy.yaml line 3 (*)
  trusted_outputs: [id], pack mail line 6
`,
		},
	} {
		if got := Explain(set, tt.tool).String(); got != tt.want {
			t.Errorf("got\n%swant\n%s", got, tt.want)
		}
	}
	x := Explain(set, tool("get_contact", "id"))
	if x.Profile != "strict" || x.Server != "mail" || x.Package != "npm:mail" || !reflect.DeepEqual(x.Layers, []string{"policy policy.yaml"}) {
		t.Errorf("%+v", x)
	}
}

// A pack for other servers only adds, and only what the tool has; what its definition says already is not the pack's.
func TestExplainForeignPack(t *testing.T) {
	set := NewSet(
		pack(t, "chat", `version: 1
pack: {servers: [{package: 'npm:chat'}]}
tools:
  post_message:
    sink_params: [channel, channel_id, thread]
    irreversible: true
    max_calls: 3
`),
		pack(t, "board", `version: 1
pack: {servers: [{package: 'npm:board'}]}
tools:
  post_message: {sink_params: [topic, thread]}
`)).For(Server{"own", "npm:own"})
	const want = `post_message
  exfiltrating  yes  it has a parameter that is a destination
  fetch         no   it is not known to read from addresses and do nothing else
  changing      yes  its name does not say that it only reads
  irreversible  yes  pack chat line 4
  directory     no   its name is not that of a lookup of persons or places to reach
  identity      no   its definition leaves open whose account it tells of
  sensitive     no   no name word is that of something private
  untrusted     yes  what a server returns may come from anybody
  argument channel: destination, by its name
  argument thread: destination, pack board line 4
  argument topic: destination, pack board line 4
  argument text: content, its name is that of no destination, object or path
  max_calls: [3], pack chat line 4
  pack board line 4 is for other servers, and only adds to this
  pack chat line 4 is for other servers, and only adds to this
`
	x := Explain(set, signature(t, "post_message(channel* thread topic text)"))
	if got := x.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if got := slices.Collect(paths(x, "destination")); !slices.Equal(got, []string{"channel", "thread", "topic"}) {
		t.Errorf("%q", got)
	}
	// Of a tool without a schema nobody knows what it lacks.
	if got := slices.Collect(paths(Explain(set, Tool{Name: "post_message"}), "destination")); !slices.Contains(got, "channel_id") {
		t.Errorf("%q", got)
	}
	// What only a policy names is shown as such, and is none of the tool's arguments: all of them are judged.
	x = Explain(NewSet(layer(t, "u", "frob: {sink_params: [whom]}\n")), tool("frob", "who", "text"))
	if got := slices.Collect(paths(x, "destination")); !slices.Equal(got, []string{"who", "text"}) {
		t.Errorf("%q", got)
	}
	if !strings.Contains(x.String(), "argument whom: destination, policy u line 1; the tool lists no such argument") {
		t.Errorf("%s", x)
	}
}

func paths(x Explanation, role string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range x.Arguments(role) {
			if !yield(path) {
				return
			}
		}
	}
}

// Each reason names what it follows from.
func TestExplainReasons(t *testing.T) {
	for _, tt := range []struct{ sig, about, want string }{
		{"fetch(url*)", "fetch", "it only reads from the addresses that it is given"},
		{"fetch(url*)", "changing", "it only reads from the addresses that it is given"},
		{"fetch(url*)", "url", "by its name"},
		{"request(url* body)", "changing", "it takes more along than an address"},
		{"list_users()", "changing", "name word list"},
		{"list_users()", "directory", "name word users"},
		{"conversations_info(id)", "changing", "its name says that it only reads"},
		{"whoami()", "identity", "name word whoami, and no parameter says whose"},
		{"whoami()", "untrusted", "it tells of the person's own account"},
		{"get_messages()", "sensitive", "name word messages"},
		{"frobnicate(x)", "changing", "no name word says what it does"},
		{"cancel_order(order_id*)", "order_id", "name word cancel: it names what the tool acts on"},
		{"close_it(name*)", "name", "name word close: it names what the tool acts on"},
		{"write_file(path* content*)", "path", "by its name"},
		{"reset_password(email*)", "irreversible", "it changes how somebody signs in"},
		{"buy(item)", "irreversible", "name word buy"},
		{"read_file(path*)", "path", "it holds a path, which nothing confines and the tool only reads"},
	} {
		x := Explain(nil, signature(t, tt.sig))
		got := ""
		for _, trait := range x.Traits {
			if trait.Name == tt.about {
				got = trait.Why
			}
		}
		for _, p := range x.Params {
			if p.Path == tt.about {
				got = p.Roles[0].Why
			}
		}
		if got != tt.want {
			t.Errorf("%s, %s: %q, want %q", tt.sig, tt.about, got, tt.want)
		}
	}
	x := Explain(nil, withSchema("send", `{"properties":{"message":{"properties":{"to":{},"body":{}}},"note":{}}}`))
	if s := x.String(); !strings.Contains(s, "argument message.to: destination") || strings.Contains(s, "argument message:") {
		t.Errorf("%s", s)
	}
	if x := Explain(NewSet(layer(t, "u", "frob: {exfiltrating: true}\n")), tool("frob", "x")); !strings.Contains(x.String(), "argument x: destination, no parameter is declared") ||
		!strings.Contains(x.String(), "changing      yes  no name word") {
		t.Errorf("%s", x)
	}
	if x := Explain(NewSet(layer(t, "u", "send: {exfiltrating: false}\n")), tool("send", "to")); !strings.Contains(x.String(), "exfiltrating  no   policy u line 1") ||
		!strings.Contains(x.String(), "argument to: content, policy u line 1 leaves it out of the destinations") {
		t.Errorf("%s", x)
	}
}

// The JSON form is a promise: lists are never null, and the names stay.
func TestExplainJSON(t *testing.T) {
	data, err := json.Marshal(Explain(nil, Tool{Name: "get"}))
	if err != nil {
		t.Fatal(err)
	}
	got := string(data)
	if !strings.HasPrefix(got, `{"tool":"get","profile":"balanced","traits":[{"name":"exfiltrating","is":false,"why":"`) || !strings.HasSuffix(got, `],"params":[],"settings":[],"layers":[]}`) {
		t.Errorf("%s", got)
	}
}
