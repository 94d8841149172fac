package librarian

import (
	"hash/fnv"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/numerals"
)

// Two statements say nearly the same if they share this part of the words of the shorter one. It must have at least
// repeatWords words: two instructions of three words may differ in the word that matters.
const (
	repeatShare    = 0.8
	standingRepeat = 1.0
	repeatWords    = 4

	// maxCompared limits how many earlier statements a new one is compared with, so that the work grows only linearly
	// with the text.
	maxCompared = 400
)

// repeated is a statement prepared to be compared with others.
type repeated struct {
	words, names, numbers map[string]bool
	negated               bool
	marks                 uint64 // a bit for each word, to reject most pairs quickly
}

func repeatedOf(text string) repeated {
	r := repeated{words: contentStems(text), names: nameStems(text), numbers: numerals.In(text), negated: negated(text)}
	for w := range r.words {
		h := fnv.New32a()
		_, _ = h.Write([]byte(w)) // a hash never fails
		r.marks |= 1 << (h.Sum32() % 64)
	}
	return r
}

// repeats reports whether a later statement says the same as an earlier one in nearly the same words: same negation, no
// other name, no other number. An earlier statement with additional details is kept.
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

// repeatedSections are the sections whose entries are compared by their words.
var repeatedSections = []Section{Facts, Decisions, Constraints, OpenTasks}

func comparedByWords(sec Section) bool { return slices.Contains(repeatedSections, sec) }

// repeatShareOf is higher for standing instructions, each of which is an order, than for preferences.
func repeatShareOf(sec Section, text string) float64 {
	if sec == Constraints && intent.IsStanding(text) && !strings.Contains(strings.ToLower(text), "prefer") {
		return standingRepeat
	}
	return repeatShare
}

// RepeatedLines returns the lines of a range summary, counted from 0, that a state summary also contains, each as a
// statement or as names, and headings whose lines are all repeated. A line with a number, a name or several words that
// the state summary lacks is not repeated.
func RepeatedLines(text, state string) []int {
	content := contentOf(state)
	var out, section []int // section: the repeated lines under the last heading
	heading, lines := -1, 0
	endSection := func() {
		if heading >= 0 && lines > 0 && len(section) == lines {
			out = append(out, heading)
		}
		out = append(out, section...)
		section, lines = nil, 0
	}
	sec := Happened
	for i, line := range strings.Split(clip(text, maxParse), "\n") {
		line = strings.TrimSpace(line)
		if title, ok := headingText(line); ok {
			endSection()
			heading, sec = i, pieceSection(title)
			continue
		}
		if line == "" {
			continue
		}
		lines++
		if line, _ = cutBullet(line); content.says(sec, line) {
			section = append(section, i)
		}
	}
	endSection()
	slices.Sort(out)
	return out
}

// stateContent is the content of a state summary, prepared for comparison.
type stateContent struct {
	exact      map[string]bool
	statements []repeated
	names      evidence
}

func contentOf(state string) stateContent {
	s := Parse(state)
	s.entries[LastExchange] = nil
	out := stateContent{exact: map[string]bool{}, names: evidenceOf(s.Render())}
	for sec := range sectionCount {
		if sec == Artifacts {
			continue
		}
		for _, e := range s.entries[sec] {
			out.exact[key(sec, e)] = true
			out.statements = append(out.statements, repeatedOf(e))
		}
	}
	return out
}

func (s stateContent) says(sec Section, line string) bool {
	if sec == Artifacts {
		for name := range strings.SplitSeq(line, artifactSeparator) {
			if !s.names.containsName(name) {
				return false
			}
		}
		return true
	}
	if s.exact[key(sec, plainLine(line))] {
		return true
	}
	r, share := repeatedOf(line), repeatShareOf(sec, line)
	return slices.ContainsFunc(s.statements, func(state repeated) bool {
		return state.repeats(r, share) && shareOf(r.words, state.words) >= share
	})
}
