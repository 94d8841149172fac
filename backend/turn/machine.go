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
//	prepare -> begin -> stream -> evaluate -> (finalize | interrupt | fail)
//	   ^         ^                 |     |
//	   |         +---- backoff <---+     +-> propose -> calls -> (the user decides)
//	   +---- the next step, with the results <------------+
//	   +---- the next step, after the provider paused the answer
type run struct {
	e         *Engine
	turn      chat.Turn
	accepted  chat.Turn // the turn as the run found it
	model     Model
	index     int // of the step
	first     func(*run, context.Context) state
	cancel    context.CancelCauseFunc
	done      chan struct{}
	proposed  chat.ToolBatchID // the last batch of this run
	suspended bool             // it ended because calls wait for the user

	earlierSteps
	earlier bool            // text or calls from earlier steps or attempts exist
	closed  []chat.Step     // ended steps, of earlier runs and this one
	memory  memorySelection // the same for every attempt, until the context must become smaller
	context prompt.PreparedContext
	body    json.RawMessage

	continues *llm.Continuation // the answer stored by the provider
	forgotten bool              // the provider has forgotten it

	number  int           // attempts of this run
	shrunk  int           // how often the context was made smaller for the provider
	reduce  float64       // share of the ceiling after that; 0: all of it
	refused []chat.Phrase // the shrink steps of the refused attempts
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
	endErr    error
	retrySave func(context.Context) (chat.Turn, error) // saves the end that could not be saved
}

// state is one state of the machine: it does its work and returns the next state.
type state func(context.Context) state

func (r *run) loop(ctx context.Context) {
	defer r.e.finished(r)
	defer r.stream.end()
	defer panics.Recover(r.endPanicked)
	// A continued turn has earlier text: until that is read, a failure must not discard it.
	r.earlier = r.turn.Phase == chat.PhaseResponding
	for s := r.first(r, ctx); s != nil; {
		s = s(ctx)
	}
}

// prepare assembles the context. Accepted -> ContextPrepared.
func (r *run) prepare(ctx context.Context) state {
	start := time.Now()
	if err := r.loadEarlier(ctx); err != nil {
		return r.failWith(ctx, err)
	}
	var err error
	if r.context, err = r.e.assemble(ctx, r.assembly()); err != nil {
		return r.failWith(ctx, r.unshrinkable(err))
	}
	r.metrics.AssembleMs = time.Since(start).Milliseconds()
	r.metrics.EstimateTokens = r.context.Tokens()
	if r.continues, err = r.continuation(ctx); err != nil {
		return r.failWith(ctx, err)
	}
	current := r.context.Manifest()
	r.noteSent(&current)
	manifest, err := chat.MarshalJSON(current)
	if err == nil {
		packed := retrieved(r.context.Manifest())
		r.memory.measure(&r.metrics, packed)
		err = r.e.turns.Prepare(ctx, chat.Preparation{
			TurnID: r.turn.ID, Manifest: manifest, Tokens: r.context.Tokens(), Retrieved: packed,
			RetrievalError: r.context.Manifest().Inputs.WhyNotSearched(),
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
		branch: r.turn.BranchID, seq: r.turn.Seq, model: r.model, current: r.turn.User, earlier: r.earlierSteps,
		reduce: r.reduce, refused: r.refused, turn: &r.turn, step: r.index, memory: &r.memory,
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
	if r.earlierSteps, err = r.e.readEarlier(ctx, steps, r.index); err != nil {
		return err
	}
	all, err := r.e.readEarlier(ctx, steps, steps[len(steps)-1].Index+1)
	if err != nil {
		return err // earlier results are unknown and must not be treated as empty
	}
	r.earlier = all.hasContent()
	return nil
}

// begin starts an attempt: its step row and its journal are durable before anything is sent. ContextPrepared ->
// Responding.
func (r *run) begin(ctx context.Context) state {
	if err := context.Cause(ctx); err != nil {
		return r.endWithoutStream(err)
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
		return r.evaluate
	}
	r.openEmitter()
	if r.err = faults.Point("turn.journal_begun"); r.err != nil {
		return r.evaluate
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
	return r.evaluate
}

// maxCommentsOnly is how many times stream.idle_timeout_s a server may send nothing but comments, which it does while it
// reads a long prompt.
const maxCommentsOnly = 10

// callProvider streams one call and ends it when nothing arrives for too long.
func (e *Engine) callProvider(ctx context.Context, r *run, yield func(chat.RawEvent) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := e.settings().IdleTimeout
	watch := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer watch.Stop()
	deadline := time.Now().Add(idle * maxCommentsOnly)
	alive := func() {
		if time.Now().Before(deadline) {
			watch.Reset(idle)
		}
	}
	err := r.model.Provider.Stream(llm.WithAlive(ctx, alive), r.model.Endpoint, r.body, func(ev chat.RawEvent) error {
		watch.Reset(idle)
		deadline = time.Now().Add(idle * maxCommentsOnly)
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

// evaluate judges the attempt and closes its journal.
func (r *run) evaluate(ctx context.Context) state {
	result := r.decoder.Result()
	if len(result.Ignored) > 0 { // SRD 11.1; the stored request and answer keep their bytes
		r.e.log.Warn("the provider sent events of unknown types, which were ignored", "step", r.step.ID,
			"provider", r.model.Provider.Name(), "types", result.Ignored)
	}
	r.end = judge(attempt{
		result: result, err: r.err, events: r.stream.count, number: r.number, earlier: r.earlier,
		shrunk: r.shrunk, moreSteps: r.index+1 < r.e.maxSteps(), mode: r.model.Endpoint.ToolsMode, refused: r.model.Endpoint.Refused, continues: r.continues != nil || r.model.Endpoint.Store && !r.forgotten,
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
		return r.continuePaused
	case verdictComplete:
		return r.sendComplete
	case verdictAdapt:
		return r.adapt
	}
	return r.fail
}

// closeJournal seals the journal, and then shows the rest of the answer.
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
		r.emitter.finalize(r.decoder.Result().Blocks)
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
		return r.endWithoutStream(context.Cause(ctx))
	}
}

// closeAttempt records an attempt that did not end the turn.
func (r *run) closeAttempt() error {
	if err := r.e.turns.EndStep(context.Background(), *r.stepEnd()); err != nil {
		return err
	}
	r.e.prune(r.step.ID)
	r.clearEmitter()
	r.e.changed(chat.ChangeTurn, string(r.turn.ID), r.turn.SessionID)
	return nil
}

var errStoppedEarly = chat.Errorf(chat.CodeCancelled, "turn.stop", "Stopped before the next attempt began. Any partial answer is kept.")
