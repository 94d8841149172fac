package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
)

// turnEnd is a turn whose answer has ended, or the error of waiting for it.
type turnEnd struct {
	turn chat.Turn
	err  error
}

// waitFor waits for the end of a turn.
func waitFor(ctx context.Context, h *turn.Handle) <-chan turnEnd {
	done := make(chan turnEnd, 1)
	go func() {
		t, err := h.Wait(ctx)
		done <- turnEnd{t, err}
	}()
	return done
}

// follow shows a turn until its answer ends. The first Ctrl-C stops the answer, the second exits (errQuit).
func (c *call) follow(ctx context.Context, s *Services, st *stream, h *turn.Handle, base chat.Blocks,
) (chat.Turn, chat.Message, error) {
	interrupts, release := c.signal.hold()
	defer release()
	p := c.startShowing(st, base, h.Turn)
	end, err := c.await(ctx, s, st, h, interrupts)
	if err != nil {
		p.cancel()
		return h.Turn, chat.Message{}, err
	}
	answer, err := s.Turns.Answer(ctx, end)
	if err != nil {
		return end, answer, err
	}
	if !p.finish(answer.RenderedText()) && !c.json {
		c.notef("parts of this answer arrived out of order; show %s prints it as it is stored", end.SessionID)
	}
	return end, answer, nil
}

// presenter shows an answer while it arrives.
type presenter interface {
	// cancel stops showing without waiting for a blocked reader.
	cancel()
	// finish shows the missing part of the stored text; false if it differs from what was shown.
	finish(final string) bool
}

func (c *call) startShowing(st *stream, base chat.Blocks, t chat.Turn) presenter {
	switch {
	case c.events:
		return c.startEvents(st, t)
	case c.json:
		return startPrinter(st, newOutput(nil), base, t.ID)
	}
	return startPrinter(st, c.out, base, t.ID)
}

func (c *call) await(ctx context.Context, s *Services, st *stream, h *turn.Handle, interrupts <-chan struct{},
) (chat.Turn, error) {
	done, stopping, attempts := waitFor(ctx, h), false, 0
	outputFailed := c.out.failed
	for {
		select {
		case r := <-done:
			return r.turn, r.err
		case <-st.changed:
			attempts = c.noteAttempts(ctx, s, h.Turn.ID, attempts)
		case <-outputFailed:
			outputFailed = nil
			c.notef("the output was closed; the answer continues and is stored (Ctrl-C stops it)")
		case <-interrupts:
			if stopping {
				return h.Turn, errQuit
			}
			stopping = true
			c.notef("stopping; the text so far is kept (Ctrl-C again quits immediately)")
			go func() { _, _ = s.Turns.Stop(ctx, h.Turn.ID) }() // Wait reports the end
		}
	}
}

// noteAttempts reports failed attempts that are retried, each once.
func (c *call) noteAttempts(ctx context.Context, s *Services, id chat.TurnID, reported int) int {
	t, err := s.Store.Turn(ctx, id)
	if err != nil || t.Outcome != chat.OutcomeNone {
		return reported
	}
	steps, err := s.Store.Steps(ctx, id)
	if err != nil {
		return reported
	}
	for i, step := range steps {
		if i >= reported && step.Outcome.Status == chat.StepFailed {
			c.notef("attempt %d failed, trying again: %s", step.Attempt, line(step.Outcome.Message))
			reported = i + 1
		}
	}
	return reported
}

// turnReply is the reply of send and of the decisions about a turn.
type turnReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	TurnID    chat.TurnID    `json:"turn_id"`
	Seq       int64          `json:"turn_seq"`
	Phase     chat.Phase     `json:"phase"`
	Outcome   chat.Outcome   `json:"outcome"`
	Text      string         `json:"text"`
	Usage     *chat.Usage    `json:"usage"`
	Attempts  int            `json:"attempts"`
	Model     string         `json:"model"`
	Provider  string         `json:"provider"`
	// RetrievalError is why memory was not searched; absent if nothing failed.
	RetrievalError string `json:"retrieval_error,omitempty"`
	// WaitingCalls are tool calls that wait for a decision, after which the answer continues.
	WaitingCalls []fields `json:"waiting_calls,omitempty"`
}

func newTurnReply(t chat.Turn) turnReply {
	return turnReply{
		SessionID: t.SessionID,
		BranchID:  t.BranchID,
		TurnID:    t.ID,
		Seq:       t.Seq,
		Phase:     t.Phase,
		Outcome:   t.Outcome,
		Model:     t.Model,
		Provider:  t.Provider,
	}
}

func (s *Services) turnReply(ctx context.Context, t chat.Turn, answer chat.Message) (turnReply, error) {
	steps, err := s.Store.Steps(ctx, t.ID)
	doc := newTurnReply(t)
	doc.Text, doc.Usage, doc.Attempts = answer.RenderedText(), t.Usage, len(steps)
	if err == nil {
		doc.RetrievalError, err = s.Turns.MemoryFailure(ctx, t.ID)
	}
	return doc, err
}

// outcomeError returns the error for a turn without a complete answer, otherwise nil. A refusal or a limit of the
// provider counts as an answer.
func outcomeError(t chat.Turn) error {
	const op = "turn.send"
	switch {
	case t.Outcome == chat.OutcomeStopped:
		return chat.Errorf(chat.CodeCancelled, op, "Stopped. The text so far is kept as the answer, marked stopped.")
	case t.Phase.Finalized():
		return nil
	}
	e := chat.Errorf(chat.CodeIncomplete, op, "The answer is incomplete. The partial answer is kept.")
	if f := t.Failure; f != nil {
		e = chat.Errorf(f.Code, op, "%s", f.Message).WithHint("%s", f.Hint)
	}
	switch {
	case t.Unsent():
		return e.WithHint("your message is saved: contextinfinity resend %s", t.ID)
	case t.Incomplete():
		return e.WithHint("continue, retry, keep or discard it: contextinfinity continue %s", t.ID)
	case e.Hint != "":
		return e.WithHint("%s; your message is saved: contextinfinity retry %s", strings.TrimSuffix(e.Hint, "."), t.ID)
	}
	return e.WithHint("your message is saved: contextinfinity retry %s", t.ID)
}

// answered finishes a verb that ran a turn: it runs background work up to --wait, prints the reply, and then runs due
// background work for a limited time.
func (c *call) answered(ctx context.Context, s *Services, t chat.Turn, answer chat.Message, to jobs.Level) (reply, error) {
	failure := outcomeError(t)
	waiting, err := s.waitingOf(ctx, t.ID)
	if len(waiting) > 0 {
		failure = newWaitsError(waiting)
		t, err = s.Store.Turn(ctx, t.ID) // a paused run returns the turn in its initial state
	}
	failure = cmp.Or(failure, err)
	if t.Phase.Finalized() {
		c.noteOutcome(t)
		if c.out.gone() { // the caller is gone: the rest is left to the window or reconcile
			to = jobs.LevelFinalized
		}
		var err error
		if to != jobs.LevelFinalized { // otherwise t is current
			t, err = s.runWork(ctx, t, to)
		}
		failure = cmp.Or(failure, err)
	}
	doc, err := s.turnReply(ctx, t, answer)
	failure = cmp.Or(failure, err)
	doc.WaitingCalls = lists.Map(waiting, callRow)
	r := reply{doc: doc, keepOnError: true}
	c.noteDropped(ctx, s, t)
	if doc.RetrievalError != "" {
		c.notef("answered without memory: %s", doc.RetrievalError)
	}
	// After a stop the user wants the program to exit.
	if t.Phase.Finalized() && !c.out.gone() && t.Outcome != chat.OutcomeStopped {
		c.flush(r, failure)
		c.workAfter(ctx, s, t)
	}
	return r, failure
}

// runWork runs a turn's background work up to the requested level.
func (s *Services) runWork(ctx context.Context, t chat.Turn, to jobs.Level) (chat.Turn, error) {
	after, err := s.Jobs.RunTurn(ctx, t.ID, to)
	if err != nil {
		return t, err
	}
	return after, reached(after, to)
}

// afterSend returns how long background work may run after an answer was printed.
func (s *Services) afterSend() time.Duration { return s.Config.Config().Librarian.AfterSend() }

// workAfter runs due background work after an answer was printed, so that the turns of a script that only sends get
// into memory too. Ctrl-C ends it; unfinished work stays queued.
func (c *call) workAfter(ctx context.Context, s *Services, t chat.Turn) {
	limit := s.afterSend()
	if limit <= 0 {
		return
	}
	err := s.Jobs.RunDue(ctx, t, limit)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		const next = "the next send continues it, contextinfinity reconcile does all of it now"
		c.notef("background work is not finished after %s; %s", limit, next)
	case err != nil && ctx.Err() == nil:
		c.notef("background work failed, and is retried by the next send: %s", line(c.describe(err).Message))
	}
}

// noteDropped says which turns were neither sent nor can be recalled yet.
func (c *call) noteDropped(ctx context.Context, s *Services, t chat.Turn) {
	raw, err := s.Inspecting.Manifest(ctx, t.ID)
	if err != nil || len(raw) == 0 {
		return
	}
	var m prompt.Manifest
	if json.Unmarshal(raw, &m) != nil {
		return // verify reports it
	}
	if len(m.DroppedPending) > 0 {
		c.notef("%s", droppedNote(m.DroppedPending))
	}
	for _, short := range m.Inputs.Shortened {
		message := "message"
		if short.Role == chat.RoleAssistant {
			message = "answer"
		}
		const reason = "it did not fit into the working set as a whole (budget.working_set_tokens)"
		c.notef("the %s of turn #%d was sent shortened: %s", message, short.Seq, reason)
	}
}

// droppedNote says that turns were dropped, and names them by their numbers in the session.
func droppedNote(turns []int64) string {
	which, theyAre := fmt.Sprintf("turn #%d", turns[0]), "it is"
	if len(turns) > 1 {
		which, theyAre = fmt.Sprintf("%d turns (#%d to #%d)", len(turns), slices.Min(turns), slices.Max(turns)), "they are"
	}
	return which + " did not fit into this request as a whole and could not be recalled, because " + theyAre + " not in memory yet: " +
		"it contains an extract instead; send with --wait indexed, or run contextinfinity reconcile"
}

// reached returns an error if the background work did not reach the requested level.
func reached(t chat.Turn, to jobs.Level) error {
	ok := true
	switch to {
	case jobs.LevelCommitted:
		ok = t.StateAfter != ""
	case jobs.LevelIndexed:
		ok = t.Phase == chat.PhaseIndexed || t.Phase == chat.PhaseDone
	}
	if ok {
		return nil
	}
	const problem = "The answer is final and safe, but its background work is not done yet (%s)."
	return chat.Errorf(chat.CodeConflict, "cli.wait", problem, t.Phase).
		WithHint("contextinfinity jobs shows why, reconcile tries again")
}

// noteOutcome says how a final answer differs from a normal one.
func (c *call) noteOutcome(t chat.Turn) {
	switch t.Outcome {
	case chat.OutcomeTruncated:
		c.notef("the provider cut this answer short (its output limit or a filter)")
	case chat.OutcomeRefused:
		c.notef("the provider declined")
	case chat.OutcomePaused:
		c.notef("the answer ends in tool calls, which were not run")
	}
}

// levels are the values of --wait.
var levels = []string{string(jobs.LevelFinalized), string(jobs.LevelCommitted), string(jobs.LevelIndexed)}
