package turn

import (
	"context"
	"errors"
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faults"
	"contextinfinity/backend/internal/panics"
)

// The states of a run between two steps:
//
//	evaluate -> propose -> calls -> (prepare the next step | wait for the user | end)
//	                         ^  |
//	                         +--+ a call, or several in parallel

// propose records the calls of an answer, with the end of their step.
func (r *run) propose(context.Context) state {
	res := r.decoder.Result()
	end := *r.stepEnd()
	calls := proposals(res.Blocks, r.context.Tools())
	write := func(ctx context.Context) (chat.Turn, error) {
		b, err := r.e.toolCalls.ProposeCalls(ctx, r.turn.ID, end, calls)
		if err != nil {
			return r.turn, err
		}
		r.proposed = b.ID
		return r.e.past.Turn(ctx, r.turn.ID)
	}
	r.observeUsage(res.Usage)
	if _, err := write(context.Background()); err != nil {
		r.keepUnsaved(err, write)
		return nil
	}
	r.clearEmitter() // its journal stays until the turn ends, as proof that the calls are this program's own
	r.stream.end()
	r.number, r.shrunk, r.refusal = 0, 0, nil
	r.e.changed(chat.ChangeTurn, string(r.turn.ID), r.turn.SessionID)
	if r.model.CalledTools != nil && r.model.CalledTools() {
		r.e.changed(chat.ChangeSettings, "", "") // the model is now known to call tools
	}
	return r.calls
}

// keepUnsaved leaves the turn open: the reconciler saves what could not be saved.
func (r *run) keepUnsaved(err error, write func(context.Context) (chat.Turn, error)) {
	r.endErr, r.retrySave = err, write
	r.e.log.Error("a tool call could not be recorded; this will be retried", "turn", r.turn.ID, "err", err)
}

// calls runs the calls of the last step, until each has its result or the user has to decide.
func (r *run) calls(ctx context.Context) state {
	if cause := context.Cause(ctx); cause != nil {
		return r.leaveCalls(cause)
	}
	b, n, err := r.e.openBatch(ctx, r.turn.ID)
	if err != nil {
		return r.callsFailed(ctx, err)
	}
	if b == nil {
		return r.nextStep(ctx, n)
	}
	switch changed, err := r.e.decideByPolicy(ctx, *b, n, r.proposed == b.ID); {
	case err != nil:
		return r.callsFailed(ctx, err)
	case changed:
		return r.calls
	case b.Finished():
		return r.commitCalls(ctx, *b, n)
	}
	next := nextCalls(*b, r.e.settings().AllowParallel)
	if len(next) == 0 { // the user decides; the turn stays open without a run
		r.suspended = true
		return r.leaveUnchanged
	}
	if err := r.execute(ctx, *b, next); err != nil {
		return r.callsFailed(ctx, err)
	}
	return r.calls
}

// callsFailed leaves the calls as recorded, because the database could not be written.
func (r *run) callsFailed(ctx context.Context, err error) state {
	var notRecorded *unrecorded
	ok := errors.As(err, &notRecorded)
	if cause := context.Cause(ctx); cause != nil {
		if ok { // retried once, before the turn's end marks them as unknown
			if _, err := notRecorded.write(context.WithoutCancel(ctx)); err != nil {
				r.e.log.Error("the end of a tool call could not be recorded", "turn", r.turn.ID, "err", err)
			}
		}
		return r.leaveCalls(cause)
	}
	if ok {
		r.keepUnsaved(err, notRecorded.write)
		return nil
	}
	r.endErr = err
	return nil
}

// commitCalls closes a batch in which every call has its result.
func (r *run) commitCalls(ctx context.Context, b chat.ToolBatch, n int) state {
	if err := r.e.toolCalls.CommitBatch(context.WithoutCancel(ctx), b.ID); err != nil {
		return r.callsFailed(ctx, err)
	}
	if err := faults.Point("turn.batch_committed"); err != nil {
		return r.callsFailed(ctx, err)
	}
	r.e.changed(chat.ChangeTurn, string(r.turn.ID), r.turn.SessionID)
	return r.nextStep(ctx, n)
}

// nextStep requests the next step, with the results of the n-th batch. If a model calls tools although it was told
// that no more will run, its answer ends.
func (r *run) nextStep(_ context.Context, n int) state {
	if n > r.e.maxSteps()+1 {
		return r.endWithCalls
	}
	r.index++
	r.earlier = true
	return r.prepare
}

// endWithCalls makes the current content the answer.
func (r *run) endWithCalls(ctx context.Context) state {
	return r.finalizeCalls(ctx, chat.OutcomePaused)
}

// leaveCalls ends a run that was cancelled between two steps. A stopped turn becomes final with what it has; a turn
// that is interrupted because the program closes is left unchanged.
func (r *run) leaveCalls(cause error) state {
	if errors.Is(cause, errStopped) {
		return r.stopCalls
	}
	return r.leaveUnchanged
}

// leaveUnchanged ends the run, but not its turn.
func (r *run) leaveUnchanged(ctx context.Context) state {
	if t, err := r.e.past.Turn(context.WithoutCancel(ctx), r.turn.ID); err == nil {
		r.turn = t
	}
	return nil
}

func (r *run) stopCalls(ctx context.Context) state {
	return r.finalizeCalls(ctx, chat.OutcomeStopped)
}

// finalizeCalls is TX-A for a turn that ends between two steps. It does not use the run's context, which has ended if
// it was stopped.
func (r *run) finalizeCalls(_ context.Context, outcome chat.Outcome) state {
	r.end = ending{verdict: verdictFinal, outcome: outcome}
	if steps, err := r.e.past.Steps(context.Background(), r.turn.ID); err == nil {
		r.closed = steps // their journals are deleted
	}
	r.saveEnd(func(ctx context.Context) (chat.Turn, error) {
		return r.e.finalizeOpen(ctx, r.turn.ID, outcome, r.metrics)
	})
	return nil
}

// execute runs calls in parallel.
func (r *run) execute(ctx context.Context, b chat.ToolBatch, calls []chat.CallRecord) error {
	errs := make([]error, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			defer panics.Recover(func(d *chat.Error, stack []byte) {
				r.e.log.Error("a tool call panicked", "call", c.ID, "err", d, "stack", string(stack))
				errs[i] = d
			})
			errs[i] = r.e.execute(ctx, b, c)
		})
	}
	wg.Wait()
	var notRecorded *unrecorded
	for _, err := range errs {
		if u, ok := errors.AsType[*unrecorded](err); ok {
			notRecorded = notRecorded.and(u)
		}
	}
	if notRecorded != nil {
		return notRecorded
	}
	return errors.Join(errs...)
}
