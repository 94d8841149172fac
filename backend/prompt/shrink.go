package prompt

import (
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// NeedsSummaryShrink asks the caller to shorten the state summary to Target tokens and to assemble again with
// HeadShrunk: the assembler is pure and cannot do it.
type NeedsSummaryShrink struct {
	Have, Target int // tokens
}

func (e *NeedsSummaryShrink) Error() string {
	return fmt.Sprintf("the state summary has %d tokens and must have at most %d", e.Have, e.Target)
}

// OverBudgetError says by how much a context exceeds its budget, all in the model's own tokens.
type OverBudgetError struct {
	Required, Ceiling                                   int
	System, Tools, Pinned, State, History, Pending, Msg int
	Steps                                               int // of the turn so far, and their results
	PendingTurns                                        int
}

func (e *OverBudgetError) Error() string { return e.Phrase().String() }

// Phrase returns the error's text.
func (e *OverBudgetError) Phrase() chat.Phrase {
	s := chat.Say("the context needs %d tokens, but the limit is %d: system %d, pinned facts %d, state summary %d, history %d, %d pending turns %d, message %d",
		e.Required, e.Ceiling, e.System, e.Pinned, e.State, e.History, e.PendingTurns, e.Pending, e.Msg)
	if e.Tools > 0 {
		s = chat.Say("%s, definitions of tools %d", s, e.Tools)
	}
	if e.Steps > 0 {
		s = chat.Say("%s, tool calls of this turn and their results %d", s, e.Steps)
	}
	return s
}

// RecentMessagesTooLarge is the error if the newest messages, which always stay original, do not fit.
type RecentMessagesTooLarge struct {
	Required, Budget int // tokens
	Messages         int
}

func (e *RecentMessagesTooLarge) Error() string { return e.Phrase().String() }

// Phrase returns the error's text.
func (e *RecentMessagesTooLarge) Phrase() chat.Phrase {
	if e.Messages == 1 {
		return chat.Say("the newest message, which is never summarized, needs %d tokens, but the limit is %d",
			e.Required, e.Budget)
	}
	return chat.Say("the %d newest messages, which are never summarized, need %d tokens, but the limit is %d",
		e.Messages, e.Required, e.Budget)
}

// SectionOverCap is the error if a section that is never shortened exceeds its cap.
type SectionOverCap struct {
	Section   string // SectionSystem or SectionPinned
	Have, Cap int    // tokens
	Model     string
}

func (e *SectionOverCap) Error() string { return e.Phrase().String() }

// Phrase returns the error's text.
func (e *SectionOverCap) Phrase() chat.Phrase {
	if e.Section == SectionPinned {
		return chat.Say("The pinned facts take %d tokens, and the model %s leaves %d for them.", e.Have, e.Model, e.Cap)
	}
	return chat.Say("The instructions take %d tokens, and the model %s leaves %d for them.", e.Have, e.Model, e.Cap)
}

func overCap(section, model string, have, limit int) error {
	if have <= limit {
		return nil
	}
	e := &SectionOverCap{Section: section, Have: have, Cap: limit, Model: model}
	hint := "shorten the instructions, raise budget.working_set_tokens, or choose a model with a larger window"
	if section == SectionPinned {
		hint = "unpin or shorten facts, raise budget.working_set_tokens, or choose a model with a larger window"
	}
	return chat.WrapError(chat.CodeOverBudget, "prompt.caps", e, "%s", e).WithHint("%s", hint)
}

// CheckInstructions refuses instructions over their cap. The cause of the error is a *SectionOverCap.
func CheckInstructions(text, model string, b Budget, count func(string) int) error {
	return overCap(SectionSystem, model, count(text), b.Caps.System)
}

// CheckPins refuses pinned facts that together exceed their cap, like CheckInstructions.
func CheckPins(pins []chat.Pin, model string, b Budget, count func(string) int) error {
	n := 0
	for _, p := range pins {
		n += count(pinnedLine(p))
	}
	return overCap(SectionPinned, model, n, b.Caps.Pinned)
}

// checkCaps checks the caps of the sections that are never shortened: text written for another model or a larger
// working set is refused, not cut.
func (a *assembler) checkCaps() error {
	if err := CheckInstructions(projectText(a.in.Project)+a.in.System, a.in.Model, a.budget, a.in.Count); err != nil {
		return err
	}
	return CheckPins(slices.Concat(a.in.Project.facts(), a.in.Pins), a.in.Model, a.budget, a.in.Count)
}

// minStateTokens is the minimum target of a shortened state summary: a smaller one would be useless.
const minStateTokens = 64

// shrink runs the steps of SRD 7.3 in order, and logs each. Before them comes what the SRD's context does not contain:
// the turns between cut and state (step 0). After them, in place of the error, the newest turns are shortened until
// spare tokens are left (step 5). Plain chat is not shrunk: if it does not fit, that is an error (SPEC 16).
func (a *assembler) shrink(spare int) error {
	if a.in.Policy.History == HistoryOff && !a.fits() {
		if err := a.shrinkCycle(); err != nil || a.fits() {
			return err
		}
		return a.overBudget()
	}
	for _, step := range []func() error{
		func() error { return a.shrinkHistory(0) }, a.dropRestored,
		a.dropRetrieved, a.summarizeRetrieved, a.shrinkCycle,
		func() error { return a.dropPending("3") }, a.shrinkState,
		func() error { return a.shortenNewest(spare) }, func() error { return a.dropPending("5") },
	} {
		if a.fits() {
			return nil
		}
		if err := step(); err != nil {
			return err
		}
	}
	if a.fits() {
		return nil
	}
	return a.overBudget()
}

func (a *assembler) fits() bool { return a.used() <= a.budget.Ceiling }

func (a *assembler) used() int {
	return a.sizeWithoutHistory() + total(a.framed(a.summaries, summariesFrame)) + total(a.originals) + total(a.pending)
}

func (a *assembler) log(format string, args ...any) {
	a.steps = append(a.steps, chat.Say(format, args...))
}

func (a *assembler) note(format string, args ...any) {
	a.notes = append(a.notes, chat.Say(format, args...))
}

// shrinkHistory is step 0: it moves the cut until the context fits with spare tokens left, at most to its limit.
func (a *assembler) shrinkHistory(spare int) error {
	space := a.budget.Ceiling - a.sizeWithoutHistory() - spare
	for !a.fits() {
		plan := AdvanceToFit(a.in.Sizes, a.plan.Cut, space, a.budget, a.in.Policy)
		if plan.Cut <= a.plan.Cut {
			return nil
		}
		before, from := a.used(), a.plan.Cut
		a.plan = plan
		if err := a.renderHistory(); err != nil {
			return err
		}
		a.log("0: the cut advanced from turn %d to %d: %d to %d tokens", from, plan.Cut, before, a.used())
		space = 0 // the estimate was too small: move to the limit
	}
	return nil
}

// dropRetrieved is step 1: drop artifacts, lowest score first, down to min_keep.
func (a *assembler) dropRetrieved() error {
	for len(a.retrieved) > max(0, a.in.Policy.MinKeep) && !a.fits() {
		a.dropLowest("1")
	}
	return nil
}

// dropLowest drops the artifact with the lowest score; one that the user attached only if no other remains.
func (a *assembler) dropLowest(step string) {
	low := 0
	for i, r := range a.in.Retrieved {
		l := a.in.Retrieved[low]
		if l.Attached && !r.Attached || l.Attached == r.Attached && r.Score <= l.Score {
			low = i
		}
	}
	a.log("%s: dropped memory %s (%d tokens, score %.3f)", step, a.in.Retrieved[low].ID, a.retrieved[low].tokens, a.in.Retrieved[low].Score)
	a.retrieved = slices.Delete(slices.Clone(a.retrieved), low, low+1)
	a.in.Retrieved = slices.Delete(slices.Clone(a.in.Retrieved), low, low+1)
}

// summarizeRetrieved is step 2: replace larger artifacts by summaries, then drop the rest.
func (a *assembler) summarizeRetrieved() error {
	for i, r := range a.in.Retrieved {
		if a.fits() {
			return nil
		}
		brief := r
		brief.Text, brief.Form, brief.Slices = r.Summary, chat.PackedSummary, nil
		short := a.renderArtifact(brief, a.retrieved[i].source.Rank)
		if r.Summary == "" || short.tokens >= a.retrieved[i].tokens {
			continue
		}
		a.log("2: memory %s is replaced by its summary: %d to %d tokens", r.ID, a.retrieved[i].tokens, short.tokens)
		a.retrieved[i] = short
	}
	for len(a.retrieved) > 0 && !a.fits() {
		a.dropLowest("2")
	}
	return nil
}

// dropPending is step 3: drop complete turns, oldest first. They are in neither state nor memory yet, so an extract in
// the space that is left represents them (SRD 2.3.3).
func (a *assembler) dropPending(step string) error {
	for len(a.pending) > 0 && !a.fits() {
		turn := a.pending[0].turn
		n := 0
		for n < len(a.pending) && a.pending[n].turn == turn {
			n++
		}
		a.log("%s: dropped pending turn %d (%d tokens)", step, turn, total(a.pending[:n]))
		a.pending = a.pending[n:]
		a.dropped = append(a.dropped, turn)
		if len(a.pending) == 0 || a.fits() {
			if err := a.renderDropped(); err != nil {
				return err
			}
		}
	}
	return nil
}

// renderDropped renders the extract of the dropped pending turns.
func (a *assembler) renderDropped() error {
	a.left, a.extracted = nil, 0
	if len(a.dropped) == 0 {
		return nil
	}
	p := Piece{From: a.dropped[0], To: a.dropped[len(a.dropped)-1] + 1}
	size := 0
	for _, s := range a.in.Sizes {
		if p.From <= s.Seq && s.Seq < p.To {
			size += s.Tokens
		}
	}
	p.Target = max(RangeTarget(size, a.budget, a.in.Policy), min(size, a.budget.Ceiling-a.used()-rangeOverhead))
	if a.in.Replay != nil {
		p.Target = a.in.Replay.Inputs.Extracted
	}
	a.extracted = p.Target
	text, err := a.extract(p)
	if err == nil && strings.TrimSpace(text) != "" {
		a.left = []rendered{a.renderPiece(p, text)}
	}
	return err
}

// shrinkState is step 4. The summary is shortened once at most; if the context still does not fit, the next step
// continues.
func (a *assembler) shrinkState() error {
	if len(a.state) == 0 {
		return nil
	}
	if a.in.HeadShrunk != "" {
		var reported []Redaction // those of the complete summary are in the manifest
		a.found, a.headShrunk = &reported, true
		a.state = a.renderState()
		a.log("4: the state summary was shortened to %d tokens", total(a.state))
		return a.renderHistory()
	}
	have := total(a.state)
	target := have - (a.used() - a.budget.Ceiling) - stateOverhead
	if target < minStateTokens {
		a.log("4: the state summary cannot be shortened enough")
		return nil
	}
	return &NeedsSummaryShrink{Have: have, Target: target}
}

func (a *assembler) overBudget() error {
	size := func(parts ...[]rendered) int { return a.budget.InModelTokens(total(slices.Concat(parts...))) }
	e := &OverBudgetError{
		Required: a.budget.InModelTokens(a.used()), Ceiling: a.limit(), System: size(a.system), Pinned: size(a.pinned),
		State: size(a.memory()), History: size(a.framed(a.summaries, summariesFrame), a.originals),
		Pending: size(a.pending), Msg: size(a.last), Tools: size(a.tools), PendingTurns: len(a.pending) / 2,
	}
	if len(a.in.Cycle) > 0 {
		e.Steps = size(a.last[1 : 1+len(a.in.Cycle)])
		e.Msg -= e.Steps
	}
	if a.in.Policy.History == HistoryOff {
		return chat.WrapError(chat.CodeOverBudget, "prompt.assemble", e, "%s", e).
			WithHint("turn context.infinity on, start a new session, or choose a model with a larger window")
	}
	if len(a.originals) > 0 && e.Msg <= e.Ceiling/2 && size(a.originals) > e.Ceiling/2 {
		recent := &RecentMessagesTooLarge{Required: e.Required, Budget: e.Ceiling, Messages: len(a.originals)}
		return chat.WrapError(chat.CodeOverBudget, "prompt.assemble", recent, "%s", recent).
			WithHint("lower summary.preserve_recent, raise budget.working_set_tokens, or choose a model with a larger window")
	}
	return chat.WrapError(chat.CodeOverBudget, "prompt.assemble", e, "%s", e).WithHint("%s", advice(e))
}

// limit is the ceiling in the model's own tokens.
func (a *assembler) limit() int {
	if a.budget.Ceiling < a.full {
		return a.budget.InModelTokens(a.budget.Ceiling)
	}
	return a.budget.WorkingSet(a.in.Limits)
}

// advice names the largest part that the user can change.
func advice(e *OverBudgetError) string {
	switch {
	case e.Ceiling <= 0:
		return "lower budget.response_reserve_tokens or budget.safety_margin_tokens: they leave nothing of the model's window"
	case e.Steps > e.Ceiling/2:
		return "discard the turn and ask for less at once, or choose a model with a larger window"
	case e.Tools > e.Ceiling/2:
		return "turn off tools or tool servers, raise budget.working_set_tokens, or choose a model with a larger window"
	case e.Msg > e.Ceiling/2:
		return "shorten the message, or choose a model with a larger window"
	case e.Pinned > e.Ceiling/2:
		return "unpin some facts, or raise budget.working_set_tokens"
	case e.System > e.Ceiling/2:
		return "shorten the session's instructions, or raise budget.working_set_tokens"
	}
	return "raise budget.working_set_tokens, or choose a model with a larger window"
}

func total(rs []rendered) int {
	n := 0
	for _, r := range rs {
		n += r.tokens
	}
	return n
}
