package chunking

import (
	"unicode"

	"contextinfinity/backend/internal/lexical"
)

// Where a text is cut is decided by an estimate of its tokens, made from its
// bytes alone: counting is dear, and the same turn must give the same chunks
// whichever model counts. What is stored is counted, once.

// What runs of characters weigh, in twelfths of a token.
const (
	weightASCIILetter = 2
	weightLatin       = 4
	weightLetter      = 6 // of other scripts
	weightDigit       = 4
	weightMark        = 6  // punctuation
	weightSpaces      = 12 // a run of up to spacesPerToken
	weightUnspaced    = 12 // a Chinese character
	weightSymbol      = 24 // an emoji, or a byte that is not a character
	twelfths          = 12
	spacesPerToken    = 64
)

type class uint8

const (
	classNone class = iota
	classLetter
	classDigit
	classMark
	classSpace
	classAlone
)

// meter estimates the tokens of a text that is read rune by rune.
type meter struct {
	done   int // whole tokens of finished runs
	run    int // twelfths of the run being read
	last   class
	blanks int // in the run of spaces being read
}

func (m *meter) add(r rune) {
	c, weight := weigh(r)
	if c != m.last || c == classAlone {
		m.done, m.run, m.blanks = m.total(), 0, 0
	}
	if c == classSpace {
		// A single blank belongs to the word after it.
		if m.blanks++; m.blanks > 1 || r != ' ' {
			m.run = weight * (1 + m.blanks/spacesPerToken)
		}
	} else {
		m.run += weight
	}
	m.last = c
}

func (m *meter) total() int { return m.done + (m.run+twelfths-1)/twelfths }

// notDecomposed is the first character after those that a Korean syllable is decomposed into:
// they are less than a token each.
const notDecomposed = 0x2E80

func weigh(r rune) (class, int) {
	switch {
	case r|0x20 >= 'a' && r|0x20 <= 'z':
		return classLetter, weightASCIILetter
	case r == ' ' || r == '\n' || r == '\t' || r == '\r':
		return classSpace, weightSpaces
	case r >= '0' && r <= '9':
		return classDigit, weightDigit
	case r < 0x80:
		return classMark, weightMark
	case r >= notDecomposed && lexical.IsEastAsian(r):
		return classAlone, weightUnspaced
	case unicode.IsLetter(r) || unicode.IsMark(r):
		if r < 0x250 {
			return classLetter, weightLatin
		}
		return classLetter, weightLetter
	case unicode.IsSpace(r):
		return classSpace, weightSpaces
	}
	return classAlone, weightSymbol
}

// estimate is about how many tokens a text has; 0 only of the empty text and of
// a blank.
func estimate(s string) int {
	var m meter
	for _, r := range s {
		m.add(r)
	}
	return m.total()
}

// within is how many bytes of s, at most, are within tokens: up to the last
// space if there is one, else to the last whole rune, and never none.
func within(s string, tokens int) int {
	var m meter
	space := 0
	for i, r := range s {
		m.add(r)
		if m.total() > tokens && i > 0 {
			if space > 0 {
				return space
			}
			return i
		}
		if unicode.IsSpace(r) {
			space = i
		}
	}
	return len(s)
}
