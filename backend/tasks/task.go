package tasks

import (
	"context"
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
)

// Kind is a closed list.
type Kind string

const (
	Import  Kind = "import"
	Export  Kind = "export"
	Backup  Kind = "backup"
	Restore Kind = "restore"
	Move    Kind = "move"
	Verify  Kind = "verify"
)

// besides reports whether work of a kind can begin while work of another runs. Restore
// and Move put the data in another place, so nothing may write meanwhile; two of one
// kind would wait for each other at the disk or the database, and bring nothing.
func besides(k, running Kind) bool {
	if k == Restore || k == Move || running == Restore || running == Move {
		return false
	}
	return k != running || k == Export
}

// State of a task.
type State string

const (
	Running     State = "running" // or waiting for its turn
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted" // the program ended meanwhile
)

// Spec is what is to be done, as the person sees it.
type Spec struct {
	Kind  Kind   `json:"kind"`
	Title string `json:"title"` // "Import conversations.json"
	// Session that the task is about; a permanent deletion of it forgets the task.
	Session chat.SessionID `json:"session,omitempty"`
	// Firm: once begun it is not cancelled. The program starts again for it.
	Firm bool `json:"firm,omitempty"`
	// Input is what its Resumer makes the work from again; empty: it cannot be resumed.
	Input json.RawMessage `json:"input,omitempty"`
}

// Result is what work leaves to be shown.
type Result struct {
	Path   string          `json:"path,omitempty"`   // the file or folder that was written
	Report json.RawMessage `json:"report,omitempty"` // of the kind's own form
}

// Run is the work. When its context ends it returns soon, with what it wrote whole. A
// result counts with an error too.
type Run func(ctx context.Context, p *Progress) (Result, error)

// Resumer makes the work of a task again.
type Resumer func(input json.RawMessage) (Run, error)

// Task is long work, and how far it is.
type Task struct {
	ID string `json:"id"`
	Spec
	State     State       `json:"state"`
	Waiting   bool        `json:"-"` // it runs when another one has ended
	Done      int64       `json:"done,omitempty"`
	Total     int64       `json:"total,omitempty"` // 0: not known
	Unit      string      `json:"unit,omitempty"`  // bytes, sessions, turns
	Detail    string      `json:"detail,omitempty"`
	StartedAt time.Time   `json:"started_at"`
	EndedAt   time.Time   `json:"ended_at,omitzero"`
	Error     *chat.Error `json:"-"`
	Result    Result      `json:"result,omitzero"`
}

// Resumable reports whether Resume continues with it.
func (t Task) Resumable() bool {
	return len(t.Input) > 0 && (t.State == Interrupted || t.State == Failed || t.State == Cancelled)
}

// Lengths of what is shown, in characters, and of a report that is stored, in bytes.
const (
	maxTitle  = 200
	maxDetail = 200
	maxReport = 256 << 10
)

// record is a task as it is stored.
type record struct {
	Task
	Error *recordedError `json:"error,omitempty"`
}

type recordedError struct {
	Code    chat.Code `json:"code"`
	Op      string    `json:"op"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
}

func encode(t Task) (string, error) {
	r := record{Task: t}
	if len(r.Result.Report) > maxReport {
		r.Result.Report = nil
	}
	if e := t.Error; e != nil {
		r.Error = &recordedError{e.Code, e.Op, e.Error(), ""}
		if e.Message != "" {
			r.Error.Message, r.Error.Hint = e.Message, e.Hint
		}
	}
	raw, err := json.Marshal(r)
	return string(raw), err
}

func decode(text string) (Task, error) {
	var r record
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Task{}, err
	}
	if e := r.Error; e != nil {
		r.Task.Error = &chat.Error{Code: e.Code, Op: e.Op, Message: e.Message, Hint: e.Hint}
	}
	return r.Task, nil
}
