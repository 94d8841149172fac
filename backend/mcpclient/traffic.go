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

// errFlood is the error for a server that has too many unanswered requests, or sends one that is too large.
var errFlood = errors.New("the server sends requests faster than they can be answered")

// errStuck is the error for a program that does not read its input.
var errStuck = errors.New("the server does not read its input")

// Limits on unsolicited messages from a server. The SDK queues all messages until they are handled, so a fast sender
// would fill the memory.
const (
	notificationBurst      = 1000 // a notification costs 1, plus 1 for each KiB
	notificationsPerSecond = 200
	maxOpenRequests        = 64
	maxRequestBytes        = 1 << 20
)

// traffic limits what one connection passes on to the SDK.
type traffic struct {
	now            func() time.Time
	onToolsChanged func()      // called when a notification that the tools changed was dropped
	onFirstDrop    func()      // called when a notification is dropped for the first time
	abort          func(error) // ends the connection

	mu       sync.Mutex
	budget   float64   // for notifications
	last     time.Time // when the budget was last refilled
	reported bool      // onFirstDrop was called
	open     int       // unanswered requests from the server
}

// kind is the kind of a protocol message.
type kind int

const (
	kindResponse kind = iota
	kindRequest
	kindNotification
)

// kindOf classifies a message like the SDK: by exact member names. A message that is not a JSON object counts as a
// notification.
func kindOf(data []byte) (k kind, method string) {
	var m map[string]json.RawMessage
	if json.NewDecoder(bytes.NewReader(data)).Decode(&m) != nil {
		return kindNotification, ""
	}
	name, ok := m["method"]
	if !ok {
		return kindResponse, ""
	}
	_ = json.Unmarshal(name, &method)
	if id, ok := m["id"]; ok && string(id) != "null" {
		return kindRequest, method
	}
	return kindNotification, method
}

// admit reports whether a message from the server is passed on to the SDK. An error ends the connection.
func (t *traffic) admit(data []byte) (bool, error) {
	switch k, method := kindOf(data); k {
	case kindRequest:
		t.mu.Lock()
		t.open++
		over := t.open > maxOpenRequests || len(data) > maxRequestBytes
		t.mu.Unlock()
		if over {
			t.abort(errFlood)
			return false, errFlood
		}
	case kindNotification:
		ok, firstDrop := t.spend(1 + float64(len(data)>>10))
		if firstDrop {
			t.onFirstDrop()
		}
		if !ok && method == "notifications/tools/list_changed" {
			t.onToolsChanged()
		}
		return ok, nil
	}
	return true, nil
}

// spend refills the budget for the time since the last call. It then subtracts the cost of a notification, and reports
// whether the budget was large enough. firstDrop is true the first time it was not.
func (t *traffic) spend(cost float64) (ok, firstDrop bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	if t.last.IsZero() {
		t.budget = notificationBurst
	} else if elapsed := now.Sub(t.last); elapsed > 0 {
		t.budget = min(notificationBurst, t.budget+elapsed.Seconds()*notificationsPerSecond)
	}
	t.last = now
	if ok = t.budget >= cost; ok {
		t.budget -= cost
	} else {
		firstDrop, t.reported = !t.reported, true
	}
	return ok, firstDrop
}

// isAnswer reports whether an outgoing message answers a request from the server.
func (t *traffic) isAnswer(data []byte) bool {
	t.mu.Lock()
	hasOpen := t.open > 0
	t.mu.Unlock()
	if !hasOpen {
		return false
	}
	k, _ := kindOf(data)
	return k == kindResponse
}

// countAnswer records that a request from the server was answered.
func (t *traffic) countAnswer() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.open = max(t.open-1, 0)
}

// eventFilter reads an event stream, without the messages that are not passed on to the SDK.
type eventFilter struct {
	io.Closer
	r        *bufio.Reader
	traffic  *traffic
	maxEvent int

	out []byte // filtered, but not read yet
	err error  // returned after out
	raw bool   // an event is too large: the rest is not filtered, and the SDK fails on that event
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

// next reads an event, up to and including the empty line that ends it, and filters it into out.
func (f *eventFilter) next() {
	var event []byte
	start := 0 // of the current line
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
			f.out = f.filterEvent(event)
			return
		}
		start = len(event)
	}
}

// filterEvent returns an event. If its message is not passed on, only the data is removed: the SDK resumes an
// interrupted stream after the last id it has received.
func (f *eventFilter) filterEvent(event []byte) []byte {
	var data, withoutData []byte
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
		withoutData = append(withoutData, line...)
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
		return withoutData
	}
	return event
}
