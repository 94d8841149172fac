package cli

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// schema is the version of every --json document.
const schema = 1

// output is stdout. It remembers its first error and writes nothing after it, so that the work continues without a
// reader.
type output struct {
	w        io.Writer
	err      error
	failed   chan struct{} // closed at the first failure
	terminal bool          // text is made safe, and may be dimmed
	color    bool
}

func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		if _, o.err = o.w.Write(p); o.err != nil {
			close(o.failed)
		}
	}
	return len(p), nil
}

// printf writes the program's own text; quoted stored text must go through line.
func (o *output) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(o, format, args...)
}

// printIf is printf for what is not always said. The arguments are evaluated in any case.
func (o *output) printIf(condition bool, format string, args ...any) {
	if condition {
		o.printf(format, args...)
	}
}

// printEach prints each of several stored texts, as one line in its place in the format.
func (o *output) printEach(format string, texts []string) {
	for _, text := range texts {
		o.printf(format, line(text))
	}
}

// text writes stored text: unchanged into a file or pipe, without control characters to a terminal, where they could
// do anything.
func (o *output) text(s string) {
	if o.terminal {
		s = harmless(s)
	}
	for len(s) > textPiece { // a single write would copy all of it
		_, _ = io.WriteString(o, s[:textPiece])
		s = s[textPiece:]
	}
	_, _ = io.WriteString(o, s)
}

// textPiece is how much of a long text is written at once, in bytes.
const textPiece = 64 << 10

// gone reports that the output no longer has a reader.
func (o *output) gone() bool {
	select {
	case <-o.failed:
		return true
	default:
		return false
	}
}

func (o *output) dim(s string) string { return o.styled("2", s) }

func (o *output) bold(s string) string { return o.styled("1", s) }

func (o *output) styled(code, s string) string {
	if !o.color || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// visible writes text that a person decides about, with nothing in it hidden, wherever it goes.
func (o *output) visible(s string) { o.printf("%s", display.Visible(s)) }

// harmless replaces what a terminal would interpret instead of show: control characters, and characters that change
// the text direction.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case unicode.IsControl(r), r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// line is text on one line of a table or message, with nothing in it hidden.
func line(s string) string {
	return strings.Join(strings.Fields(display.Visible(s)), " ")
}

// document encodes a reply as the JSON document: schema first, then the fields of v (a struct or nil), then the error
// if there is one.
func (c *call) document(v any, err error) ([]byte, error) { return c.eventLine("", v, err) }

// eventLine is document with the name of an event after the schema.
func (c *call) eventLine(event string, v any, err error) ([]byte, error) {
	var body bytes.Buffer
	fmt.Fprintf(&body, `{"schema":%d`, schema)
	if event != "" {
		fmt.Fprintf(&body, `,"event":%q`, event)
	}
	if v != nil {
		raw, mErr := chat.MarshalJSON(v)
		if mErr != nil {
			return nil, mErr
		}
		if fields := bytes.TrimSuffix(bytes.TrimPrefix(raw, []byte("{")), []byte("}")); len(fields) > 0 {
			body.WriteByte(',')
			body.Write(fields)
		}
	}
	if err != nil {
		raw, mErr := chat.MarshalJSON(c.describe(err))
		if mErr != nil {
			return nil, mErr
		}
		body.WriteString(`,"error":`)
		body.Write(raw)
	}
	body.WriteString("}\n")
	return body.Bytes(), nil
}

// fields are encoded as one object, in order. An empty list is [], and a name that ends with ",omitempty" is left out
// if its value is zero.
type fields []field

type field struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (f fields) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for _, x := range f {
		name, optional := strings.CutSuffix(x.name, ",omitempty")
		v := reflect.ValueOf(x.value)
		if optional && (!v.IsValid() || v.IsZero()) {
			continue
		}
		raw, err := chat.MarshalJSON(x.value)
		if err != nil {
			return nil, err
		}
		if v.Kind() == reflect.Slice && v.IsNil() && string(raw) == "null" {
			raw = []byte("[]")
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, name), ':')
		out = append(out, raw...)
	}
	return append(out, '}'), nil
}

// sentence returns a reply with one line of text.
func sentence(doc any, format string, args ...any) reply {
	return reply{doc: doc, text: func(o *output) { o.printf(format+"\n", args...) }}
}

// listed returns a reply with a table, or with a text if it is empty.
func listed(doc any, empty string, t *table) reply {
	return reply{doc: doc, text: func(o *output) { t.printOr(o, empty) }}
}
