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

// handleOpen handles the requests of a start of the program: of this one before its page exists, or of another one.
func handleOpen(hub *api.Hub, o cli.OpenOptions) {
	if o.NewChat || o.Quick { // the first window is not the small one and gets the question
		hub.RequestWindow(windowRequest(desktop.WindowRequest{Kind: desktop.RequestNewChat, X: -1, Y: -1}))
	}
	if o.Session != "" {
		hub.RequestWindow(windowRequest(desktop.WindowRequest{Kind: desktop.RequestOpenSession, Session: o.Session, X: -1, Y: -1}))
	}
	if len(o.Files) > 0 {
		hub.RequestWindow(windowRequest(desktop.WindowRequest{Kind: desktop.RequestFiles, Paths: o.Files, X: -1, Y: -1}))
	}
}

// windowRequest is the page's form of a request, with the type of each file.
func windowRequest(s desktop.WindowRequest) api.WindowRequest {
	out := api.WindowRequest{Kind: api.WindowRequestKind(s.Kind), SessionID: s.Session, X: s.X, Y: s.Y}
	paths := s.Paths[:min(len(s.Paths), filetype.MaxAtOnce)]
	if files, err := filetype.All(paths); err == nil {
		out.Files = api.DroppedFiles(files)
	}
	return out
}

// newTrayWork connects the program to the desktop: what the tray shows and controls, and notifications when an answer
// ends.
func (a *app) newTrayWork(hub *api.Hub) desktop.Work {
	w := &trayWork{a: a, hub: hub}
	hub.Listen(func(c chat.Change) {
		switch c.Kind {
		case chat.ChangeTurn, chat.ChangeJobs, chat.ChangeTask, chat.ChangeReindex, chat.ChangeRecovery:
			w.changed()
		}
	})
	return w
}

// trayWork is the background work as shown in the tray.
type trayWork struct {
	a   *app
	hub *api.Hub

	mu        sync.Mutex
	changedFn func()
}

func (w *trayWork) Paused() bool { return w.a.upkeep.Paused() }

func (w *trayWork) Pause(paused bool) {
	if err := w.a.upkeep.SetPaused(w.a.life, paused); err != nil && w.a.life.Err() == nil {
		w.a.log.Warn("the pause applies to this run only", "err", err)
	}
}

// Reconcile runs all maintenance that is due, even while work is paused, because the user requested it.
func (w *trayWork) Reconcile() {
	if w.a.life.Err() != nil {
		return // closing: nothing new is started
	}
	w.a.behind.Go(func() {
		_, err := w.a.upkeep.Reconcile(w.a.life)
		if err == nil {
			_, _, err = w.a.upkeep.CatchUp(w.a.life)
		}
		if err != nil && w.a.life.Err() == nil {
			w.a.log.Error("unfinished work could not be recovered from the tray", "err", err)
		}
	})
}

// Busy counts answers, jobs and tasks. If counting fails now, the next call counts.
func (w *trayWork) Busy() (running, queued int) {
	queued, running, _, err := w.a.store.JobCounts(w.a.life)
	if err != nil {
		queued, running = 0, 0
	}
	works, waits := w.a.tasks.Open()
	return running + works + len(w.a.turns.Running()), queued + waits
}

// Attention reports failed work until it is dismissed or completed.
func (w *trayWork) Attention() string {
	for _, t := range w.a.tasks.List() {
		if t.State == tasks.Failed {
			return t.Title + " failed"
		}
	}
	_, _, dead, err := w.a.store.JobCounts(w.a.life)
	switch {
	case err != nil || dead == 0:
		return ""
	case dead == 1:
		return "A background job failed: see Activity"
	}
	return fmt.Sprintf("%d background jobs failed: see Activity", dead)
}

func (w *trayWork) Answering() int { return len(w.a.turns.Running()) }

func (w *trayWork) Changed(fn func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changedFn = fn
}

func (w *trayWork) changed() {
	w.mu.Lock()
	changedFn := w.changedFn
	w.mu.Unlock()
	if changedFn != nil {
		changedFn()
	}
}

// longAnswer is the duration from which the end of an answer is announced to a user looking elsewhere.
const longAnswer = 10 * time.Second

// answers notify the desktop when an unwatched answer ends.
type answers struct {
	turn    func(context.Context, chat.TurnID) (chat.Turn, error)
	session func(context.Context, chat.SessionID) (chat.Session, error)
	watched func() (there, focused bool)
	preview func() bool
	notify  func(desktop.Notice)
	now     func() time.Time

	mu    sync.Mutex
	begun map[chat.TurnID]time.Time
}

// notices notifies the user about answers as long as the app runs.
func (a *app) notices(hub *api.Hub) {
	n := &answers{
		turn: a.store.Turn, session: a.store.Session, watched: desktop.Watched, notify: desktop.Notify, now: time.Now,
		preview: func() bool { return a.config.Config().Desktop.NotificationPreview }, begun: map[chat.TurnID]time.Time{},
	}
	looks := make(chan chat.TurnID, 256)
	hub.Listen(func(c chat.Change) {
		if c.Kind == chat.ChangeTurn {
			select {
			case looks <- chat.TurnID(c.ID):
			default: // hundreds at once are not conversation; they get no notifications
			}
		}
	})
	a.behind.Go(func() {
		for {
			select {
			case <-a.life.Done():
				return
			case id := <-looks:
				n.check(a.life, id)
			}
		}
	})
}

// check checks the state of a turn. Temporary ones are neither stored nor announced.
func (n *answers) check(ctx context.Context, id chat.TurnID) {
	t, err := n.turn(ctx, id)
	if err != nil {
		return
	}
	over := t.Phase.Finalized() || t.Phase == chat.PhaseFailed || t.Incomplete()
	n.mu.Lock()
	begun, known := n.begun[id]
	switch {
	case !over && !known:
		n.begun[id] = n.now()
	case over:
		delete(n.begun, id)
	}
	n.mu.Unlock()
	if over && known {
		n.ended(ctx, t, n.now().Sub(begun))
	}
}

func (n *answers) ended(ctx context.Context, t chat.Turn, took time.Duration) {
	there, focused := n.watched()
	if there && (focused || took < longAnswer) {
		return
	}
	words := endWords(t)
	if words == "" {
		return
	}
	s, err := n.session(ctx, t.SessionID)
	if err != nil {
		return
	}
	if n.preview() && t.Assistant != nil && t.Phase.Finalized() {
		words = t.Assistant.RenderedText()
	}
	n.notify(desktop.Notice{Session: string(s.ID), Title: cmp.Or(s.Title, "ContextInfinity"), Text: words})
}

// endWords describe how an answer ended; empty: the user stopped it.
func endWords(t chat.Turn) string {
	switch t.Outcome {
	case chat.OutcomeStopped, chat.OutcomeKept, chat.OutcomeDiscarded:
		return ""
	case chat.OutcomeIncomplete:
		return "The answer was interrupted. What arrived is kept."
	case chat.OutcomeFailed:
		return "The answer failed."
	}
	return "Your answer is ready."
}
