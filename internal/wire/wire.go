// Package wire reads JSON-RPC frames strictly and gives views into their bytes.
//
// Peers disagree about sloppy JSON: duplicate members, folded names, odd ids and bare carriage returns mean one
// thing to the proxy that judges a frame and another to the server that runs it. A frame is therefore accepted
// only if every parser known to read it must read the same.
package wire

// Kind says what a frame is.
type Kind uint8

// The kinds of frame. A frame has exactly one; the zero kind is none of them.
const (
	Invalid Kind = iota
	Request
	Notification
	Result // a response that carries a result
	Error  // a response that carries an error
)

func (k Kind) String() string {
	switch k {
	case Request:
		return "request"
	case Notification:
		return "notification"
	case Result:
		return "result"
	case Error:
		return "error"
	default:
		return "invalid"
	}
}

// Frame is one strict JSON-RPC message; its values are views into the line that Parse was given.
type Frame struct {
	Raw    []byte // the line, without line ending
	Kind   Kind
	ID     ID // zero for a notification, and for an error that answers nothing in particular
	Method string
	Params Value // nil when absent
	Result Value // of a Result frame
	Err    Value // of an Error frame

	members []member // of whichever of the three is there, nil when they are not remembered
}

// Get returns a member of the params, result or error, whichever the frame has, or nil. It is Value.Get without reading
// through the value again, which may be large.
func (f *Frame) Get(key string) Value {
	for _, m := range f.members {
		if Value(f.Raw[m.at:m.nameEnd]).is(key) {
			return f.Raw[m.value:m.end:m.end]
		}
	}
	switch {
	case f.members != nil:
		return nil
	case f.Kind == Result:
		return f.Result.Get(key)
	case f.Kind == Error:
		return f.Err.Get(key)
	}
	return f.Params.Get(key)
}

// Shadow is the function Shadow for the params, result or error of the frame.
func (f *Frame) Shadow(known ...string) (name string, found bool) {
	if f.members == nil {
		switch f.Kind {
		case Result:
			return Shadow(f.Result, known...)
		case Error:
			return Shadow(f.Err, known...)
		}
		return Shadow(f.Params, known...)
	}
	for _, m := range f.members {
		if decoded := Value(f.Raw[m.at:m.nameEnd]).decoded(); folds(decoded, known...) {
			return string(decoded), true
		}
	}
	return "", false
}

// The JSON-RPC codes that a refused line is answered with.
const (
	codeParse   = -32700
	codeInvalid = -32600
)

// FrameError says why a line was refused and what to answer.
type FrameError struct {
	Code   int    // JSON-RPC: -32700 not JSON, -32600 JSON but not a message
	Reason string // lower case, without values from the line
	Offset int    // byte offset in the line
	ID     ID     // the id of the request or response when it could be told without doubt, else zero
	Kind   Kind   // what the line was meant to be, as far as its outermost members tell, else Invalid
}

func (e *FrameError) Error() string { return e.Reason }

// Parse reads one line (no line ending) as exactly one strict JSON-RPC message.
// The error is a *FrameError.
func Parse(line []byte) (Frame, error) {
	s := newScanner(line, lineSpaces)
	f, ok := s.frame()
	if ok {
		return f, nil
	}
	guess := sniff(line)
	e := &FrameError{Code: s.code, Reason: s.reason, Offset: s.offset, Kind: guess.kind}
	if guess.sure && guess.kind != Invalid {
		e.ID = guess.id
	}
	return Frame{}, e
}

// ParseValue checks raw under the same strict JSON rules and returns it as a Value without surrounding white
// space. Unlike a frame, a value of any kind may be spread over several lines.
// The error is a *FrameError.
func ParseValue(raw []byte) (Value, error) {
	s := newScanner(raw, allSpaces)
	start := s.space(0)
	end := s.value(start, 0)
	if end < 0 || !s.ends(end) {
		return nil, &FrameError{Code: s.code, Reason: s.reason, Offset: s.offset}
	}
	return raw[start:end:end], nil
}
