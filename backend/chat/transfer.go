package chat

import (
	"fmt"
	"strings"
	"time"
)

// Imported is the outcome of a conversation, or of a bundle, that was imported (SPEC 12).
type Imported struct {
	Session  SessionID
	Outcome  ImportOutcome
	Turns    int    // added
	Branches int    // added beside the first
	Notice   string // what to tell the user about it; empty: nothing
}

// ImportOutcome is a closed list.
type ImportOutcome string

const (
	ImportMade    ImportOutcome = "made"    // a session that was not there
	ImportGrown   ImportOutcome = "grown"   // new turns of one that was
	ImportAlready ImportOutcome = "already" // it was there, unchanged
	ImportCopied  ImportOutcome = "copied"  // a bundle beside the session it has diverged from
)

// Receipt tells what a permanent deletion removed, never its text.
type Receipt struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`    // session, turn or project
	Subject string    `json:"subject"` // its identifier
	At      time.Time `json:"at"`
	Erased  []Erased  `json:"erased"`
	Backups []string  `json:"backups"` // files that still hold it
}

// Erased is how many records of a store were removed or emptied.
type Erased struct {
	Store string `json:"store"` // a table, "files:streams", "files:drags"
	Count int64  `json:"count"`
}

// Kinds of what a permanent deletion takes away.
const (
	EraseSession = "session"
	EraseTurn    = "turn"    // its content; the turn stays, empty
	EraseProject = "project" // with its files; the conversations of its folder stay
)

// ErasedMark replaces content that was permanently deleted.
const ErasedMark = "[erased]"

// ErasePreview is what a permanent deletion would remove.
type ErasePreview struct {
	Kind     string   `json:"kind"`
	Subject  string   `json:"subject"`
	Title    string   `json:"title"` // of the session
	Session  string   `json:"session_id"`
	Seq      int64    `json:"turn_seq"` // of a turn; else 0
	Erased   []Erased `json:"erased"`
	Sessions []string `json:"sessions"` // titles of others of whose stored requests it takes away some
	Backups  []string `json:"backups"`  // files that hold it, and continue doing so
	Reason   string   `json:"reason"`   // why it cannot be done now; empty: it can
	// Names are what the session is and was called, here and where it was imported from:
	// records of long work may say so. NamedIn tells.
	Names []string `json:"-"`
}

// Name is what is erased, in words.
func (p ErasePreview) Name() string {
	title := p.Title
	if strings.TrimSpace(title) == "" {
		title = "(untitled)"
	}
	if p.Kind == EraseTurn {
		return fmt.Sprintf("#%d of %s", p.Seq, title)
	}
	return title
}

// ConfirmWord is what a person types to agree to a deletion. It is a word and not the title: an automatic title may hold
// characters that no keyboard has.
const ConfirmWord = "delete"

// Confirms reports whether what was typed agrees to a deletion.
func Confirms(typed string) bool { return strings.EqualFold(strings.TrimSpace(typed), ConfirmWord) }
