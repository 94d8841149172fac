package api

import "contextinfinity/backend/chat"

// StorageView is what the data directory holds, by part.
type StorageView struct {
	DataDir   string        `json:"dataDir"`
	Config    string        `json:"config"`
	Bytes     int64         `json:"bytes"`
	Free      int64         `json:"free"` // on its file system; -1: not known
	Parts     []StoragePart `json:"parts"`
	Sessions  int           `json:"sessions"`
	Turns     int           `json:"turns"`
	Movable   bool          `json:"movable"`
	Unmovable string        `json:"unmovable"` // why not: a flag or a variable names the place
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
	Problems int             `json:"problems"` // that verify finds in it; known once it was checked
}

// RestorePreview is what a restore would replace by what. Nothing is changed yet.
type RestorePreview struct {
	Backup        BackupView `json:"backup"`
	Sessions      int64      `json:"sessions"` // that are there now
	Turns         int64      `json:"turns"`
	NewestTurn    int64      `json:"newestTurn"`    // of now; 0: none
	BackupNewest  int64      `json:"backupNewest"`  // of the backup; 0: none
	Problems      int        `json:"problems"`      // that verify finds in the backup
	Findings      []string   `json:"findings"`      // the first of them
	SchemaUpgrade bool       `json:"schemaUpgrade"` // it is of an older version and will be upgraded
	// Undone are permanent deletions whose text comes back, newest first.
	Undone []ReceiptView `json:"undone"`
}

// MovePreview is what moving the data directory would do.
type MovePreview struct {
	From   string `json:"from"`
	To     string `json:"to"` // absolute
	Bytes  int64  `json:"bytes"`
	Free   int64  `json:"free"`
	Reason string `json:"reason"` // why it cannot be done, in words; empty: it can
}

// DeletePreview is what a permanent deletion would remove, before it does (SPEC 12).
type DeletePreview struct {
	Kind     string       `json:"kind"`    // session or turn
	Title    string       `json:"title"`   // of the session, or "#12 of ..."
	Confirm  string       `json:"confirm"` // the word to type
	Parts    []ErasedPart `json:"parts"`
	Sessions []string     `json:"sessions"` // titles of others whose stored requests hold its text
	Backups  []string     `json:"backups"`  // files that still hold it, and continue doing so
	Reason   string       `json:"reason"`   // why it cannot be done now (an answer runs); empty: it can
}

// ErasedPart is a store, and how many records of it.
type ErasedPart struct {
	Store string `json:"store"`
	Label string `json:"label"`
	Count int64  `json:"count"`
}

// ReceiptView tells what was erased, never its text.
type ReceiptView struct {
	ID      string       `json:"id"`
	Kind    string       `json:"kind"`
	Subject string       `json:"subject"` // its identifier
	At      int64        `json:"at"`
	Parts   []ErasedPart `json:"parts"`
	Backups []string     `json:"backups"`
}
