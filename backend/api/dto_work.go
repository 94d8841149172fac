package api

// TaskView is long work that somebody began: it shows how far it is, can be cancelled,
// and survives a restart (UX, Around it). A change of kind "task" says that it is
// different.
type TaskView struct {
	ID        string        `json:"id"`
	Kind      string        `json:"kind"`  // import, export, backup, restore, move, reindex or verify
	Title     string        `json:"title"` // "Import conversations.json"
	State     string        `json:"state"` // running, done, failed, cancelled or interrupted: the program ended meanwhile
	Done      int64         `json:"done"`
	Total     int64         `json:"total"`  // 0: not known
	Unit      string        `json:"unit"`   // bytes, sessions, turns; empty: nothing to count
	Detail    string        `json:"detail"` // what it is at
	StartedAt int64         `json:"startedAt"`
	EndedAt   int64         `json:"endedAt"` // 0: running
	Error     *ErrorView    `json:"error"`
	Path      string        `json:"path"`      // the file or folder that was written
	Import    *ImportReport `json:"import"`    // of an import
	Check     *CheckReport  `json:"check"`     // of a check of everything
	Resumable bool          `json:"resumable"` // Resume continues where it stopped
	Firm      bool          `json:"firm"`      // it cannot be cancelled once begun: the program starts again for it
}

// CheckReport is what a check of everything found. Each finding names its record; at most
// 100 of them are kept.
type CheckReport struct {
	Problems int      `json:"problems"`
	Findings []string `json:"findings"`
}

// Background is what goes on behind the window.
type Background struct {
	Paused     bool `json:"paused"`
	Queued     int  `json:"queued"`
	Running    int  `json:"running"`
	Dead       int  `json:"dead"`
	TrayHost   bool `json:"trayHost"`   // there is a place for the tray icon
	CloseHides bool `json:"closeHides"` // closing the window leaves the program in the tray
}

// WindowRequest is what the program asks of the page from outside it: by the tray, by a
// second start of the program or by a drop on the window. Event ci:window-request.
type WindowRequest struct {
	Kind      string        `json:"kind"` // new_chat, open_session, files, close or report
	SessionID string        `json:"sessionId"`
	Files     []DroppedFile `json:"files"`
	X         int           `json:"x"` // of a drop, in the page; -1: no drop
	Y         int           `json:"y"`
}

// EventWindowRequest is its name on the bus.
const EventWindowRequest = "ci:window-request"
