package api

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/filetype"
)

// ExportRequest says what to export, and in which format (SPEC 12).
type ExportRequest = exporting.Request

// ExportPlan is what an export would write.
type ExportPlan = exporting.Plan

// DraggedFile is a file written for a drag out of the window. It is deleted at the next start.
type DraggedFile = exporting.File

// DroppedFile is a file that was dropped on the window, chosen, or passed to a second start of the program.
type DroppedFile = filetype.File

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
