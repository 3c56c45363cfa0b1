package taint

// Merge takes in what another process of the session has learned. Trust does not cross servers: unless linked, what
// vouches there is a field here. What was said, what the agent used and what accuses is the same everywhere, and so is that an
// output named a URL in full.
func (x *Index) Merge(n Note, linked bool) {
	const known = MarkText | MarkField | MarkDirectory | MarkIdentity | MarkSaid | MarkAimed | MarkUsed | MarkMangled
	marks := n.Marks & known
	if !linked && marks&(MarkDirectory|MarkIdentity) != 0 {
		marks &^= MarkDirectory | MarkIdentity
		if !n.Strict {
			marks |= MarkField
		}
	}
	if n.Key == 0 || marks == 0 && n.Marks != 0 {
		return
	}
	tell := x.tell
	x.tell = nil // they all read it themselves
	x.mark(n.Key, n.Strict, marks, told{x, n.At})
	x.tell = tell
}

// told is a place of which a neighbour speaks.
type told struct {
	x      *Index
	Origin Origin
}

func (t told) length() int { return 0 }

func (t told) locate() (uint32, uint16) {
	x, o := t.x, t.Origin
	if o == (Origin{}) {
		return 0, 0
	}
	if x.toldAt != 0 && x.told == o {
		return x.toldAt, 0
	}
	if x.toldSource == 0 || x.told.Source != o.Source {
		x.toldSource = x.places.source(Source{Visible(o.Server, maxPathText), Visible(o.Tool, maxPathText), o.Call}, x.pay)
	}
	what := place{up: x.toldSource, step: stepNone}
	if what.up == 0 {
		return 0, 0
	}
	text := Visible(o.Path, maxPathText) + "\n" + Visible(o.Snippet, maxSnippet)
	if what.text = x.places.chunk(text, x.pay); what.text != 0 {
		what.size = uint32(len(text))
	}
	x.told, x.toldAt = o, x.places.add(what, x.pay)
	return x.toldAt, 0
}
