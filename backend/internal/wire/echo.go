package wire

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// keyFilter removes a key from a stream whose server writes it into the answer, even if it is split across events:
// text, thinking and arguments arrive in pieces, and each piece of a key looks harmless. Events are withheld only
// while the end of a text in them is a prefix of the key; all others are passed on immediately and unchanged.
type keyFilter struct {
	key   llm.Secret
	forms []string // of the key, as a decoded string may contain it
	yield func(chat.RawEvent) error
	err   error        // of yield
	held  []*heldEvent // in order
	bytes int          // of held
	// passed is, by place, the end of a text that was passed on, if it is a prefix of the key.
	passed map[string]string
}

const (
	// minWithheld is the minimum prefix of a key, in bytes, for which an event is withheld. Too many words end with a
	// shorter one.
	minWithheld = 3
	// minRemoved is the minimum prefix of a key that is removed even if the rest never arrives.
	minRemoved = 8
	// Limits on withheld events and bytes, and on the number of texts in passed: a server must not be able to fill
	// memory, or block an answer, by never continuing.
	maxHeld      = 64
	maxHeldBytes = 4 << 20
	maxPassed    = 512
)

// heldEvent is an event with the strings in it.
type heldEvent struct {
	event    chat.RawEvent
	value    []any // its JSON, as the only element
	literals []literal
	changed  bool
	withheld bool
}

// literal is a string in an event's JSON. The same place in the next event continues it.
type literal struct {
	place, text string
	set         func(any)
}

// watched is the text of one place: its end in events that were passed on, and its pieces in the held ones.
type watched struct {
	passed, all string
	pieces      []piece
}

type piece struct {
	*literal
	event *heldEvent
	from  int // its position in the text
}

func newKeyFilter(key llm.Secret, yield func(chat.RawEvent) error) *keyFilter {
	e := &keyFilter{key: key, yield: yield, passed: map[string]string{}}
	k := key.Reveal()
	if len(k) < minKey {
		return e
	}
	quoted, _ := chat.MarshalJSON(k) // as in the arguments of a call
	e.forms = []string{k, url.QueryEscape(k), url.PathEscape(k), string(quoted[1 : len(quoted)-1])}
	return e
}

// filterSecrets returns filters for all secrets of an endpoint, of which each passes events on to the next: how an event
// is delivered, and how the stream is finished.
func filterSecrets(secrets []llm.Secret, yield func(chat.RawEvent) error) (deliver func(string, []byte) error, finish func() error) {
	finish = func() error { return nil }
	for i, secret := range secrets {
		if i > 0 && len(secret.Reveal()) < minKey {
			continue
		}
		filter, next := newKeyFilter(secret, yield), finish
		yield = func(ev chat.RawEvent) error { return filter.deliver(ev.Type, ev.Data) }
		deliver = filter.deliver
		finish = func() error { return errors.Join(filter.finish(), next()) }
	}
	return deliver, finish
}

// deliver passes an event on, immediately or with later ones.
func (e *keyFilter) deliver(kind string, data []byte) error {
	ev := chat.RawEvent{Type: string(redactRaw([]byte(kind), e.key)), Data: redactRaw(data, e.key)}
	if len(e.forms) == 0 || kind == llm.EventResponse {
		return e.yield(ev)
	}
	if len(e.held)+len(e.passed) == 0 && !e.mayBegin(ev.Data) {
		return e.yield(ev)
	}
	e.held = append(e.held, newHeldEvent(ev))
	e.bytes += len(ev.Data)
	return e.advance(len(e.held) > maxHeld || e.bytes > maxHeldBytes)
}

// mayBegin reports whether a string of an event could end with a prefix of the key. If not, it need not be parsed.
func (e *keyFilter) mayBegin(data []byte) bool {
	text := string(data)
	for i := range len(text) {
		isEnd := text[i] == '"' && !strings.HasPrefix(text[i+1:], ":")
		if text[i] == '\\' || isEnd && e.prefixLength(text[:i]) > 0 { // escapes are not examined here
			return true
		}
	}
	return false
}

// finish passes on all held events, at the end of the stream.
func (e *keyFilter) finish() error { return e.advance(true) }

// advance removes the key from the held events, and passes on those before the first that must be withheld. With all,
// none is withheld, and long prefixes of the key are removed instead.
func (e *keyFilter) advance(all bool) error {
	texts := e.texts()
	free := len(e.held)
	for _, t := range texts {
		for at, n := e.find(t.all); n > 0; at, n = e.find(t.all) {
			t.remove(at, n)
		}
		switch n := e.prefixLength(t.all); {
		case all && n >= minRemoved:
			t.remove(len(t.all)-n, n)
		case !all && n >= minWithheld:
			free = min(free, slices.Index(e.held, t.eventAt(len(t.all)-n)))
		}
	}
	for i, h := range e.held {
		h.withheld = i >= free
	}
	for place, t := range texts {
		e.remember(place, t)
	}
	released := e.held[:free]
	e.held = slices.Clone(e.held[free:])
	for _, h := range released {
		e.bytes -= len(h.event.Data)
		if e.err == nil {
			e.err = e.yield(h.output())
		}
	}
	return e.err
}

// texts returns the texts of the held events, by place.
func (e *keyFilter) texts() map[string]*watched {
	out := map[string]*watched{}
	for _, h := range e.held {
		for i := range h.literals {
			place := h.literals[i].place
			if out[place] == nil {
				out[place] = &watched{passed: e.passed[place]}
			}
			out[place].pieces = append(out[place].pieces, piece{literal: &h.literals[i], event: h})
		}
	}
	for _, t := range out {
		t.join()
	}
	return out
}

func (t *watched) join() {
	t.all = t.passed
	for i := range t.pieces {
		t.pieces[i].from = len(t.all)
		t.all += t.pieces[i].text
	}
}

// eventAt is the event with the byte at a position; the first held one, if it was passed on already.
func (t *watched) eventAt(at int) *heldEvent {
	i := 0
	for i+1 < len(t.pieces) && t.pieces[i+1].from <= at {
		i++
	}
	return t.pieces[i].event
}

// remove removes n bytes from the pieces, as far as they are held, and marks their end.
func (t *watched) remove(at, n int) {
	mark := redacted
	for _, p := range slices.Backward(t.pieces) {
		from, to := max(0, at-p.from), min(at+n-p.from, len(p.text))
		if from < to {
			p.text = p.text[:from] + mark + p.text[to:]
			p.set(p.text)
			p.event.changed, mark = true, ""
		}
	}
	t.join()
}

// remember keeps the end of the text that is passed on, if it is a prefix of the key.
func (e *keyFilter) remember(place string, t *watched) {
	end := t.all
	if i := slices.IndexFunc(t.pieces, func(p piece) bool { return p.event.withheld }); i >= 0 {
		end = t.all[:t.pieces[i].from]
	}
	delete(e.passed, place)
	if n := e.prefixLength(end); n > 0 && len(e.passed) < maxPassed {
		e.passed[place] = end[len(end)-n:]
	}
}

// find returns the first form of the key in a text.
func (e *keyFilter) find(s string) (at, length int) {
	for _, form := range e.forms {
		if i := strings.Index(s, form); i >= 0 && (length == 0 || i < at || i == at && len(form) > length) {
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

// newHeldEvent finds the strings of an event. In text that is not JSON there are none.
func newHeldEvent(ev chat.RawEvent) *heldEvent {
	h := &heldEvent{event: ev, value: make([]any, 1)}
	d := json.NewDecoder(strings.NewReader(string(ev.Data)))
	d.UseNumber()
	if err := d.Decode(&h.value[0]); err != nil {
		return h
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return h
	}
	h.collect(h.value[0], "", func(v any) { h.value[0] = v })
	return h
}

// collect finds the strings in a value. Strings in an object with a numeric member whose name ends with index, as in
// parallel blocks and calls, are distinguished by it.
func (h *heldEvent) collect(v any, place string, set func(any)) {
	switch v := v.(type) {
	case string:
		h.literals = append(h.literals, literal{place: place, text: v, set: set})
	case []any:
		for i, member := range v {
			h.collect(member, place+"."+strconv.Itoa(i), func(v2 any) { v[i] = v2 })
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if n, ok := v[name].(json.Number); ok && strings.HasSuffix(name, "index") {
				place += ";" + name + "=" + n.String()
			}
		}
		for name, member := range v {
			h.collect(member, place+"."+name, func(v2 any) { v[name] = v2 })
		}
	}
}

// output returns the event as it is passed on: byte for byte, unless something was removed.
func (h *heldEvent) output() chat.RawEvent {
	if h.changed {
		h.event.Data, _ = chat.MarshalJSON(h.value[0]) // decoded JSON always encodes
	}
	return h.event
}
