package librarian

import (
	"sort"
	"strings"
	"time"

	"contextinfinity/backend/internal/intent"
)

// layout is how a kind of summary is written and shortened.
type layout struct {
	render func(Summary) string
	// shares are the parts of the budget reserved for a section's newest entries; what one section does not use is
	// divided among the others in proportion.
	shares [sectionCount]float64
	// now distinguishes future tasks from overdue ones; zero: every date counts as future.
	now time.Time
}

// withTime is the layout for a summary at a time.
func (l layout) withTime(now time.Time) layout {
	l.now = now
	return l
}

var (
	stateLayout = layout{render: Summary.Render, shares: [sectionCount]float64{
		Facts: 0.18, Decisions: 0.25, Constraints: 0.26, Artifacts: 0.18, OpenTasks: 0.06, LastExchange: 0.07,
	}}
	rangeLayout = layout{render: renderRange, shares: [sectionCount]float64{
		Happened: 0.30, Facts: 0.22, Decisions: 0.14, Constraints: 0.18, Artifacts: 0.10, OpenTasks: 0.06,
	}}
)

// importance orders the sections from the last to be trimmed to the first.
var importance = [sectionCount]Section{Constraints, Decisions, Facts, OpenTasks, LastExchange, Happened, Artifacts}

// maxCandidates limits how many entries of a section are considered.
const maxCandidates = 500

// candidate is an entry that may be kept.
type candidate struct {
	sec      Section
	index    int
	cost     int
	reserved bool // within its section's share
	rank     int  // of its section in importance
	tier     int  // within its section: the lowest is dropped last
}

// tier ranks entries of a section before their age does. Tasks with a future date come before other tasks, because
// there may be many newer tasks without a date.
func (l layout) tier(sec Section, entry string) int {
	if sec == OpenTasks && writtenDate().MatchString(entry) && (l.now.IsZero() || isAhead(entry, l.now)) {
		return 0
	}
	return tierOf(sec, entry)
}

// tierOf ranks entries by content: standing instructions before other constraints; who the user is and what they want
// before other facts, then results with numbers, dates and names, and last the assistant's statements, requests and
// remarks.
func tierOf(sec Section, entry string) int {
	switch {
	case sec == Constraints && intent.IsStanding(entry):
		return 0
	case sec == Facts && isPurpose(entry):
		return 0
	case strings.HasPrefix(entry, assistantMark), strings.HasPrefix(entry, requestMark):
		return 3
	case sec == Facts && salience(entry) < enoughDetails && !measured(entry):
		return 4
	case sec == Facts && salience(entry) < manyDetails:
		return 2
	}
	return 1
}

// Trim shortens a summary to at most target tokens without a model: the oldest entries of the least important
// sections are dropped first, headings stay. Text under no heading is a fact. A target too small for the headings
// gives an empty text.
func Trim(summary string, target int, count func(string) int) string {
	_, text, _ := stateLayout.trim(Parse(summary), target, counting(count))
	return text
}

// counting is the given counter, or four bytes per token.
func counting(count func(string) int) func(string) int {
	if count != nil {
		return count
	}
	return func(s string) int { return (len(s) + 3) / 4 }
}

// trim returns the part of a summary that fits the target, with its text and size. The count of the whole text
// decides; counts of parts are only estimates.
func (l layout) trim(s Summary, target int, count func(string) int) (Summary, string, int) {
	for sec := range sectionCount {
		if n := len(s.entries[sec]); n > maxCandidates {
			s.entries[sec] = s.entries[sec][n-maxCandidates:]
		}
	}
	if text := l.render(s); count(text) <= target {
		return s, text, count(text)
	}
	var bare Summary
	frame := count(l.render(bare) + "\n## " + LastExchange.Heading() + "\n")
	kept := choose(l.candidates(s, target-frame, count), target-frame)
	for drop := 1; ; drop *= 2 {
		shortened := s.reducedTo(kept)
		text := l.render(shortened)
		if tokens := count(text); tokens <= target {
			return shortened, text, tokens
		}
		if len(kept) == 0 {
			return Summary{}, "", 0 // not even the headings fit
		}
		kept = kept[:max(len(kept)-drop, 0)]
	}
}

// candidates lists the entries from the last to be dropped to the first: those within their section's allotment, then
// by importance, then by tier, newest first.
func (l layout) candidates(s Summary, budget int, count func(string) int) []candidate {
	var list []candidate
	var demand [sectionCount]int
	for rank, sec := range importance {
		from := len(list)
		for i := len(s.entries[sec]) - 1; i >= 0; i-- {
			cost := count("- " + s.entries[sec][i] + "\n")
			demand[sec] += cost
			list = append(list, candidate{sec: sec, index: i, rank: rank, cost: cost, tier: l.tier(sec, s.entries[sec][i])})
		}
		section := list[from:]
		sort.SliceStable(section, func(a, b int) bool { return section[a].tier < section[b].tier })
	}
	remaining := allot(demand, l.shares, budget)
	for i := range list {
		c := &list[i]
		remaining[c.sec] -= c.cost
		c.reserved = remaining[c.sec] >= 0
	}
	sort.SliceStable(list, func(a, b int) bool {
		if list[a].reserved != list[b].reserved {
			return list[a].reserved
		}
		return list[a].rank < list[b].rank
	})
	return list
}

// allot divides the budget by shares. A section that needs less than its share gets what it needs, and the rest is
// divided among the others.
func allot(demand [sectionCount]int, shares [sectionCount]float64, budget int) (allotted [sectionCount]int) {
	var settled [sectionCount]bool
	for range sectionCount {
		weight := 0.0
		for sec, share := range shares {
			if !settled[sec] {
				weight += share
			}
		}
		changed := false
		rest := budget
		for sec, share := range shares {
			if settled[sec] {
				continue
			}
			allotted[sec] = int(float64(budget) * share / max(weight, 1e-9))
			if demand[sec] <= allotted[sec] {
				allotted[sec], settled[sec], changed = demand[sec], true, true
				rest -= demand[sec]
			}
		}
		if !changed {
			break
		}
		budget = rest
	}
	return allotted
}

// choose takes candidates in order while they fit.
func choose(list []candidate, budget int) []candidate {
	var kept []candidate
	for _, c := range list {
		if c.cost <= budget {
			budget -= c.cost
			kept = append(kept, c)
		}
	}
	return kept
}

// reducedTo is the summary reduced to the given entries, in their original order.
func (s Summary) reducedTo(kept []candidate) Summary {
	var isKept [sectionCount]map[int]bool
	for _, c := range kept {
		if isKept[c.sec] == nil {
			isKept[c.sec] = map[int]bool{}
		}
		isKept[c.sec][c.index] = true
	}
	var out Summary
	for sec, list := range s.entries {
		for i, e := range list {
			if isKept[sec][i] {
				out.entries[sec] = append(out.entries[sec], e)
			}
		}
	}
	return out
}
