package turn

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/internal/panics"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// run is one turn going through the states below. It belongs to one goroutine; only emitter, cancel and done are
// shared.
//
//	prepare -> begin -> stream -> settle -> (finalize | interrupt | fail)
//	   ^         ^                 |   |
//	   |         +---- backoff <---+   +-> propose -> calls -> (a person decides)
//	   +---- the next step, with the results <----------+
//	   +---- the next step, after the provider paused the answer
type run struct {
	e        *Engine
	turn     chat.Turn
	accepted chat.Turn // the turn as the run found it
	model    Model
	index    int // of the step
	first    func(*run, context.Context) state
	cancel   context.CancelCauseFunc
	done     chan struct{}
	proposed chat.ToolBatchID // by this run, the last
	waits    bool             // it ended because calls wait for the user

	brought                 // by earlier steps
	earlier bool            // text or calls from earlier steps or attempts exist
	closed  []chat.Step     // ended steps, of earlier runs and this one
	memory  memorySelection // the same for every attempt
	context prompt.PreparedContext
	body    json.RawMessage

	continues *llm.Continuation // the answer stored by the provider
	forgotten bool              // the provider has forgotten it

	number  int           // attempts of this run
	shrunk  int           // how often the context was made smaller for the provider
	reduce  float64       // share of the ceiling then; 0: all of it
	refusal *chat.Failure // the provider's last error
	step    chat.Step
	writer  *journal.Writer
	decoder llm.Decoder
	stream  stream
	meter   *llm.Meter
	err     error
	end     ending
	metrics chat.TurnMetrics
	timing  chat.StepMetrics
	started time.Time

	mu        sync.Mutex
	emitter   *emitter
	progress  *progressWriter
	settleErr error
	again     func(context.Context) (chat.Turn, error) // saves the end that could not be saved
}

// state is one step of the machine: it does its part and returns the next state.
type state func(context.Context) state

func (r *run) loop(ctx context.Context) {
	defer r.e.finished(r)
	defer r.stream.end()
	defer panics.Recover(r.died)
	// A continued turn has earlier text: until that is read, a failure must not discard it.
	r.earlier = r.turn.Phase == chat.PhaseResponding
	for s := r.first(r, ctx); s != nil; {
		s = s(ctx)
	}
}

// prepare assembles the context. Accepted -> ContextPrepared.
func (r *run) prepare(ctx context.Context) state {
	begun := time.Now()
	if err := r.loadEarlier(ctx); err != nil {
		return r.failWith(ctx, err)
	}
	var err error
	if r.context, err = r.e.assemble(ctx, r.assembly()); err != nil {
		return r.failWith(ctx, r.unshrinkable(err))
	}
	r.metrics.AssembleMs = time.Since(begun).Milliseconds()
	r.metrics.EstimateTokens = r.context.Tokens()
	if r.continues, err = r.continuation(ctx); err != nil {
		return r.failWith(ctx, err)
	}
	seen := r.context.Manifest()
	r.noteContinuity(&seen)
	manifest, err := chat.MarshalJSON(seen)
	if err == nil {
		packed := retrieved(r.context.Manifest())
		r.memory.measure(&r.metrics, packed)
		err = r.e.turns.Prepare(ctx, chat.Preparation{
			TurnID: r.turn.ID, Manifest: manifest, Tokens: r.context.Tokens(), Retrieved: packed,
			RetrievalError: r.context.Manifest().Inputs.RetrievalError,
		})
	}
	if err == nil {
		r.body, err = r.model.Provider.Encode(r.request())
	}
	if err == nil {
		err = faults.Point("turn.prepared")
	}
	if err != nil {
		return r.failWith(ctx, err)
	}
	r.e.changed(chat.ChangeTurn, string(r.turn.ID), r.turn.SessionID)
	return r.begin
}

func (r *run) assembly() assembly {
	return assembly{
		branch: r.turn.BranchID, seq: r.turn.Seq, model: r.model, current: r.turn.User, earlier: r.brought,
		reduce: r.reduce, turn: &r.turn, step: r.index, memory: &r.memory,
	}
}

func (r *run) request() llm.Request {
	q := llm.Request{Endpoint: r.model.Endpoint, Context: r.context, Continues: r.continues}
	q.Endpoint.Store = q.Endpoint.Store && !r.forgotten || r.mayContinue()
	return q
}

// loadEarlier reads the results of earlier steps and attempts.
func (r *run) loadEarlier(ctx context.Context) error {
	steps, err := r.e.past.Steps(ctx, r.turn.ID)
	if err != nil || len(steps) == 0 {
		return err
	}
	r.closed = steps
	if r.brought, err = r.e.broughtBefore(ctx, steps, r.index); err != nil {
		return err
	}
	all, err := r.e.broughtBefore(ctx, steps, steps[len(steps)-1].Index+1)
	if err != nil {
		return err // earlier results are unknown and must not be treated as empty
	}
	r.earlier = all.stands()
	return nil
}

// begin starts an attempt: its step row and its journal are durable before anything is sent. ContextPrepared ->
// Responding.
func (r *run) begin(ctx context.Context) state {
	if err := context.Cause(ctx); err != nil {
		return r.settleNothing(err)
	}
	r.number++
	r.stream.end()
	r.timing, r.err, r.writer = chat.StepMetrics{}, nil, nil
	r.meter = r.e.meter(r.model.Endpoint.ModelID)
	r.decoder = r.newDecoder()
	step, err := r.e.turns.BeginStep(ctx, chat.StepStart{
		TurnID: r.turn.ID, Index: r.index, Provider: r.model.Provider.Name(), ModelID: r.model.Endpoint.ModelID,
		Request: r.body, StreamPath: r.e.journals.Path, ToolsMode: string(r.model.Endpoint.ToolsMode),
	})
	if err == nil {
		err = faults.Point("turn.step_begun")
	}
	if err != nil {
		return r.failWith(ctx, err)
	}
	r.step = step
	if r.writer, err = r.e.journals.Begin(step.ID, r.model.Provider.Name()); err != nil {
		r.err = err
		return r.settle
	}
	r.openEmitter()
	if r.err = faults.Point("turn.journal_begun"); r.err != nil {
		return r.settle
	}
	r.e.changed(chat.ChangeTurn, string(r.turn.ID), r.turn.SessionID)
	return r.receiveAll
}

func (r *run) openEmitter() {
	s := r.e.settings()
	ids := chat.Frame{
		Session: r.turn.SessionID, Branch: r.turn.BranchID, Turn: r.turn.ID,
		Step: r.step.ID, Attempt: r.step.Attempt,
	}
	em := newEmitter(ids, r.base, s.FrameEvery, r.writer.WriteAhead(), r.e.publish.Frame)
	r.writer.OnDurable(func(p journal.Progress) { em.progress(p.DurableSeq, p.Durable) })
	r.mu.Lock()
	r.emitter = em
	r.mu.Unlock()
	r.progress = r.e.recordProgress(r.step.ID, em)
}

func (r *run) live() (Live, bool) {
	r.mu.Lock()
	em := r.emitter
	r.mu.Unlock()
	if em == nil {
		return Live{}, false
	}
	return em.live(), true
}

// receiveAll passes events from the provider to journal, decoder and window.
func (r *run) receiveAll(ctx context.Context) state {
	r.started = time.Now()
	r.err = r.e.callProvider(ctx, r, r.receive)
	r.timing.StreamMs = time.Since(r.started).Milliseconds()
	r.metrics.StreamMs += r.timing.StreamMs
	return r.settle
}

// callProvider streams one call and ends it when nothing arrives for too long.
func (e *Engine) callProvider(ctx context.Context, r *run, yield func(chat.RawEvent) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := e.settings().IdleTimeout
	watch := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer watch.Stop()
	err := r.model.Provider.Stream(ctx, r.model.Endpoint, r.body, func(ev chat.RawEvent) error {
		watch.Reset(idle)
		return yield(ev)
	})
	// A cancelled call fails in different ways depending on the client, so the cause is used.
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
			return cause
		}
	}
	return err
}

// receive journals one event, then shows it.
func (r *run) receive(ev chat.RawEvent) error {
	if r.stream.count == 0 {
		r.timing.FirstByteMs = time.Since(r.started).Milliseconds()
	}
	deltas := r.decoder.Decode(ev)
	seq, err := r.writer.Append(ev, visibleBytes(deltas))
	if err != nil {
		r.stream.refused = true
		return err
	}
	r.stream.add(ev, r.e.turns.NewEventPack)
	r.timing.Deltas += int64(len(deltas))
	r.emitter.add(deltas, seq)
	if err := faults.Point("turn.event"); err != nil {
		return err
	}
	return r.meter.Add(ev, deltas, r.decoder.Parts())
}

// settle judges the attempt and closes its journal.
func (r *run) settle(ctx context.Context) state {
	r.end = judge(attempt{
		result: r.decoder.Result(), err: r.err, events: r.stream.count, number: r.number, earlier: r.earlier,
		shrunk: r.shrunk, more: r.index+1 < r.e.maxSteps(), mode: r.model.Endpoint.ToolsMode, rests: r.continues != nil || r.model.Endpoint.Store && !r.forgotten,
	})
	r.closeJournal()
	if err := faults.Point("turn.journal_sealed"); err != nil {
		return r.failWith(ctx, err)
	}
	switch r.end.verdict {
	case verdictFinal:
		return r.finalize
	case verdictIncomplete:
		return r.interrupt
	case verdictRetry:
		return r.backoff
	case verdictShrink:
		return r.shrink
	case verdictTools:
		return r.propose
	case verdictPaused:
		return r.goOnPaused
	case verdictWhole:
		return r.sendWhole
	}
	return r.fail
}

// closeJournal seals the journal; only then the rest is shown.
func (r *run) closeJournal() {
	if r.writer == nil {
		return
	}
	reason := ""
	if r.end.failure != nil {
		reason = string(r.end.failure.Code)
	}
	r.progress.end()
	p, err := r.writer.End(r.end.journal, reason)
	if err != nil {
		r.e.log.Error("the stream journal could not be sealed", "step", r.step.ID, "err", err)
		r.end.step.Message = joinSentences(r.end.step.Message, r.stream.missing(r.e, r.step.ID))
	}
	r.emitter.finish(p.DurableSeq, p.Durable)
	if r.stream.long {
		r.emitter.settle(r.decoder.Result().Blocks)
	}
	f := r.emitter.counters()
	r.step.DisplayedBytes, r.step.DurableBytes = f.Displayed, f.Durable
}

func (r *run) stepEnd() *chat.StepEnd {
	if r.step.ID == "" {
		return nil
	}
	res := r.decoder.Result()
	return &chat.StepEnd{
		StepID: r.step.ID, Outcome: r.end.step, Items: res.Items, Usage: res.Usage,
		DisplayedBytes: r.step.DisplayedBytes, DurableBytes: r.step.DurableBytes,
		Events: r.stream.events(r.e, r.step.ID), Packed: r.stream.pack, Metrics: r.timing,
	}
}

// backoff ends the failed attempt and waits before the next one.
func (r *run) backoff(ctx context.Context) state {
	if err := r.closeAttempt(); err != nil {
		return r.failWith(ctx, err)
	}
	wait := r.end.retryAfter
	if wait == 0 {
		wait = r.e.settings().Backoff(r.number + 1)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return r.begin
	case <-ctx.Done():
		return r.settleNothing(context.Cause(ctx))
	}
}

// closeAttempt records an attempt that did not settle the turn.
func (r *run) closeAttempt() error {
	if err := r.e.turns.EndStep(context.Background(), *r.stepEnd()); err != nil {
		return err
	}
	r.e.prune(r.step.ID)
	r.clearEmitter()
	r.e.changed(chat.ChangeTurn, string(r.turn.ID), r.turn.SessionID)
	return nil
}

// goOnPaused sends a paused answer back unchanged, in the turn's next step.
func (r *run) goOnPaused(ctx context.Context) state {
	r.learn(r.decoder.Result().Usage)
	if err := r.closeAttempt(); err != nil {
		return r.failWith(ctx, err)
	}
	r.stream.end()
	r.number, r.shrunk, r.refusal = 0, 0, nil
	r.index++
	return r.prepare
}

// settleNothing ends a run that was cancelled while no stream was open.
func (r *run) settleNothing(cause error) state {
	if r.step.Outcome.Status != chat.StepRunning {
		r.step = chat.Step{}
	}
	r.end = judge(attempt{err: cause, number: r.number, earlier: r.earlier})
	switch r.end.verdict {
	case verdictFinal:
		if r.brought.calls {
			return r.stopCalls
		}
		// Stop before a retry or continuation had begun: the earlier state is restored.
		r.end.verdict, r.end.failure = verdictIncomplete, failureOf(errStoppedEarly)
		return r.interrupt
	case verdictIncomplete:
		return r.interrupt
	}
	return r.fail
}

var errStoppedEarly = chat.Errorf(chat.CodeCancelled, "turn.stop", "Stopped before the next attempt began. What had arrived before is kept.")

// failWith ends a run for a reason of our own: over budget, a full disk. If the run was cancelled, that is the reason
// instead of err.
func (r *run) failWith(ctx context.Context, err error) state {
	if cause := context.Cause(ctx); cause != nil {
		return r.settleNothing(cause)
	}
	r.end = judge(attempt{err: err, number: MaxAttempts, earlier: r.earlier})
	r.end.failure.Attempts = r.number
	if r.earlier {
		return r.interrupt
	}
	return r.fail
}

// finalize is TX-A. Responding -> ResponseFinalized. The journal is deleted only when the transaction is durable.
func (r *run) finalize(context.Context) state {
	res := r.decoder.Result()
	r.metrics.Attempts = r.number
	message := chat.Message{Role: chat.RoleAssistant, Blocks: join(r.base, res.Blocks)}
	if !substantial(res.Blocks) && r.earlier {
		message = r.fallbackMessage()
	}
	r.learn(res.Usage)
	end := r.stepEnd()
	end.DurableBytes = end.DisplayedBytes // made durable by this transaction, whatever the journal's state
	f := chat.Finalization{
		TurnID: r.turn.ID, Step: end, Message: message, Outcome: r.end.outcome,
		Usage: usageOf(r.closed, res.Usage), Metrics: r.metrics,
	}
	r.written(func(ctx context.Context) (chat.Turn, error) { return r.e.turns.Finalize(ctx, f) })
	return nil
}

// learn compares our count of the input with the provider's.
func (r *run) learn(u *chat.Usage) {
	// If the count is far below ours, the server cut the prompt, so it is not used.
	if u == nil || u.InputTokens == 0 || u.InputTokens < r.context.Tokens()/2 {
		return
	}
	ep := r.model.Endpoint
	if err := r.e.contexts.ObserveCalibration(context.Background(), ep.Provider, ep.ModelID, r.context.Tokens(), u.InputTokens); err != nil {
		r.e.log.Warn("the provider's token count could not be learned from", "err", err)
	}
}

// fallbackMessage is the result of earlier attempts, for a stopped or empty retry, which must not replace it.
func (r *run) fallbackMessage() chat.Message {
	m, err := r.e.Answer(context.Background(), r.turn)
	if err != nil {
		r.e.log.Error("an earlier answer could not be read", "turn", r.turn.ID, "err", err)
	}
	return m
}

// interrupt leaves the turn Responding and incomplete.
func (r *run) interrupt(context.Context) state {
	end := r.stepEnd()
	var usage *chat.Usage
	if end != nil {
		usage = end.Usage
	}
	i := chat.Interruption{TurnID: r.turn.ID, Step: end, Failure: r.end.failure, Usage: usageOf(r.closed, usage)}
	r.written(func(ctx context.Context) (chat.Turn, error) { return r.e.turns.Interrupt(ctx, i) })
	return nil
}

// fail ends the turn. Its prompt stays.
func (r *run) fail(context.Context) state {
	r.metrics.Attempts = r.number
	f := chat.TurnFailure{TurnID: r.turn.ID, Step: r.stepEnd(), Outcome: chat.OutcomeFailed, Failure: r.end.failure, Metrics: r.metrics}
	r.written(func(ctx context.Context) (chat.Turn, error) { return r.e.turns.FailTurn(ctx, f) })
	return nil
}

// written saves how the turn ended and reads it back. If it cannot be saved (a full disk), the turn stays as it was
// and its journal is kept. The reconciler, and the next decision about the turn, save it again; the next start
// recovers it from its journal.
func (r *run) written(end func(context.Context) (chat.Turn, error)) {
	t, err := end(context.Background())
	if err != nil {
		r.settleErr, r.again = err, end
		r.e.log.Error("a turn could not be settled; it is tried again", "turn", r.turn.ID, "err", err)
		return
	}
	r.turn = t
	if faults.Point("turn.settled") != nil {
		return
	}
	if t.Phase.Finalized() || t.Phase == chat.PhaseFailed {
		r.e.pruneAll(r.closed)
		r.e.prune(r.step.ID)
	}
}

func (r *run) clearEmitter() {
	r.closed = append(r.closed, r.step)
	r.step, r.writer = chat.Step{}, nil // ended in the database; it must not be ended again
	r.mu.Lock()
	r.emitter = nil
	r.mu.Unlock()
}

// prune deletes the journal of a step whose events are in the database, and reports whether it is deleted.
func (e *Engine) prune(id chat.StepID) bool {
	if id == "" {
		return false
	}
	if err := e.journals.Prune(id); err != nil {
		e.log.Warn("a journal could not be removed", "step", id, "err", err)
		return false
	}
	return faults.Point("turn.pruned") == nil
}

func (e *Engine) pruneAll(steps []chat.Step) {
	for _, s := range steps {
		e.prune(s.ID)
	}
}
