package api

import (
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tasks"
)

// Shell is the system around the window. Missing functions are nil.
type Shell struct {
	// PickFiles opens the system's dialog for opening files; none: the user closed it.
	PickFiles func() ([]string, error)
	// PickTarget opens the dialog for saving a file; empty: the user closed it.
	PickTarget func(suggested string) (string, error)
	// PickFolder opens the dialog for choosing a folder; empty: the user closed it.
	PickFolder func() (string, error)
	// Reveal shows a file in the system's file manager.
	Reveal func(path string) error
	// OpenURL shows a page in the system's browser.
	OpenURL func(url string)
	// Picture returns the clipboard's picture as PNG, if pages cannot read it; nil if there is none.
	Picture func() ([]byte, error)
	// Copied returns the absolute paths of the files in the clipboard, if pages cannot read it; none: it has no files.
	Copied func() ([]string, error)
	// NewWindow opens an additional window on this data, with a session; empty: one that no window shows yet.
	NewWindow func(session string) error
	// ToFirst brings the first window to the front, on a session.
	ToFirst func(session string)
	// Quit ends the program, with all its windows. It returns at once.
	Quit func()
}

// Work handles tasks, background work, and requests to the page.
type Work struct{ c *Core }

// NewWork returns the service.
func NewWork(c *Core) *Work { return &Work{c} }

// Tasks returns the running tasks, and the finished ones that were not dismissed, newest first.
func (s *Work) Tasks() ([]TaskView, error) {
	list := s.c.Tasks.List()
	return lists.Map(list, taskView), nil
}

// Cancel stops a task at a safe point.
func (s *Work) Cancel(id string) error {
	return s.c.Tasks.Cancel(id)
}

// Resume continues an interrupted task.
func (s *Work) Resume(id string) (TaskView, error) {
	return viewOf(s.c.Tasks.Resume(id))
}

// Dismiss removes a finished task.
func (s *Work) Dismiss(id string) error {
	return s.c.Tasks.Dismiss(id)
}

// Background returns the state of background work.
func (s *Work) Background() (Background, error) {
	b := Background{Paused: s.c.Reconciler.Paused()}
	var err error
	b.Queued, b.Running, b.Failed, err = s.c.Queue.JobCounts(s.c.ctx())
	return b, err
}

// Pause pauses background work, even across restarts.
func (s *Work) Pause(paused bool) (Background, error) {
	if err := s.c.Reconciler.SetPaused(s.c.ctx(), paused); err != nil {
		return Background{}, err
	}
	return s.Background()
}

// WindowRequests returns the requests to the page from before it first asked; later ones are sent as events.
func (s *Work) WindowRequests() ([]WindowRequest, error) { return s.c.Hub.WindowRequests(), nil }

func viewOf(t tasks.Task, err error) (TaskView, error) {
	if err != nil {
		return TaskView{}, err
	}
	return taskView(t), nil
}

// waitingDetail is the detail of a task that has not started.
const waitingDetail = "Waiting for another task to end."

func taskView(t tasks.Task) TaskView {
	v := TaskView{
		ID: t.ID, Kind: t.Kind, Title: t.Title, State: t.State, Done: t.Done, Total: t.Total, Unit: t.Unit,
		Detail: t.Detail, StartedAt: ms(t.StartedAt), EndedAt: ms(t.EndedAt), Path: t.Result.Path, Resumable: t.Resumable(), Firm: t.Firm,
	}
	if t.Waiting {
		v.Detail = waitingDetail
	}
	if t.Error != nil {
		e := errorView(t.Error)
		v.Error = &e
	}
	if t.Kind == tasks.Import && len(t.Result.Report) > 0 {
		var r ImportReport
		if json.Unmarshal(t.Result.Report, &r) == nil {
			v.Import = &r
		}
	}
	if (t.Kind == tasks.Verify || t.Kind == tasks.CheckVault) && len(t.Result.Report) > 0 {
		var r CheckReport
		if json.Unmarshal(t.Result.Report, &r) == nil {
			v.Check = &r
		}
	}
	return v
}

// Limits for a stored import report: its rows, and its notices.
const (
	maxSkipped = 100
	maxNotices = 100
)

// bounded limits a report for storage; its counts include everything.
func (r ImportReport) bounded() ImportReport {
	r.Skipped = r.Skipped[:min(len(r.Skipped), maxSkipped)]
	r.Instructions = r.Instructions[:min(len(r.Instructions), maxSkipped)]
	r.Notices = r.Notices[:min(len(r.Notices), maxNotices)]
	return r
}

// NewWindow opens an additional window on this data, with a session; empty: one that no window shows yet.
//
// Errors: CodeUnavailable if the program cannot be started again, or has opened its data read-only.
func (s *Work) NewWindow(sessionID string) error {
	if s.c.Shell.NewWindow == nil {
		return chat.Errorf(chat.CodeUnavailable, "window.new", "No more windows can be opened on this data now.")
	}
	return s.c.Shell.NewWindow(sessionID)
}

// ShowInFirst brings the first window to the front with a session, to continue a conversation of the small window.
func (s *Work) ShowInFirst(sessionID string) error {
	if s.c.Shell.ToFirst == nil {
		return chat.Errorf(chat.CodeUnavailable, "window.first", "There is no other window.")
	}
	s.c.Shell.ToFirst(sessionID)
	return nil
}

// Quit ends the program, with all its windows.
func (s *Work) Quit() error {
	if s.c.Shell.Quit == nil {
		return chat.Errorf(chat.CodeUnavailable, "window.quit", "The program cannot be ended from this window.")
	}
	s.c.Shell.Quit()
	return nil
}
