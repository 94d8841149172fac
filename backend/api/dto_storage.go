package api

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/services"
)

// StorageView is the content of the data directory, by part.
type StorageView struct {
	DataDir   string        `json:"dataDir"`
	Config    string        `json:"config"`
	Bytes     int64         `json:"bytes"`
	Free      int64         `json:"free"` // on its file system; -1: unknown
	Parts     []StoragePart `json:"parts"`
	Sessions  int           `json:"sessions"`
	Turns     int           `json:"turns"`
	Movable   bool          `json:"movable"`
	Unmovable string        `json:"unmovable"` // why it cannot be moved: a flag or a variable sets the location
}

// StoragePart is a part of the data directory.
type StoragePart struct {
	Name  string `json:"name"` // database, journals, backups, aside, other
	Label string `json:"label"`
	Bytes int64  `json:"bytes"`
	Files int    `json:"files"`
	About string `json:"about"` // what it is for, in a sentence
}

// BackupView is a copy of the data.
type BackupView struct {
	Path     string          `json:"path"`
	Name     string          `json:"name"`
	Kind     chat.BackupKind `json:"kind"`
	At       int64           `json:"at"`
	Bytes    int64           `json:"bytes"`
	Sessions int64           `json:"sessions"`
	Turns    int64           `json:"turns"`
	Checked  bool            `json:"checked"`
	Problem  string          `json:"problem"`  // why it cannot be restored; empty: it can
	Problems int             `json:"problems"` // found by verify; known after a check
}

// RestorePreview is what a restore would replace. Nothing is changed yet.
type RestorePreview struct {
	Backup        BackupView `json:"backup"`
	Sessions      int64      `json:"sessions"` // in the current data
	Turns         int64      `json:"turns"`
	NewestTurn    int64      `json:"newestTurn"`    // of the current data; 0: none
	BackupNewest  int64      `json:"backupNewest"`  // of the backup; 0: none
	Problems      int        `json:"problems"`      // found by verify in the backup
	Findings      []string   `json:"findings"`      // the first of them
	SchemaUpgrade bool       `json:"schemaUpgrade"` // it is from an older version and will be upgraded
	// Undone are permanent deletions whose content would return, newest first.
	Undone []ReceiptView `json:"undone"`
}

// MovePreview is what moving the data directory would do.
type MovePreview = services.MovePlan

// DeletionPreview is what a permanent deletion would remove (SPEC 12).
type DeletionPreview struct {
	Kind     string        `json:"kind"`    // session, turn or project
	Title    string        `json:"title"`   // of the session, or the name of the project; empty: it has none
	TurnSeq  int64         `json:"turnSeq"` // of a turn; otherwise 0
	Confirm  string        `json:"confirm"` // the word to type
	Parts    []DeletedPart `json:"parts"`
	Sessions []string      `json:"sessions"` // titles of others whose stored requests contain its text
	Backups  []string      `json:"backups"`  // files that still contain it, and will continue to
	Copies   []CopyView    `json:"copies"`   // other sessions with the same messages, which stay
	Included []CopyView    `json:"included"` // copies that would be deleted too
	Reason   string        `json:"reason"`   // why it is not possible now (an answer is running); empty: it is
	// Everywhere: the vault has it, so other computers delete it too.
	Everywhere bool `json:"everywhere"`
}

// DeletedPart is a table, and the number of its records.
type DeletedPart struct {
	Store string `json:"store"`
	Label string `json:"label"`
	Count int64  `json:"count"`
}

// ReceiptView says what was permanently deleted, never its text.
type ReceiptView struct {
	ID      string        `json:"id"`
	Kind    string        `json:"kind"`
	Subject string        `json:"subject"` // its identifier
	At      int64         `json:"at"`
	Parts   []DeletedPart `json:"parts"`
	Backups []string      `json:"backups"`
	Copies  []CopyView    `json:"copies"` // other sessions that contained the same messages, and were not changed
	// Included are the identifiers of the receipts of the copies that were deleted in the same step; only in the result
	// of a deletion.
	Included []string `json:"included"`
}

// CopyView is a copy of a deleted session, or a session with a copy of a deleted turn.
type CopyView struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	Gone      bool   `json:"gone"` // of a receipt: deleted since
	// Turns is the number of the copy's turns, Own of those that only it contains; both only in a preview for a session.
	Turns int `json:"turns"`
	Own   int `json:"own"`
}
