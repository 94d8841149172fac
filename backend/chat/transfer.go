package chat

import (
	"fmt"
	"strings"
	"time"
)

// Imported is the result of importing a conversation or a bundle (SPEC 12).
type Imported struct {
	Session  SessionID
	Outcome  ImportOutcome
	Turns    int    // added
	Branches int    // added, without the first
	Requests int    // added to an existing session, whose earlier bundle had left them out
	Notice   string // a notice for the user; empty: none
}

// ImportOutcome is the outcome of an import. The list is closed.
type ImportOutcome string

const (
	ImportCreated ImportOutcome = "made"    // a new session
	ImportGrown   ImportOutcome = "grown"   // new turns in an existing one, or requests that were missing
	ImportMerged  ImportOutcome = "merged"  // what other devices added to an existing one, beside what was added here
	ImportAlready ImportOutcome = "already" // it existed, unchanged
	ImportCopied  ImportOutcome = "copied"  // a bundle as a copy, because its session has diverged
)

// Receipt records what a permanent deletion removed, never its text.
type Receipt struct {
	ID      string         `json:"id"`
	Kind    string         `json:"kind"`    // session, turn or project
	Subject string         `json:"subject"` // its id
	At      time.Time      `json:"at"`
	Deleted []DeletedCount `json:"erased"`
	Backups []string       `json:"backups"` // files that still contain it
	// Copies are other sessions that contained the same messages then, with their current titles: a receipt contains
	// none.
	Copies []Copy `json:"copies,omitempty"`
	// Included are the receipts of the copies that were deleted in the same step. Only the result of a deletion contains
	// them; each is stored as a receipt of its own.
	Included []Receipt `json:"included,omitempty"`
}

// Copy is another session with messages of a deleted session or turn: a duplicate, an import of a bundle or the
// session that was duplicated. A deletion does not change it unless it is named there.
type Copy struct {
	Session SessionID `json:"session_id"`
	Title   string    `json:"title"`
	Turn    TurnID    `json:"turn_id"`        // the first turn with such a message
	Gone    bool      `json:"gone,omitempty"` // of a receipt: deleted since
	// Turns is the number of the copy's turns, Own of those that the deleted session does not have: a deletion of the
	// session with this copy deletes them too. Both are 0 for a turn, and in a receipt.
	Turns int `json:"turns,omitempty"`
	Own   int `json:"own,omitempty"`
}

// DeletedCount is how many records of a table were removed or emptied.
type DeletedCount struct {
	Store string `json:"store"` // a table, "files:streams", "files:drags"
	Count int64  `json:"count"`
}

// Kinds of permanent deletions.
const (
	DeletionSession = "session"
	DeletionTurn    = "turn"    // its content; the turn stays, empty
	DeletionProject = "project" // with its files; the sessions of its folder stay
)

// DeletedMark replaces content that was permanently deleted.
const DeletedMark = "[erased]"

// DeletionPreview describes what a permanent deletion would remove.
type DeletionPreview struct {
	Kind     string         `json:"kind"`
	Subject  string         `json:"subject"`
	Title    string         `json:"title"` // of the session
	Session  string         `json:"session_id"`
	Seq      int64          `json:"turn_seq"` // of a turn; otherwise 0
	Deleted  []DeletedCount `json:"erased"`
	Sessions []string       `json:"sessions"` // titles of others that would lose stored requests
	Backups  []string       `json:"backups"`  // files that contain it, and still will
	Copies   []Copy         `json:"copies"`   // other sessions with the same messages, which stay
	Included []Copy         `json:"included"` // copies that would be deleted too: those named to the preview
	Reason   string         `json:"reason"`   // why it is not possible now; empty: it is
	// Everywhere: the vault has it, so other devices delete it too.
	Everywhere bool `json:"everywhere"`
	// Names are the current and former names of the session and of the included copies, here and in the program they
	// were imported from, by which NamedIn recognizes records of tasks.
	Names []string `json:"-"`
}

// Name returns a description of what is deleted.
func (p DeletionPreview) Name() string {
	title := p.Title
	if strings.TrimSpace(title) == "" {
		title = "(untitled)"
	}
	if p.Kind == DeletionTurn {
		return fmt.Sprintf("#%d of “%s”", p.Seq, title)
	}
	return title
}

// ConfirmWord is the word that the user types to confirm a deletion. It is not the title, because an automatic title
// may contain characters that are not on the keyboard.
const ConfirmWord = "delete"

// Confirms reports whether the typed text confirms a deletion.
func Confirms(typed string) bool { return strings.EqualFold(strings.TrimSpace(typed), ConfirmWord) }
