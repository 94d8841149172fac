package api

import (
	"contextinfinity/backend/tasks"

	"contextinfinity/backend/chat"
)

// TaskView is a task: it shows its progress, can be cancelled, and survives a restart (UX, Around it). A change of
// kind "task" announces updates.
type TaskView struct {
	ID        string        `json:"id"`
	Kind      tasks.Kind    `json:"kind"`
	Title     chat.Phrase   `json:"title"` // "Import conversations.json"
	State     tasks.State   `json:"state"`
	Done      int64         `json:"done"`
	Total     int64         `json:"total"`  // 0: unknown
	Unit      string        `json:"unit"`   // bytes, sessions, turns; empty: nothing to count
	Detail    string        `json:"detail"` // the current item
	StartedAt int64         `json:"startedAt"`
	EndedAt   int64         `json:"endedAt"` // 0: running
	Error     *ErrorView    `json:"error"`
	Path      string        `json:"path"`      // the file or folder that was written
	Import    *ImportReport `json:"import"`    // of an import
	Check     *CheckReport  `json:"check"`     // of a check of everything
	Resumable bool          `json:"resumable"` // Resume continues where it stopped
	Firm      bool          `json:"firm"`      // it cannot be cancelled once begun: the program restarts for it
}

// CheckReport is the result of a check of all data. Each finding names its record; at most 100 of them are kept.
type CheckReport struct {
	Problems int           `json:"problems"`
	Findings []chat.Phrase `json:"findings"`
}

// Background is the state of background work.
type Background struct {
	Paused  bool `json:"paused"`
	Queued  int  `json:"queued"`
	Running int  `json:"running"`
	Failed  int  `json:"failed"`
}

// WindowRequestKind is the kind of a request to the page.
type WindowRequestKind string

// Kinds of WindowRequest.
const (
	RequestNewChat     WindowRequestKind = "new_chat"
	RequestOpenSession WindowRequestKind = "open_session"
	RequestFiles       WindowRequestKind = "files"
	RequestClose       WindowRequestKind = "close" // whether to close the window although answers are arriving
)

// WindowRequest is a request to the page from outside it: from the tray, a second start of the program or a drop on
// the window. Event ci:window-request.
type WindowRequest struct {
	Kind      WindowRequestKind `json:"kind"`
	SessionID string            `json:"sessionId"`
	Files     []DroppedFile     `json:"files"`
	X         int               `json:"x"` // of a drop, in the page; -1: no drop
	Y         int               `json:"y"`
}

// EventWindowRequest is the name of the event that carries a WindowRequest.
const EventWindowRequest = "ci:window-request"
