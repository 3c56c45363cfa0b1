package replay_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/replay"
)

// A log may be anything. What is learned from it is always a policy, and names only servers and tools that are known.
func FuzzLog(f *testing.F) {
	ask := email + `"verdict":"ask","contract":"sink_gate","layers":["inferred"],"evidence":[{"param":"to","value":"a@x.com","class":"unseen","server":"","tool":"","path":"","snippet":""}]`
	yes := email + `"verdict":"allow","contract":"default","layers":["inferred"],"evidence":[],"answer":"once"`
	f.Add(verdictLine(1, 1, ask) + verdictLine(2, 1, yes))
	f.Add(verdictLine(1, 1, ask) + verdictLine(2, 2, yes) + `{"seq":3,"kind":"result","session":"s","server":"shop","call":2,"tool":"send_email","outcome":"tool_error","hash":"x"}`)
	f.Add(verdictLine(1, 1, `"tool":"write_file","args":{"path":"/a/b/c/d","content":"x\ny"},"verdict":"allow","contract":"default","evidence":[]`))
	f.Add(verdictLine(1, 1, `"tool":"fetch","args":{"url":"https://a.b"},"verdict":"ask","contract":"toxic_flow","evidence":[{"param":"url","value":"https://a.b","class":"text","server":"s","tool":"t","path":"","snippet":""}]`))
	f.Add(verdictLine(1, 1, `"tool":"delete_event","args":[1],"verdict":"deny","contract":"constraint"`))
	servers := map[string][]replay.Server{"shop": {shop(f)}}
	before, after := layers(f, ""), layers(f, "version: 1\nprofile: strict\ntools: {send_email: {trusted_destinations: [a@x.com]}}")
	f.Fuzz(func(t *testing.T, text string) {
		log, err := replay.Read(lines(text))
		if err != nil {
			return
		}
		for _, c := range replay.Again(log, replay.Options{Before: before, After: after, Servers: servers, Paths: unix{}}) {
			if (len(c.Now) == 0) != (c.Unknown != "") || c.Kind() == "" {
				t.Errorf("%+v", c)
			}
		}
		yaml := replay.Policy([]string{text}, replay.Learn(log, before, servers))
		if _, err := policy.Parse("learned", yaml); err != nil {
			t.Errorf("%v in\n%s", err, yaml)
		}
	})
}

// What a log holds is written down so that it reads back as it is.
func FuzzPolicy(f *testing.F) {
	f.Add("a b", "x#y", "\"'\\\u2028\u0085é")
	f.Fuzz(func(t *testing.T, server, tool, value string) {
		if !utf8.ValidString(server + " " + tool + " " + value) {
			return // no JSON has brought this
		}
		text := replay.Policy([]string{value}, []replay.Lesson{
			{Server: server, Tool: tool, Field: "write_params", Values: []replay.Learned{{Value: value, Why: value}}},
			{Server: server, Tool: tool, Field: "max_calls", Values: []replay.Learned{{Value: "5", Why: tool}}},
		})
		l, err := policy.Parse("written", text)
		if err != nil {
			return // names that no policy can have
		}
		r := policy.NewSet(l).For(policy.Server{Name: server}).Resolve(policy.Tool{Name: tool})
		if r.MaxCalls != 5 || !slices.Equal(r.WriteParams, []string{value}) {
			t.Errorf("%+v from\n%s", r, text)
		}
	})
}
