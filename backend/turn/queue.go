package turn

import (
	"context"
	"maps"
	"slices"

	"contextinfinity/backend/chat"
)

// Messages that are sent while an answer arrives wait in the queue of their branch. The store keeps them and their
// order; each is removed in the transaction that makes it a turn, so none is lost or sent twice. Whether a queue is
// being sent is known only in this process: after a restart, a stop or an incomplete answer the queue is held, and
// nothing is sent until the user resumes it.

// Hold says why the messages of a queue are not sent automatically.
type Hold struct {
	Cause chat.HoldCause
	Err   *chat.Error // of chat.HeldByError
}

// Queue is the queue of a branch.
type Queue struct {
	Messages []chat.QueuedMessage
	Hold     Hold
}

// queueState is the state of a branch with queued messages.
type queueState struct {
	sends   bool
	hold    Hold          // if it does not send
	refused chat.QueuedID // the message to which hold.Err refers; empty: it refers to none
}

// Queue returns the messages that wait on a branch, in order.
func (e *Engine) Queue(ctx context.Context, branch chat.BranchID) (Queue, error) {
	waiting, err := e.drafts.Queue(ctx, branch)
	q := Queue{Messages: waiting}
	if state, ok := e.queueState(branch); !ok {
		q.Hold.Cause = chat.HeldIdle
	} else if q.Hold = state.hold; state.refused != "" && (len(waiting) == 0 || waiting[0].ID != state.refused) {
		q.Hold = Hold{Cause: chat.HeldIdle} // the first message is now a different one
	}
	return q, err
}

// SendOrQueue is Send, but while another turn of the branch runs, or queued messages are about to be sent, the message
// joins the branch's queue. The handle is then nil. A held queue stays held.
func (e *Engine) SendOrQueue(ctx context.Context, m Message) (*Handle, error) {
	if _, err := e.ownBranch(ctx, &m); err != nil {
		return nil, err
	}
	sends, err := e.sendsQueued(ctx, m.Branch)
	if err != nil {
		return nil, err
	}
	if !sends {
		if h, err := e.Send(ctx, m); chat.CodeOf(err) != chat.CodeBusy {
			return h, err
		}
	}
	b, err := e.past.Branch(ctx, m.Branch)
	if err != nil {
		return nil, err
	}
	e.claimQueue(m.Branch)
	defer e.releaseQueue(m.Branch)
	if err := e.joinQueue(ctx, m); err != nil {
		return nil, err
	}
	if m.FromDraft {
		e.changed(chat.ChangeDraft, string(m.Branch), b.SessionID)
	}
	e.changed(chat.ChangeQueue, string(m.Branch), b.SessionID)
	e.continueQueue(ctx, m.Branch, b.SessionID) // the turn that it waited for may have ended before it was queued
	return nil, nil
}

// sendsQueued reports whether messages wait on a branch and are sent automatically. A message that is sent later must
// not overtake them, not even between the end of a turn and the start of the next one.
func (e *Engine) sendsQueued(ctx context.Context, branch chat.BranchID) (bool, error) {
	if state, _ := e.queueState(branch); !state.sends {
		return false, nil
	}
	waiting, err := e.drafts.Queue(ctx, branch)
	return len(waiting) > 0, err
}

// joinQueue adds the message to the end of the queue. The first one of a queue is sent automatically.
func (e *Engine) joinQueue(ctx context.Context, m Message) error {
	e.queueMu.Lock()
	defer e.queueMu.Unlock()
	before, err := e.drafts.Queue(ctx, m.Branch)
	if err != nil {
		return err
	}
	if _, err := e.drafts.Enqueue(ctx, m.Branch, m.Content, chat.QueueLimit, m.FromDraft); err != nil {
		return err
	}
	if len(before) == 0 {
		e.setQueue(m.Branch, queueState{sends: true})
	}
	return nil
}

// ResumeQueue sends the messages that wait on a branch, one after another: the first now, or when the running answer
// is complete.
func (e *Engine) ResumeQueue(ctx context.Context, branch chat.BranchID) error {
	b, err := e.past.Branch(ctx, branch)
	if err != nil {
		return err
	}
	e.claimQueue(branch)
	defer e.releaseQueue(branch)
	e.queueMu.Lock()
	defer e.queueMu.Unlock()
	e.setQueue(branch, queueState{sends: true})
	e.changed(chat.ChangeQueue, string(branch), b.SessionID)
	last, ok, err := e.past.LastTurn(ctx, branch)
	if err != nil || ok && e.IsRunning(last.ID) {
		return err
	}
	if suspended, err := e.suspended(ctx, last); err != nil || ok && suspended {
		return err
	}
	e.sendNext(ctx, branch, b.SessionID)
	if state, _ := e.queueState(branch); state.hold.Err != nil {
		return state.hold.Err
	}
	return nil
}

// continueQueue sends the next message if the answer before it is complete, and otherwise holds the queue. It does
// nothing while a turn of the branch runs, waits for the user or has an unsaved end: whatever ends that turn calls it
// again. Calls are serialized with each other and with changes of a queue, so that no message is sent twice or while it
// is edited. The end of ctx does not hold the queue: the caller may be a command that was interrupted.
func (e *Engine) continueQueue(ctx context.Context, branch chat.BranchID, session chat.SessionID) {
	ctx = context.WithoutCancel(ctx)
	e.queueMu.Lock()
	defer e.queueMu.Unlock()
	if state, _ := e.queueState(branch); !state.sends || e.isClosed() {
		return
	}
	last, idle, err := e.idleTurn(ctx, branch)
	switch cause := holdCause(last); {
	case err != nil:
		e.hold(ctx, branch, session, Hold{Cause: chat.HeldByError, Err: chat.AsError(err)})
	case !idle:
	case cause != chat.NotHeld:
		e.hold(ctx, branch, session, Hold{Cause: cause})
	default:
		e.sendNext(ctx, branch, session)
	}
}

// idleTurn is the last turn of a branch. idle is false while a turn of the branch runs, waits between two steps or has
// an unsaved end. No run begins while startMu is locked, so the turn is read after its last run has ended: a turn that
// was read earlier could look incomplete although its answer is complete.
func (e *Engine) idleTurn(ctx context.Context, branch chat.BranchID) (last chat.Turn, idle bool, err error) {
	e.startMu.Lock()
	defer e.startMu.Unlock()
	if e.runOf(branch) != nil {
		return last, false, nil
	}
	if last, _, err = e.past.LastTurn(ctx, branch); err != nil {
		return last, false, err
	}
	if suspended, err := e.suspended(ctx, last); err != nil || suspended {
		return last, false, err
	}
	_, unsaved := e.UnsavedEnd(last)
	return last, !unsaved, nil
}

// holdCause returns why nothing is sent after a turn, or NotHeld.
func holdCause(t chat.Turn) chat.HoldCause {
	switch {
	case t.ID == "": // there is none
		return chat.NotHeld
	case t.Outcome == chat.OutcomeStopped || stoppedEarly(t):
		return chat.HeldByStop
	case !t.Phase.Finalized() || CutShort(t) || t.Outcome == chat.OutcomePaused:
		return chat.HeldByAnswer
	}
	return chat.NotHeld
}

// stoppedEarly reports whether the user stopped the answer before it, or another attempt at it, had begun.
func stoppedEarly(t chat.Turn) bool {
	return t.Failure != nil && t.Failure.Code == chat.CodeCancelled && t.Outcome != chat.OutcomeDiscarded
}

// afterRun sends the next queued message once the answer before it is complete.
func (e *Engine) afterRun(r *run) {
	defer e.releaseQueue(r.turn.BranchID) // claimed by unregister
	if r.endErr != nil || e.isClosed() {
		return
	}
	if r.suspended { // queued messages wait with it
		if _, err := e.continueTurn(context.Background(), r.turn.ID); err != nil { // a decision arrived while the run ended
			e.log.Warn("a turn with tool calls could not continue", "turn", r.turn.ID, "err", err)
		}
		return
	}
	e.continueQueue(context.Background(), r.turn.BranchID, r.turn.SessionID)
}

// sendNext sends the first message of a queue. If it cannot be sent, the queue is held. e.queueMu is held.
func (e *Engine) sendNext(ctx context.Context, branch chat.BranchID, session chat.SessionID) {
	waiting, err := e.drafts.Queue(ctx, branch)
	if err == nil && len(waiting) == 0 {
		e.dropQueue(branch)
		return
	}
	if err == nil {
		_, err = e.Send(ctx, Message{Branch: branch, Content: waiting[0].Message, queued: waiting[0].ID})
	}
	if err != nil && chat.CodeOf(err) != chat.CodeBusy { // busy: the turn that runs now continues the queue
		e.log.Warn("the queued message was not sent", "branch", branch, "err", err)
		state := queueState{hold: Hold{Cause: chat.HeldByError, Err: chat.AsError(err)}}
		if len(waiting) > 0 {
			state.refused = waiting[0].ID
		}
		e.setQueue(branch, state)
	}
	e.changed(chat.ChangeQueue, string(branch), session)
}

// hold stops the automatic sending of a queue. e.queueMu is held.
func (e *Engine) hold(ctx context.Context, branch chat.BranchID, session chat.SessionID, h Hold) {
	if waiting, err := e.drafts.Queue(ctx, branch); err == nil && len(waiting) == 0 {
		e.dropQueue(branch)
		return
	}
	e.setQueue(branch, queueState{hold: h})
	e.changed(chat.ChangeQueue, string(branch), session)
}

// continueQueues continues the queues behind turns that were resolved without a run.
func (e *Engine) continueQueues(ctx context.Context) error {
	e.mu.Lock()
	branches := slices.Collect(maps.Keys(e.queues))
	e.mu.Unlock()
	for _, id := range branches {
		b, err := e.past.Branch(ctx, id)
		if chat.CodeOf(err) == chat.CodeNotFound { // it was deleted
			e.dropQueue(id)
			continue
		}
		if err != nil {
			return err
		}
		e.continueQueue(ctx, id, b.SessionID)
	}
	return nil
}

// EditQueued moves a queued message into the branch's draft, above the text that is already there, and returns it.
func (e *Engine) EditQueued(ctx context.Context, id chat.QueuedID) (chat.QueuedMessage, error) {
	e.queueMu.Lock()
	defer e.queueMu.Unlock()
	m, err := e.drafts.EditQueued(ctx, id)
	if err == nil {
		err = e.queueChanged(ctx, m.BranchID, chat.ChangeDraft, chat.ChangeQueue)
	}
	return m, err
}

// RemoveQueued deletes a queued message and returns it.
func (e *Engine) RemoveQueued(ctx context.Context, id chat.QueuedID) (chat.QueuedMessage, error) {
	e.queueMu.Lock()
	defer e.queueMu.Unlock()
	m, err := e.drafts.RemoveQueued(ctx, id)
	if err == nil {
		err = e.queueChanged(ctx, m.BranchID, chat.ChangeQueue)
	}
	return m, err
}

// RestoreQueued undoes the deletion of a queued message: it is inserted before the message at that place.
func (e *Engine) RestoreQueued(ctx context.Context, branch chat.BranchID, m chat.Message, at int) error {
	e.queueMu.Lock()
	defer e.queueMu.Unlock()
	if _, err := e.drafts.Enqueue(ctx, branch, m, at, false); err != nil {
		return err
	}
	return e.queueChanged(ctx, branch, chat.ChangeQueue)
}

// MoveQueued moves a queued message to that place, from 0.
func (e *Engine) MoveQueued(ctx context.Context, id chat.QueuedID, to int) error {
	e.queueMu.Lock()
	defer e.queueMu.Unlock()
	branch, err := e.drafts.MoveQueued(ctx, id, to)
	if err == nil {
		err = e.queueChanged(ctx, branch, chat.ChangeQueue)
	}
	return err
}

func (e *Engine) queueChanged(ctx context.Context, branch chat.BranchID, kinds ...chat.ChangeKind) error {
	b, err := e.past.Branch(ctx, branch)
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		e.changed(kind, string(branch), b.SessionID)
	}
	return nil
}

func (e *Engine) queueState(branch chat.BranchID) (queueState, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	state, ok := e.queues[branch]
	return state, ok
}

func (e *Engine) setQueue(branch chat.BranchID, state queueState) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.queues[branch] = state
}

func (e *Engine) dropQueue(branch chat.BranchID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.queues, branch)
}

// claim is the claim on a queue by the callers that are about to send or hold its messages.
type claim struct {
	count    int
	released chan struct{} // closed when the last caller is done
}

// claimQueue claims a branch's queue until releaseQueue. SendInOrder waits until then.
func (e *Engine) claimQueue(branch chat.BranchID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.addClaim(branch)
}

// addClaim is claimQueue. e.mu is held.
func (e *Engine) addClaim(branch chat.BranchID) {
	if e.claims[branch] == nil {
		e.claims[branch] = &claim{released: make(chan struct{})}
	}
	e.claims[branch].count++
}

func (e *Engine) releaseQueue(branch chat.BranchID) {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.claims[branch]
	if c.count--; c.count == 0 {
		delete(e.claims, branch)
		close(c.released)
	}
}

// released returns a channel that is closed when a queue that is being sent is no longer claimed; nil: the queue is not
// claimed, or not being sent.
func (e *Engine) released(ctx context.Context, branch chat.BranchID) <-chan struct{} {
	e.mu.Lock()
	c := e.claims[branch]
	e.mu.Unlock()
	if c == nil {
		return nil
	}
	if sends, err := e.sendsQueued(ctx, branch); err != nil || !sends {
		return nil
	}
	return c.released
}
