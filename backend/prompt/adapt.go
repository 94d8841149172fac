package prompt

import (
	"fmt"

	"contextinfinity/backend/internal/display"
)

// Adaptation is how a context changes with another model's budget (FORGE's ContextAdaptation).
type Adaptation struct {
	Kind       AdaptationKind
	Returning  int // turns that become originals again
	Compressed int // turns that summaries represent from then on
	From, To   int // ceilings, tokens
	// Unsummarized are turns before the cut without a summary: extracts represent them until summaries exist.
	Unsummarized int
	// Dropped are pending turns that are left out: they are neither in the state summary nor before the cut yet.
	Dropped int
}

// NeedsSummarization reports whether turns no longer fit and some have no summary yet (FORGE's needs_summarization).
func (a Adaptation) NeedsSummarization() bool {
	return a.Compressed > 0 && a.Unsummarized > 0 || a.Dropped > 0
}

// AdaptationKind is one of FORGE's three cases.
type AdaptationKind string

const (
	NoChange  AdaptationKind = "no change"
	Expanding AdaptationKind = "expanding"
	Shrinking AdaptationKind = "shrinking"
)

// Adapt compares the contexts of two models for the same conversation.
func Adapt(before, after Manifest) Adaptation {
	a := AdaptLimits(before.WorkingSet(), after.WorkingSet())
	switch moved := int(after.History.Cut - before.History.Cut); {
	case moved > 0:
		a.Kind, a.Compressed = Shrinking, moved
	case moved < 0:
		a.Kind, a.Returning = Expanding, -moved
	}
	for _, p := range after.History.Pieces {
		if p.Summary == "" {
			a.Unsummarized += int(p.To - p.From)
		}
	}
	a.Dropped = max(len(after.DroppedPending)-len(before.DroppedPending), 0)
	return a
}

// AdaptLimits compares two working sets, where a context does not fit and so has no cut to compare.
func AdaptLimits(from, to int) Adaptation {
	a := Adaptation{Kind: NoChange, From: from, To: to}
	if to < from {
		a.Kind = Shrinking
	} else if to > from {
		a.Kind = Expanding
	}
	return a
}

// String describes the change in one or more sentences.
func (a Adaptation) String() string {
	text := a.change()
	if a.Dropped > 0 {
		text += " It needs summarization: " + display.Count(a.Dropped, "pending turn is", "pending turns are") + " left out until committed."
	} else if a.NeedsSummarization() {
		text += " It needs summarization: " + display.Count(a.Unsummarized, "turn has", "turns have") + " no summary yet, so extracts are sent until summaries are made in the background."
	}
	return text
}

func (a Adaptation) change() string {
	switch {
	case a.Returning > 0:
		return fmt.Sprintf("%s as originals: the working set grows from %s to %s tokens.", display.Count(a.Returning, "earlier turn returns", "earlier turns return"), compact(a.From), compact(a.To))
	case a.Compressed > 0:
		return fmt.Sprintf("%s represented by summaries: the working set shrinks from %s to %s tokens. Nothing is lost from the transcript.", display.Count(a.Compressed, "more turn is", "more turns are"), compact(a.From), compact(a.To))
	case a.Dropped > 0:
		return fmt.Sprintf("The conversation does not fit in full: the working set changes from %s to %s tokens. Nothing is lost from the transcript.", compact(a.From), compact(a.To))
	case a.From != a.To:
		return fmt.Sprintf("The conversation fits in full; the working set changes from %s to %s tokens.", compact(a.From), compact(a.To))
	}
	return "Nothing changes in what the model sees."
}
