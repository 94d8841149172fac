package librarian

import (
	"context"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// Range is a range of a lineage that a summary should represent (SPEC 6).
type Range struct {
	// Pieces are summaries that represent parts of it already, oldest first; Turns are the turns that no piece covers.
	Pieces []string
	Turns  []chat.Turn
	Pins   []chat.Pin // sent separately: never given to a model
	Target int        // tokens
	// Original is the size of the original range in tokens: a summary must be smaller. 0: the total of turns and
	// pieces.
	Original int
	Model    Model            // nil: none
	Count    func(string) int // nil: four bytes per token
	Style    string           // summary.style; "": StyleSections
}

// Styles of a model's range summary (summary.style).
const (
	StyleSections  = "sections"  // prose, then lists of decisions, constraints and so on
	StyleNarrative = "narrative" // one continuous story, with lists of what it leaves out
)

// RangeSummary is the result for a range. Text is empty only if the range says nothing or is too small to be
// shortened.
type RangeSummary struct {
	Text        string
	Tokens      int
	GeneratedBy string          // a model's name, or chat.GeneratedByExtract
	Reason      string          // why no model wrote it, or its first answer was not used, if one was called
	Missing     []string        // entries that the answer lacked
	Added       []string        // entries added to it by rule
	Validation  json.RawMessage // stored with the summary; empty if no model was called
}

// methodExtract is the Validation's method if the extract replaced a model's summary.
const methodExtract = chat.GeneratedByExtract

// SummarizeRange returns a range's summary: a model's, if it is about the range, keeps the required entries and is
// smaller than what it represents, within three tries; otherwise the deterministic extract. It always returns a
// summary.
func (l Librarian) SummarizeRange(ctx context.Context, g Range) RangeSummary {
	g.Count = counting(g.Count)
	if g.Original <= 0 {
		g.Original = g.measure()
	}
	if g.Model == nil {
		return g.extract()
	}
	ctx, cancel := context.WithTimeout(ctx, runTimeouts*l.timeout())
	defer cancel()
	r := &run{
		ctx: ctx, timeout: l.timeout(), model: g.Model, count: g.Count, kind: rangeTask, target: g.Target,
		pins: g.Pins, style: g.Style, fails: rangeFails,
	}
	hidden := newMask(g.Pins)
	s, ok := r.fold("", g.passages(hidden), func() string { return hidden.hide(g.extract().Text) })
	text := renderRange(s)
	if tokens := r.count(text); ok && tokens < g.Original {
		return RangeSummary{
			Text: text, Tokens: tokens, GeneratedBy: g.Model.Name(), Reason: r.problem, Missing: r.missing, Added: r.added,
			Validation: r.validationOf(string(chat.StateLibrarian), s, len(g.Turns), tokens),
		}
	}
	if ok {
		r.problem = "it is not shorter than what it replaces"
	}
	out := g.extract()
	out.Reason = r.problem
	// Findings about an unused answer do not apply to the extract.
	unused := &run{model: r.model, target: r.target, tries: r.tries, problem: r.problem, usage: r.usage}
	out.Validation = unused.validationOf(methodExtract, Parse(out.Text), len(g.Turns), out.Tokens)
	return out
}

func (g Range) extract() RangeSummary {
	text := ExtractFrom(g.Pieces, g.Turns, min(g.Target, g.Original-1), g.Count)
	return RangeSummary{Text: text, Tokens: g.Count(text), GeneratedBy: chat.GeneratedByExtract}
}

func (g Range) measure() int {
	n := 0
	for _, p := range g.Pieces {
		n += g.Count(p)
	}
	for _, p := range passagesOf(g.Turns, nil) {
		n += g.Count(p.text)
	}
	return n
}

func (g Range) passages(hidden mask) []passage {
	out := lists.Map(g.Pieces, func(p string) passage { return passage{role: "summary", text: hidden.hide(p)} })
	return append(out, passagesOf(g.Turns, hidden)...)
}

// Shrink shortens a state summary to at most target tokens with a model (SRD 10.4), within the librarian's timeout
// and ctx's deadline, otherwise with Trim.
func (l Librarian) Shrink(ctx context.Context, summary string, target int, model Model, count func(string) int) (string, *chat.Usage) {
	count = counting(count)
	if model == nil || count(summary) <= target {
		return Trim(summary, target, count), nil
	}
	r := &run{ctx: ctx, timeout: l.timeout(), model: model, count: count, kind: updateTask, target: target}
	if short, ok := r.askShorter(summary); ok {
		return short, r.usage
	}
	return Trim(summary, target, count), r.usage
}
