package prompt

import (
	"fmt"

	"contextinfinity/backend/internal/display"
)

// Adaptation is what another model's budget changes (FORGE's ContextAdaptation).
type Adaptation struct {
	Kind       AdaptationKind
	Returning  int // turns that come back as originals
	Compressed int // turns that are represented by summaries from then on
	From, To   int // ceilings, tokens
	// Unsummarized are turns before the cut that have no summary yet: extracts represent
	// them until summaries are made.
	Unsummarized int
	// Dropped are pending turns that are left out as well: they are neither in the state nor
	// before the cut yet.
	Dropped int
}

// NeedsSummarization reports that turns no longer fit and some have no summary yet (FORGE's
// needs_summarization).
func (a Adaptation) NeedsSummarization() bool {
	return a.Compressed > 0 && a.Unsummarized > 0 || a.Dropped > 0
}

// AdaptationKind is FORGE's three cases.
type AdaptationKind string

const (
	NoChange  AdaptationKind = "no change"
	Expanding AdaptationKind = "expanding"
	Shrinking AdaptationKind = "shrinking"
)

// Adapt compares what two models would see of the same conversation.
func Adapt(before, after Manifest) Adaptation {
	a := Adaptation{Kind: NoChange, From: before.Budget.Ceiling, To: after.Budget.Ceiling}
	switch moved := int(after.History.Cut - before.History.Cut); {
	case moved > 0:
		a.Kind, a.Compressed = Shrinking, moved
	case moved < 0:
		a.Kind, a.Returning = Expanding, -moved
	case a.To < a.From:
		a.Kind = Shrinking
	case a.To > a.From:
		a.Kind = Expanding
	}
	for _, p := range after.History.Pieces {
		if p.Summary == "" {
			a.Unsummarized += int(p.To - p.From)
		}
	}
	a.Dropped = max(len(after.DroppedPending)-len(before.DroppedPending), 0)
	return a
}

// String says it in a sentence or more.
func (a Adaptation) String() string {
	says := a.change()
	if a.Dropped > 0 {
		says += " It needs summarisation: " + display.Count(a.Dropped, "pending turn is", "pending turns are") + " left out until committed."
	} else if a.NeedsSummarization() {
		says += " It needs summarisation: " + display.Count(a.Unsummarized, "turn has", "turns have") + " no summary yet, so extracts are sent until summaries are made in the background."
	}
	return says
}

func (a Adaptation) change() string {
	switch {
	case a.Returning > 0:
		return fmt.Sprintf("%s as originals: the working set grows from %s to %s tokens.", display.Count(a.Returning, "earlier turn returns", "earlier turns return"), compact(a.From), compact(a.To))
	case a.Compressed > 0:
		return fmt.Sprintf("%s represented by summaries: the working set shrinks from %s to %s tokens. Nothing is lost from the transcript.", display.Count(a.Compressed, "more turn is", "more turns are"), compact(a.From), compact(a.To))
	case a.Dropped > 0:
		return fmt.Sprintf("The conversation does not fit as it is: the working set goes from %s to %s tokens. Nothing is lost from the transcript.", compact(a.From), compact(a.To))
	case a.From != a.To:
		return fmt.Sprintf("The conversation fits as it is; the working set goes from %s to %s tokens.", compact(a.From), compact(a.To))
	}
	return "Nothing changes in what the model sees."
}
