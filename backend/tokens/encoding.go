package tokens

import (
	"iter"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/pkoukk/tiktoken-go"
)

// encoding is one of tiktoken's, loaded once, on first use or by Warm.
type encoding struct {
	name string
	load func() encoder
}

// encoder is the part of tiktoken that is used.
type encoder interface{ EncodeOrdinary(text string) []int }

var (
	cl100k = newEncoding(tiktoken.MODEL_CL100K_BASE)
	o200k  = newEncoding(tiktoken.MODEL_O200K_BASE)
)

func newEncoding(name string) *encoding {
	return &encoding{name: name, load: sync.OnceValue(func() encoder {
		enc, err := embedded(name)
		if err != nil {
			// The ranks are part of this binary: no input can bring this about.
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
	// maxRun bounds an unbroken run of one class of characters. Encoding a run
	// takes time quadratic in its length; a cut costs at most a token or two.
	maxRun = 512
	// maxPiece bounds what is encoded at once, and so the memory it takes.
	maxPiece = 64 << 10
)

// pieces cuts s where a run has become maxRun bytes long, and at a convenient
// place after maxPiece bytes. Joined, the pieces are s.
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

// cutter follows the runs of a text.
type cutter struct {
	class class
	run   int // bytes of the present run
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
		// Words begin with their space: a cut here changes no count.
		return length >= maxPiece
	}
	return length >= 2*maxPiece
}

// encodedLen is the length of r as the encoder sees it: a byte that is not
// UTF-8 arrives there as the three bytes of U+FFFD.
func encodedLen(r rune) int { return utf8.RuneLen(r) }

type class int

const (
	classOther class = iota
	classLetter
	classDigit
	classSpace
	// classMark continues with whatever run it is in: one encoding's pattern
	// counts accents to the letters, the other's to the symbols.
	classMark
)

// classOf groups what the encodings' patterns may take as one run.
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
