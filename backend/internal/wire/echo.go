package wire

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// keyFilter removes a key from a stream whose server writes it into the answer, even if it is split across events:
// text, thinking and arguments arrive in pieces, and each piece of a key looks harmless. An event is withheld only
// while the end of its text is a prefix of the key; all others are passed on immediately and unchanged.
type keyFilter struct {
	key   llm.Secret
	forms []string // of the key, as a decoded string may contain it
	yield func(chat.RawEvent) error
	open  map[string]*partialKey // texts that end with a prefix of the key, by position
	held  []*heldEvent           // in order; the first is withheld
	bytes int                    // of held
	err   error                  // of yield
}

const (
	// minWithheld is the minimum prefix of a key, in bytes, for which an event is withheld. Too many words end with a
	// shorter one.
	minWithheld = 3
	// minRemoved is the minimum prefix of a key that is removed even if the rest never arrives.
	minRemoved = 8
	// Limits on withheld events and bytes, and on the number of watched texts: a server must not be able to fill
	// memory, or block an answer, by never continuing.
	maxHeld      = 64
	maxHeldBytes = 4 << 20
	maxOpen      = 512
)

// heldEvent is an event with the strings in it.
type heldEvent struct {
	event    chat.RawEvent
	literals []literal
	changed  bool
	sent     bool
}

// literal is a string in an event's JSON.
type literal struct {
	place    string // its position in the JSON: the same position in the next event continues it
	from, to int    // in the event's bytes, with its quotes
	text     string
}

// partialKey is the end of a text that is a prefix of the key. Its pieces together are as long as the prefix.
type partialKey struct {
	text   string
	pieces []piece // oldest first
}

// piece is the end of a string.
type piece struct {
	ev      *heldEvent
	literal int
	length  int // bytes
}

func newKeyFilter(key llm.Secret, yield func(chat.RawEvent) error) *keyFilter {
	e := &keyFilter{key: key, yield: yield, open: map[string]*partialKey{}}
	k := key.Reveal()
	if len(k) < minKey {
		return e
	}
	quoted, _ := chat.MarshalJSON(k) // as in the arguments of a call
	for _, form := range []string{k, url.QueryEscape(k), url.PathEscape(k), string(quoted[1 : len(quoted)-1])} {
		if !slices.Contains(e.forms, form) {
			e.forms = append(e.forms, form)
		}
	}
	return e
}

// deliver passes an event on, immediately or with later ones.
func (e *keyFilter) deliver(kind string, data []byte) error {
	ev := chat.RawEvent{Type: string(redactRaw([]byte(kind), e.key)), Data: redactRaw(data, e.key)}
	if len(e.forms) == 0 || kind == llm.EventResponse {
		return e.yield(ev)
	}
	if len(e.open) == 0 && len(e.held) == 0 && !e.mayBegin(ev.Data) {
		return e.yield(ev)
	}
	h := &heldEvent{event: ev, literals: literalsOf(ev.Data)}
	for i := range h.literals {
		e.extend(h, i)
	}
	e.held = append(e.held, h)
	e.bytes += len(ev.Data)
	if len(e.held) > maxHeld || e.bytes > maxHeldBytes || len(e.open) > maxOpen {
		return e.finish()
	}
	return e.release(e.firstWithheld())
}

// mayBegin reports whether a string of an event could end with a prefix of the key. If not, it need not be parsed.
func (e *keyFilter) mayBegin(data []byte) bool {
	if bytes.IndexByte(data, '\\') >= 0 {
		return true // escapes are not examined here
	}
	text := string(data)
	for i := range len(text) {
		isEnd := text[i] == '"' && !strings.HasPrefix(text[i+1:], ":")
		if isEnd && e.prefixLength(text[:i]) > 0 {
			return true
		}
	}
	return false
}

// extend adds a string to the text that it continues, and removes the key if that completes it.
func (e *keyFilter) extend(h *heldEvent, i int) {
	l := &h.literals[i]
	b := e.open[l.place]
	delete(e.open, l.place)
	if b == nil {
		b = &partialKey{}
	}
	all := b.text + l.text
	if at, length := e.find(all, len(b.text)); length > 0 {
		b.cut(len(b.text) - at)
		all = all[at+length:]
		l.text, h.changed = redacted+all, true
		b = &partialKey{}
	}
	keep := e.prefixLength(all)
	if keep == 0 {
		return
	}
	own := min(keep, len(all)-len(b.text))
	b.keepLast(keep - own)
	b.text = all[len(all)-keep:]
	if own > 0 {
		b.pieces = append(b.pieces, piece{h, i, own})
	}
	e.open[l.place] = b
}

// find returns the first form of the key that begins before a position and ends after it.
func (e *keyFilter) find(s string, before int) (at, length int) {
	for _, form := range e.forms {
		if i := strings.Index(s, form); i >= 0 && i < before && (length == 0 || i < at) {
			at, length = i, len(form)
		}
	}
	return at, length
}

// prefixLength returns the length of the longest suffix of s that is a proper prefix of the key.
func (e *keyFilter) prefixLength(s string) int {
	longest := 0
	for _, form := range e.forms {
		for n := min(len(form)-1, len(s)); n > longest; n-- {
			if form[n-1] == s[len(s)-1] && strings.HasSuffix(s, form[:n]) {
				longest = n
			}
		}
	}
	return longest
}

// cut removes the last n bytes of the text from the withheld events.
func (b *partialKey) cut(n int) {
	for i := len(b.pieces) - 1; i >= 0 && n > 0; i-- {
		p := b.pieces[i]
		length := min(n, p.length)
		n -= length
		if l := &p.ev.literals[p.literal]; !p.ev.sent {
			l.text, p.ev.changed = l.text[:len(l.text)-length], true
		}
	}
}

// keepLast drops all but the last n bytes.
func (b *partialKey) keepLast(n int) {
	for i := len(b.pieces) - 1; i >= 0; i-- {
		if n <= 0 {
			b.pieces = b.pieces[i+1:]
			return
		}
		b.pieces[i].length = min(b.pieces[i].length, n)
		n -= b.pieces[i].length
	}
}

// firstWithheld returns the index of the first event that must be withheld: those before it can be passed on.
func (e *keyFilter) firstWithheld() int {
	first := len(e.held)
	for _, b := range e.open {
		if len(b.text) < minWithheld {
			continue
		}
		for _, p := range b.pieces {
			if i := slices.Index(e.held, p.ev); i >= 0 {
				first = min(first, i)
			}
		}
	}
	return first
}

func (e *keyFilter) release(n int) error {
	for _, h := range e.held[:n] {
		h.sent = true
		e.bytes -= len(h.event.Data)
		if e.err == nil {
			e.err = e.yield(h.output())
		}
	}
	e.held = slices.Delete(e.held, 0, n)
	return e.err
}

// finish passes on all withheld events, at the end of the stream or at the limits. Long prefixes of the key are
// removed; short ones are remembered, so that the key is still recognized if it continues.
func (e *keyFilter) finish() error {
	for _, b := range e.open {
		if len(b.text) < minRemoved || len(b.pieces) == 0 {
			continue
		}
		b.cut(len(b.text))
		if last := b.pieces[len(b.pieces)-1]; !last.ev.sent {
			last.ev.literals[last.literal].text += redacted
		}
	}
	if len(e.open) > maxOpen {
		clear(e.open)
	}
	return e.release(len(e.held))
}

// output returns the event as it is passed on: unchanged, unless something was removed.
func (h *heldEvent) output() chat.RawEvent {
	if !h.changed {
		return h.event
	}
	var out []byte
	at := 0
	for _, l := range h.literals {
		quoted, err := chat.MarshalJSON(l.text)
		if err != nil {
			continue // a string always marshals
		}
		out = append(append(out, h.event.Data[at:l.from]...), quoted...)
		at = l.to
	}
	return chat.RawEvent{Type: h.event.Type, Data: append(out, h.event.Data[at:]...)}
}

// literalsOf returns the strings in a JSON document, in order; in invalid JSON, those before the error.
func literalsOf(data []byte) []literal {
	w := walker{data: data, dec: json.NewDecoder(bytes.NewReader(data))}
	w.dec.UseNumber()
	w.value("")
	return w.found
}

// maxDepth limits how deeply nested strings are searched for: no answer's text is that deep.
const maxDepth = 64

type walker struct {
	data  []byte
	depth int
	dec   *json.Decoder
	found []literal
}

// value reads one value at a position and reports success. Strings in an object with a numeric member whose name ends
// with index, as in parallel blocks and calls, are distinguished by it.
func (w *walker) value(place string) (json.Token, bool) {
	before := w.dec.InputOffset()
	token, err := w.dec.Token()
	if err != nil {
		return nil, false
	}
	if w.depth++; w.depth > maxDepth {
		return nil, false
	}
	defer func() { w.depth-- }()
	switch token {
	case json.Delim('{'):
		return token, w.object(place)
	case json.Delim('['):
		for i := 0; w.dec.More(); i++ {
			if _, ok := w.value(place + "." + strconv.Itoa(i)); !ok {
				return nil, false
			}
		}
		_, err = w.dec.Token()
		return token, err == nil
	}
	if text, ok := token.(string); ok {
		from := int(before) + bytes.IndexByte(w.data[before:], '"')
		w.found = append(w.found, literal{place: place, from: from, to: int(w.dec.InputOffset()), text: text})
	}
	return token, true
}

func (w *walker) object(place string) bool {
	first, index := len(w.found), ""
	for w.dec.More() {
		name, err := w.dec.Token()
		if err != nil {
			return false
		}
		key, _ := name.(string)
		token, ok := w.value(place + "." + key)
		if !ok {
			return false
		}
		if n, ok := token.(json.Number); ok && strings.HasSuffix(key, "index") {
			index += ";" + key + "=" + n.String()
		}
	}
	for i := range w.found[first:] {
		w.found[first+i].place += index
	}
	_, err := w.dec.Token()
	return err == nil
}
