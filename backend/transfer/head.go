package transfer

import (
	"bufio"
	"errors"
	"io"
)

// MaxHeadSearch limits how much of a file is read to detect its format.
const MaxHeadSearch = 64 << 20

// Head is the part of a file that Detect needs: its first bytes, as UTF-8. If those do not suffice because long
// values come before the relevant members, it is the beginning without those values.
func Head(data io.ReaderAt, size int64) ([]byte, error) {
	return headFrom(func() (io.Reader, error) { return io.NewSectionReader(data, 0, size), nil })
}

func headFrom(open func() (io.Reader, error)) ([]byte, error) {
	from, err := open()
	if err != nil {
		return nil, err
	}
	head, err := firstBytes(from)
	if err != nil && len(head) == 0 {
		return nil, err
	}
	isComplete := len(head) < HeadBytes
	if order := utf16Order(head); order != nil {
		text, _ := order.NewDecoder().Bytes(head) // a character that is cut is replaced
		return text, err
	}
	if g := inspectHead(head); isComplete || err != nil || g.objects == 0 {
		return head, err
	}
	if _, unknown := Detect("", head); unknown == nil {
		return head, nil
	}
	if from, err = open(); err != nil {
		return nil, err
	}
	return outline(io.LimitReader(from, MaxHeadSearch))
}

func firstBytes(from io.Reader) ([]byte, error) {
	head := make([]byte, HeadBytes)
	n, err := io.ReadFull(from, head)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head[:n], err
}

// Limits of an outline: the length of texts and the depth of values.
const (
	outlineText  = 256
	outlineDepth = 2
)

// outline is the beginning of a JSON text with long texts shortened and nested values removed: at most HeadBytes.
func outline(from io.Reader) ([]byte, error) {
	r := bufio.NewReaderSize(from, 64<<10)
	out := make([]byte, 0, HeadBytes)
	var l lexer
	length := 0 // of the current string
	for len(out) < HeadBytes {
		b, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		before := l.depth
		if l.take(b); !l.inString {
			length = 0
		} else {
			length++
		}
		isLong := length > outlineText || length == outlineText && l.escaped
		if min(before, l.depth) <= outlineDepth && !isLong {
			out = append(out, b)
		}
	}
	return out, nil
}
