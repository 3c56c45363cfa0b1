package wire

import (
	"errors"
	"strings"
	"testing"
)

func nest(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }

func members(n int) string {
	var b []byte
	for i := range n {
		b = append(AppendQuoted(b, strings.Repeat("k", i)), ":0,"...)
	}
	return string(b)
}

func call(params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`
}

func TestParseAccepts(t *testing.T) {
	for _, c := range []struct {
		line   string
		kind   Kind
		id     ID
		method string
	}{
		{call(`{"name":"x","arguments":{"to":"a@b.example"}}`), Request, NumberID(1), "tools/call"},
		{call(`{"name":"x"}`), Request, NumberID(1), "tools/call"},
		{call(`{"name":"x","arguments":null,"_meta":{"progressToken":9007199254740993}}`), Request, NumberID(1), "tools/call"},
		{call(`{"name":"x","arguments":{"Name":1,"name":2,"__proto__":{},"n":1e400}}`), Request, NumberID(1), "tools/call"},
		{" \t{ \"id\" :\t\"a\\u0062\" , \"jsonrpc\":\"2.0\",\"method\":\"ping\"} ", Request, StringID("ab"), "ping"},
		{`{"jsonrpc":"2.0","id":"","method":"ping"}`, Request, StringID(""), "ping"},
		{`{"jsonrpc":"2.0","id":-9007199254740991,"method":"ping"}`, Request, NumberID(-1<<53 + 1), "ping"},
		{`{"jsonrpc":"2.0","id":0,"method":"vendor\/Custom.Thing"}`, Request, NumberID(0), "vendor/Custom.Thing"},
		{`{"jsonrpc":"2.0","id":0,"method":"sampling/createMessage","params":{"messages":[]}}`, Request, NumberID(0), "sampling/createMessage"},
		{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, Notification, ID{}, "notifications/tools/list_changed"},
		{`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"cut \ud83d"}]}}`, Result, NumberID(1), ""},
		{`{"result":{},"jsonrpc":"2.0","id":"1"}`, Result, StringID("1"), ""},
		{`{"jsonrpc":"2.0","id":1,"result":{"IsError":true}}`, Result, NumberID(1), ""},
		{`{"jsonrpc":"2.0","id":1,"result":{"text":"snowman ☃, nul \u0000, pair \ud83d\ude00"}}`, Result, NumberID(1), ""},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no","data":[1]}}`, Error, NumberID(1), ""},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`, Error, ID{}, ""},
		{`{"jsonrpc":"2.0","error":{"code":-32700,"message":"no"}}`, Error, ID{}, ""},
		{`{"jsonrpc":"2.0","method":"x","params":{"deep":` + nest(maxDepth-2) + `}}`, Notification, ID{}, "x"},
		{`{"jsonrpc":"2.0","method":"x","params":{` + members(1000) + `"last":0}}`, Notification, ID{}, "x"},
	} {
		f, err := Parse([]byte(c.line))
		if err != nil {
			t.Errorf("%.80s: %v", c.line, err)
			continue
		}
		if f.Kind != c.kind || f.ID != c.id || f.Method != c.method || string(f.Raw) != c.line {
			t.Errorf("%.80s: got %v %v %q", c.line, f.Kind, f.ID, f.Method)
		}
		if (f.Kind == Result) != (f.Result != nil) || (f.Kind == Error) != (f.Err != nil) {
			t.Errorf("%.80s: result %s, error %s", c.line, f.Result, f.Err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	const one = `{"jsonrpc":"2.0","id":1,`
	ping := one + `"method":"ping"}`
	for _, c := range []struct {
		name   string
		line   string
		code   int
		reason string
		kind   Kind
		id     ID
	}{
		// One line that some peers read as several.
		{"inner call between bare CRs", `{"jsonrpc":"2.0","method":"n","params":{"a":` + "\r" + call(`{"name":"x"}`) + "\r}}", codeParse, "not a JSON value", Request, ID{}},
		{"two messages with CR between", ping + "\r" + call(`{"name":"x"}`), codeParse, "more text", Request, ID{}},
		{"two messages side by side", ping + ping, codeParse, "more text", Request, ID{}},
		{"CR at the end", ping + "\r", codeParse, "more text", Request, ID{}},
		{"LF inside", one + "\n" + `"method":"ping"}`, codeParse, "member name", Request, ID{}},
		{"vertical tab", "\v" + ping, codeParse, "not a JSON object", Invalid, ID{}},
		{"batch of one", "[" + ping + "]", codeInvalid, "batch", Invalid, ID{}},
		{"BOM", "\ufeff" + ping, codeParse, "not a JSON object", Invalid, ID{}},
		{"NUL behind", ping + "\x00", codeParse, "more text", Request, ID{}},

		// Not JSON, though some parsers take it.
		{"NaN", call(`{"name":"x","arguments":{"n":NaN}}`), codeParse, "not a JSON value", Request, NumberID(1)},
		{"Infinity", call(`{"name":"x","arguments":{"n":-Infinity}}`), codeParse, "digit missing", Request, NumberID(1)},
		{"hexadecimal", call(`{"name":"x","arguments":{"n":0x10}}`), codeParse, "comma missing", Request, NumberID(1)},
		{"leading zero", call(`{"name":"x","arguments":{"n":010}}`), codeParse, "leading zero", Request, NumberID(1)},
		{"plus sign", call(`{"name":"x","arguments":{"n":+1}}`), codeParse, "not a JSON value", Request, NumberID(1)},
		{"bare fraction", call(`{"name":"x","arguments":{"n":1.}}`), codeParse, "digit missing", Request, NumberID(1)},
		{"bare exponent", call(`{"name":"x","arguments":{"n":1e+}}`), codeParse, "digit missing", Request, NumberID(1)},
		{"trailing comma", call(`{"name":"x",}`), codeParse, "member name", Request, NumberID(1)},
		{"comment", call(`{"name":"x"/**/}`), codeParse, "comma missing", Request, NumberID(1)},
		{"single quotes", `{'jsonrpc':'2.0','id':1,'method':'ping'}`, codeParse, "member name", Invalid, ID{}},
		{"True", call(`{"name":"x","arguments":{"b":True}}`), codeParse, "not a JSON value", Request, NumberID(1)},
		{"truex", call(`{"name":"x","arguments":{"b":truex}}`), codeParse, "comma missing", Request, NumberID(1)},
		{"tab in a string", call(`{"name":"` + "\t" + `"}`), codeParse, "control character", Request, NumberID(1)},
		{"invalid UTF-8 in a name", call(`{"name":"x` + "\xff" + `"}`), codeParse, "UTF-8", Request, NumberID(1)},
		{"surrogate in UTF-8", call(`{"name":"` + "\xed\xa0\x80" + `"}`), codeParse, "UTF-8", Request, NumberID(1)},
		{"overlong UTF-8", one + `"result":"` + "\xc0\xaf" + `"}`, codeParse, "UTF-8", Result, NumberID(1)},
		{"unknown escape", call(`{"name":"\x41"}`), codeParse, "escape", Request, NumberID(1)},
		{"short escape", call(`{"name":"\u004"}`), codeParse, "escape", Request, NumberID(1)},
		{"noise", "npm warn deprecated", codeParse, "not a JSON object", Invalid, ID{}},
		{"scalar", "1", codeParse, "not a JSON object", Invalid, ID{}},
		{"nothing", "  ", codeParse, "empty", Invalid, ID{}},
		{"cut", `{"jsonrpc":"2.0","id":12`, codeParse, "not closed", Invalid, ID{}},
		{"cut in a string", `{"jsonrpc":"2.0","id":1,"method":"pi`, codeParse, "not closed", Request, ID{}},

		// Members that parsers choose between.
		{"method twice", one + `"method":"ping","method":"tools/call"}`, codeInvalid, "duplicate", Invalid, ID{}},
		{"id twice", one + `"method":"ping","id":2}`, codeInvalid, "duplicate", Invalid, ID{}},
		{"params twice", one + `"method":"x","params":{},"params":{}}`, codeInvalid, "duplicate", Request, NumberID(1)},
		{"name twice", call(`{"name":"x","name":"y"}`), codeInvalid, "duplicate", Request, NumberID(1)},
		{"name twice by escape", call(`{"name":"x","n\u0061me":"y"}`), codeInvalid, "duplicate", Request, NumberID(1)},
		{"twice by surrogate pair", call(`{"name":"x","arguments":{"\ud83d\ude00":1,"😀":2}}`), codeInvalid, "duplicate", Request, NumberID(1)},
		{"twice far down", one + `"result":{"a":[{"b":{"c":1,"d":2,"c":3}}]}}`, codeInvalid, "duplicate", Result, NumberID(1)},
		{"lone surrogates as names", one + `"result":{"\ud800":1,"\udc00":2}}`, codeInvalid, "duplicate", Result, NumberID(1)},
		{"twice among many", one + `"result":{` + members(1000) + `"k":1}}`, codeInvalid, "duplicate", Result, NumberID(1)},
		{"twice among many by escape", one + `"result":{` + members(40) + `"\u006b":1}}`, codeInvalid, "duplicate", Result, NumberID(1)},
		{"Method beside method", one + `"method":"ping","Method":"tools/call"}`, codeInvalid, "misspelled", Invalid, ID{}},
		{"Params beside params", one + `"method":"x","Params":{}}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"long s in params", one + `"method":"x","paramſ":{}}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"long s by escape", one + `"method":"x","param\u017f":{}}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"ID beside id", one + `"method":"ping","ID":2}`, codeInvalid, "misspelled", Invalid, ID{}},
		{"unknown envelope member", one + `"method":"ping","extra":1}`, codeInvalid, "unknown", Request, NumberID(1)},
		{"Name beside name", call(`{"name":"x","Name":"y"}`), codeInvalid, "misspelled", Request, NumberID(1)},
		{"Arguments beside arguments", call(`{"name":"x","arguments":{},"ARGUMENTS":{}}`), codeInvalid, "misspelled", Request, NumberID(1)},
		{"long s in arguments", call(`{"name":"x","argumentſ":{}}`), codeInvalid, "misspelled", Request, NumberID(1)},
		{"Kelvin sign in task", call(`{"name":"x","tas` + "\u212a" + `":{}}`), codeInvalid, "misspelled", Request, NumberID(1)},
		{"InputResponses", call(`{"name":"x","InputResponses":{}}`), codeInvalid, "misspelled", Request, NumberID(1)},

		// Ids that peers read differently.
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, codeInvalid, "id is", Request, ID{}},
		{"id 1.5", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, codeInvalid, "id is", Request, ID{}},
		{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, codeInvalid, "id is", Request, ID{}},
		{"id 1e2", `{"jsonrpc":"2.0","id":1e2,"method":"ping"}`, codeInvalid, "id is", Request, ID{}},
		{"id -0", `{"jsonrpc":"2.0","id":-0,"method":"ping"}`, codeInvalid, "id is", Request, ID{}},
		{"id 2^53", `{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`, codeInvalid, "id is", Request, ID{}},
		{"id 1e29", `{"jsonrpc":"2.0","id":100000000000000000000000000000,"method":"ping"}`, codeInvalid, "id is", Request, ID{}},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, codeInvalid, "id is", Request, ID{}},
		{"id with half a pair", `{"jsonrpc":"2.0","id":"\ud800","result":{}}`, codeInvalid, "id is", Result, ID{}},
		{"result without id", `{"jsonrpc":"2.0","result":{}}`, codeInvalid, "without id", Result, ID{}},
		{"result with id null", `{"jsonrpc":"2.0","id":null,"result":{}}`, codeInvalid, "id is", Result, ID{}},

		// Several kinds at once, or none.
		{"method and result", one + `"method":"ping","result":{}}`, codeInvalid, "exactly one", Invalid, ID{}},
		{"method and error", one + `"method":"ping","error":{"code":1,"message":""}}`, codeInvalid, "exactly one", Invalid, ID{}},
		{"result and error", one + `"result":{},"error":{"code":1,"message":""}}`, codeInvalid, "exactly one", Invalid, ID{}},
		{"no kind", `{"jsonrpc":"2.0","id":1}`, codeInvalid, "exactly one", Invalid, ID{}},
		{"result and params", one + `"result":{},"params":{}}`, codeInvalid, "params in a response", Result, NumberID(1)},
		{"version 1", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, codeInvalid, "jsonrpc", Request, NumberID(1)},
		{"version as a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, codeInvalid, "jsonrpc", Request, NumberID(1)},
		{"no version", `{"id":1,"method":"ping"}`, codeInvalid, "jsonrpc", Request, NumberID(1)},

		// Shapes that servers disagree about.
		{"call without id", `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"x"}}`, codeInvalid, "without id", Notification, ID{}},
		{"call without params", one + `"method":"tools/call"}`, codeInvalid, "without params", Request, NumberID(1)},
		{"call without a name", call(`{"arguments":{}}`), codeInvalid, "without the name", Request, NumberID(1)},
		{"call of a number", call(`{"name":1}`), codeInvalid, "not a string", Request, NumberID(1)},
		{"call with half a pair in the name", call(`{"name":"x\ud800"}`), codeInvalid, "surrogate", Request, NumberID(1)},
		{"call with half a pair in a text", call(`{"name":"x","arguments":{"t":"\udc00\ud800"}}`), codeInvalid, "surrogate", Request, NumberID(1)},
		{"arguments as a list", call(`{"name":"x","arguments":[]}`), codeInvalid, "arguments", Request, NumberID(1)},
		{"arguments as text", call(`{"name":"x","arguments":"{}"}`), codeInvalid, "arguments", Request, NumberID(1)},
		{"params as a list", one + `"method":"x","params":[]}`, codeInvalid, "params", Request, NumberID(1)},
		{"params null", one + `"method":"x","params":null}`, codeInvalid, "params", Request, NumberID(1)},
		{"nested too deeply", one + `"result":` + nest(maxDepth) + `}`, codeInvalid, "deep", Result, NumberID(1)},
		{"nested 1001 deep", call(`{"name":"x","arguments":{"a":` + nest(1001) + `}}`), codeInvalid, "deep", Request, NumberID(1)},
		{"error as text", one + `"error":"no"}`, codeInvalid, "code", Error, NumberID(1)},
		{"error with a text code", one + `"error":{"code":"E1","message":""}}`, codeInvalid, "code", Error, NumberID(1)},
		{"error without a message", one + `"error":{"code":1}}`, codeInvalid, "message", Error, NumberID(1)},
		{"error with Code", one + `"error":{"code":1,"message":"","Code":2}}`, codeInvalid, "misspelled", Error, NumberID(1)},

		// Methods that lenient servers take for others.
		{"space behind", one + `"method":"tools/call ","params":{"name":"x"}}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"capitals", one + `"method":"Tools/Call","params":{"name":"x"}}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"two slashes", one + `"method":"tools//call"}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"slashes around", one + `"method":"/tools/call/"}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"backslash", one + `"method":"tools\\call"}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"capitals in a result's method", one + `"method":"Tasks/Result"}`, codeInvalid, "misspelled", Request, NumberID(1)},
		{"fullwidth slash", one + `"method":"tools／call"}`, codeInvalid, "printable", Request, NumberID(1)},
		{"tab by escape", one + `"method":"tools/call\t"}`, codeInvalid, "printable", Request, NumberID(1)},
		{"empty method", one + `"method":""}`, codeInvalid, "empty", Request, NumberID(1)},
		{"method null", one + `"method":null}`, codeInvalid, "not a string", Request, NumberID(1)},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := Parse([]byte(c.line))
			e, ok := errors.AsType[*FrameError](err)
			if !ok {
				t.Fatalf("accepted as %v", f.Kind)
			}
			if !strings.Contains(e.Reason, c.reason) || e.Code != c.code {
				t.Errorf("got %d %q, want %d %q", e.Code, e.Reason, c.code, c.reason)
			}
			if e.ID != c.id || e.Kind != c.kind {
				t.Errorf("told as %v with id %v, want %v with id %v", e.Kind, e.ID, c.kind, c.id)
			}
			if e.Offset < 0 || e.Offset > len(c.line) {
				t.Errorf("offset %d outside the line", e.Offset)
			}
			if f.Kind != Invalid {
				t.Errorf("a frame besides the error: %v", f.Kind)
			}
		})
	}
}

func TestRefusalPointsAtTheFault(t *testing.T) {
	line := call(`{"name":"x","name":"y"}`)
	_, err := Parse([]byte(line))
	if e, ok := errors.AsType[*FrameError](err); !ok || !strings.HasPrefix(line[e.Offset:], `"name":"y"`) {
		t.Errorf("got %+v", err)
	}
}

// Comparing each name with each would take minutes here.
func TestParseManyMembers(t *testing.T) {
	var b []byte
	for i := range 200_000 {
		b = append(NumberID(int64(i)).AppendJSON(append(b, `"a long common beginning `...)), `":0,`...)
	}
	line := AppendResult(nil, NumberID(1), []byte("{"+string(b)+`"last":0}`))
	if _, err := Parse(line); err != nil {
		t.Error(err)
	}
	line = AppendResult(nil, NumberID(1), []byte("{"+string(b)+`"a long common beginning 5":0}`))
	if _, err := Parse(line); err == nil {
		t.Error("duplicate accepted")
	}
}

func TestParseValue(t *testing.T) {
	v, err := ParseValue([]byte("\r\n {\n\t\"a\" : [ 1 ,\r\n\"b\\ud800\" ] }\n"))
	if err != nil || v.Kind() != '{' || string(Canonical(v)) != `{"a":[1,"b\ud800"]}` {
		t.Errorf("got %s, %v", v, err)
	}
	for _, raw := range []string{"", " ", "{", "1 2", "[1,]", `{"a":1,"\u0061":2}`, "nul", "\u00a01", nest(maxDepth + 1)} {
		if v, err := ParseValue([]byte(raw)); err == nil {
			t.Errorf("%.20q: accepted as %s", raw, v)
		}
	}
}

func TestSniffID(t *testing.T) {
	for _, c := range []struct {
		head string
		id   ID
	}{
		{`{"jsonrpc":"2.0","id":3,"result":{"content":[{"te`, NumberID(3)},
		{`{"jsonrpc":"2.0","id":"a","method":"x","params":{"id":5}`, StringID("a")},
		{`{"jsonrpc":"2.0","result":{"id":5}, "id" : 3}`, NumberID(3)},
		{`{"jsonrpc":"2.0","id":3`, ID{}}, // perhaps 35
		{`{"jsonrpc":"2.0","id":03,"result":{}}`, ID{}},
		{`{"result":{"id":5,"x":"`, ID{}},
		{`{"id":1,"id":2,"result":{}}`, ID{}},
		{`{"id":1,"Id":2,"result":{}}`, ID{}},
		{`{"id":1.5,"result":{}}`, ID{}},
		{`[{"id":1,"result":{}}]`, ID{}},
		{`{"id"`, ID{}},
		{`{"id":`, ID{}},
		{``, ID{}},
	} {
		if id, ok := SniffID([]byte(c.head)); id != c.id || ok != !c.id.IsZero() {
			t.Errorf("%s: got %v, %v", c.head, id, ok)
		}
	}
}
