package chunking

import (
	"unicode"

	"contextinfinity/backend/internal/lexical"
)

// Texts are split by an estimate of tokens: counting is slow, and the same turn must give the same chunks whatever
// model is used. The tokens of what is stored are counted once.

// Weights of runs of characters, in twelfths of a token.
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

// meter estimates the tokens of a text character by character.
type meter struct {
	done   int // complete tokens of finished runs
	run    int // twelfths of the current run
	last   class
	blanks int // in the current run of spaces
}

func (m *meter) add(r rune) {
	c, weight := classify(r)
	if c != m.last || c == classAlone {
		m.done, m.run, m.blanks = m.total(), 0, 0
	}
	if c == classSpace {
		// A single space belongs to the following word.
		if m.blanks++; m.blanks > 1 || r != ' ' {
			m.run = weight * (1 + m.blanks/spacesPerToken)
		}
	} else {
		m.run += weight
	}
	m.last = c
}

func (m *meter) total() int { return m.done + (m.run+twelfths-1)/twelfths }

// notDecomposed is the first character after those into which Korean syllables are decomposed, each of which is less
// than a token.
const notDecomposed = 0x2E80

func classify(r rune) (class, int) {
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

// estimate is the approximate number of tokens of a text; 0 only for an empty text or a single space.
func estimate(s string) int {
	var m meter
	for _, r := range s {
		m.add(r)
	}
	return m.total()
}

// within is the number of bytes of s that take at most this many tokens: up to the last space if there is one,
// otherwise to the last complete character, but at least one.
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
