// Package render writes a conversation as Markdown, as JSON and as a self-contained HTML page (SPEC 12). It processes
// turns one by one and keeps none of them.
//
// Text from people and models is untrusted. In Markdown its headings are moved below those of the document, and HTML,
// an unclosed fence, or anything else that would change how the following text is read is escaped or closed. In HTML
// output, only harmless tags of the text are kept; the page has no script, loads nothing, and its policy forbids both.
package render

import (
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Document is a conversation, or a part of one, to be written.
type Document struct {
	Session  chat.Session
	Branch   chat.BranchSummary   // the branch shown; with All, the active one
	Branches []chat.BranchSummary // of the session
	Pins     []chat.Pin
	Chapters []Chapter
	All      bool // chapters are the branches, each from its fork on
	// Each reads the turns of a chapter in order.
	Each func(Chapter, func(Turn) error) error
}

// Chapter is a run of turns in the lineage of Branch: From to To by turn_seq, inclusive; zero is unlimited.
type Chapter struct {
	Branch chat.BranchSummary
	From   int64
	To     int64
	Turns  int
}

// Turn is a turn with all its data.
type Turn struct {
	chat.Turn
	Steps   []chat.Step
	Partial *chat.Message // the part of an unfinished answer that arrived; nil if no answer was started
}

// Open reports whether a turn has no answer yet: it is unsent, or being answered. Markdown and HTML leave it out. A
// turn that ended without a final answer is written with a remark.
func Open(t chat.Turn) bool {
	return !t.Phase.Finalized() && t.Phase != chat.PhaseFailed && !t.Incomplete()
}

// answer returns the final or partial answer.
func (t Turn) answer() (chat.Message, bool) {
	switch {
	case t.Assistant != nil:
		return *t.Assistant, true
	case t.Partial != nil && !t.Partial.IsEmpty():
		return *t.Partial, true
	}
	return chat.Message{}, false
}

// answeredAt returns when the last attempt ended.
func (t Turn) answeredAt() time.Time {
	if n := len(t.Steps); n > 0 && t.Steps[n-1].EndedAt != nil {
		return *t.Steps[n-1].EndedAt
	}
	return t.CreatedAt
}

// remark describes how a turn ended; empty if it ended normally.
func (t Turn) remark() string {
	switch {
	case t.Outcome == chat.OutcomeDiscarded:
		return "This answer was discarded."
	case t.Phase == chat.PhaseFailed:
		if t.Failure != nil && t.Failure.Message != "" {
			return "This turn failed: " + t.Failure.Message
		}
		return "This turn failed."
	case t.Incomplete():
		return "Incomplete: the answer was cut off here."
	}
	switch t.Outcome {
	case chat.OutcomeTruncated:
		return "The provider cut the answer off here."
	case chat.OutcomeRefused:
		return "The model declined."
	case chat.OutcomeStopped:
		return "Stopped here."
	case chat.OutcomeKept:
		return "The answer was cut off here and kept."
	case chat.OutcomePaused:
		return "Ends in tool calls that were not run."
	}
	return ""
}

// hasUserMessage reports whether a user message started the turn. Imports have turns without one: there the user
// message is a placeholder.
func (t Turn) hasUserMessage() bool {
	return !chat.IsNoMessage(t.User.Blocks)
}

func userName(m chat.Message) string {
	if m.Name != "" {
		return display.OneLine(m.Name)
	}
	return "You"
}

func (t Turn) modelName() string {
	if t.Assistant != nil && t.Assistant.Name != "" {
		return display.OneLine(t.Assistant.Name)
	}
	if t.Model != "" {
		return display.OneLine(t.Model)
	}
	return "Answer"
}

func (d Document) title() string {
	if s := display.OneLine(d.Session.Title); s != "" {
		return s
	}
	return "Untitled session"
}

func branchName(b chat.BranchSummary) string {
	if s := display.OneLine(b.Label); s != "" {
		return s
	}
	return "Branch " + chat.ShortID(b.ID)
}

// chapterTitle returns the branch's name, marked if it is archived.
func (d Document) chapterTitle(c Chapter) string {
	s := branchName(c.Branch)
	if c.Branch.ArchivedAt != nil {
		s += " (archived)"
	}
	return s
}

// fork describes where a branch forks off another; empty if it does not.
func (d Document) fork(c Chapter) string {
	if c.Branch.ParentBranch == "" {
		return ""
	}
	parent := "another branch"
	for _, b := range d.Branches {
		if b.ID == c.Branch.ParentBranch {
			parent = branchName(b)
		}
	}
	if c.Branch.ForkSeq == 0 {
		return "Begins before the first turn of " + parent + "."
	}
	return "Continues after turn " + decimal(c.Branch.ForkSeq) + " of " + parent + "."
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") + " UTC" }
