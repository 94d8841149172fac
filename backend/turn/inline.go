package turn

import (
	"context"
	"slices"
	"sync"
	"time"

	"contextinfinity/backend/chat"
)

// lines are the callers of SendInOrder, by branch and in the order of their arrival.
type lines struct {
	mu       sync.Mutex
	byBranch map[chat.BranchID][]chan struct{} // the channel of the first caller is closed
}

// join adds a caller to a branch's line. first is closed when all callers before it have left.
func (l *lines) join(branch chat.BranchID) (first chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byBranch == nil {
		l.byBranch = map[chat.BranchID][]chan struct{}{}
	}
	first = make(chan struct{})
	if l.byBranch[branch] = append(l.byBranch[branch], first); len(l.byBranch[branch]) == 1 {
		close(first)
	}
	return first
}

// leave removes a caller, from any place in the line.
func (l *lines) leave(branch chat.BranchID, place chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.byBranch[branch]
	i := slices.Index(line, place)
	line = slices.Delete(line, i, i+1)
	if l.byBranch[branch] = line; len(line) == 0 {
		delete(l.byBranch, branch)
	} else if i == 0 {
		close(line[0])
	}
}

// SendInOrder calls send, which sends a message to the branch, when no turn of the branch runs in this process and no
// queued message is about to be sent. Callers are served in the order of their arrival. SendInOrder waits at most patience,
// and then returns the CodeBusy error of send, or its own if send was never called. onWait is called once if SendInOrder
// has to wait.
func (e *Engine) SendInOrder(ctx context.Context, branch chat.BranchID, patience time.Duration, onWait func(), send func() error) error {
	place := e.lines.join(branch)
	defer e.lines.leave(branch, place)
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	onWait = sync.OnceFunc(onWait)
	busy := error(chat.Errorf(chat.CodeBusy, "turn.line", "Other messages to this branch are waiting for its running answer. Nothing was sent.").
		WithHint("wait for them, or stop the answer"))
	ended := false // at the last attempt there was no run to wait for
	for until := (<-chan struct{})(place); ; {
		if err := await(waiting, until, onWait); err != nil {
			if ctx.Err() != nil {
				return chat.WrapError(chat.CodeCancelled, "turn.line", err, "Cancelled while waiting for the running answer. Nothing was sent.")
			}
			return busy
		}
		if until = e.released(ctx, branch); until != nil {
			continue
		}
		err := send()
		if chat.CodeOf(err) != chat.CodeBusy {
			return err
		}
		busy = err
		if until = e.runOf(branch); until != nil {
			ended = false
			continue
		}
		if ended { // the branch waits for something else, such as a decision about tool calls
			return err
		}
		ended, until = true, place // the run has ended in between
	}
}

// await waits until the channel is closed. It returns the error of ctx if that ends first.
func await(ctx context.Context, until <-chan struct{}, onWait func()) error {
	select {
	case <-until:
		return nil
	default:
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	onWait()
	select {
	case <-until:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// runOf returns a channel that is closed when the run of a branch has ended; nil: none runs.
func (e *Engine) runOf(branch chat.BranchID) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.runs {
		if r.accepted.BranchID == branch {
			return r.done
		}
	}
	return nil
}
