package turn

import (
	"context"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// Temporary is a conversation that is never stored (SPEC 12): its turns are only in memory, without journal or jobs,
// and are lost when the program closes. It uses the same assembler, adapters and judgement as any other.
type Temporary struct {
	e  *Engine
	ID chat.SessionID

	mu     sync.Mutex
	turns  []chat.Turn
	cancel context.CancelCauseFunc // of the running turn
	em     *emitter
	done   chan struct{} // closed when the running turn has ended
}

// temporaryPrefix begins the id of a temporary chat; no session id begins with it.
const temporaryPrefix = "temporary:"

// NewTemporary starts an empty temporary chat.
func (e *Engine) NewTemporary() *Temporary {
	return &Temporary{e: e, ID: chat.SessionID(temporaryPrefix + chat.NewID(e.clock.Now()))}
}

// Turns returns the turns so far, oldest first, and the stream of the running one.
func (t *Temporary) Turns() (turns []chat.Turn, live *Live) {
	t.mu.Lock()
	defer t.mu.Unlock()
	turns = append(turns, t.turns...)
	if t.em != nil {
		l := t.em.live()
		live = &l
	}
	return turns, live
}

// Send sends a message. One turn runs at a time.
func (t *Temporary) Send(ctx context.Context, m chat.Message, model string) (chat.Turn, error) {
	if err := checkContent(m); err != nil {
		return chat.Turn{}, err
	}
	resolved, err := t.e.models.Resolve(ctx, model)
	if err != nil {
		return chat.Turn{}, err
	}
	// No tools run here: a call may have effects, and nothing would record it.
	resolved.Endpoint = withoutTools(resolved.Endpoint)
	resolved.Endpoint.NoMemory = true
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		return chat.Turn{}, chat.Errorf(chat.CodeBusy, "turn.temporary", "The previous answer is still arriving.").WithHint("stop it first")
	}
	now := t.e.clock.Now()
	turn := chat.Turn{
		ID: chat.TurnID(chat.NewID(now)), SessionID: t.ID, BranchID: chat.BranchID(t.ID), Seq: int64(len(t.turns) + 1),
		Phase: chat.PhaseResponding, User: m, Provider: resolved.Endpoint.Provider, Model: resolved.Endpoint.Name,
		CreatedAt: now, UpdatedAt: now,
	}
	if err := t.e.enter(t); err != nil {
		return chat.Turn{}, err
	}
	t.turns = append(t.turns, turn)
	run, cancel := context.WithCancelCause(context.Background())
	t.cancel, t.done = cancel, make(chan struct{})
	go t.run(run, turn, resolved)
	return turn, nil
}

// enter registers a temporary answer, which Close ends and waits for.
func (e *Engine) enter(t *Temporary) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return chat.Errorf(chat.CodeCancelled, "turn.temporary", "The program is closing.")
	}
	e.temporary[t] = true
	e.wg.Add(1)
	return nil
}

func (e *Engine) leave(t *Temporary) {
	e.mu.Lock()
	delete(e.temporary, t)
	e.mu.Unlock()
	e.wg.Done()
}

// cancelWith ends the running answer because of the program, not the user.
func (t *Temporary) cancelWith(cause error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cancel != nil {
		t.cancel(cause)
	}
}

// Stop ends the running answer; the partial answer is kept. It returns when it has ended.
func (t *Temporary) Stop() {
	t.mu.Lock()
	cancel, done := t.cancel, t.done
	t.mu.Unlock()
	if cancel != nil {
		cancel(errStopped)
		<-done
	}
}

func (t *Temporary) run(ctx context.Context, turn chat.Turn, m Model) {
	defer t.e.leave(t)
	end, blocks, usage := t.ask(ctx, turn, m)
	turn.UpdatedAt, turn.Usage, turn.Failure, turn.Outcome = t.e.clock.Now(), usage, end.failure, end.outcome
	switch {
	case end.verdict == verdictFinal || hasText(blocks): // a temporary answer cannot be continued, so the part that arrived is the answer
		turn.Phase = chat.PhaseResponseFinalized
		turn.Assistant = &chat.Message{Role: chat.RoleAssistant, Blocks: blocks}
		if end.verdict != verdictFinal {
			turn.Outcome = chat.OutcomeKept
		}
	default:
		turn.Phase, turn.Outcome = chat.PhaseFailed, chat.OutcomeFailed
	}
	t.mu.Lock()
	t.turns[turn.Seq-1] = turn
	t.em, t.cancel = nil, nil
	close(t.done)
	t.mu.Unlock()
	t.e.changed(chat.ChangeTurn, string(turn.ID), t.ID)
}

// ask calls the model. It retries while nothing has arrived and a retry may help.
func (t *Temporary) ask(ctx context.Context, turn chat.Turn, m Model) (ending, chat.Blocks, *chat.Usage) {
	c, err := t.assemble(turn, m)
	if err != nil {
		return judge(attempt{err: err, number: MaxAttempts}), nil, nil
	}
	r := &run{e: t.e, turn: turn, model: m, context: c}
	if r.body, err = m.Provider.Encode(r.request()); err != nil {
		return judge(attempt{err: err, number: MaxAttempts}), nil, nil
	}
	for number := 1; ; number++ {
		end, blocks, usage := t.attempt(ctx, r, number)
		if end.verdict != verdictRetry {
			return end, blocks, usage
		}
		wait := end.retryAfter
		if wait == 0 {
			wait = t.e.settings().Backoff(number + 1)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return judge(attempt{err: context.Cause(ctx), number: number}), nil, nil
		}
	}
}

func (t *Temporary) attempt(ctx context.Context, r *run, number int) (ending, chat.Blocks, *chat.Usage) {
	dec := r.newDecoder()
	ids := chat.Frame{Session: t.ID, Branch: r.turn.BranchID, Turn: r.turn.ID, Step: chat.StepID(chat.NewID(t.e.clock.Now())), Attempt: number}
	em := newEmitter(ids, nil, t.e.settings().FrameEvery, false, t.e.publish.Frame)
	t.mu.Lock()
	t.em = em
	t.mu.Unlock()
	t.e.changed(chat.ChangeTurn, string(r.turn.ID), t.ID)
	events, meter := 0, t.e.meter(r.model.Endpoint.ModelID)
	err := t.e.callProvider(ctx, r, func(ev chat.RawEvent) error {
		events++
		deltas := dec.Decode(ev)
		em.add(deltas, int64(events))
		return meter.Add(ev, deltas, dec.Parts())
	})
	em.finish(0, 0)
	res := dec.Result()
	return judge(attempt{result: res, err: err, events: events, number: number}), res.Blocks, res.Usage
}

// assemble assembles the complete chat as plain chat, without memory.
func (t *Temporary) assemble(turn chat.Turn, m Model) (prompt.PreparedContext, error) {
	t.mu.Lock()
	history := append([]chat.Turn{}, t.turns[:turn.Seq-1]...)
	t.mu.Unlock()
	policy := t.e.settings().Policy
	policy.History = prompt.HistoryOff
	in := prompt.Input{
		Model: m.Endpoint.Name, Provider: m.Endpoint.Provider, Limits: m.Limits, Policy: policy, System: t.e.settings().Instructions,
		Current: turn.User, Count: t.e.count(m), Redact: t.e.redact, RedactionRules: t.e.settings().RedactionRules,
		Fetch: func(from, to int64) ([]chat.Turn, error) { return history[from-1 : to-1], nil },
	}
	for _, h := range history {
		if h.Assistant != nil {
			in.Sizes = append(in.Sizes, prompt.Size{Seq: h.Seq, Tokens: prompt.Measure(h, in.Count)})
		}
	}
	return prompt.Assemble(in)
}
