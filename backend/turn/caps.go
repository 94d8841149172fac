package turn

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// capsOf is what a branch's model leaves for instructions and pinned facts.
type capsOf struct {
	model  string
	budget prompt.Budget
	count  func(string) int
}

// capsFor reads them. A model that cannot be called now has none to check yet: they are
// checked when something is sent.
func (e *Engine) capsFor(ctx context.Context, branch chat.BranchID) (capsOf, error) {
	m, err := e.modelFor(ctx, branch, "")
	if code := chat.CodeOf(err); code == chat.CodeConfig || code == chat.CodeAuth {
		m = Model{Limits: prompt.Limits{ContextLimit: 1 << 40}}
	} else if err != nil {
		return capsOf{}, err
	}
	learned, err := e.contexts.Calibration(ctx, m.Endpoint.Provider, m.Endpoint.ModelID)
	return capsOf{
		model: m.Endpoint.Name, count: e.count(m), budget: prompt.NewBudget(m.Limits, e.settings().Policy.OrDefault(), learned.Factor),
	}, err
}

// CheckPin refuses, before it is made, a fact with which the pinned facts of a branch
// would be over their cap. replaces is the pin whose place it takes, if any. What makes
// an overfull section smaller is not refused.
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
	return refused(prompt.CheckPins(append(pins, chat.Pin{Text: text}), caps.model, caps.budget, caps.count), "Nothing was pinned.")
}

// CheckInstructions refuses, before they are stored, instructions over their cap.
func (e *Engine) CheckInstructions(ctx context.Context, session chat.SessionID, text string) error {
	s, err := e.past.Session(ctx, session)
	if err != nil || text == "" || text == s.SystemPrompt {
		return err
	}
	caps, err := e.capsFor(ctx, s.ActiveBranch)
	if err != nil || caps.count(text) <= caps.count(s.SystemPrompt) {
		return err
	}
	return refused(prompt.CheckInstructions(text, caps.model, caps.budget, caps.count), "Nothing was changed.")
}

// CheckPreset refuses, before they are copied into a session, a model that is not configured and
// instructions over its cap; an empty name is the default model. A model that has no key yet
// can be chosen: it is asked for when something is sent.
func (e *Engine) CheckPreset(ctx context.Context, model, instructions string) error {
	m, err := e.models.Resolve(ctx, model)
	if code := chat.CodeOf(err); code == chat.CodeAuth || code == chat.CodeConfig && model == "" {
		return nil
	} else if err != nil {
		return changedNothing(err)
	}
	learned, err := e.contexts.Calibration(ctx, m.Endpoint.Provider, m.Endpoint.ModelID)
	if err != nil || instructions == "" {
		return err
	}
	budget := prompt.NewBudget(m.Limits, e.settings().Policy.OrDefault(), learned.Factor)
	return refused(prompt.CheckInstructions(instructions, m.Endpoint.Name, budget, e.count(m)), "Nothing was changed.")
}

// changedNothing is an error of a model where nothing was to be sent.
func changedNothing(err error) error {
	e := *chat.AsError(err)
	e.Message = strings.Replace(e.Message, "nothing was sent", "nothing was changed", 1)
	return &e
}

// CheckCaps reports a session that nothing can be sent in, because its instructions or
// pinned facts are over their caps: it was imported so.
func (e *Engine) CheckCaps(ctx context.Context, session chat.SessionID) error {
	s, err := e.past.Session(ctx, session)
	if err != nil {
		return err
	}
	pins, err := e.contexts.Pins(ctx, s.ActiveBranch)
	if err != nil || len(pins) == 0 && s.SystemPrompt == "" {
		return err
	}
	caps, err := e.capsFor(ctx, s.ActiveBranch)
	if err != nil {
		return err
	}
	if err := prompt.CheckInstructions(s.SystemPrompt, caps.model, caps.budget, caps.count); err != nil {
		return err
	}
	return prompt.CheckPins(pins, caps.model, caps.budget, caps.count)
}

// refused says what did not happen.
func refused(err error, nothing string) error {
	if err == nil {
		return nil
	}
	e := *chat.AsError(err)
	e.Message += " " + nothing
	return &e
}
