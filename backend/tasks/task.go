package tasks

import (
	"context"
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
)

// Kind is the kind of a task.
type Kind string

const (
	Import  Kind = "import"
	Export  Kind = "export"
	Backup  Kind = "backup"
	Restore Kind = "restore"
	Move    Kind = "move"
	Seal    Kind = "seal" // or unseal
	Verify  Kind = "verify"
	// CheckVault reads back what is in the vault.
	CheckVault Kind = "check_vault"
)

// canRunWith reports whether a task of a kind can start while another one runs. Restore and Move replace the data, so
// nothing may write meanwhile. Two tasks of the same kind would only compete for the disk or the database; exports
// are the exception.
func canRunWith(k, running Kind) bool {
	if k == Restore || k == Move || running == Restore || running == Move {
		return false
	}
	return k != running || k == Export
}

// State is the state of a task.
type State string

const (
	Running     State = "running" // or waiting
	Done        State = "done"
	Failed      State = "failed"
	Cancelled   State = "cancelled"
	Interrupted State = "interrupted" // the program ended while the task was running
)

// Spec describes a task to the user.
type Spec struct {
	Kind  Kind        `json:"kind"`
	Title chat.Phrase `json:"title"` // "Import conversations.json"
	// Session is the session that the task is about; deleting it permanently removes the task.
	Session chat.SessionID `json:"session,omitempty"`
	// Firm: once started, it cannot be cancelled. The program restarts for it.
	Firm bool `json:"firm,omitempty"`
	// Input is what the Resumer needs to resume the task; empty: it cannot be resumed.
	Input json.RawMessage `json:"input,omitempty"`
}

// Result is the outcome to show.
type Result struct {
	Path   string          `json:"path,omitempty"`   // the file or folder written
	Report json.RawMessage `json:"report,omitempty"` // its format depends on the kind
}

// Run does the work. When its context ends, it must return soon and leave what it has written in a consistent state.
// A result is also used if there is an error.
type Run func(ctx context.Context, p *Progress) (Result, error)

// Resumer recreates the work of a task.
type Resumer func(input json.RawMessage) (Run, error)

// Task is a task and its progress.
type Task struct {
	ID string `json:"id"`
	Spec
	State     State       `json:"state"`
	Waiting   bool        `json:"-"` // not started yet
	Done      int64       `json:"done,omitempty"`
	Total     int64       `json:"total,omitempty"` // 0: unknown
	Unit      string      `json:"unit,omitempty"`  // bytes, sessions, turns
	Detail    string      `json:"detail,omitempty"`
	StartedAt time.Time   `json:"started_at"`
	EndedAt   time.Time   `json:"ended_at,omitzero"`
	Error     *chat.Error `json:"-"`
	Result    Result      `json:"result,omitzero"`
}

// Resumable reports whether Resume can resume it.
func (t Task) Resumable() bool {
	return len(t.Input) > 0 && (t.State == Interrupted || t.State == Failed || t.State == Cancelled)
}

// Limits of displayed text, in characters, and of a stored report, in bytes.
const (
	maxDetail = 200
	maxReport = 256 << 10
)

// record is the stored form of a task.
type record struct {
	Task
	Error *recordedError `json:"error,omitempty"`
}

type recordedError struct {
	Code    chat.Code   `json:"code"`
	Op      string      `json:"op"`
	Message chat.Phrase `json:"message"`
	Hint    chat.Phrase `json:"hint,omitzero"`
}

func encode(t Task) (string, error) {
	r := record{Task: t}
	if len(r.Result.Report) > maxReport {
		r.Result.Report = nil
	}
	if e := t.Error; e != nil {
		r.Error = &recordedError{e.Code, e.Op, e.Said(), e.Advised()}
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
		r.Task.Error = chat.NewError(e.Code, e.Op, e.Message, e.Hint)
	}
	return r.Task, nil
}
