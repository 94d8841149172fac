package api

import (
	"contextinfinity/backend/filetype"

	"contextinfinity/backend/chat"
)

// ExportRequest says what to export, and in which format (SPEC 12).
type ExportRequest struct {
	Scope       string `json:"scope"`       // turn, branch, session or all
	SessionID   string `json:"sessionId"`   // empty with all
	BranchID    string `json:"branchId"`    // of scope branch and turn; session: the active one, unless AllBranches
	TurnID      string `json:"turnId"`      // of scope turn
	AllBranches bool   `json:"allBranches"` // of scope session and all; a bundle always has all
	Format      string `json:"format"`      // bundle, md, json or html; empty: export.format
	Quotes      bool   `json:"quotes"`      // of a bundle: include requests that quoted other conversations
	Archived    bool   `json:"archived"`    // for scope all: include archived sessions
	Path        string `json:"path"`        // the file to write; with all: of the zip. Never overwritten unless Replace
	Replace     bool   `json:"replace"`
}

// ExportPlan is what an export would write.
type ExportPlan struct {
	Name     string `json:"name"`   // suggested, with its extension
	Path     string `json:"path"`   // where: the folder used last, and the name
	Exists   bool   `json:"exists"` // Path exists already
	Sessions int    `json:"sessions"`
	Branches int    `json:"branches"`
	Turns    int    `json:"turns"`
	Open     int    `json:"open"` // turns left out because they have no answer yet
	// Quoting counts, for a bundle of a session, the requests that quoted other conversations or files of projects: they
	// are left out unless Quotes is set.
	Quoting int `json:"quoting"`
}

// DraggedFile is a file written for a drag out of the window. It is deleted at the next start.
type DraggedFile struct {
	Path string `json:"path"`
	URI  string `json:"uri"` // file:///...
	Name string `json:"name"`
	Size int64  `json:"size"`
}

// DroppedFile is a file that was dropped on the window, chosen, or passed to a second start of the program.
type DroppedFile struct {
	Path   string        `json:"path"`
	Name   string        `json:"name"`
	Size   int64         `json:"size"`
	Kind   filetype.Kind `json:"kind"`
	Format string        `json:"format"` // of a transcript: chatgpt, claude, claude-code, codex, open-webui, librechat, ai-studio, grok, chatbox, cherry-studio, takeout, gptme, jsonl, messages, zip
	Reason chat.Phrase   `json:"reason"` // why it cannot be used
}

// ImportReport is the result of an import. It is kept until dismissed.
type ImportReport struct {
	File         string        `json:"file"`
	Format       string        `json:"format"`
	Sessions     int           `json:"sessions"` // created
	Grown        int           `json:"grown"`    // existing ones that got new turns
	Already      int           `json:"already"`  // existing ones, unchanged
	Turns        int           `json:"turns"`    // added
	Branches     int           `json:"branches"` // added, without first branches
	SkippedCount int           `json:"skippedCount"`
	Skipped      []SkippedRow  `json:"skipped"` // the first of them
	Notices      []CountedNote `json:"notices"`
	Instructed   int           `json:"instructed"`   // conversations with their own instructions, which are not used
	Instructions []Instructed  `json:"instructions"` // the first of them
	Torn         bool          `json:"torn"`
	TornFiles    []string      `json:"tornFiles"` // of a folder: the first files that end early
	Cancelled    bool          `json:"cancelled"`
	FirstSession string        `json:"firstSession"` // to open
	Copied       bool          `json:"copied"`       // a bundle was imported as a copy, because its session exists and has diverged
}

// Instructed is a conversation with its own instructions.
type Instructed struct {
	SessionID string `json:"sessionId"`
	Title     string `json:"title"`
	Begins    string `json:"begins"` // their first words
}

// SkippedRow is an unreadable entry.
type SkippedRow struct {
	File   string      `json:"file"`
	Index  int         `json:"index"`
	ID     string      `json:"id"`
	Title  string      `json:"title"`
	Offset int64       `json:"offset"`
	Reason chat.Phrase `json:"reason"`
}

// CountedNote is a notice with a count.
type CountedNote struct {
	Text  string   `json:"text"`
	Count int      `json:"count"`
	Files []string `json:"files"` // of a folder: the first files that it is about
}
