package tokens

import (
	"iter"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
)

// encoding is a tiktoken encoding, loaded once, on first use or by Warm.
type encoding struct {
	name string
	load func() encoder
}

// encoder is the method of tiktoken that is used.
type encoder interface{ EncodeOrdinary(text string) []int }

var (
	cl100k = newEncoding(tiktoken.MODEL_CL100K_BASE)
	o200k  = newEncoding(tiktoken.MODEL_O200K_BASE)
)

func newEncoding(name string) *encoding {
	return &encoding{name: name, load: sync.OnceValue(func() encoder {
		enc, err := embedded(name)
		if err != nil {
			// The ranks are part of the binary, so no input can cause this.
			panic("tokens: embedded encoding " + name + ": " + err.Error())
		}
		return enc
	})}
}

func (e *encoding) count(s string) int {
	if s == "" {
		return 0
	}
	enc := e.load()
	n := 0
	for piece := range pieces(s) {
		n += len(enc.EncodeOrdinary(piece))
	}
	return n
}

const (
	// maxRun limits an unbroken run of characters of one class, in bytes. Encoding a run takes time quadratic in its
	// length; a cut changes the count by a token or two.
	maxRun = 512
	// maxPiece limits how many bytes are encoded at once, and with it the memory needed.
	maxPiece = 64 << 10
)

// pieces cuts s where a run has reached maxRun bytes, and at a convenient place after maxPiece bytes. Joined, the
// pieces are s.
func pieces(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var c cutter
		start := 0
		for i, r := range s {
			if c.before(r, i-start) && i > start {
				if !yield(s[start:i]) {
					return
				}
				start, c.run = i, 0
			}
			c.run += encodedLen(r)
		}
		if start < len(s) {
			yield(s[start:])
		}
	}
}

// cutter tracks the runs of a text.
type cutter struct {
	class class
	run   int // bytes in the current run
}

// before reports whether to cut before r, length bytes after the last cut.
func (c *cutter) before(r rune, length int) bool {
	changed := false
	if now := classOf(r); now != classMark && now != c.class {
		c.class, c.run, changed = now, 0, true
	}
	switch {
	case c.run+encodedLen(r) > maxRun:
		return true
	case !changed:
		return false
	case r == ' ':
		// Words start with their space, so a cut here does not change the count.
		return length >= maxPiece
	}
	return length >= 2*maxPiece
}

// encodedLen returns the length of r in the encoder: an invalid byte becomes the three bytes of U+FFFD.
func encodedLen(r rune) int { return utf8.RuneLen(r) }

type class int

const (
	classOther class = iota
	classLetter
	classDigit
	classSpace
	// classMark continues the current run: one encoding's pattern treats accents as letters, the other's as symbols.
	classMark
)

// classOf groups characters that the encodings' patterns may treat as one run.
func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		return asciiClass(byte(r))
	case unicode.IsLetter(r):
		return classLetter
	case unicode.IsMark(r):
		return classMark
	case unicode.IsNumber(r):
		return classDigit
	case unicode.IsSpace(r):
		return classSpace
	}
	return classOther
}

func asciiClass(c byte) class {
	switch {
	case 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z':
		return classLetter
	case '0' <= c && c <= '9':
		return classDigit
	case c == ' ' || '\t' <= c && c <= '\r':
		return classSpace
	}
	return classOther
}
