package prompt

import (
	"slices"
	"strings"
)

func (a *assembler) renderPiece(p Piece) (rendered, error) {
	text, err := a.pieceText(p)
	if err != nil {
		return rendered{}, err
	}
	source := Part{Source: "extract", From: p.From, To: p.To}
	if s := a.summaryOf(p); s != nil {
		source.Source, source.ID = "summary", s.ID
	}
	return a.derived(source, withoutLines(text, p.Omit), rangeText(p)), nil
}

// summaryOf is the range summary that a piece names; nil: it is an extract.
func (a *assembler) summaryOf(p Piece) *Summary {
	at := slices.IndexFunc(a.in.Summaries, func(s Summary) bool { return s.ID == p.Summary })
	if p.Summary == "" || at < 0 {
		return nil
	}
	return &a.in.Summaries[at]
}

// pieceText is all that a piece says, as it was made.
func (a *assembler) pieceText(p Piece) (string, error) {
	if s := a.summaryOf(p); s != nil {
		return s.Text, nil
	}
	return a.extract(p)
}

// extract is the piece's extract, made before if the caller remembers it.
func (a *assembler) extract(p Piece) (string, error) {
	extract := func() (string, error) {
		turns, err := a.in.Fetch(p.From, p.To)
		if err != nil {
			return "", err
		}
		return a.in.Extract(turns, p.Target), nil
	}
	if a.in.Remember == nil {
		return extract()
	}
	return a.in.Remember(p, extract)
}

// repeatedInState stands in a range of turns of which the state summary says everything.
const repeatedInState = "The state summary says all of it."

// omitRepeats decides which lines of each piece are left out because the state summary says them as
// well. Pieces that are kept from the request before keep their lines too: the state changes with each
// turn, and a prompt that changes in front loses the provider's cache.
func (a *assembler) omitRepeats(pieces []Piece, kept bool) ([]Piece, error) {
	if a.in.Repeats == nil || kept && a.hasState() {
		return pieces, nil
	}
	pieces = slices.Clone(pieces)
	for i := range pieces {
		pieces[i].Omit = nil
		if !a.hasState() {
			continue
		}
		text, err := a.pieceText(pieces[i])
		if err != nil {
			return nil, err
		}
		pieces[i].Omit = a.in.Repeats(text, a.stateSummary())
	}
	return pieces, nil
}

func (a *assembler) hasState() bool { return len(a.state) > 0 }

// stateSummary is the state summary that is sent, if any is.
func (a *assembler) stateSummary() string {
	if a.in.HeadShrunk != "" {
		return a.in.HeadShrunk
	}
	return a.in.Head.Summary
}

// withoutLines is a text without some of its lines, which are counted from 0.
func withoutLines(text string, omit []int) string {
	if len(omit) == 0 {
		return text
	}
	var kept []string
	for i, line := range strings.Split(text, "\n") {
		if !slices.Contains(omit, i) {
			kept = append(kept, line)
		}
	}
	if left := strings.TrimSpace(strings.Join(kept, "\n")); left != "" {
		return left
	}
	return repeatedInState
}
