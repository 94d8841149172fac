package encoder

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// pieces are the parts of words that the encoder knows, with the logarithm of how frequent each is.
type pieces struct {
	ids     map[string]piece
	starts  map[rune]bool // first characters
	lengths []int         // in characters, by id
	scores  []float32     // by id
	longest int           // in characters
}

type piece struct {
	id    int
	score float32
}

const (
	reserved = 6 // the first pieces are for other purposes; 0 is the unknown one
	// space stands for a space, and begins every text.
	space = "\u2581"
	// maxText is where a text is cut, in bytes: its pieces are far more than maxPieces.
	maxText = 4000
)

func (p *pieces) add(id int, text string, score float32) {
	p.scores[id] = score
	p.lengths[id] = utf8.RuneCountInString(text)
	if id < reserved {
		return
	}
	if p.starts == nil {
		p.starts = map[rune]bool{}
	}
	first, _ := utf8.DecodeRuneInString(text)
	p.ids[text], p.starts[first] = piece{id, score}, true
	p.longest = max(p.longest, p.lengths[id])
}

// split divides a text into the pieces whose scores have the highest sum. Unknown characters in a row are one piece.
func (p *pieces) split(text string) []int {
	text = norm.NFKC.String(text)
	if text == "" {
		return nil
	}
	text = space + strings.ReplaceAll(text, " ", space)
	starts := make([]int, 0, len(text)+1) // of characters, in bytes
	var begins []bool                     // whether a piece begins with it
	for i, r := range text {
		starts, begins = append(starts, i), append(begins, p.starts[r])
	}
	n := len(starts)
	starts = append(starts, len(text))
	best, last := make([]float32, n+1), make([]int, n+1)
	for end := 1; end <= n; end++ {
		for from := max(0, end-p.longest); from < end; from++ {
			found, ok := p.ids[text[starts[from]:starts[end]]]
			if !ok && (end-from > 1 || begins[from]) {
				continue
			}
			if sum := best[from] + found.score; best[end] == 0 || sum >= best[end] {
				best[end], last[end] = sum, found.id
			}
		}
	}
	var out []int
	for at := n; at > 0; at -= p.lengths[last[at]] {
		if id := last[at]; id != 0 || len(out) == 0 || out[len(out)-1] != 0 {
			out = append(out, id)
		}
	}
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

const (
	// costOfCharacter is the mean cost of a character, the negative score of its piece, up to which a sentence is
	// English: 1.6 is usual in it, and 3.5 in other languages. costOfWord is added, so that one rare word is allowed.
	costOfCharacter = 2.6
	costOfWord      = 5
	// costOfUnknown is that of a character that begins no piece.
	costOfUnknown = 8
)

// known returns the first pieces of the sentences of a text that are English; none if no sentence is.
func (p *pieces) known(text string) []int {
	var kept []string
	english := false
	for line := range strings.Lines(text[:min(len(text), maxText)]) {
		for _, sentence := range sentences(strings.TrimSpace(line)) {
			letters, cost := p.cost(sentence)
			if letters == 0 || cost <= costOfCharacter*letters+costOfWord {
				kept = append(kept, sentence)
				english = english || letters > 0
			}
		}
	}
	if !english {
		return nil
	}
	ids := p.split(strings.Join(kept, " "))
	return ids[:min(len(ids), maxPieces)]
}

// sentences divides a line after marks that are followed by a space.
func sentences(line string) []string {
	var out []string
	start := 0
	for i := 1; i < len(line); i++ {
		if line[i] == ' ' && strings.IndexByte(".!?", line[i-1]) >= 0 {
			out = append(out, line[start:i])
			start = i + 1
		}
	}
	return append(out, line[start:])
}

// cost is the cost of a sentence's words in lower case, and the number of their characters, with one for the space
// before each.
func (p *pieces) cost(sentence string) (letters, cost float64) {
	words := strings.FieldsFunc(strings.ToLower(sentence), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, word := range words {
		letters += float64(1 + utf8.RuneCountInString(word))
		for _, id := range p.split(word) {
			if id == 0 {
				cost += costOfUnknown * float64(utf8.RuneCountInString(word))
			}
			cost -= float64(p.scores[id])
		}
	}
	return letters, cost
}
