package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	mail := NewPack("mail", []byte("version: 1\ntools:\n  frob: {sink_params: [to], object_params: [id], irreversible: true, untrusted_outputs: [x]}\n"))
	below := layer(t, "low", "save: {sink_params: [x]}\nsend_note: {trusted_destinations: [x]}\n")
	for in, want := range map[string]string{
		"frob: {exfiltrating: false}":                         `u: line 1, column 1: frob: exfiltrating: false switches off what pack mail switches on`,
		"frob: {irreversible: false}":                         `u: line 1, column 1: frob: irreversible: false switches off what pack mail switches on`,
		"frob: {object_params: []}":                           `u: line 1, column 1: frob: object_params: [] switches off what pack mail switches on`,
		"frob: {untrusted_outputs: []}":                       `u: line 1, column 1: frob: untrusted_outputs: [] switches off what pack mail switches on`,
		"save: {exfiltrating: false}":                         `u: line 1, column 1: save: exfiltrating: false switches off what policy low switches on`,
		"send_sms: {exfiltrating: false}":                     `u: line 1, column 1: send_sms: exfiltrating: false switches off what the tool's name switches on`,
		"delete_x: {irreversible: false}":                     `u: line 1, column 1: delete_x: irreversible: false switches off what the tool's name switches on`,
		"close_x: {object_params: []}":                        `u: line 1, column 1: close_x: object_params: [] switches off what the tool's name switches on`,
		"get_x: {exfiltrating: false, object_params: []}":     "",
		"version: 1\ntools: {m/frob: {exfiltrating: false}}":  `u: line 2, column 9: m/frob: exfiltrating: false switches off what pack mail switches on`,
		"version: 1\ntools: {'get_*': {exfiltrating: false}}": `u: line 2, column 9: get_*: exfiltrating: false switches something off for every tool that the pattern matches`,
		"version: 1\ntools: {'*': {trusted_destinations: [me]}}": `u: line 2, column 9: *: trusted_destinations hold for every tool
u: line 2, column 9: *: trusted_destinations takes the place of what policy low says of send_note at line 2`,
		"version: 1\ntools: {'sen*': {trusted_destinations: [me]}}": `u: line 2, column 9: sen*: trusted_destinations takes the place of what policy low says of send_note at line 2`,

		"t: {trusted_destinations: ['@gmail.com']}":                            `u: line 1, column 1: t: trusted_destinations: everybody can have an address at gmail.com`,
		"t: {trusted_destinations: ['*@Outlook.com']}":                         `u: line 1, column 1: t: trusted_destinations: everybody can have an address at Outlook.com`,
		"t: {trusted_destinations: ['a@b.c, d@e.f']}":                          `u: line 1, column 1: t: trusted_destinations: "a@b.c, d@e.f" is more than one address, and a value is only ever one`,
		"t: {trusted_destinations: ['Ann <a@b.c>']}":                           `u: line 1, column 1: t: trusted_destinations: "Ann <a@b.c>" holds a display name; write the address alone`,
		"t: {trusted_destinations: ['mailto:a@b.c']}":                          `u: line 1, column 1: t: trusted_destinations: "mailto:a@b.c" is a link; write the address alone`,
		"t: {trusted_destinations: [a@gmail.com, '@corp.example', '#team']}":   "",
		"t: {trusted_destinations: ['https://h.example/@a/@b']}":               "",
		"t: {arg_patterns: {q: '.*'}}":                                         `u: line 1, column 1: t: arg_patterns: q: the pattern matches every value`,
		"t: {arg_patterns: {q: '(?s)(.*)'}}":                                   `u: line 1, column 1: t: arg_patterns: q: the pattern matches every value`,
		"t: {arg_patterns: {q: 'a.*'}}":                                        "",
		"t: {allowed_path_prefixes: [/]}":                                      `u: line 1, column 1: t: allowed_path_prefixes: "/" allows nearly every path`,
		"t: {allowed_path_prefixes: ['C:\\']}":                                 `u: line 1, column 1: t: allowed_path_prefixes: "C:\\" allows nearly every path`,
		"t: {allowed_path_prefixes: ['~']}":                                    `u: line 1, column 1: t: allowed_path_prefixes: "~" allows nearly every path`,
		"t: {allowed_path_prefixes: [./out, /tmp, ~/work]}":                    "",
		"t: {sink_params: ['$.to']}":                                           `u: line 1, column 1: t: sink_params: "$.to" is no path of an argument, such as message.to`,
		"t: {object_params: ['items[0].id']}":                                  `u: line 1, column 1: t: object_params: "items[0].id" is no path of an argument, such as message.to`,
		"t: {write_params: ['a..b']}":                                          `u: line 1, column 1: t: write_params: "a..b" is no path of an argument, such as message.to`,
		"t: {arg_patterns: {'a b': x}}":                                        `u: line 1, column 1: t: arg_patterns: "a b" is no path of an argument, such as message.to`,
		"t: {trusted_outputs: ['a..b']}":                                       `u: line 1, column 1: t: "a..b" is no path in a result, such as items.email`,
		"t: {untrusted_outputs: ['a[0]']}":                                     `u: line 1, column 1: t: "a[0]" is no path in a result, such as items.email`,
		"t: {untrusted_outputs: ['*', '$', '$.a', a.b, 'a[*].b', '[*].x']}":    "",
		"t: {sink_params: [message.to], trusted_outputs: ['$.items[*].mail']}": "",

		"version: 1\ntools: {t: {max_calls: 1}}\nservers: {m: {tools: {'*': {max_calls: 5}}}}":    `u: line 2, column 9: t: max_calls has no effect for m, where "*" at line 3 says otherwise`,
		"version: 1\ntools: {m/t: {max_calls: 1}}\nservers: {m: {tools: {'*': {max_calls: 5}}}}":  `u: line 2, column 9: m/t: max_calls has no effect for m, where "*" at line 3 says otherwise`,
		"version: 1\ntools: {t: {max_calls: 1}}\nservers: {'m*': {tools: {'*': {max_calls: 5}}}}": "",
	} {
		var got []string
		for _, w := range Check(layer(t, "u", in+"\n"), nil, below, mail) {
			if w.Code == "" {
				t.Errorf("%s: no code", w)
			}
			got = append(got, w.String())
		}
		if strings.Join(got, "\n") != want {
			t.Errorf("%s\n got %s\nwant %s", in, strings.Join(got, "\n     "), want)
		}
	}
}

func TestCheckTools(t *testing.T) {
	set := NewSet(layer(t, "u", `version: 1
tools:
  send_it: {sink_params: [recipent], arg_patterns: {nothing: x}, write_params: [file.path]}
  other: {sink_params: [x]}
  "*": {sink_params: [whatever]}
  mail/read_it: {object_params: [id]}
`), pack(t, "p", "send_it: {sink_params: [elsewhere]}\n")).For(Server{Name: "mail"})
	var got []string
	for _, w := range CheckTools(set, []Tool{tool("send_it", "recipient", "file"), tool("read_it", "key"), {Name: "other"}, tool("none")}) {
		got = append(got, w.String())
	}
	want := []string{
		`u: line 3, column 3: send_it: sink_params: the tool has no argument "recipent"; did you mean recipient?`,
		`u: line 3, column 3: send_it: arg_patterns: the tool has no argument "nothing"`,
		`u: line 6, column 3: mail/read_it: object_params: the tool has no argument "id"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}

func TestCheckServers(t *testing.T) {
	l := layer(t, "u", `version: 1
servers:
  Contacts: {profile: strict}
  contcts: {tools: {x: {}, y: {}}}
  other: {tools: {x: {}}}
tools: {contactss/x: {}, '*/x': {}, mail/x: {}}
taint: {links: [[mial, contacts], ['cont*', contacts]]}
`)
	var got []string
	for _, w := range CheckServers([]string{"contacts", "mail", "mail2"}, nil, l, pack(t, "p", "maill/x: {}\n")) {
		got = append(got, w.String())
	}
	want := []string{
		`u: line 3, column 3: no server is named "Contacts"; did you mean "contacts"?`,
		`u: line 6, column 9: no server is named "contactss"; did you mean "contacts"?`,
		`u: line 4, column 21: no server is named "contcts"; did you mean "contacts"?`,
		`u: line 4, column 28: no server is named "contcts"; did you mean "contacts"?`,
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
}
