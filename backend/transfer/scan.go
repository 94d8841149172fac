package transfer

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// source splits a stream into elements.
type source interface {
	next() (element, error) // io.EOF after the last
}

// element is one value of a stream, or why it is invalid.
type element struct {
	raw    []byte // valid until the next call; nil if refused
	offset int64  // of its first byte
	reason string // why it was refused
	torn   bool   // the stream ended inside it
	fixed  repaired
}

// check repairs the text of the element, or says why it is not valid JSON.
func (e *element) check() {
	if e.reason != "" {
		return
	}
	if tooDeep(e.raw) {
		e.reason = "Its values are nested too deeply."
		return
	}
	if e.raw, e.fixed = repair(e.raw); json.Valid(e.raw) {
		return
	}
	var value json.RawMessage
	e.reason = "Not valid JSON."
	if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(e.raw, &value)); ok {
		e.reason = fmt.Sprintf("Not valid JSON after byte %d.", syntax.Offset)
	}
}

// lexer follows the strings and brackets of JSON, which may be invalid and cut anywhere.
type lexer struct {
	depth             int // of brackets
	inString, escaped bool
}

// take processes the next byte, and reports whether it ended a string or a bracket outside of all others.
func (l *lexer) take(b byte) (ended bool) {
	switch {
	case l.escaped:
		l.escaped = false
		return false
	case l.inString && b == '\\':
		l.escaped = true
	case b == '"':
		l.inString = !l.inString
	case l.inString:
		return false
	case b == '{' || b == '[':
		l.depth++
	case b == '}' || b == ']':
		l.depth--
	default:
		return false
	}
	return l.depth == 0 && !l.inString
}

// isText reports whether the next byte is one of a string, and only a quote or a backslash would change that.
func (l *lexer) isText() bool { return l.inString && !l.escaped }

// scanner splits a JSON stream into the elements of its array, or into consecutive values if it is not an array. It
// only tracks strings and brackets, so an element that is not valid JSON ends where its brackets do and does not
// affect others, and an element over a limit is skipped without being kept in memory.
type scanner struct {
	r            *bufio.Reader
	at           int64
	buf          []byte
	max          int
	began        bool
	array        bool
	closed       bool
	nested       bool  // the array is a part of the stream: the rest is not read
	unexpected   int   // unexpected bytes between values
	unexpectedAt int64 // the first of them
	document     int   // how many arrays began after another had ended
}

func newScanner(r io.Reader, limit int) *scanner {
	return &scanner{r: bufio.NewReaderSize(r, 64<<10), max: limit}
}

func (s *scanner) byte() (byte, error) {
	b, err := s.r.ReadByte()
	if err == nil {
		s.at++
	}
	return b, err
}

func (s *scanner) back() {
	if s.r.UnreadByte() == nil {
		s.at--
	}
}

// next is the next element; io.EOF after the last. An unclosed array ends with io.ErrUnexpectedEOF.
func (s *scanner) next() (element, error) {
	for {
		b, err := s.byte()
		if err != nil {
			if errors.Is(err, io.EOF) && s.array && !s.closed {
				return element{offset: s.at}, io.ErrUnexpectedEOF
			}
			return element{offset: s.at}, err
		}
		switch {
		case b == ' ' || b == '\n' || b == '\r' || b == '\t' || b == ',':
		case !s.began && isMark(s, b): // a byte order mark
		case b == '[' && !s.began:
			s.began, s.array = true, true
		case b == ']' && s.array && !s.closed:
			if s.closed = true; s.nested {
				return element{offset: s.at}, io.EOF
			}
		case s.closed && b == '[': // another document
			s.closed, s.document = false, s.document+1
		case s.closed && b == '{':
			s.document++
			s.back()
			return s.value()
		case s.closed || b == '}' || b == ']' || b == ':' || b == 0:
			s.countUnexpected()
		default:
			s.began = true
			s.back()
			return s.value()
		}
	}
}

// isMark consumes the rest of a UTF-8 byte order mark.
func isMark(s *scanner, b byte) bool {
	if b != 0xEF || s.at != 1 {
		return false
	}
	rest, err := s.r.Peek(2)
	if err != nil || !bytes.Equal(rest, []byte{0xBB, 0xBF}) {
		return false
	}
	_, _ = s.r.Discard(2)
	s.at += 2
	return true
}

// value reads one value whose first byte is next.
func (s *scanner) value() (element, error) {
	e := element{offset: s.at}
	s.buf = s.buf[:0]
	var l lexer
	for {
		if l.isText() {
			s.takeText(&e)
		}
		b, err := s.byte()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return e, err
			}
			e.torn = l.depth > 0 || l.inString
			break
		}
		if l == (lexer{}) && s.at-1 > e.offset && ends(b) {
			s.back()
			break
		}
		s.keep(&e, b)
		if l.take(b) {
			break
		}
	}
	if e.reason == "" {
		e.raw = s.buf
	} else {
		s.buf = nil // a buffer that grew to the limit is not kept
	}
	return e, nil
}

// takeText consumes the buffered part of a string up to a quote or a backslash.
func (s *scanner) takeText(e *element) {
	for {
		chunk, _ := s.r.Peek(s.r.Buffered())
		n := textRun(chunk)
		if n == 0 {
			return
		}
		s.keep(e, chunk[:n]...)
		_, _ = s.r.Discard(n)
		s.at += int64(n)
	}
}

// keep adds to the buffered element, up to the limit.
func (s *scanner) keep(e *element, part ...byte) {
	if len(s.buf)+len(part) > s.max {
		e.reason = tooLargeEntry(int64(s.max))
	}
	if e.reason == "" {
		s.buf = append(s.buf, part...)
	}
}

// textRun is the number of bytes before the next quote or backslash. It searches a few bytes at a time, so that a
// text full of escapes is not searched to its end after each of them.
func textRun(b []byte) int {
	b = b[:min(len(b), 512)]
	if quote := bytes.IndexByte(b, '"'); quote >= 0 {
		b = b[:quote]
	}
	if escape := bytes.IndexByte(b, '\\'); escape >= 0 {
		return escape
	}
	return len(b)
}

// ends reports whether b ends a number or a literal.
func ends(b byte) bool {
	switch b {
	case ',', ']', '}', ' ', '\n', '\r', '\t', '{', '[':
		return true
	}
	return false
}

// lineReader splits a stream into lines.
type lineReader struct {
	r    *bufio.Reader
	at   int64
	buf  []byte
	rest *element // of the last line, see afterTear
}

func newLineReader(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, 64<<10)} }

// next is the next non-blank line without its end; io.EOF after the last. torn means that the last line had no end,
// which alone is not an error.
func (l *lineReader) next() (element, error) {
	if rest := l.rest; rest != nil {
		l.rest = nil
		return *rest, nil
	}
	for {
		e := element{offset: l.at}
		l.buf = l.buf[:0]
		var err error
		for {
			var part []byte
			part, err = l.r.ReadSlice('\n')
			l.at += int64(len(part))
			if len(l.buf)+len(part) > MaxLineBytes {
				e.reason = tooLargeEntry(MaxLineBytes)
			} else {
				l.buf = append(l.buf, part...)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return e, err
		}
		e.torn = errors.Is(err, io.EOF)
		e.raw = bytes.TrimSpace(bytes.TrimPrefix(l.buf, []byte("\xEF\xBB\xBF")))
		if e.reason != "" {
			e.raw = nil
			return e, nil
		}
		if len(e.raw) > 0 {
			if at := afterTear(e.raw); at > 0 {
				l.rest = &element{raw: e.raw[at:], offset: e.offset + int64(at), torn: e.torn}
				e.raw, e.torn = e.raw[:at], false
			}
			return e, nil
		}
		if e.torn {
			return e, io.EOF
		}
	}
}

// maxTears limits the places where a complete object is searched in a torn line.
const maxTears = 64

// afterTear is where a complete object begins in a line that also contains the beginning of another one, which its
// program did not finish before it was started again; 0: nowhere. It begins like the line.
func afterTear(raw []byte) int {
	colon := bytes.IndexByte(raw, ':')
	if raw[0] != '{' || colon < 0 || !bytes.Contains(raw[1:], raw[:colon+1]) || json.Valid(raw) {
		return 0
	}
	begin := raw[:colon+1]
	for at, n := 0, 0; n < maxTears; n++ {
		next := bytes.Index(raw[at+1:], begin)
		if next < 0 {
			return 0
		}
		if at += 1 + next; json.Valid(raw[at:]) {
			return at
		}
	}
	return 0
}

// tooDeep reports whether a JSON text nests deeper than MaxDepth.
func tooDeep(raw []byte) bool {
	var l lexer
	for i := 0; i < len(raw) && l.depth <= MaxDepth; i++ {
		i = skipText(l, raw, i)
		l.take(raw[i])
	}
	return l.depth > MaxDepth
}

// skipText is the position of the last byte of the text that continues at i, or i.
func skipText(l lexer, raw []byte, i int) int {
	if l.isText() {
		return i + max(0, textRun(raw[i:])-1)
	}
	return i
}

// repaired counts the replacements in a JSON text.
type repaired struct{ utf8, nul, surrogates int }

func (r *repaired) add(o repaired) {
	r.utf8 += o.utf8
	r.nul += o.nul
	r.surrogates += o.surrogates
}

func (r repaired) notices(to []Notice) []Notice {
	to = addNotice(to, "Bytes that are not UTF-8 were replaced by \uFFFD.", r.utf8)
	to = addNotice(to, "NUL characters were replaced by \uFFFD.", r.nul)
	return addNotice(to, "Halves of surrogate pairs were replaced by \uFFFD.", r.surrogates)
}

// repair replaces invalid text in unparsed JSON: the decoder would do it silently, and raw parts are kept without
// being decoded.
func repair(raw []byte) ([]byte, repaired) {
	var r repaired
	if !utf8.Valid(raw) {
		for i := 0; i < len(raw); {
			c, n := utf8.DecodeRune(raw[i:])
			if c == utf8.RuneError && n == 1 {
				r.utf8++
			}
			i += n
		}
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	for i := bytes.IndexByte(raw, '\\'); i >= 0 && i < len(raw); {
		i = repairEscape(raw, i, &r)
		next := bytes.IndexByte(raw[i:], '\\')
		if next < 0 {
			break
		}
		i += next
	}
	return raw, r
}

// repairEscape checks the escape at i, replaces it in place if necessary, and returns where to continue.
func repairEscape(raw []byte, i int, r *repaired) int {
	code, ok := escapeAt(raw, i)
	if !ok {
		return min(i+2, len(raw))
	}
	switch {
	case code == 0:
		r.nul++
	case code >= 0xD800 && code < 0xDC00:
		if low, ok := escapeAt(raw, i+6); ok && low >= 0xDC00 && low < 0xE000 {
			return i + 12
		}
		r.surrogates++
	case code >= 0xDC00 && code < 0xE000:
		r.surrogates++
	default:
		return i + 6
	}
	copy(raw[i:], `\ufffd`)
	return i + 6
}

// escapeAt is the code unit of a \u escape at i.
func escapeAt(raw []byte, i int) (code uint32, ok bool) {
	if i+6 > len(raw) || raw[i] != '\\' || raw[i+1] != 'u' {
		return 0, false
	}
	for _, b := range raw[i+2 : i+6] {
		switch {
		case b >= '0' && b <= '9':
			code = code<<4 | uint32(b-'0')
		case b >= 'a' && b <= 'f':
			code = code<<4 | uint32(b-'a'+10)
		case b >= 'A' && b <= 'F':
			code = code<<4 | uint32(b-'A'+10)
		default:
			return 0, false
		}
	}
	return code, true
}

// counted counts the bytes read from a stream, and stops when the reader is cancelled.
type counted struct {
	ctx    context.Context
	r      io.Reader
	n      *int64
	onRead func()
}

func (c *counted) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := c.r.Read(p)
	*c.n += int64(n)
	c.onRead()
	return n, err
}
