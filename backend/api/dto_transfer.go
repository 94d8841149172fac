package api

import "contextinfinity/backend/filetype"

// ExportRequest says what is exported, and as what (SPEC 12).
type ExportRequest struct {
	Scope       string `json:"scope"`       // turn, branch, session or all
	SessionID   string `json:"sessionId"`   // empty with all
	BranchID    string `json:"branchId"`    // of scope branch and turn; session: the active one, unless AllBranches
	TurnID      string `json:"turnId"`      // of scope turn
	AllBranches bool   `json:"allBranches"` // of scope session and all; a bundle always has all
	Format      string `json:"format"`      // bundle, md, json or html; empty: export.format
	Archived    bool   `json:"archived"`    // of scope all: archived sessions too
	Path        string `json:"path"`        // the file to write; with all: of the zip. Never overwritten unless Replace
	Replace     bool   `json:"replace"`
}

// ExportPlan is what an export would write, before it does.
type ExportPlan struct {
	Name     string `json:"name"`   // suggested, with its extension
	Path     string `json:"path"`   // where: the folder used last, and the name
	Exists   bool   `json:"exists"` // Path is there already
	Sessions int    `json:"sessions"`
	Branches int    `json:"branches"`
	Turns    int    `json:"turns"`
	Open     int    `json:"open"` // turns that are left out: no answer yet
}

// DraggedFile is a file written for a drag out of the window. It is removed with the
// next start.
type DraggedFile struct {
	Path string `json:"path"`
	URI  string `json:"uri"` // file:///...
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// DroppedFile is a file that somebody dropped on the window, chose, or passed to a
// second start of the program.
type DroppedFile struct {
	Path   string        `json:"path"`
	Name   string        `json:"name"`
	Size   int64         `json:"size"`
	Kind   filetype.Kind `json:"kind"`
	Format string        `json:"format"` // of a transcript: chatgpt, claude, claude-code, codex, open-webui, librechat, ai-studio, grok, chatbox, cherry-studio, takeout, gptme, jsonl, messages, zip
	Reason string        `json:"reason"` // why nothing can be done with it, in words
}

// ImportReport is what an import did. It stays until it is dismissed.
type ImportReport struct {
	File         string        `json:"file"`
	Format       string        `json:"format"`
	Sessions     int           `json:"sessions"` // made
	Grown        int           `json:"grown"`    // that were there and got new turns
	Already      int           `json:"already"`  // that were there, unchanged
	Turns        int           `json:"turns"`    // added
	Branches     int           `json:"branches"` // added beside the first
	SkippedCount int           `json:"skippedCount"`
	Skipped      []SkippedRow  `json:"skipped"` // the first of them
	Notices      []CountedNote `json:"notices"`
	Instructed   int           `json:"instructed"`   // conversations that bring instructions of their own, which are not used
	Instructions []Instructed  `json:"instructions"` // the first of them
	Torn         bool          `json:"torn"`
	Cancelled    bool          `json:"cancelled"`
	FirstSession string        `json:"firstSession"` // to open
	Copied       bool          `json:"copied"`       // a bundle whose session exists and has diverged: a copy beside it
}

// Instructed is a conversation that brings instructions of its own.
type Instructed struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	Begins    string `json:"begins"` // their first words
}

// SkippedRow is an entry that could not be read.
type SkippedRow struct {
	File   string `json:"file"`
	Index  int    `json:"index"`
	ID     string `json:"id"`
	Title  string `json:"title"`
	Offset int64  `json:"offset"`
	Reason string `json:"reason"`
}

// CountedNote is something to be known, and how often it was met.
type CountedNote struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}
