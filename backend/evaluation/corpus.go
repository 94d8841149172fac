// Package evaluation measures recall on the user's own conversations and questions (SPEC 15): it imports a corpus with
// the product's store, index and search, asks every question, and writes what was packed into the prompt. The result is
// judged by a separate scorer.
package evaluation

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/dates"
)

// line is a line of a corpus: one message. Other fields are ignored.
type line struct {
	Conv    text `json:"conv"`
	Session text `json:"session"`
	Date    text `json:"date"`
	Speaker text `json:"speaker"`
	Text    text `json:"text"`
}

// text is a JSON string or number, as written.
type text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err == nil {
		*t = text(s)
		return nil
	}
	var n json.Number
	if err := json.Unmarshal(data, &n); err != nil {
		return errors.New("a string or a number is expected")
	}
	*t = text(n)
	return nil
}

// Conversation is a conversation of a corpus, in order.
type Conversation struct {
	ID     string
	Turns  []Exchange
	Unread dates.Unread // invalid dates
}

// Exchange becomes one turn. Answer is nil if there was none.
type Exchange struct {
	At     time.Time // zero: unknown
	User   chat.Message
	Answer *chat.Message
}

// Question is a line of a queries file.
type Question struct {
	ID   json.RawMessage `json:"id"` // any JSON, written back unchanged
	Conv text            `json:"conv"`
	Text string          `json:"query"`
}

// maxLine limits the length of a line.
const maxLine = 64 << 20

// ReadCorpus reads a corpus, one message per line. Its error names the file and line.
func ReadCorpus(r io.Reader, name string) ([]Conversation, error) {
	var order []string
	messages := map[string][]line{}
	err := eachLine(r, name, func(raw []byte) error {
		var l line
		if err := json.Unmarshal(raw, &l); err != nil {
			return describeError(err)
		}
		if l.Speaker == "" {
			return errors.New(`"speaker" is missing`)
		}
		id := string(l.Conv)
		if _, known := messages[id]; !known {
			order = append(order, id)
		}
		messages[id] = append(messages[id], l)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(order) == 0 {
		return nil, chat.Errorf(chat.CodeInvalid, opRead, "%s contains no message.", name)
	}
	out := make([]Conversation, len(order))
	for i, id := range order {
		out[i] = Conversation{ID: id, Turns: exchanges(messages[id])}
		for _, l := range messages[id] {
			if _, ok := dates.Parse(string(l.Date)); !ok {
				out[i].Unread.Add(strings.TrimSpace(string(l.Date)))
			}
		}
	}
	return out, nil
}

// ReadQuestions reads questions, one per line. Its error names the file and line.
func ReadQuestions(r io.Reader, name string) ([]Question, error) {
	var out []Question
	err := eachLine(r, name, func(raw []byte) error {
		var q Question
		if err := json.Unmarshal(raw, &q); err != nil {
			return describeError(err)
		}
		switch {
		case len(q.ID) == 0:
			return errors.New(`"id" is missing`)
		case strings.TrimSpace(q.Text) == "":
			return errors.New(`"query" is missing`)
		}
		out = append(out, q)
		return nil
	})
	if err == nil && len(out) == 0 {
		err = chat.Errorf(chat.CodeInvalid, opRead, "%s contains no question.", name)
	}
	return out, err
}

// describeError describes an invalid line for people, instead of the parser's error.
func describeError(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return errors.New("it is not valid JSON")
	case errors.As(err, &kind) && kind.Field == "":
		return errors.New("it is not a JSON object")
	case errors.As(err, &kind):
		return fmt.Errorf("%q is of the wrong type, %s", kind.Field, kind.Value)
	}
	return err
}

const opRead = "eval.read"

func eachLine(r io.Reader, name string, f func([]byte) error) error {
	scan := bufio.NewScanner(r)
	scan.Buffer(make([]byte, 64<<10), maxLine)
	n := 0
	for scan.Scan() {
		n++
		raw := bytes.TrimSpace(bytes.TrimPrefix(scan.Bytes(), []byte("\uFEFF")))
		if len(raw) == 0 {
			continue
		}
		if err := f(raw); err != nil {
			return chat.Errorf(chat.CodeInvalid, opRead, "%s, line %d: %s.", name, n, err).
				WithHint("one JSON object per line; nothing was imported")
		}
	}
	if err := scan.Err(); err != nil {
		return chat.Errorf(chat.CodeInvalid, opRead, "%s, line %d: %s.", name, n+1, err)
	}
	return nil
}
