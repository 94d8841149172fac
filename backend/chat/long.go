package chat

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A text of many megabytes is encoded and decoded separately from the JSON around it: encoding/json would hold
// several copies of it at once. The bytes are the same.

const (
	// minLongText is the length in bytes from which a text is encoded separately.
	minLongText = 8 << 10
	// minSeparateText is the length in bytes from which a text is decoded separately: encoding/json reads its input four
	// times, and most of the input is text.
	minSeparateText = 256
	// textPiece is how much of a long text is encoded at once, in bytes.
	textPiece = 4 << 10
)

// placeholder returns the placeholder of the nth long text in the JSON around it.
func placeholder(n int) string { return "\x00long " + strconv.Itoa(n) + "\x00" }

// placeholderJSON returns a placeholder as JSON.
func placeholderJSON(n int) []byte {
	b, _ := MarshalJSON(placeholder(n)) // a string always encodes
	return b
}

// longTexts are the texts that were extracted from a value.
type longTexts []string

func (l *longTexts) extract(s string) string {
	if len(s) < minLongText {
		return s
	}
	*l = append(*l, s)
	return placeholder(len(*l) - 1)
}

func (l *longTexts) block(b Block) Block {
	switch v := b.(type) {
	case Text:
		v.Text = l.extract(v.Text)
		return v
	case Refusal:
		v.Text = l.extract(v.Text)
		return v
	case Reasoning:
		v.Summary = l.extract(v.Summary)
		return v
	}
	return b
}

func (l *longTexts) item(it Item) Item {
	switch v := it.(type) {
	case AssistantMessage:
		short := make(Blocks, len(v.Blocks))
		for i, b := range v.Blocks {
			short[i] = l.block(b)
		}
		return AssistantMessage{Blocks: short}
	case ReasoningItem:
		v.Summary = l.extract(v.Summary)
		return v
	}
	return it
}

// WriteJSON writes exactly what MarshalJSON returns for the message, in pieces.
func (m Message) WriteJSON(w io.Writer) error {
	const noBlocks = "[]}" // the blocks are the last member
	empty, err := MarshalJSON(Message{Role: m.Role, Name: m.Name, Blocks: Blocks{}})
	if err != nil {
		return err
	}
	if _, err := w.Write(bytes.TrimSuffix(empty, []byte(noBlocks))); err != nil {
		return err
	}
	if err := writeList(w, m.Blocks, func(b Block) error {
		var long longTexts
		short := long.block(b)
		return long.write(w, b.blockType(), short, b)
	}); err != nil {
		return err
	}
	_, err = w.Write([]byte{'}'})
	return err
}

// WriteJSON writes exactly what MarshalJSON returns for the items, in pieces.
func (is Items) WriteJSON(w io.Writer) error {
	return writeList(w, is, func(it Item) error {
		var long longTexts
		short := long.item(it)
		return long.write(w, it.itemType(), short, it)
	})
}

// writeList writes a JSON list, one element at a time, because the list may be long.
func writeList[T any](w io.Writer, list []T, write func(T) error) error {
	next := "["
	for _, v := range list {
		if _, err := io.WriteString(w, next); err != nil {
			return err
		}
		if err := write(v); err != nil {
			return err
		}
		next = ","
	}
	_, err := io.WriteString(w, strings.TrimSuffix(next, ",")+"]")
	return err
}

// write writes the block or item short with the long texts inserted. If that is not possible, because a text contains
// a placeholder, complete is encoded at once.
func (l longTexts) write(w io.Writer, name string, short, complete any) error {
	rest, err := marshalTyped(name, short)
	if err != nil {
		return err
	}
	for n := range l {
		if bytes.Count(rest, placeholderJSON(n)) != 1 {
			all, err := marshalTyped(name, complete)
			if err == nil {
				_, err = w.Write(all)
			}
			return err
		}
	}
	for n, text := range l {
		before, after, _ := bytes.Cut(rest, placeholderJSON(n))
		if _, err := w.Write(before); err != nil {
			return err
		}
		if err := WriteJSONString(w, text); err != nil {
			return err
		}
		rest = after
	}
	_, err = w.Write(rest)
	return err
}

// WriteJSONString writes exactly what MarshalJSON returns for a text, in pieces.
func WriteJSONString[T string | []byte](w io.Writer, text T) error {
	if _, err := w.Write([]byte{'"'}); err != nil {
		return err
	}
	for len(text) > 0 {
		n := min(textPiece, len(text))
		for back := 0; n < len(text) && back < utf8.UTFMax && !utf8.RuneStart(text[n]); back++ {
			n--
		}
		piece, err := MarshalJSON(string(text[:n]))
		if err != nil {
			return err
		}
		if _, err := w.Write(piece[1 : len(piece)-1]); err != nil {
			return err
		}
		text = text[n:]
	}
	_, err := w.Write([]byte{'"'})
	return err
}

// DecodeMessage decodes a message's JSON. Its texts may share raw's memory.
func DecodeMessage(raw string) (Message, error) {
	return decode(raw, func(m *Message, restore filler) { restore.blocks(m.Blocks) })
}

// DecodeItems decodes the JSON of items. Their texts may share raw's memory.
func DecodeItems(raw string) (Items, error) {
	return decode(raw, func(is *Items, restore filler) {
		for i, it := range *is {
			switch v := it.(type) {
			case AssistantMessage:
				restore.blocks(v.Blocks)
			case ReasoningItem:
				v.Summary = restore(v.Summary)
				(*is)[i] = v
			}
		}
	})
}

// decode decodes JSON, with its long texts separate. fill inserts them.
func decode[T any](raw string, fill func(*T, filler)) (v T, err error) {
	if len(raw) >= minSeparateText && !strings.Contains(raw, `\u0000`) { // a text that contains a placeholder would be ambiguous
		if v, ok := decodeSeparately(raw, fill); ok {
			return v, nil
		}
	}
	err = json.Unmarshal([]byte(raw), &v)
	return v, err
}

// decodeSeparately decodes a value whose long strings are only in places where fill restores them; otherwise ok is false.
func decodeSeparately[T any](raw string, fill func(*T, filler)) (m T, ok bool) {
	var short []byte
	var long longTexts
	for rest := raw; rest != ""; {
		open := strings.IndexByte(rest, '"')
		if open < 0 {
			short = append(short, rest...)
			break
		}
		short, rest = append(short, rest[:open]...), rest[open:]
		end := stringEnd(rest)
		if end < 0 {
			return m, false
		}
		if end < minSeparateText {
			short = append(short, rest[:end]...)
		} else {
			text, ok := unquote(rest[1 : end-1])
			if !ok {
				return m, false
			}
			long = append(long, text)
			short = append(short, placeholderJSON(len(long)-1)...)
		}
		rest = rest[end:]
	}
	if json.Unmarshal(short, &m) != nil {
		return m, false
	}
	filled := 0
	fill(&m, func(s string) string {
		if filled < len(long) && s == placeholder(filled) {
			s = long[filled]
			filled++
		}
		return s
	})
	return m, filled == len(long)
}

// stringEnd returns the end of the JSON string at the beginning of s; negative if the string does not end.
func stringEnd(s string) int {
	for i := 1; ; {
		n := strings.IndexAny(s[i:], `"\`)
		switch {
		case n < 0:
			return -1
		case s[i+n] == '"':
			return i + n + 1
		}
		if i += n + 2; i > len(s) {
			return -1
		}
	}
}

// unquote decodes the inside of a JSON string.
func unquote(s string) (string, bool) {
	plain := func(s string) bool {
		return utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return r < ' ' }) < 0
	}
	at := strings.IndexByte(s, '\\')
	if at < 0 {
		return s, plain(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for ; at >= 0; at = strings.IndexByte(s, '\\') {
		if !plain(s[:at]) {
			return "", false
		}
		b.WriteString(s[:at])
		s = s[at:]
		n := 0
		for n < len(s) && s[n] == '\\' { // consecutive escapes are decoded together, because a surrogate pair is two escapes
			if n += 2; n <= len(s) && s[n-1] == 'u' {
				n += 4
			}
		}
		var escaped string
		if n > len(s) || json.Unmarshal([]byte(`"`+s[:n]+`"`), &escaped) != nil {
			return "", false
		}
		b.WriteString(escaped)
		s = s[n:]
	}
	b.WriteString(s)
	return b.String(), plain(s)
}

// filler returns the long text for a placeholder, and any other text unchanged.
type filler func(string) string

func (restore filler) blocks(bs Blocks) {
	for i, b := range bs {
		switch v := b.(type) {
		case Text:
			v.Text = restore(v.Text)
			bs[i] = v
		case Refusal:
			v.Text = restore(v.Text)
			bs[i] = v
		case Reasoning:
			v.Summary = restore(v.Summary)
			bs[i] = v
		}
	}
}
