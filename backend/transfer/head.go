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
		return utf8Of(head, order), err
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
	depth, length, inString, escaped := 0, 0, false, false
	for len(out) < HeadBytes {
		b, err := r.ReadByte()
		if err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return out, err
		}
		keep := depth <= outlineDepth
		switch {
		case escaped:
			escaped = false
		case inString && b == '\\':
			escaped = true
		case b == '"':
			inString, length = !inString, 0
		case inString:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
			keep = depth <= outlineDepth
		}
		if inString {
			length++
			keep = keep && length <= outlineText && !(length == outlineText && escaped)
		}
		if keep {
			out = append(out, b)
		}
	}
	return out, nil
}
