package api

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/turn"
)

// turnViews converts turns for the page. It reads the steps and metrics of all turns at once.
func (c *Core) turnViews(ctx context.Context, branch chat.Branch, turns []chat.Turn) ([]TurnView, error) {
	ids := lists.Map(turns, func(t chat.Turn) chat.TurnID { return t.ID })
	steps, err := c.Store.StepsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	last, _, err := c.Store.LastTurn(ctx, branch.ID)
	if err != nil {
		return nil, err
	}
	covers, err := c.Inspecting.StateTurnSeq(ctx, branch.HeadState)
	if err != nil {
		return nil, err
	}
	out := make([]TurnView, 0, len(turns))
	for _, t := range turns {
		v, err := c.turnView(ctx, branch, covers, t, steps[t.ID])
		if err != nil {
			return nil, err
		}
		v.CanContinue = v.State == "incomplete" || t.ID == last.ID && t.BranchID == branch.ID && turn.CutShort(t)
		out = append(out, v)
	}
	c.nameMemories(ctx, turns, out)
	c.setRecalled(ctx, ids, out)
	if err := c.addCalls(ctx, turns, ids, out); err != nil {
		return nil, err
	}
	return out, c.setDeleted(ctx, branch.SessionID, turns, out)
}

// addCalls adds the tool calls. A turn that waits for the user's decision about one gets the state waiting.
func (c *Core) addCalls(ctx context.Context, turns []chat.Turn, ids []chat.TurnID, out []TurnView) error {
	calls, err := (&Tools{c}).callsOf(ctx, ids)
	if err != nil {
		return err
	}
	for i, t := range turns {
		out[i].Calls = append(out[i].Calls, calls[t.ID]...)
		if out[i].State != "incomplete" || len(calls[t.ID]) == 0 {
			continue
		}
		waiting, err := c.Turns.WaitingFor(ctx, t)
		if err != nil {
			return err
		}
		if len(waiting) > 0 {
			out[i].State, out[i].CanContinue = "waiting", false
		}
	}
	return nil
}

// setDeleted sets the time of the deletion in the views of turns whose content was deleted permanently.
func (c *Core) setDeleted(ctx context.Context, session chat.SessionID, turns []chat.Turn, views []TurnView) error {
	var marked []chat.TurnID
	for _, t := range turns {
		if t.User.RenderedText() == chat.DeletedMark {
			marked = append(marked, t.ID)
		}
	}
	deletedAt, err := c.Store.DeletedTurns(ctx, session, marked)
	for i, t := range turns {
		if when, ok := deletedAt[t.ID]; ok {
			views[i].DeletedAt = max(ms(when), 1) // an unreadable receipt has no date
		}
	}
	return err
}

// turnView converts one turn; covers is the last turn that the branch's head covers.
func (c *Core) turnView(ctx context.Context, branch chat.Branch, covers int64, t chat.Turn, steps []chat.Step) (TurnView, error) {
	v := TurnView{
		ID: string(t.ID), BranchID: string(t.BranchID), Seq: t.Seq, Phase: t.Phase, Outcome: t.Outcome,
		User: blockViews(t.User.Blocks), Assistant: []BlockView{}, Calls: []ToolCallView{}, Model: t.Model, Provider: t.Provider,
		RetryOf: string(t.RetryOf), IndexStatus: t.IndexStatus, StateAfter: string(t.StateAfter),
		CreatedAt: ms(t.CreatedAt), UpdatedAt: ms(t.UpdatedAt), Attempts: attempts(steps),
	}
	if t.Usage != nil {
		v.InputTokens, v.OutputTokens, v.CachedTokens = t.Usage.InputTokens, t.Usage.OutputTokens, t.Usage.CachedInputTokens
		v.Cost = c.cost(t.Model, *t.Usage)
	}
	v.Error = failureView(t.Failure)
	v.measure(steps)
	unsaved := false
	if live, ok := c.Turns.Live(t.ID); ok {
		v.Live, v.LiveStep, v.LiveSeq = true, string(live.Frame.Step), live.Frame.Seq
		v.Displayed, v.Durable = live.Frame.Displayed, live.Frame.Durable
		v.Assistant = blockViews(live.Blocks)
	} else if unsavedEnd, ok := c.Turns.UnsavedEnd(t); ok {
		unsaved = unsavedEnd.Complete
		v.Displayed, v.Durable = unsavedEnd.Frame.Displayed, unsavedEnd.Frame.Durable
		v.Assistant = blockViews(unsavedEnd.Blocks)
		v.Error = failureView(unsavedEnd.Failure)
	} else {
		answer, err := c.Turns.Answer(ctx, t)
		if err != nil { // an unreadable record does not hide the others (SPEC 2.13)
			c.Log.Error("an answer cannot be read", "turn", t.ID, "err", err)
			v.Notice = err.Error()
		}
		v.Assistant = blockViews(answer.Blocks)
	}
	running := c.Turns.IsRunning(t.ID)
	v.Live = v.Live || running
	if v.State = turnState(t, branch.HeadState, covers, running); unsaved {
		v.State = "unsaved"
	}
	return v, nil
}

// cost returns the cost of a usage of a model; nil if no price is known.
func (c *Core) cost(model string, u chat.Usage) *TurnCost {
	cost, today := c.Models.Cost(model, u)
	if !cost.Known() {
		return nil
	}
	return &TurnCost{USD: cost.USD, Estimate: cost.Estimate(), Today: today}
}

// turnState returns the state shown in the rail and the footer. One state summary may cover several turns: the head is
// at the last of them.
func turnState(t chat.Turn, head chat.StateID, covers int64, running bool) TurnState {
	switch {
	case t.Phase == chat.PhaseFailed:
		return TurnFailed
	case t.Unsent() && !running:
		return TurnUnsent
	case t.Phase == chat.PhaseAccepted:
		return TurnAccepted
	case t.Phase == chat.PhaseContextPrepared:
		return TurnPreparing
	case t.Phase == chat.PhaseResponding && running:
		return TurnResponding
	case t.Phase == chat.PhaseResponding:
		return TurnIncomplete
	case t.Pending():
		return TurnPending
	case t.IndexStatus == chat.IndexDegraded:
		return TurnDegraded
	case t.StateAfter == head && t.Seq == covers:
		return TurnHead
	}
	return TurnCommitted
}

// attempts returns the attempt number of the newest step.
func attempts(steps []chat.Step) int {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1].Attempt
}

// measure sums bytes and time over the steps. The pause before an automatic retry counts; other idle time does not.
func (v *TurnView) measure(steps []chat.Step) {
	for i, s := range steps {
		if i > 0 && isRetry(steps[i-1], s) {
			v.DurationMs += s.StartedAt.Sub(*steps[i-1].EndedAt).Milliseconds()
		}
		v.Displayed += s.DisplayedBytes
		v.Durable += s.DurableBytes
		if s.EndedAt != nil {
			v.DurationMs += s.EndedAt.Sub(s.StartedAt).Milliseconds()
		}
	}
}

// isRetry reports whether next is an automatic retry of the failed call: nothing had arrived, and the pause is too
// short for a manual retry.
func isRetry(failed, next chat.Step) bool {
	if failed.EndedAt == nil || failed.Outcome.Status != chat.StepFailed || failed.DisplayedBytes > 0 || next.Index != failed.Index {
		return false
	}
	pause := next.StartedAt.Sub(*failed.EndedAt)
	return pause > 0 && pause <= turn.MaxRetryAfter+time.Second
}

// notices adds problems that the metrics reveal: a local server that silently cut the prompt reports far less input
// than was sent.
func (c *Core) notices(ctx context.Context, branch chat.BranchID, views []TurnView) error {
	rows, err := c.Store.Metrics(ctx, branch, len(views))
	if err != nil {
		return err
	}
	estimates := map[string]int{}
	for _, r := range rows {
		estimates[string(r.TurnID)] = r.Metrics.EstimateTokens
	}
	for i := range views {
		v := &views[i]
		if est, reported := estimates[v.ID], v.InputTokens; reported > 0 && est > 1000 && reported < est/2 {
			v.CutFrom = est
		}
	}
	return nil
}
