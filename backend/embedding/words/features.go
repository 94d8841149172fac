package words

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
)

// feature is a position in the vector and the value added there.
type feature struct {
	position uint16
	weight   float32
}

// word is the contribution of a word to a vector.
type word struct {
	features  []feature
	hash      uint64 // of its stem
	isContent bool   // it is not a stop word
}

// counted is a word or pair of a text and its number of occurrences.
type counted struct {
	word *word
	hash uint64
	n    int
}

// memo caches words, most of which occur in many texts.
type memo struct {
	words map[string]*word
	buf   []rune
}

// memoWords limits the cache: about 5 MB.
const memoWords = 20_000

// count lists the words and the pairs of a text by first appearance. A pair is two consecutive words without a stop
// word between them.
func (m *memo) count(text string) (words, pairs []counted) {
	ofWord, ofPair := map[*word]int{}, map[uint64]int{}
	add := func(list *[]counted, at int, seen bool, c counted) int {
		if seen {
			(*list)[at].n++
			return at
		}
		*list = append(*list, c)
		return len(*list) - 1
	}
	var last *word
	m.split(text, func(w *word) {
		at, seen := ofWord[w]
		ofWord[w] = add(&words, at, seen, counted{word: w, n: 1})
		if !w.isContent {
			last = nil
			return
		}
		if last != nil {
			h := mix(last.hash*31 + w.hash)
			at, seen := ofPair[h]
			ofPair[h] = add(&pairs, at, seen, counted{hash: h, n: 1})
		}
		last = w
	})
	return words, pairs
}

// split calls yield with each word of a text: runs of letters, digits and marks; for East Asian scripts, pairs of
// adjacent characters. These are not the words of a search (package lexical), because stored vectors were made with
// them.
func (m *memo) split(text string, yield func(*word)) {
	start := -1
	end := func(at int) {
		if start >= 0 {
			yield(m.word(text[start:at]))
		}
		start = -1
	}
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		switch {
		case lexical.IsEastAsian(r):
			end(i)
			next, more := utf8.DecodeRuneInString(text[i+size:])
			if before, _ := utf8.DecodeLastRuneInString(text[:i]); lexical.IsEastAsian(next) {
				yield(m.word(text[i : i+size+more]))
			} else if !lexical.IsEastAsian(before) {
				yield(m.word(text[i : i+size]))
			}
		case !inWord(r, size):
			end(i)
		case start < 0:
			start = i
		case i-start >= longestWord:
			end(i)
			start = i
		}
		i += size
	}
	end(len(text))
}

// longestWord, in bytes, is the length at which a run that is not a word (base64, a letter repeated a million times)
// is cut.
const longestWord = 64

func inWord(r rune, size int) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return (r != utf8.RuneError || size > 1) && (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r))
}

func (m *memo) word(s string) *word {
	if w, ok := m.words[s]; ok {
		return w
	}
	w := m.newWord(s)
	if len(m.words) < memoWords {
		m.words[strings.Clone(s)] = w
	}
	return w
}

// newWord creates a word with its features.
func (m *memo) newWord(s string) *word {
	lower := strings.ToLower(s)
	if lexical.IsStopWord(lower) {
		h := mix(sum(lower))
		return &word{features: []feature{hashed(h, stopWeight)}, hash: h}
	}
	first, _ := utf8.DecodeRuneInString(s)
	if lexical.IsEastAsian(first) {
		h := mix(sum(lower))
		return &word{features: []feature{hashed(h, 1)}, hash: h, isContent: true}
	}
	h := mix(sum(lexical.Stem(lower)))
	w := &word{features: []feature{hashed(h, stemWeight)}, hash: h, isContent: true}
	m.grams(w, lower)
	for _, part := range parts(s) {
		w.features = append(w.features, hashed(mix(sum(lexical.Stem(strings.ToLower(part)))), partWeight))
	}
	return w
}

// grams adds a word's runs of three to five letters, with its boundaries marked.
func (m *memo) grams(w *word, lower string) {
	m.buf = append(m.buf[:0], '<')
	m.buf = append(m.buf, []rune(lower)...)
	m.buf = append(m.buf, '>')
	n := 0
	for size := 3; size <= 5; size++ {
		n += max(0, len(m.buf)-size+1)
	}
	if n == 0 {
		return
	}
	weight := float32(gramWeight / math.Sqrt(float64(n)))
	for size := 3; size <= 5; size++ {
		for i := 0; i+size <= len(m.buf); i++ {
			h := uint64(size) * offset
			for _, r := range m.buf[i : i+size] {
				h = (h ^ uint64(r)) * prime
			}
			w.features = append(w.features, hashed(mix(h), weight))
		}
	}
}

// parts splits an identifier into its words: parseHTTPHeader into parse, HTTP and Header. It returns nil for a single
// word.
func parts(s string) []string {
	var out []string
	runes := []rune(s)
	from := 0
	for i := 1; i < len(runes); i++ {
		upper := unicode.IsUpper(runes[i])
		boundary := upper && !unicode.IsUpper(runes[i-1]) ||
			upper && i+1 < len(runes) && unicode.IsLower(runes[i+1]) ||
			unicode.IsDigit(runes[i]) != unicode.IsDigit(runes[i-1])
		if boundary {
			out = append(out, string(runes[from:i]))
			from = i
		}
	}
	if from == 0 {
		return nil
	}
	return append(out, string(runes[from:]))
}

// FNV-1a, mixed: the highest bit is the sign, the lowest are the position.
const (
	offset = 14695981039346656037
	prime  = 1099511628211
)

func sum(s string) uint64 {
	h := uint64(offset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * prime
	}
	return h
}

func mix(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

func hashed(h uint64, weight float32) feature {
	if h>>63 == 1 {
		weight = -weight
	}
	return feature{uint16(h % Dimension), weight}
}
