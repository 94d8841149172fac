package prompt

import "fmt"

// Adaptation is what another model's budget changes (FORGE's ContextAdaptation).
type Adaptation struct {
	Kind       AdaptationKind
	Returning  int // turns that come back as originals
	Compressed int // turns that are represented by summaries from then on
	From, To   int // ceilings, tokens
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
	return a
}

// String says it in a sentence.
func (a Adaptation) String() string {
	switch {
	case a.Returning > 0:
		return fmt.Sprintf("%d earlier turns return as they were said: the working set grows from %s to %s tokens.", a.Returning, compact(a.From), compact(a.To))
	case a.Compressed > 0:
		return fmt.Sprintf("%d more turns are represented by summaries: the working set shrinks from %s to %s tokens. Nothing is lost from the transcript.", a.Compressed, compact(a.From), compact(a.To))
	case a.From != a.To:
		return fmt.Sprintf("The conversation fits as it is; the working set goes from %s to %s tokens.", compact(a.From), compact(a.To))
	}
	return "Nothing changes in what the model sees."
}
