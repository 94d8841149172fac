package transfer

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

// MaxHeadSearch limits how much of a file is read to detect its format.
const MaxHeadSearch = 64 << 20

// Limits of what is kept of the beginning of a file: the length of a text in bytes, and the number of member names.
const (
	maxHeadText = 512
	maxHeadKeys = 4096
)

// headInfo is what the beginning of a file shows about its objects.
type headInfo struct {
	keys    map[string]string // the objects' own members, with values that are short strings
	objects int
	array   bool
	lines   bool // an object ends, and the next one begins on another line
}

// detect determines the format of a file from its beginning: the first bytes or, if long values in them hide the
// members that identify it, more of it.
func detect(name string, open func() (io.Reader, error)) (Format, headInfo, error) {
	from, err := open()
	if err != nil {
		return "", headInfo{}, err
	}
	head := make([]byte, HeadBytes)
	n, err := io.ReadFull(from, head)
	isComplete := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if err != nil && !isComplete && n == 0 {
		return "", headInfo{}, err
	}
	head, isComplete = head[:n], err != nil
	if order := utf16Order(head); order != nil {
		head, _ = order.NewDecoder().Bytes(head) // a character that is cut is replaced
		isComplete = true
	}
	g := inspect(bytes.NewReader(head))
	format, unknown := formatOf(name, head, g)
	if unknown == nil || isComplete || g.objects == 0 {
		return format, g, unknown
	}
	if from, err = open(); err != nil {
		return "", g, err
	}
	g = inspect(io.LimitReader(from, MaxHeadSearch))
	format, unknown = formatOf(name, head, g)
	return format, g, unknown
}

// errEnough ends the inspection of objects with very many members.
var errEnough = errors.New("enough members")

// inspect collects the members of the objects in a text, which may be cut or broken anywhere.
func inspect(from io.Reader) headInfo {
	g := headInfo{keys: map[string]string{}}
	s := &scanner{r: bufio.NewReaderSize(from, 4<<10), max: maxHeadText}
	newLine := false // since the last object
	for {
		b, err := s.byte()
		if err != nil {
			return g
		}
		switch {
		case b == '\n':
			newLine = true
		case b == '[' && g.objects == 0 && !g.array:
			g.array = true
		case b == '{':
			g.lines = g.lines || g.objects > 0 && newLine && !g.array
			g.objects++
			s.back()
			err = s.object(func(key string) (bool, error) { return g.member(s, key) })
			newLine = false
		case b == '[' || b == '"':
			s.back()
			err = s.skipValue()
		}
		if err != nil {
			return g
		}
	}
}

// member adds a member, the first of its name, and reads its value if it is a string.
func (g *headInfo) member(s *scanner, key string) (bool, error) {
	_, known := g.keys[key]
	first, err := s.peek()
	if known || err != nil {
		return false, err
	}
	if len(g.keys) == maxHeadKeys {
		return false, errEnough
	}
	if g.keys[key] = ""; first != '"' {
		return false, nil
	}
	e, err := s.value()
	if value, end := textAt(e.raw, 0); end > 0 {
		g.keys[key] = strings.ToValidUTF8(value, "\uFFFD")
	}
	return true, err
}
