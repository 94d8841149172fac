package prompt

import (
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// Draft is a context before memory is recalled: it determines how many tokens remain for memory, and up to which turn
// memory is searched.
type Draft struct{ a *assembler }

// NewDraft builds a context with only the memory that the user attached. If that does not fit, the cut moves so that
// some retrieved memory fits too. If the rest does not fit even without memory, Finish shrinks it in the order of SRD
// 7.3 and no memory is selected; only where that order would end in an error, the newest turns are shortened here, and
// memory may fill what they leave.
func NewDraft(in Input) (*Draft, error) {
	a := newAssembler(in)
	if in.Replay == nil {
		a.in.Retrieved = slices.DeleteFunc(slices.Clone(in.Retrieved), func(r Artifact) bool { return !r.Attached })
	}
	if err := a.build(); err != nil {
		return nil, err
	}
	if in.Replay != nil || a.in.Policy.History != HistoryElastic || a.fits() {
		return &Draft{a}, nil
	}
	spare := share(a.budget.Caps.Retrieved, a.budget.Ceiling, retrievalShare)
	if err := a.shrinkHistory(spare); err != nil || a.fits() {
		return &Draft{a}, err
	}
	last := a.clone()
	if err := last.shrink(spare); err != nil {
		return nil, err
	}
	if len(last.shortened) > 0 {
		return &Draft{last}, nil
	}
	return &Draft{a}, nil
}

// clone returns an assembler whose shrinking does not change a.
func (a *assembler) clone() *assembler {
	b := *a
	b.last, b.limits, b.shortened = slices.Clone(a.last), slices.Clone(a.limits), slices.Clone(a.shortened)
	b.dropped, b.steps, b.notes = slices.Clone(a.dropped), slices.Clone(a.steps), slices.Clone(a.notes)
	b.redactedRecalled = slices.Clone(a.redactedRecalled)
	b.found = &b.redactedRecalled
	return &b
}

// Shortened returns the turns after the cut that the context contains only in part: memory is searched for their text
// as for the turns before the cut.
func (d *Draft) Shortened() []chat.TurnID {
	var out []chat.TurnID
	for _, r := range slices.Concat(d.a.originals, d.a.pending) {
		if id := chat.TurnID(r.source.ID); r.source.Shortened && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// Shows reports whether the context contains a text of a turn after the cut verbatim.
func (d *Draft) Shows(turn chat.TurnID, text string) bool {
	text = strings.TrimSpace(text)
	return slices.ContainsFunc(slices.Concat(d.a.originals, d.a.pending), func(r rendered) bool {
		return r.source.ID == string(turn) && strings.Contains(r.text, text)
	})
}

// Cut is the turn_seq up to which the context does not contain the original turns.
func (d *Draft) Cut() int64 { return d.a.plan.Cut }

// Room is the number of tokens for artifacts, including their date headings: all that the other sections leave,
// up to their cap. None is left where a pending turn had to go: memory goes first.
func (d *Draft) Room() int {
	a := d.a
	if len(a.dropped) > 0 {
		return 0
	}
	frame := 0
	if len(a.retrieved) == 0 {
		frame = total(a.memoryWith([]rendered{a.frameItem("config", selection)})) - total(a.memory())
	}
	return max(0, min(a.budget.Ceiling-a.used(), a.budget.Caps.Retrieved-total(a.recalled()))-frame)
}

// Finish adds the artifacts, best first and including attached ones, and shrinks until the context fits. failure says
// why memory was not searched.
func (d *Draft) Finish(retrieved []Artifact, failure chat.Phrase) (PreparedContext, error) {
	a := d.a
	a.in.Retrieved, a.in.RetrievalError = retrieved, failure
	a.renderRetrieved()
	if a.in.Replay != nil {
		return a.prepared(), nil
	}
	if err := a.shrink(0); err != nil {
		return PreparedContext{}, err
	}
	return a.prepared(), nil
}

// PlanOf returns how an assembly of the same input would represent history before shrinking, and its budget.
func PlanOf(in Input) (Plan, Budget, error) {
	a := newAssembler(in)
	if err := a.buildFixed(); err != nil {
		return Plan{}, a.budget, err
	}
	return a.makePlan(), a.budget, nil
}

func (a *assembler) build() error {
	if err := a.buildFixed(); err != nil {
		return err
	}
	if m := a.in.Replay; m != nil {
		a.plan = Plan{Cut: m.History.Cut, Ranges: m.History.Ranges}
		a.dropped, a.shortened = m.DroppedPending, m.Inputs.Shortened
		a.steps, a.notes = m.Said()
		if !m.has(SectionState) {
			a.state = nil
		}
	} else {
		a.plan = a.makePlan()
	}
	if err := a.renderHistory(); err != nil {
		return err
	}
	a.noteSizes()
	return nil
}

// buildFixed renders what does not depend on the representation of history, and divides the budget for it.
func (a *assembler) buildFixed() error {
	a.system = nil
	if text := projectText(a.in.Project); text != "" {
		a.system = append(a.system, a.textItem(Part{Source: "project", ID: a.in.Project.ID}, text, 0))
	}
	a.system = append(a.system, a.textItem(Part{Source: "config"}, systemText(a.in.System, a.in.Policy), messageOverhead))
	a.pinned = a.renderPins()
	a.state = a.renderState()
	a.now = a.renderNow()
	a.renderLast()
	a.renderRetrieved()
	reduced := a.budget.Ceiling
	a.budget.Ceiling = a.full
	a.budget = a.budget.withPrefix(a.in.Policy, total(a.system), total(a.pinned))
	a.budget.Ceiling = reduced
	if a.in.Replay != nil {
		return nil
	}
	return a.checkCaps()
}

// makePlan leaves history unchanged while everything fits. Then no space is reserved for retrieved memory, because
// everything that could be recalled is in the prompt, nor for the state summary, which says less than the turns.
func (a *assembler) makePlan() Plan {
	if a.in.Policy.History != HistoryElastic {
		return MakePlan(a.in.Sizes, a.budget, a.in.Policy)
	}
	if a.sizeWithoutHistory()-total(a.state)+weight(a.in.Sizes) <= a.full {
		return Plan{}
	}
	return Compact(a.in.Sizes, a.budget, a.in.Policy)
}

// sizeWithoutHistory is the size of all sections except history.
func (a *assembler) sizeWithoutHistory() int {
	return total(a.system) + total(a.tools) + total(a.pinned) + total(a.memory()) + total(a.last)
}

// noteSizes records sections that deviate from their caps, and drops the state summary if it does not fit although
// every turn is in the context verbatim.
func (a *assembler) noteSizes() {
	if a.in.Replay != nil {
		return
	}
	if a.in.HeadCapped && len(a.state) > 0 {
		a.note("The state summary is shortened to its cap of %d tokens.", a.budget.Caps.State)
	}
	if n := a.last[0].tokens; n > a.budget.Caps.Message {
		a.note("The message takes %d tokens, over its cap of %d: it uses what the other sections leave.", n, a.budget.Caps.Message)
	}
	if a.plan.Cut == 0 && a.in.Policy.History == HistoryElastic && len(a.originals) > 0 && len(a.state) > 0 && a.used() > a.full {
		a.note("The state summary (%d tokens) is left out: every turn is in the context verbatim.", total(a.state))
		a.state = nil
	}
}
