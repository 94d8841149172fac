package turn

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// branchCaps are the caps that a branch's model leaves for instructions and pinned facts.
type branchCaps struct {
	model  string
	budget prompt.Budget
	count  func(string) int
}

// capsFor returns the caps of a branch. If its model cannot be called now, nothing exceeds them: they are checked again
// before sending.
func (e *Engine) capsFor(ctx context.Context, branch chat.BranchID) (branchCaps, error) {
	m, err := e.modelFor(ctx, branch, "")
	if code := chat.CodeOf(err); code == chat.CodeConfig || code == chat.CodeAuth {
		m = Model{Limits: prompt.Limits{ContextLimit: 1 << 40}}
	} else if err != nil {
		return branchCaps{}, err
	}
	learned, err := e.contexts.Calibration(ctx, m.Endpoint.Provider, m.Endpoint.ModelID)
	return branchCaps{
		model: m.Endpoint.Name, count: e.count(m), budget: prompt.NewBudget(m.Limits, e.settings().Policy.OrDefault(), learned.Factor),
	}, err
}

// CheckPin refuses a new pin with which the pinned facts of a branch would exceed their cap. replaces is the pin to
// be replaced, if any. A change that makes an oversized section smaller is accepted.
func (e *Engine) CheckPin(ctx context.Context, branch chat.BranchID, replaces chat.PinID, text string) error {
	caps, err := e.capsFor(ctx, branch)
	if err != nil {
		return err
	}
	all, err := e.contexts.Pins(ctx, branch)
	if err != nil {
		return err
	}
	pins := []chat.Pin{}
	for _, p := range all {
		if p.ID != replaces {
			pins = append(pins, p)
		} else if caps.count(text) <= caps.count(p.Text) {
			return nil
		}
	}
	return refused(prompt.CheckPins(append(pins, chat.Pin{Text: text}), caps.model, caps.budget, caps.count), chat.Say("Nothing was pinned."))
}

// instructions returns the instructions of a session: those for all sessions, then its own.
func (e *Engine) instructions(s chat.Session) string {
	return strings.TrimSpace(e.settings().Instructions + "\n\n" + s.SystemPrompt)
}

// CheckInstructions refuses instructions over their cap before they are stored.
func (e *Engine) CheckInstructions(ctx context.Context, session chat.SessionID, text string) error {
	s, err := e.past.Session(ctx, session)
	if err != nil || text == "" || text == s.SystemPrompt {
		return err
	}
	caps, err := e.capsFor(ctx, s.ActiveBranch)
	if err != nil || caps.count(text) <= caps.count(s.SystemPrompt) {
		return err
	}
	s.SystemPrompt = text
	return refused(prompt.CheckInstructions(e.instructions(s), caps.model, caps.budget, caps.count), chat.Say("Nothing was changed."))
}

// CheckPreset refuses an unknown model, and instructions over its cap, before both are copied into a session; an empty
// name is the default model. A model without a key can be chosen: the key is needed only for sending.
func (e *Engine) CheckPreset(ctx context.Context, model, instructions string) error {
	m, err := e.models.Resolve(ctx, model)
	if code := chat.CodeOf(err); code == chat.CodeAuth || code == chat.CodeConfig && model == "" {
		return nil
	} else if err != nil {
		return changedNothing(err)
	}
	instructions = e.instructions(chat.Session{SystemPrompt: instructions})
	learned, err := e.contexts.Calibration(ctx, m.Endpoint.Provider, m.Endpoint.ModelID)
	if err != nil || instructions == "" {
		return err
	}
	budget := prompt.NewBudget(m.Limits, e.settings().Policy.OrDefault(), learned.Factor)
	return refused(prompt.CheckInstructions(instructions, m.Endpoint.Name, budget, e.count(m)), chat.Say("Nothing was changed."))
}

// changedNothing adapts a model's error to an operation that sends nothing.
func changedNothing(err error) error {
	e := chat.AsError(err)
	return chat.NewError(e.Code, e.Op, e.Said().Reword("nothing was sent", "nothing was changed"), e.Advised())
}

// CheckCaps returns an error if nothing can be sent in a session because its imported instructions or pinned facts
// exceed their caps.
func (e *Engine) CheckCaps(ctx context.Context, session chat.SessionID) error {
	s, err := e.past.Session(ctx, session)
	if err != nil {
		return err
	}
	pins, err := e.contexts.Pins(ctx, s.ActiveBranch)
	if err != nil || len(pins) == 0 && e.instructions(s) == "" {
		return err
	}
	caps, err := e.capsFor(ctx, s.ActiveBranch)
	if err != nil {
		return err
	}
	if err := prompt.CheckInstructions(e.instructions(s), caps.model, caps.budget, caps.count); err != nil {
		return err
	}
	return prompt.CheckPins(pins, caps.model, caps.budget, caps.count)
}

// refused appends to a refusal what was not done.
func refused(err error, notDone chat.Phrase) error {
	if err == nil {
		return nil
	}
	e := chat.AsError(err)
	return chat.NewError(e.Code, e.Op, chat.Say("%s %s", e.Said(), notDone), e.Advised())
}
