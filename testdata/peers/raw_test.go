package peers

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// exchange is one line of a client's and the lines that the server sends when it comes.
type exchange struct {
	send string
	get  []string
}

// book is what a raw server knows: its tools, as it spells them, and what it says to which line. It says nothing to others.
type book struct {
	Tools string              `json:"tools"`
	Lines map[string][]string `json:"lines"`
}

// rawServer is the program peer-raw FILE: a server that answers by the book, byte for byte.
func rawServer() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, "peer-raw:", err)
		return
	}
	var b book
	if err := json.Unmarshal(text, &b); err != nil {
		fmt.Fprintln(os.Stderr, "peer-raw:", err)
		return
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		answers, known := b.Lines[line]
		if !known && ownListing(line) {
			answers = []string{`{"jsonrpc":"2.0","id":` + string(read(line).ID) + `,"result":{"tools":` + b.Tools + `}}`}
		}
		for _, answer := range answers {
			io.WriteString(os.Stdout, answer+"\n")
		}
	}
}

// TestRaw sends lines that no library would make, in both eras, directly and through bouncer. Each line must come out as
// it went in.
func TestRaw(t *testing.T) {
	w := newWorld(t)
	for name, exchanges := range map[string][]exchange{"2025-11-25": rawLegacy(), "2026-07-28": rawModern()} {
		t.Run(name, func(t *testing.T) {
			w := w.in(t)
			b := book{Tools: rawTools, Lines: map[string][]string{}}
			for _, x := range exchanges {
				if b.Lines[x.send] != nil {
					t.Fatalf("sent twice: %s", x.send)
				}
				b.Lines[x.send] = x.get
			}
			text, err := json.Marshal(b)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(w.mkdir("books"), name+".json")
			w.write(file, string(text))
			direct, through := w.ways("raw", w.program("peer-raw"), file)
			for _, way := range []way{direct, through} {
				w.recite(way, exchanges)
			}
			identical(t, direct, through)
		})
	}
}

// recite plays the client's part of the exchanges.
func (w *world) recite(to way, exchanges []exchange) {
	w.t.Helper()
	cmd := w.command(w.home, to.argv[0], to.argv[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	lines := make(chan string)
	go func() {
		defer close(lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	for _, x := range exchanges {
		if _, err := io.WriteString(in, x.send+"\n"); err != nil {
			w.t.Fatal(err)
		}
		for _, want := range x.get {
			select {
			case got := <-lines:
				if got != want {
					w.t.Errorf("after %s\ngot  %s\nwant %s", clip(x.send), clip(got), clip(want))
				}
			case <-time.After(20 * time.Second):
				w.t.Fatalf("after %s\nnothing came, want %s", clip(x.send), clip(want))
			}
		}
	}
	in.Close()
	for line := range lines {
		w.t.Errorf("at the end: %s", clip(line))
	}
	if err := cmd.Wait(); err != nil {
		w.t.Error(err)
	}
}

// odd holds what decoders change: numbers that float64 can't hold or spells otherwise, names and texts in many
// spellings, and an order of members that no struct has.
const odd = `{"zz":9007199254740993,"price":1.10,"nought":-0,"huge":1e400,"tiny":4.9E-324,"exp":1E+2,` +
	`"long":0.1000000000000000055511151231257827,"digits":123456789012345678901234567890,"aa":[ ],"empty":{ },"nothing":null,` +
	`"text":"\u00e9 é \/ / \ud83d\ude00 😀 \u0000 \u2028 ` + "\u2028\u0085\u200b\ufeff\u007f" + ` \u003c < \"","":"no name","\u0061b":true, "2":2 ,"10":10}`

// lone is a surrogate without its pair. Servers that cut a text in the middle of an emoji send it.
const lone = `"cut \ud83d"`

// rawTools is a listing with everything in it that a definition may have, and more.
const rawTools = `[{"name":"look","title":"Look","description":"Looks \u003cclosely\u003e","icons":[{"src":"https://icons.example/a.svg","mimeType":"image/svg+xml","sizes":["any"],"theme":"dark","weight":1.0}],` +
	`"inputSchema":{"type":"object","$schema":"https://json-schema.org/draft/2020-12/schema","properties":{"zz":{"type":"number","default":1e400,"minimum":-0},"price":{"multipleOf":0.10}},"unevaluatedProperties":false},` +
	`"outputSchema":{"anyOf":[{"type":"array"},true]},"annotations":{"readOnlyHint":true,"futureHint":{"z":1,"a":2}},"execution":{"taskSupport":"optional"},"_meta":{"example.com/price":1.10},"future":` + odd + `},` +
	`{"inputSchema":{"type":"object"},"name":"wait"}]`

func answer(id, result string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`
}

// rawLegacy is a session up to 2025-11-25.
func rawLegacy() []exchange {
	list := []exchange{
		{
			`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"tasks":{"list":{},"requests":{"sampling":{"createMessage":{}}}},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}},"experimental":{"x":` + odd + `}},"clientInfo":{"version":"1.0","name":"raw","icons":[]},"future":` + odd + `}}`,
			[]string{answer("0", `{"serverInfo":{"name":"raw","version":"0","icons":[{"src":"data:,"}],"future":1.10},"capabilities":{"tools":{"listChanged":true},"tasks":{"cancel":{}},"future":{"n":9007199254740993}},"protocolVersion":"2025-11-25","instructions":"\u0041sk","_meta":`+odd+`}`)},
		},
		{`{"jsonrpc":"2.0","method":"notifications/initialized","params":{"_meta":{"z":1.0}}}`, nil},

		// Unknown methods, both ways.
		{`{"jsonrpc":"2.0","id":1,"method":"acme/frobnicate","params":` + odd + `}`, []string{answer("1", odd)}},
		{`{"jsonrpc":"2.0","id":2,"method":"acme/fail"}`, []string{`{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"no \u0022acme/fail\u0022","data":` + odd + `}}`}},
		{`{"jsonrpc":"2.0","id":3,"method":"acme/later.v2:beta","params":{}}`, []string{`{"jsonrpc":"2.0","method":"acme/event","params":` + odd + `}`, answer("3", `{}`)}},
		{`{"jsonrpc":"2.0","method":"acme/hint","params":` + odd + `}`, nil},
		{`{"jsonrpc":"2.0","id":4,"method":"acme/ask_back"}`, []string{`{"jsonrpc":"2.0","id":"q","method":"acme/question","params":` + odd + `}`}},
		{`{"jsonrpc":"2.0","id":"q","result":` + odd + `}`, nil},
		{`{"jsonrpc":"2.0","id":5,"method":"acme/ask_again"}`, []string{`{"jsonrpc":"2.0","id":"r","method":"acme/question"}`, answer("4", `{"late":true}`), answer("5", `{}`)}},
		{`{"jsonrpc":"2.0","id":"r","error":{"message":"no","code":-1,"data":` + odd + `}}`, nil},

		// Order of members, white space, and every form of id.
		{"{ \t\"params\" : {\"b\":1,\"a\":2} ,\"method\":\"acme/order\" , \"id\" :6,\"jsonrpc\":\"2.0\" }  ", []string{"\t{\"result\" : { } ,\"id\":6 , \"jsonrpc\":\"2.0\"}"}},
		{`{"jsonrpc":"2.0","id":"","method":"ping"}`, []string{answer(`""`, `{}`)}},
		{`{"jsonrpc":"2.0","id":-1,"method":"ping"}`, []string{answer("-1", `{}`)}},
		{`{"jsonrpc":"2.0","id":9007199254740991,"method":"ping"}`, []string{answer("9007199254740991", `{}`)}},
		{`{"jsonrpc":"2.0","id":"9007199254740993","method":"ping"}`, []string{answer(`"9007199254740993"`, `{}`)}},
		{`{"jsonrpc":"2.0","id":"\u0061\/é😀","method":"ping"}`, []string{answer(`"a/\u00e9\ud83d\ude00"`, `{}`)}},
		{`{"jsonrpc":"2.0","id":8,"method":"ping"}`, []string{`{"jsonrpc":"2.0","id":8,"method":"ping"}`, answer("8", `{}`)}}, // each side numbers its own requests
		{answer("8", `{}`), nil},
		{`{"jsonrpc":"2.0","id":"8","method":"ping"}`, []string{answer(`"8"`, `{"_meta":{"n":-0}}`)}},

		// Tools: definitions, arguments, and content that nobody knows.
		{`{"jsonrpc":"2.0","id":10,"method":"tools/list","params":{"cursor":"p\u0031","_meta":{"progressToken":9007199254740993}}}`, []string{answer("10", `{"nextCursor":"\u0070age 2","tools":`+rawTools+`,"_meta":{},"future":1.10}`)}},
		{`{"jsonrpc":"2.0","id":11,"method":"tools/call","params":{"_meta":{"progressToken":1.10,"example.com/trace":"t"},"future":` + odd + `,"arguments":` + odd + `,"name":"look"}}`, []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1.10,"progress":0.10,"total":1e400,"message":"","future":-0}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"future","data":` + odd + `}}`,
			answer("11", `{"structuredContent":`+odd+`,"isError":false,"future":`+odd+`,"content":[{"type":"hologram","depth":1e400,"data":"!"},{"text":`+lone+`,"type":"text","annotations":{"priority":0.10,"audience":["user"],"lastModified":"2026-01-01T00:00:00Z","future":null},"_meta":{"x":-0}},`+
				`{"type":"resource_link","uri":"notes://a","name":"a","size":9007199254740993,"icons":[{"src":"https://icons.example/b.png"}]},{"type":"resource","resource":{"uri":"notes://b","blob":"AA==","_meta":`+odd+`}},{"type":"audio","data":"not base64","mimeType":"audio/wav"},`+
				`{"type":"tool_use","id":"t1","name":"inner","input":`+odd+`}]}`),
		}},
		{`{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"name":"look","arguments":null}}`, []string{answer("12", `{"content":[],"isError":true,"structuredContent":-0}`)}},
		{`{"jsonrpc":"2.0","id":13,"method":"tools/call","params":{"name":"look"}}`, []string{`{"error":{"data":null,"message":"\ud83d\ude00","code":-32042},"jsonrpc":"2.0","id":13}`}},

		// Everything else that a client asks for.
		{`{"jsonrpc":"2.0","id":14,"method":"prompts/get","params":{"name":"p","arguments":{"a":"1"},"future":` + odd + `}}`, []string{answer("14", `{"messages":[{"role":"future","content":{"type":"hologram"}}],"description":`+lone+`}`)}},
		{`{"jsonrpc":"2.0","id":15,"method":"prompts/list"}`, []string{answer("15", `{"prompts":[{"name":"p","icons":[],"arguments":[{"name":"a","future":1.10}]}]}`)}},
		{`{"jsonrpc":"2.0","id":16,"method":"resources/read","params":{"uri":"notes://\u0061"}}`, []string{answer("16", `{"contents":[{"uri":"notes://a","text":`+lone+`,"mimeType":"text\/plain","_meta":`+odd+`}]}`)}},
		{`{"jsonrpc":"2.0","id":17,"method":"resources/subscribe","params":{"uri":"notes://a"}}`, []string{answer("17", `{}`), `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"notes://a","title":"A","n":1.10}}`}},
		{`{"jsonrpc":"2.0","id":18,"method":"completion/complete","params":{"ref":{"type":"ref/future","n":1.10},"argument":{"name":"a","value":""},"context":{"arguments":{"b":"1"}}}}`, []string{answer("18", `{"completion":{"values":["\u0031"],"total":1e2,"hasMore":false}}`)}},
		{`{"jsonrpc":"2.0","id":19,"method":"logging/setLevel","params":{"level":"debug"}}`, []string{answer("19", `{}`), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{"_meta":{"n":1.10}}}`}},
		{`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, nil},
		{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"s","progress":9007199254740993}}`, nil},

		// Requests of the server's.
		{`{"jsonrpc":"2.0","id":20,"method":"acme/start"}`, []string{
			`{"jsonrpc":"2.0","id":100,"method":"sampling/createMessage","params":{"maxTokens":1e2,"messages":[{"role":"user","content":[{"type":"tool_result","toolUseId":"t","content":[]}]}],"tools":` + rawTools + `,"toolChoice":{"mode":"auto"},"temperature":0.10,"metadata":` + odd + `}}`,
			`{"jsonrpc":"2.0","id":101,"method":"elicitation/create","params":{"message":"\u0041?","requestedSchema":{"type":"object","properties":{"z":{"type":"number","default":1.10},"a":{"type":"string","oneOf":[{"const":"1","title":"One"}]}}},"future":` + odd + `}}`,
			`{"jsonrpc":"2.0","id":102,"method":"elicitation/create","params":{"mode":"url","elicitationId":"e","url":"https://login.example/?a=1\u0026b","message":"m"}}`,
			`{"jsonrpc":"2.0","id":103,"method":"roots/list","params":{"_meta":` + odd + `}}`,
			answer("20", `{}`),
		}},
		{answer("103", `{"roots":[{"uri":"file:///a%20b","name":"\u0061","future":1.10}]}`), nil},
		{answer("100", `{"model":"m","role":"assistant","stopReason":"future","content":[{"type":"hologram","n":1e400}]}`), nil},
		{answer("101", `{"action":"accept","content":`+odd+`,"future":-0}`), nil},
		{answer("102", `{"action":"decline"}`), nil},
		{`{"jsonrpc":"2.0","id":21,"method":"acme/done"}`, []string{`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e","future":1.10}}`, answer("21", `{}`)}},

		// Cancellation, both ways, with an answer that comes all the same.
		{`{"jsonrpc":"2.0","id":22,"method":"tools/call","params":{"name":"wait"}}`, nil},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":22,"reason":"\u0041","future":1.10}}`, []string{answer("22", `{"content":[],"late":1.10}`)}},
		{`{"jsonrpc":"2.0","id":23,"method":"acme/start_and_cancel"}`, []string{`{"jsonrpc":"2.0","id":"gone","method":"roots/list"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"gone"}}`, answer("23", `{}`)}},

		// Tasks of 2025-11-25: the server's and the client's.
		{`{"jsonrpc":"2.0","id":30,"method":"tools/call","params":{"task":{"ttl":60000,"future":1.10},"name":"wait","arguments":{}}}`, []string{
			answer("30", `{"task":{"taskId":"t\u0031","status":"working","createdAt":"2026-01-01T00:00:00Z","ttl":6e4,"pollInterval":null},"_meta":{"io.modelcontextprotocol/model-immediate-response":"soon"}}`),
			`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t1","status":"input_required","ttl":null,"future":` + odd + `}}`,
			`{"jsonrpc":"2.0","id":104,"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}}`,
		}},
		{answer("104", `{"action":"accept","content":{},"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`), nil},
		{`{"jsonrpc":"2.0","id":31,"method":"tasks/get","params":{"taskId":"t1"}}`, []string{answer("31", `{"taskId":"t1","status":"completed","ttl":1.10}`)}},
		{`{"jsonrpc":"2.0","id":32,"method":"tasks/list","params":{"cursor":"c"}}`, []string{answer("32", `{"tasks":[{"taskId":"t1","future":1e400}],"nextCursor":""}`)}},
		{`{"jsonrpc":"2.0","id":33,"method":"tasks/result","params":{"taskId":"t1"}}`, []string{answer("33", `{"content":[{"type":"hologram"}],"structuredContent":`+odd+`,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t1"}}}`)}},
		{`{"jsonrpc":"2.0","id":34,"method":"tasks/cancel","params":{"taskId":"t1"}}`, []string{`{"jsonrpc":"2.0","id":34,"error":{"code":-32602,"message":"done"}}`}},
		{`{"jsonrpc":"2.0","id":35,"method":"acme/client_task"}`, []string{`{"jsonrpc":"2.0","id":105,"method":"sampling/createMessage","params":{"task":{"ttl":1.0},"maxTokens":1,"messages":[]}}`}},
		{answer("105", `{"task":{"taskId":"c1","status":"working","ttl":1.0}}`), nil},
		{`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"c1","status":"completed"}}`, []string{
			`{"jsonrpc":"2.0","id":106,"method":"tasks/get","params":{"taskId":"c1"}}`,
			`{"jsonrpc":"2.0","id":107,"method":"tasks/result","params":{"taskId":"c1"}}`,
			`{"jsonrpc":"2.0","id":108,"method":"tasks/list"}`,
			`{"jsonrpc":"2.0","id":109,"method":"tasks/cancel","params":{"taskId":"c1"}}`,
			answer("35", `{}`),
		}},
		{answer("107", `{"model":"m","role":"assistant","content":{"type":"text","text":"\u0041"}}`), nil},
		{answer("106", `{"taskId":"c1","status":"completed","n":1.10}`), nil},
		{answer("108", `{"tasks":[]}`), nil},
		{`{"jsonrpc":"2.0","id":109,"error":{"code":-32602,"message":"done"}}`, nil},
	}
	// Results that are no objects, and a line that fills a pipe many times over.
	for i, result := range []string{`null`, `true`, `"text"`, `1.10`, `-0`, `[ ]`, lone} {
		id := fmt.Sprint(40 + i)
		list = append(list, exchange{`{"jsonrpc":"2.0","id":` + id + `,"method":"acme/odd_result"}`, []string{answer(id, result)}})
	}
	long := `"` + strings.Repeat(`é\u00e9😀 `, 1<<17) + `"`
	return append(list,
		exchange{`{"jsonrpc":"2.0","id":50,"method":"acme/long","params":{"text":` + long + `}}`, []string{answer("50", `{"text":`+long+`}`)}},
		exchange{`{"jsonrpc":"2.0","id":51,"method":"tools/call","params":{"name":"look","arguments":{"text":` + long + `}}}`, []string{answer("51", `{"content":[{"type":"text","text":`+long+`}]}`)}},
		exchange{`{"jsonrpc":"2.0","id":52,"method":"ping"}`, []string{answer("52", `{}`)}},
	)
}

// rawMeta is what a client of 2026-07-28 says in each request.
const rawMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"raw","version":"1"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}},"elicitation":{},"sampling":{},"future":1.10},"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","progressToken":9007199254740993}`

// rawModern is 2026-07-28: no handshake, no sessions, no requests of the server's.
func rawModern() []exchange {
	ask := func(id, method, params string) string {
		if params != "" {
			params = "," + params
		}
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{` + rawMeta + params + `}}`
	}
	subscribed := func(method, params string) string {
		return `{"jsonrpc":"2.0","method":"` + method + `","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"}` + params + `}}`
	}
	questions := `"inputRequests":{"z":{"params":{"message":"\u0041?","requestedSchema":{"type":"object","properties":{"n":{"type":"number","default":1.10}}}},"method":"elicitation/create"},` +
		`"a":{"method":"sampling/createMessage","params":{"maxTokens":1e2,"messages":[]}},"m":{"method":"roots/list"},"f":{"method":"acme/question","params":` + odd + `}}`
	answers := `"inputResponses":{"z":{"action":"accept","content":{"n":1.10}},"a":{"role":"assistant","model":"m","content":{"type":"hologram"}},"m":{"roots":[]},"f":` + odd + `}`
	return []exchange{
		{ask(`"probe"`, "server/discover", ""), []string{answer(`"probe"`, `{"resultType":"complete","ttlMs":3.6e6,"cacheScope":"public","supportedVersions":["2026-07-28","2099-01-01"],"capabilities":{"tools":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{}},"future":`+odd+`},"serverInfo":{"name":"raw","version":"0"},"instructions":"\u0041"}`)}},
		{ask("1", "tools/list", ""), []string{answer("1", `{"ttlMs":0.0,"cacheScope":"private","resultType":"complete","tools":`+rawTools+`}`)}},
		{ask(`"sub"`, "subscriptions/listen", `"notifications":{"toolsListChanged":true,"resourceSubscriptions":["notes://a"],"taskIds":["t1"],"future":1.10}`), []string{
			subscribed("notifications/subscriptions/acknowledged", `,"notifications":{"toolsListChanged":true,"future":1.10}`),
			subscribed("notifications/tools/list_changed", ""),
			subscribed("notifications/resources/updated", `,"uri":"notes://a","n":-0`),
			subscribed("notifications/tasks", `,"taskId":"t1","status":"working","ttlMs":1.10`),
			subscribed("acme/event", `,"data":`+odd),
		}},
		{ask("2", "tools/call", `"name":"look","arguments":`+odd+`,"future":`+odd), []string{
			`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":9007199254740993,"progress":1.10}}`,
			`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":` + odd + `}}`,
			answer("2", `{"resultType":"complete","structuredContent":[-0,1e400,`+lone+`],"content":[{"type":"hologram","n":1.10}],"future":`+odd+`}`),
		}},

		// input_required, for each method that may be asked back about, and a kind of result that nobody knows.
		{ask("3", "tools/call", `"name":"look","arguments":{"a":1.10}`), []string{answer("3", `{`+questions+`,"requestState":"\u0061 <state> \/ 1","resultType":"input_required","future":1.10}`)}},
		{ask("4", "tools/call", `"arguments":{"a":1.10},`+answers+`,"requestState":"a <state> / 1","name":"look"`), []string{answer("4", `{"resultType":"input_required","requestState":"`+"\u2028"+`2"}`)}},
		{ask("5", "tools/call", `"name":"look","arguments":{"a":1.10},"requestState":"\u20282"`), []string{answer("5", `{"resultType":"complete","content":[]}`)}},
		{ask("6", "prompts/get", `"name":"p"`), []string{answer("6", `{"resultType":"input_required",`+questions+`}`)}},
		{ask("7", "prompts/get", `"name":"p",`+answers), []string{answer("7", `{"resultType":"complete","messages":[]}`)}},
		{ask("8", "resources/read", `"uri":"notes://a"`), []string{answer("8", `{"resultType":"input_required",`+questions+`,"requestState":""}`)}},
		{ask("9", "resources/read", `"uri":"notes://a","requestState":"",`+answers), []string{answer("9", `{"resultType":"complete","contents":[{"uri":"notes://a","text":`+lone+`}],"ttlMs":1e400}`)}},
		{ask("10", "tools/call", `"name":"look","arguments":{"b":1}`), []string{answer("10", `{"resultType":"acme/future","data":`+odd+`}`)}},

		// Tasks of 2026-07-28: an extension, and any call may become one.
		{ask("11", "tools/call", `"name":"wait","arguments":{}`), []string{answer("11", `{"resultType":"task","taskId":"t1","status":"working","createdAt":"2026-01-01T00:00:00Z","ttlMs":null,"pollIntervalMs":5e2}`)}},
		{ask("12", "tasks/get", `"taskId":"t1"`), []string{answer("12", `{"resultType":"complete","taskId":"t1","status":"input_required",`+questions+`}`)}},
		{ask("13", "tasks/update", `"taskId":"t1",`+answers), []string{answer("13", `{"resultType":"complete"}`), subscribed("notifications/tasks", `,"taskId":"t1","status":"completed","result":{"content":[],"structuredContent":`+odd+`}`)}},
		{ask("14", "tasks/get", `"taskId":"\u0074\u0031"`), []string{answer("14", `{"resultType":"complete","taskId":"t1","status":"completed","result":{"content":[{"type":"text","text":`+lone+`}],"n":1.10}}`)}},
		{ask("15", "tasks/cancel", `"taskId":"t1"`), []string{`{"jsonrpc":"2.0","id":15,"error":{"code":-32602,"message":"done","data":` + odd + `}}`}},

		// What is unknown, what is refused by the server, and the end of the subscription.
		{ask("16", "acme/frobnicate", `"data":`+odd), []string{answer("16", odd)}},
		{ask("17", "completion/complete", `"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}`), []string{answer("17", `{"completion":{"values":[]},"resultType":"complete"}`)}},
		{`{"jsonrpc":"2.0","id":18,"method":"resources/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}}}`, []string{`{"jsonrpc":"2.0","id":18,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2099-01-01","n":1.10}}}`}},
		{`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub","_meta":{"n":1.10}}}`, []string{answer(`"sub"`, `{"_meta":{"io.modelcontextprotocol/subscriptionId":"sub"},"resultType":"complete"}`)}},
		{ask("19", "prompts/list", ""), []string{answer("19", `{"prompts":[]}`)}},
	}
}
