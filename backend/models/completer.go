package models

import (
	"context"
	"errors"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
)

// Completer is a model for the program's own tasks, such as summaries: text in, text out. It uses the same adapters
// and limits as conversations.
type Completer struct {
	model  turn.Model
	count  func(string) int
	redact func(string) (string, []prompt.Redaction)
	cost   func(chat.Usage) chat.Cost
}

// Librarian returns the model (librarian.model) that summarizes turns answered by the given one; false if no usable
// one is configured.
func (c *Catalog) Librarian(turnModel string, count func(modelID, text string) int, redact func(string) (string, []prompt.Redaction)) (*Completer, bool) {
	cfg := c.d.Config()
	m, ok := cfg.Model(turnModel, c.hasKey)
	if !ok {
		m = cfg.DefaultModel(c.hasKey)
	}
	lib, ok := cfg.LibrarianModel(m, c.hasKey)
	if !ok || lib.Provider == config.ProviderRecall {
		return nil, false
	}
	p, ok := c.providers[lib.Provider]
	if !ok {
		return nil, false
	}
	limits := c.limits(lib)
	ep := c.endpoint(cfg, lib, limits)
	ep.ToolsMode = llm.ToolsDisabled
	return &Completer{
		model: turn.Model{
			Endpoint: ep,
			Provider: p,
			Limits:   promptLimits(cfg, limits),
			Refuses:  func(part string) { c.cards.recordRefused(lib, part) },
		},
		count: func(s string) int { return count(lib.ModelID, s) }, redact: redact,
		cost: func(u chat.Usage) chat.Cost { return c.costNow(lib, u) },
	}, true
}

// Name returns the model's id, which is recorded in states and summaries.
func (c *Completer) Name() string { return c.model.Endpoint.ModelID }

// InputLimit returns how many tokens the input of a task can have.
func (c *Completer) InputLimit() int {
	l := c.model.Limits
	l.WorkingSet = 0
	return prompt.NewBudget(l, prompt.Policy{History: prompt.HistoryOff}, 1).InputBudget
}

// maxCompletion limits the answer to a task, in bytes: summaries are a few thousand words.
const maxCompletion = 1 << 20

// Complete calls the model once, and returns the usage with its cost by the price now. It does not retry,
// except without a part that the server refused: callers have a fallback and a deadline.
func (c *Completer) Complete(ctx context.Context, system, user string, maxOutput int) (string, *chat.Usage, error) {
	prepared, err := prompt.PrepareTask(prompt.Task{
		System: system, User: user, MaxOutput: maxOutput, Limits: c.model.Limits, Count: c.count, Redact: c.redact,
	})
	if err != nil {
		return "", nil, err
	}
	text, usage, err := c.ask(ctx, prepared)
	if le, ok := errors.AsType[*llm.Error](err); ok && le.Refused != "" && !slices.Contains(c.model.Endpoint.Refused, le.Refused) {
		c.model.Refuses(le.Refused)
		c.model.Endpoint.Refused = append(slices.Clone(c.model.Endpoint.Refused), le.Refused)
		return c.ask(ctx, prepared)
	}
	return text, usage, err
}

func (c *Completer) ask(ctx context.Context, prepared prompt.PreparedContext) (string, *chat.Usage, error) {
	body, err := c.model.Provider.Encode(llm.Request{Endpoint: c.model.Endpoint, Context: prepared})
	if err != nil {
		return "", nil, err
	}
	dec := c.model.Provider.NewDecoder(llm.ToolsDisabled)
	meter := llm.Meter{MaxBytes: maxCompletion}
	began := false
	var arrived strings.Builder
	err = c.model.Provider.Stream(ctx, c.model.Endpoint, body, func(ev chat.RawEvent) error {
		began = true
		deltas := dec.Decode(ev)
		for _, d := range deltas {
			arrived.WriteString(d.Text)
		}
		return meter.Add(ev, deltas, dec.Parts())
	})
	r := dec.Result()
	u := r.Usage.Checked(max(c.model.Limits.ContextLimit, 2*prepared.Tokens()))
	isCut := began && (err != nil || !r.Terminal) || arrived.Len() > 0 && r.Status == chat.StepFailed
	if isCut {
		u = cutOff(u, prepared.Tokens(), c.count(arrived.String()))
	}
	if u != nil {
		priced := *u
		priced.Cost = c.cost(priced)
		r.Usage = &priced
	}
	switch {
	case err != nil:
		return "", r.Usage, notAgain(err, isCut)
	case !r.Terminal:
		return "", r.Usage, errors.New("the answer was cut off")
	case r.Status == chat.StepFailed:
		return "", r.Usage, notAgain(r.Err, isCut)
	case r.Refused:
		return "", r.Usage, errors.New("the model declined")
	}
	return r.Text(), r.Usage, nil
}

// cutOff is the usage of an answer that did not end, which has to be paid for too. Its usage comes at its end, if at all,
// so what was sent and what arrived is counted.
func cutOff(reported *chat.Usage, sent, arrived int) *chat.Usage {
	var u chat.Usage
	if reported != nil {
		u = *reported
	}
	u.InputTokens, u.OutputTokens = max(u.InputTokens, sent), max(u.OutputTokens, arrived)
	return &u
}

// notAgain makes the error of a cut answer one that is not worth a retry: each would cost as much again.
func notAgain(err error, isCut bool) error {
	if le, ok := errors.AsType[*llm.Error](err); ok && isCut {
		failed := *le
		failed.Retry = false
		return &failed
	}
	return err
}
