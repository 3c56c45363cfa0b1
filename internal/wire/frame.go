package wire

// envelope holds where the members of a message are.
type envelope struct {
	version, id, method, params, result, err member
}

// frame reads the whole text as one message. When ok is false, the scanner holds the reason.
func (s *scanner) frame() (f Frame, ok bool) {
	env, ok := s.envelope()
	if !ok {
		return f, false
	}
	f = Frame{Raw: s.text, Params: s.valueOf(env.params), Result: s.valueOf(env.result), Err: s.valueOf(env.err)}
	if !s.setKind(&env, &f) || !s.setID(&env, &f) {
		return f, false
	}
	f.members = s.inner
	switch f.Kind {
	case Request, Notification:
		ok = s.setMethod(&env, &f)
	case Error:
		ok = s.checkError(&env, f.Err)
	}
	return f, ok
}

// envelope scans the text and finds the members of the outermost object.
func (s *scanner) envelope() (env envelope, ok bool) {
	start := s.space(0)
	switch {
	case start == len(s.text):
		return env, s.refuse(codeParse, start, "empty line")
	case s.text[start] == '[':
		return env, s.refuse(codeInvalid, start, "a batch is not accepted")
	case s.text[start] != '{':
		return env, s.refuse(codeParse, start, "not a JSON object")
	}
	end := s.object(start, 1)
	if end < 0 || !s.ends(end) {
		return env, false
	}
	// The members of inner objects are gone by now; what is left is the envelope's.
	for _, m := range s.members {
		name := s.name(m)
		switch string(name) {
		case "jsonrpc":
			env.version = m
		case "id":
			env.id = m
		case "method":
			env.method = m
		case "params":
			env.params = m
		case "result":
			env.result = m
		case "error":
			env.err = m
		default:
			if folds(name, "jsonrpc", "id", "method", "params", "result", "error") {
				return env, s.refuse(codeInvalid, int(m.at), "misspelled envelope member")
			}
			return env, s.refuse(codeInvalid, int(m.at), "unknown envelope member")
		}
	}
	if version := s.valueOf(env.version); version.Kind() != '"' || !version.is("2.0") {
		return env, s.refuse(codeInvalid, int(env.version.value), `jsonrpc is not "2.0"`)
	}
	return env, true
}

// setKind tells the kind from the members that are there.
func (s *scanner) setKind(env *envelope, f *Frame) bool {
	method, result, failed := env.method.found(), env.result.found(), env.err.found()
	switch {
	case method && !result && !failed && env.id.found():
		f.Kind = Request
	case method && !result && !failed:
		f.Kind = Notification
	case result && !method && !failed:
		f.Kind = Result
	case failed && !method && !result:
		f.Kind = Error
	default:
		return s.refuse(codeInvalid, 0, "not exactly one of method, result and error")
	}
	if env.params.found() && !method {
		return s.refuse(codeInvalid, int(env.params.at), "params in a response")
	}
	// Decoders disagree about half a surrogate pair: kept, replaced, or fatal. Servers do emit them where they
	// cut a text, so they pass in answers, whose text nobody matches against a rule.
	if s.lone > 0 && method {
		return s.refuse(codeInvalid, s.lone, "lone surrogate")
	}
	return true
}

func (s *scanner) setID(env *envelope, f *Frame) bool {
	raw := s.valueOf(env.id)
	switch {
	case f.Kind == Notification:
		return true
	case f.Kind == Error && (raw == nil || raw.Kind() == 'n'):
		return true // the answer to a line whose id could not be read
	case raw == nil:
		return s.refuse(codeInvalid, 0, "response without id")
	}
	var ok bool
	if f.ID, ok = parseID(raw); !ok {
		return s.refuse(codeInvalid, int(env.id.value), "id is neither a string nor a plain integer below 2^53")
	}
	return true
}

func (s *scanner) setMethod(env *envelope, f *Frame) bool {
	if f.Params != nil && f.Params.Kind() != '{' {
		return s.refuse(codeInvalid, int(env.params.value), "params is not an object")
	}
	raw := s.valueOf(env.method)
	if raw.Kind() != '"' {
		return s.refuse(codeInvalid, int(env.method.value), "method is not a string")
	}
	var reason string
	if f.Method, reason = parseMethod(raw); reason != "" {
		return s.refuse(codeInvalid, int(env.method.value), reason)
	}
	if f.Method == "tools/call" {
		return s.checkCall(env, f)
	}
	return true
}

// checkCall holds a tool call to the one shape that every server reads alike.
func (s *scanner) checkCall(env *envelope, f *Frame) bool {
	switch {
	case f.Kind == Notification:
		return s.refuse(codeInvalid, int(env.method.value), "tools/call without id")
	case f.Params == nil:
		return s.refuse(codeInvalid, int(env.method.value), "tools/call without params")
	}
	named := false
	for name, val := range f.Params.fields() {
		switch key := name.decoded(); string(key) {
		case "name":
			if named = val.Kind() == '"'; !named {
				return s.refuse(codeInvalid, int(env.params.value), "name of tools/call is not a string")
			}
		case "arguments":
			if kind := val.Kind(); kind != '{' && kind != 'n' {
				return s.refuse(codeInvalid, int(env.params.value), "arguments of tools/call is not an object")
			}
		default:
			if folds(key, "name", "arguments", "_meta", "task", "inputResponses", "requestState") {
				return s.refuse(codeInvalid, int(env.params.value), "misspelled member in the params of tools/call")
			}
		}
	}
	if !named {
		return s.refuse(codeInvalid, int(env.params.value), "tools/call without the name of a tool")
	}
	return true
}

// checkError wants what every client insists on: some end the session over a code that is no integer.
func (s *scanner) checkError(env *envelope, e Value) bool {
	if _, ok := e.Get("code").Int(); !ok {
		return s.refuse(codeInvalid, int(env.err.value), "error without an integer code")
	}
	if e.Get("message").Kind() != '"' {
		return s.refuse(codeInvalid, int(env.err.value), "error without a message")
	}
	if _, found := Shadow(e, "code", "message", "data"); found {
		return s.refuse(codeInvalid, int(env.err.value), "misspelled member in error")
	}
	return true
}
