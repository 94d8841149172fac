package mcpclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"time"
)

// errFlood is the error for a server that sends more requests at once than any server needs.
var errFlood = errors.New("the server sends requests faster than they can be answered")

// errStuck is the error for a program that does not read its input.
var errStuck = errors.New("the server does not read its input")

// Limits on unsolicited messages of a server. The SDK queues all of them until they are handled, so a fast sender
// would fill the memory.
const (
	notificationBurst      = 1000 // a notification counts once, plus once per KiB
	notificationsPerSecond = 200
	maxOpenRequests        = 64
	maxRequestBytes        = 1 << 20
)

// traffic limits what one connection passes on to the SDK.
type traffic struct {
	now     func() time.Time
	changed func()      // an announced change of tools was dropped
	dropped func()      // the first notification was dropped
	flooded func(error) // the connection must end

	mu       sync.Mutex
	budget   float64
	last     time.Time // when the budget was last refilled
	reported bool
	open     int // unanswered requests of the server
}

// kind is the kind of a protocol message.
type kind int

const (
	isResponse kind = iota
	isRequest
	isNotification
)

// kindOf classifies messages like the SDK: by exact member names. A message that it cannot classify counts as a
// notification.
func kindOf(data []byte) (k kind, method string) {
	var m map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(data)).Decode(&m) != nil {
		return isNotification, ""
	}
	name, named := m["method"]
	if !named {
		return isResponse, ""
	}
	_ = json.Unmarshal(name, &method)
	if id, ok := m["id"]; ok && string(id) != "null" {
		return isRequest, method
	}
	return isNotification, method
}

// admit reports whether a message of the server is passed on.
func (t *traffic) admit(data []byte) (bool, error) {
	switch k, method := kindOf(data); k {
	case isRequest:
		t.mu.Lock()
		t.open++
		over := t.open > maxOpenRequests || len(data) > maxRequestBytes
		t.mu.Unlock()
		if over {
			t.flooded(errFlood)
			return false, errFlood
		}
	case isNotification:
		ok, first := t.spend(1 + float64(len(data)>>10))
		if first {
			t.dropped()
		}
		if !ok && method == "notifications/tools/list_changed" {
			t.changed() // several are combined
		}
		return ok, nil
	}
	return true, nil
}

// spend subtracts the cost of a notification from the budget, if that suffices.
func (t *traffic) spend(cost float64) (ok, firstDropped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.last.IsZero() {
		t.budget = notificationBurst
	} else if passed := now.Sub(t.last); passed > 0 {
		t.budget = min(notificationBurst, t.budget+passed.Seconds()*notificationsPerSecond)
	}
	t.last = now
	if ok = t.budget >= cost; ok {
		t.budget -= cost
	} else {
		firstDropped, t.reported = !t.reported, true
	}
	return ok, firstDropped
}

// isAnswer reports whether an outgoing message answers a request of the server.
func (t *traffic) isAnswer(data []byte) bool {
	t.mu.Lock()
	waiting := t.open > 0
	t.mu.Unlock()
	if !waiting {
		return false
	}
	k, _ := kindOf(data)
	return k == isResponse
}

// countAnswer counts an answer that was sent.
func (t *traffic) countAnswer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = max(t.open-1, 0)
}

// eventFilter is an event stream without the messages that are not passed on.
type eventFilter struct {
	io.Closer
	r        *bufio.Reader
	traffic  *traffic
	maxEvent int

	out []byte // still to be read
	err error  // error after that
	raw bool   // an event is too large: the SDK will fail on it
}

func newEventFilter(body io.ReadCloser, t *traffic, maxEvent int) *eventFilter {
	return &eventFilter{Closer: body, r: bufio.NewReader(body), traffic: t, maxEvent: maxEvent}
}

func (f *eventFilter) Read(p []byte) (int, error) {
	for len(f.out) == 0 {
		if f.err != nil {
			return 0, f.err
		}
		if f.raw {
			return f.r.Read(p)
		}
		f.next()
	}
	n := copy(p, f.out)
	f.out = f.out[n:]
	return n, nil
}

// next reads an event: lines, and an empty one.
func (f *eventFilter) next() {
	var event []byte
	start := 0 // of the line
	for {
		part, err := f.r.ReadSlice('\n')
		event = append(event, part...)
		switch {
		case len(event) > f.maxEvent:
			f.out, f.raw = event, true
			return
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			f.err = err
		}
		if err != nil || len(bytes.TrimRight(event[start:], "\r\n")) == 0 {
			f.out = f.filtered(event)
			return
		}
		start = len(event)
	}
}

// filtered returns an event, without its data if its message is not passed on: its id still counts.
func (f *eventFilter) filtered(event []byte) []byte {
	var data, rest []byte
	name := ""
	for line := range bytes.Lines(event) {
		key, value, _ := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte{':'})
		if string(key) == "data" {
			data = append(append(data, bytes.TrimSpace(value)...), '\n')
			continue
		}
		if string(key) == "event" {
			name = strings.TrimSpace(string(value))
		}
		rest = append(rest, line...)
	}
	if len(bytes.TrimSpace(data)) == 0 || name != "" && name != "message" {
		return event
	}
	ok, err := f.traffic.admit(data)
	switch {
	case err != nil:
		f.err = err
		return nil
	case !ok:
		return rest
	}
	return event
}
