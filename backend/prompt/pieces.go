package prompt

import (
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// renderPieces renders section 4, and its lines that follow the state summary.
func (a *assembler) renderPieces() error {
	a.summaries, a.restored = nil, nil
	space := a.spaceAfterState()
	for i, p := range a.pieces {
		text, err := a.pieceText(p)
		if err != nil {
			return err
		}
		a.summaries = append(a.summaries, a.renderPiece(p, withoutLines(text, p.Omit)))
		if len(p.Restored) == 0 || !a.hasState() {
			continue
		}
		restored := a.renderPiece(p, onlyLines(text, p.Restored))
		if space -= restored.tokens; space < 0 && a.in.Replay == nil {
			space += restored.tokens
			a.pieces = slices.Clone(a.pieces)
			a.pieces[i].Restored = nil // its turns can be recalled
			continue
		}
		a.restored = append(a.restored, restored)
	}
	return nil
}

// spaceAfterState returns the space that the state summary leaves in its section for lines that it no longer contains.
func (a *assembler) spaceAfterState() int {
	return a.budget.Caps.State - total(a.framed(slices.Concat(a.state, a.now), memoryFrame))
}

func (a *assembler) renderPiece(p Piece, text string) rendered {
	source := Part{Source: "extract", From: p.From, To: p.To}
	if s := a.summaryOf(p); s != nil {
		source.ID = s.ID
		if s.Model != chat.GeneratedByExtract {
			source.Source = "summary"
		}
	}
	return a.derived(source, text, rangeText(p))
}

// summaryOf is the range summary that a piece names; nil: it is an extract.
func (a *assembler) summaryOf(p Piece) *Summary {
	at := slices.IndexFunc(a.in.Summaries, func(s Summary) bool { return s.ID == p.Summary })
	if p.Summary == "" || at < 0 {
		return nil
	}
	return &a.in.Summaries[at]
}

// pieceText is the complete text of a piece.
func (a *assembler) pieceText(p Piece) (string, error) {
	if s := a.summaryOf(p); s != nil {
		return s.Text, nil
	}
	return a.extract(p)
}

// extract is the piece's extract, from the caller's cache if possible.
func (a *assembler) extract(p Piece) (string, error) {
	extract := func() (string, error) {
		turns, err := a.in.Fetch(p.From, p.To)
		if err != nil {
			return "", err
		}
		return a.in.Extract(turns, p.Target), nil
	}
	if a.in.CachedExtract == nil {
		return extract()
	}
	return a.in.CachedExtract(p, extract)
}

// repeatedInState replaces the text of a range that the state summary covers completely.
const repeatedInState = "The state summary says all of it."

// omitRepeats decides which lines of each piece are left out because the state summary also contains them. Pieces
// kept from the previous request keep their lines too: the state summary changes with each turn, and a change at the
// beginning of the prompt loses the provider's cache. A line that the state summary has dropped since is added after
// the state, where the prompt changes anyway.
func (a *assembler) omitRepeats(pieces []Piece, kept bool) ([]Piece, error) {
	if a.in.Repeats == nil {
		return pieces, nil
	}
	pieces = slices.Clone(pieces)
	for i := range pieces {
		p := &pieces[i]
		p.Restored = nil
		if !a.hasState() {
			p.Omit = nil
		}
		if !a.hasState() || kept && len(p.Omit) == 0 {
			continue
		}
		text, err := a.pieceText(*p)
		if err != nil {
			return nil, err
		}
		repeated := a.in.Repeats(text, a.stateSummary())
		if !kept {
			p.Omit = repeated
			continue
		}
		p.Restored = slices.DeleteFunc(slices.Clone(p.Omit), func(line int) bool { return slices.Contains(repeated, line) })
	}
	return pieces, nil
}

// dropRestored drops the lines after the state summary: their turns can be recalled.
func (a *assembler) dropRestored() error {
	if len(a.restored) == 0 {
		return nil
	}
	a.log("0: left out lines of ranges that the state summary no longer contains (%d tokens)", total(a.restored))
	a.restored, a.pieces = nil, slices.Clone(a.pieces)
	for i := range a.pieces {
		a.pieces[i].Restored = nil
	}
	return nil
}

func (a *assembler) hasState() bool { return len(a.state) > 0 }

// stateSummary is the state summary that is sent, if any.
func (a *assembler) stateSummary() string {
	if a.headShrunk {
		return a.in.HeadShrunk
	}
	return a.in.Head.Summary
}

// onlyLines returns some lines of a text, counted from 0.
func onlyLines(text string, lines []int) string {
	var kept []string
	for i, line := range strings.Split(text, "\n") {
		if slices.Contains(lines, i) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

// withoutLines returns a text without some of its lines, counted from 0.
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
	if remaining := strings.TrimSpace(strings.Join(kept, "\n")); remaining != "" {
		return remaining
	}
	return repeatedInState
}
