package app

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/filetype"
	"contextinfinity/backend/tasks"
)

// raise brings the window to the front; tests replace it.
var raise = desktop.Raise

// quit ends the program with all its windows, as the tray's menu does.
var quit = desktop.Quit

// handleOpen passes the requests of a start of the program to the page: of this start before its page exists, or of a
// later one.
func handleOpen(hub *api.Hub, o cli.OpenOptions) {
	if o.NewChat || o.Quick { // the first window is never the small one: it starts a new conversation instead
		hub.RequestWindow(windowRequest(desktop.WindowRequest{Kind: desktop.RequestNewChat, X: -1, Y: -1}))
	}
	if o.Session != "" {
		hub.RequestWindow(windowRequest(desktop.WindowRequest{Kind: desktop.RequestOpenSession, Session: o.Session, X: -1, Y: -1}))
	}
	if len(o.Files) > 0 {
		hub.RequestWindow(windowRequest(desktop.WindowRequest{Kind: desktop.RequestFiles, Paths: o.Files, X: -1, Y: -1}))
	}
}

// windowRequest returns the page's form of a request, with the type of each file.
func windowRequest(r desktop.WindowRequest) api.WindowRequest {
	out := api.WindowRequest{Kind: api.WindowRequestKind(r.Kind), SessionID: r.Session, X: r.X, Y: r.Y}
	paths := r.Paths[:min(len(r.Paths), filetype.MaxAtOnce)]
	if files, err := filetype.DetectAll(paths); err == nil {
		out.Files = files
	}
	return out
}

// newTrayWork returns the background work as the tray shows and controls it.
func (a *app) newTrayWork(hub *api.Hub) desktop.Work {
	w := &trayWork{a: a, hub: hub}
	hub.Listen(func(c chat.Change) {
		switch c.Kind {
		case chat.ChangeTurn, chat.ChangeJobs, chat.ChangeTask, chat.ChangeReindex, chat.ChangeRecovery, chat.ChangeVault:
			w.changed()
		}
	})
	return w
}

// trayWork is the background work as shown in the tray.
type trayWork struct {
	a   *app
	hub *api.Hub

	mu       sync.Mutex
	onChange func()
}

func (w *trayWork) Paused() bool { return w.a.Reconciler.Paused() }

func (w *trayWork) Pause(paused bool) {
	if err := w.a.Reconciler.SetPaused(w.a.lifetime, paused); err != nil && w.a.lifetime.Err() == nil {
		w.a.Log.Warn("the pause applies to this run only", "err", err)
	}
}

// Reconcile runs all maintenance that is due, even while work is paused, because the user requested it.
func (w *trayWork) Reconcile() {
	if w.a.lifetime.Err() != nil {
		return // closing: nothing new is started
	}
	w.a.run(func(ctx context.Context) {
		_, err := w.a.Reconciler.Reconcile(ctx)
		if err == nil {
			_, _, err = w.a.Reconciler.CatchUp(ctx)
		}
		if err != nil && ctx.Err() == nil {
			w.a.Log.Error("unfinished work could not be recovered from the tray", "err", err)
		}
	})
}

// Busy counts answers, jobs and tasks. If the jobs cannot be counted, they are left out until the next call.
func (w *trayWork) Busy() (running, queued int) {
	queued, running, _, err := w.a.Store.JobCounts(w.a.lifetime)
	if err != nil {
		queued, running = 0, 0
	}
	runningTasks, queuedTasks := w.a.Tasks.Open()
	return running + runningTasks + len(w.a.Turns.Running()), queued + queuedTasks
}

// Attention reports failed work until it is dismissed or completed.
func (w *trayWork) Attention() string {
	for _, t := range w.a.Tasks.List() {
		if t.State == tasks.Failed {
			return t.Title.String() + " failed"
		}
	}
	_, _, failed, err := w.a.Store.JobCounts(w.a.lifetime)
	switch {
	case err != nil || failed == 0:
		if l, err := w.a.Vault.Latest(w.a.lifetime); err == nil && l.Attention(time.Now()) {
			return "Not in step with your other computers: see the settings"
		}
		return ""
	case failed == 1:
		return "A background job failed: see Activity"
	}
	return fmt.Sprintf("%d background jobs failed: see Activity", failed)
}

func (w *trayWork) Answering() int { return len(w.a.Turns.Running()) }

func (w *trayWork) Changed(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.onChange = fn
}

func (w *trayWork) changed() {
	w.mu.Lock()
	onChange := w.onChange
	w.mu.Unlock()
	if onChange != nil {
		onChange()
	}
}

// longAnswer is the duration from which the end of an answer is announced although the window is visible, if it does
// not have the focus.
const longAnswer = 10 * time.Second

// answerNotifier notifies the user when an unwatched answer ends.
type answerNotifier struct {
	turn    func(context.Context, chat.TurnID) (chat.Turn, error)
	session func(context.Context, chat.SessionID) (chat.Session, error)
	watched func() (visible, focused bool)
	preview func() bool
	notify  func(desktop.Notice)
	now     func() time.Time

	mu        sync.Mutex
	startedAt map[chat.TurnID]time.Time
}

// notifyAnswers notifies the user about answers as long as the app runs.
func (a *app) notifyAnswers(hub *api.Hub) {
	n := &answerNotifier{
		turn: a.Store.Turn, session: a.Store.Session, watched: desktop.Watched, notify: desktop.Notify, now: time.Now,
		preview: func() bool { return a.Config.Config().Desktop.NotificationPreview }, startedAt: map[chat.TurnID]time.Time{},
	}
	changedTurns := make(chan chat.TurnID, 256)
	hub.Listen(func(c chat.Change) {
		if c.Kind == chat.ChangeTurn {
			select {
			case changedTurns <- chat.TurnID(c.ID):
			default: // hundreds of changes at once do not come from a conversation, so they need no notifications
			}
		}
	})
	a.run(func(ctx context.Context) {
		for {
			select {
			case <-ctx.Done():
				return
			case id := <-changedTurns:
				n.check(ctx, id)
			}
		}
	})
}

// check records the start of a turn's answer, and announces its end. Temporary turns are not stored, so they are not
// announced.
func (n *answerNotifier) check(ctx context.Context, id chat.TurnID) {
	t, err := n.turn(ctx, id)
	if err != nil {
		return
	}
	hasEnded := t.Phase.Finalized() || t.Phase == chat.PhaseFailed || t.Incomplete()
	n.mu.Lock()
	startedAt, started := n.startedAt[id]
	switch {
	case !hasEnded && !started:
		n.startedAt[id] = n.now()
	case hasEnded:
		delete(n.startedAt, id)
	}
	n.mu.Unlock()
	if hasEnded && started {
		n.notifyEnd(ctx, t, n.now().Sub(startedAt))
	}
}

func (n *answerNotifier) notifyEnd(ctx context.Context, t chat.Turn, took time.Duration) {
	visible, focused := n.watched()
	if visible && (focused || took < longAnswer) {
		return
	}
	text := endMessage(t)
	if text == "" {
		return
	}
	s, err := n.session(ctx, t.SessionID)
	if err != nil {
		return
	}
	if n.preview() && t.Assistant != nil && t.Phase.Finalized() {
		text = t.Assistant.RenderedText()
	}
	n.notify(desktop.Notice{Session: string(s.ID), Title: cmp.Or(s.Title, "ContextInfinity"), Text: text})
}

// endMessage describes how an answer ended; empty if the user stopped it.
func endMessage(t chat.Turn) string {
	switch t.Outcome {
	case chat.OutcomeStopped, chat.OutcomeKept, chat.OutcomeDiscarded:
		return ""
	case chat.OutcomeIncomplete:
		return "The answer was interrupted. The partial answer is kept."
	case chat.OutcomeFailed:
		return "The answer failed."
	}
	return "Your answer is ready."
}
