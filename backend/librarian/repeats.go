package librarian

import (
	"hash/fnv"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"contextinfinity/backend/internal/cues"
)

// Two statements say nearly the same from this share of the words of the shorter one, which must
// have a few: two instructions of three words may differ in the one that matters.
const (
	repeatShare    = 0.8
	standingRepeat = 1.0
	repeatWords    = 4

	// maxCompared bounds how many earlier statements a new one is compared with: the work grows with the text alone.
	maxCompared = 400
)

// repeated is a statement prepared to be compared with others.
type repeated struct {
	words, names, numbers map[string]bool
	negated               bool
	marks                 uint64 // a bit for each word, by which most pairs are told apart at once
}

func repeatedOf(text string) repeated {
	r := repeated{words: contentStems(text), names: nameStems(text), numbers: numbersIn(text), negated: negated(text)}
	for w := range r.words {
		h := fnv.New32a()
		_, _ = h.Write([]byte(w)) // a hash never fails
		r.marks |= 1 << (h.Sum32() % 64)
	}
	return r
}

// repeats reports that a later statement says what an earlier one said, in nearly the same words:
// the same denial, no other name, no other number. What has details that the later one lacks is kept.
func (later repeated) repeats(earlier repeated, share float64) bool {
	shorter, longer, lost := earlier.words, later.words, earlier.marks&^later.marks
	if len(shorter) > len(longer) {
		shorter, longer, lost = longer, shorter, later.marks&^earlier.marks
	}
	if len(shorter) < repeatWords || float64(bits.OnesCount64(lost)) > (1-share)*float64(len(shorter))+1e-9 {
		return false
	}
	return later.negated == earlier.negated &&
		shareOf(shorter, longer) >= share &&
		shareOf(earlier.names, later.words) == 1 && shareOf(earlier.numbers, later.numbers) == 1 &&
		(maps.Equal(earlier.numbers, later.numbers) || shareOf(earlier.words, later.words) >= share)
}

// repeatedSections are those whose entries are compared by their words.
var repeatedSections = []Section{Facts, Decisions, Constraints, OpenTasks}

func comparable(sec Section) bool { return slices.Contains(repeatedSections, sec) }

// repeatShareOf is higher for standing instructions, each of which is an order, than for preferences.
func repeatShareOf(sec Section, text string) float64 {
	if sec == Constraints && cues.IsStanding(text) && !strings.Contains(strings.ToLower(text), "prefer") {
		return standingRepeat
	}
	return repeatShare
}
