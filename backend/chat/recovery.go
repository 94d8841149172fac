package chat

import (
	"cmp"
	"slices"
	"time"
)

// RecoveryReport says what the reconciler found and did (SPEC 11). All of its messages are in this file; the window and
// the command line show them unchanged.
type RecoveryReport struct {
	At    time.Time      `json:"at"`
	Items []RecoveryItem `json:"items"`
}

// Clean reports whether there was nothing to do.
func (r RecoveryReport) Clean() bool { return len(r.Items) == 0 }

// RecoveryKind is what was done about a finding.
type RecoveryKind string

const (
	RecoveredCompleted  RecoveryKind = "completed"        // a complete answer, now final
	RecoveredIncomplete RecoveryKind = "incomplete"       // a partial answer, for the user to decide
	RecoveredFailed     RecoveryKind = "failed"           // nothing had arrived
	RecoveredUnsent     RecoveryKind = "unsent"           // accepted, never sent
	RecoveredCommitted  RecoveryKind = "committed"        // pending turns committed
	RecoveredRequeued   RecoveryKind = "requeued"         // jobs that were missing or abandoned
	RecoveredJobFailed  RecoveryKind = "dead"             // a job that failed
	RecoveredTools      RecoveryKind = "tools"            // tool calls with an unknown outcome; they are not run again
	RecoveredProposed   RecoveryKind = "tools_asked"      // tool calls that had not started
	RecoveredDiscarded  RecoveryKind = "discarded_lines"  // a torn or unreadable end of a journal
	RecoveredPruned     RecoveryKind = "pruned"           // journals of final turns deleted
	RecoveredSwept      RecoveryKind = "swept"            // unused documents deleted
	RecoveredSnapshot   RecoveryKind = "snapshot_ignored" // a damaged snapshot of a ledger
	RecoveredDaily      RecoveryKind = "daily"            // the daily backup could not be made
	RecoveredUnreadable RecoveryKind = "unreadable"       // an unreadable record, which is left alone
)

// RecoveryItem is one finding.
type RecoveryItem struct {
	Kind      RecoveryKind `json:"kind"`
	SessionID SessionID    `json:"session_id,omitempty"`
	TurnID    TurnID       `json:"turn_id,omitempty"`
	TurnSeq   int64        `json:"turn_seq,omitempty"`
	Bytes     int64        `json:"bytes,omitempty"`
	Count     int          `json:"count,omitempty"`
	JobID     int64        `json:"job_id,omitempty"`
	Message   string       `json:"message"`
	Words     Phrase       `json:"words,omitzero"` // the message with its values; zero if it has none
}

// RecoveredTurn returns a finding about a turn. bytes is how much of its answer was kept.
func RecoveredTurn(t Turn, kind RecoveryKind, bytes int64) RecoveryItem {
	i := RecoveryItem{Kind: kind, SessionID: t.SessionID, TurnID: t.ID, TurnSeq: t.Seq, Bytes: bytes}
	switch kind {
	case RecoveredCompleted:
		i.Message, i.Words = Say("The whole answer had arrived; it is now final.").Split()
	case RecoveredIncomplete:
		i.Message, i.Words = Say("%d bytes of an unfinished answer were recovered.", bytes).Split()
	case RecoveredFailed:
		i.Message, i.Words = Say("Nothing had arrived. The message is saved.").Split()
	case RecoveredUnsent:
		i.Message, i.Words = Say("The message was saved but not sent. Send it or discard it.").Split()
	}
	return i
}

// RecoveredCalls returns a finding about a turn with tool calls, possibly with effects, that were running when the
// program ended.
func RecoveredCalls(t Turn, unknown int) RecoveryItem {
	i := RecoveredTurn(t, RecoveredTools, 0)
	i.Count = unknown
	i.Message, i.Words = Say("%s Nothing is run again automatically: check what happened, then enter the result, run it again, "+
		"tell the model, or discard the turn.", counted(unknown,
		"1 tool call was running when the program ended, and its outcome is unknown.",
		"%d tool calls were running when the program ended, and their outcomes are unknown.")).Split()
	return i
}

// RecoveredProposals returns a finding about a complete answer with tool calls that had not started.
func RecoveredProposals(t Turn, calls int) RecoveryItem {
	i := RecoveredTurn(t, RecoveredProposed, 0)
	i.Count = calls
	i.Message, i.Words = counted(calls,
		"The model had asked for 1 tool call when the program ended. None had started; nothing is lost.",
		"The model had asked for %d tool calls when the program ended. None had started; nothing is lost.").Split()
	return i
}

// UnreadableTurn returns a finding about a turn that could not be recovered.
func UnreadableTurn(t Turn, err error) RecoveryItem {
	i := RecoveredTurn(t, RecoveredUnreadable, 0)
	i.Message, i.Words = Say("This turn could not be recovered and was left unchanged: %s", AsError(err)).Split()
	return i
}

// DiscardedLines returns a finding about the unused end of a turn's journal: everything from line badLine on, or, if
// that is 0, a torn last line.
func DiscardedLines(t Turn, bytes int64, badLine int) RecoveryItem {
	i := RecoveredTurn(t, RecoveredDiscarded, bytes)
	i.Message, i.Words = Say("The last line of the journal was torn and is not used; it had not been reported as durable.").Split()
	if badLine != 0 {
		i.Message, i.Words = Say(
			"The journal is unreadable from line %d on; the lines before it are used and the file is left unchanged.", badLine).Split()
	}
	return i
}

// RecoveredCount returns a finding with a count.
func RecoveredCount(kind RecoveryKind, n int) RecoveryItem {
	i := RecoveryItem{Kind: kind, Count: n}
	switch kind {
	case RecoveredCommitted:
		i.Message, i.Words = counted(n,
			"1 final answer was added to the conversation's state.",
			"%d final answers were added to the conversation's state.").Split()
	case RecoveredRequeued:
		i.Message, i.Words = counted(n,
			"1 missing or abandoned background job was queued again.",
			"%d missing or abandoned background jobs were queued again.").Split()
	case RecoveredPruned:
		i.Message, i.Words = counted(n,
			"1 journal that a crash had left was removed; the answers are in the database.",
			"%d journals that a crash had left were removed; the answers are in the database.").Split()
	case RecoveredSwept:
		i.Message, i.Words = counted(n,
			"1 document that no message had used for a day was removed.",
			"%d documents that no message had used for a day were removed.").Split()
	}
	return i
}

// IgnoredSnapshot returns a finding about a damaged snapshot of a ledger.
func IgnoredSnapshot(f Finding) RecoveryItem {
	i := RecoveryItem{Kind: RecoveredSnapshot}
	i.Message, i.Words = Say("Snapshot %s of the ledger was ignored. %s", f.ID, f.Message).Split()
	return i
}

// MissedDaily returns a finding about a daily backup that failed.
func MissedDaily(err error) RecoveryItem {
	i := RecoveryItem{Kind: RecoveredDaily}
	i.Message, i.Words = AsError(err).Phrase().Split()
	return i
}

// FailedJob returns a finding about a job that failed too often.
func FailedJob(j Job) RecoveryItem {
	work := map[JobType]Phrase{
		JobSummarizeTurn:   Say("Adding an answer to the conversation's state"),
		JobIndexTurn:       Say("Making a turn searchable"),
		JobSummarizeRange:  Say("Summarizing part of the history"),
		JobSummarizeChunks: Say("Summarizing long passages of a turn"),
	}[j.Type]
	i := RecoveryItem{Kind: RecoveredJobFailed, SessionID: j.SessionID, TurnID: j.TurnID, JobID: j.ID}
	i.Message, i.Words = Say(
		"%s failed %d times and is not tried again (job %d): %s. Nothing is lost; retry it when the cause is fixed.",
		cmp.Or(work, Say("Background work")), j.Attempts, j.ID, j.Why()).Split()
	return i
}

// Summary returns a one-line summary of the report.
func (r RecoveryReport) Summary() Phrase {
	switch len(r.Items) {
	case 0:
		return Say("No unfinished work was found.")
	case 1:
		return r.Items[0].Said()
	}
	open := 0
	for _, i := range r.Items {
		if i.Undecided() {
			open++
		}
	}
	switch open {
	case 0:
		return Say("%d problems were found and handled.", len(r.Items))
	case 1:
		return Say("%d problems were found and handled; 1 of them needs your decision.", len(r.Items))
	}
	return Say("%d problems were found and handled; %d of them need your decision.", len(r.Items), open)
}

// Said returns the message with its values.
func (i RecoveryItem) Said() Phrase { return i.Words.As(i.Message) }

// Undecided reports whether the finding waits for a decision of the user.
func (i RecoveryItem) Undecided() bool {
	return i.Kind == RecoveredIncomplete || i.Kind == RecoveredUnsent || i.Kind == RecoveredTools || i.Kind == RecoveredProposed
}

// AllResolved is the summary of a report without remaining findings.
var AllResolved = Say("Everything in this report has since been resolved or deleted.")

// AsOfNow returns the report without findings about deleted turns or about decisions that have been made since. turn
// looks up a turn; if it fails, the finding stays.
func (r RecoveryReport) AsOfNow(turn func(TurnID) (Turn, error)) RecoveryReport {
	isOutdated := func(i RecoveryItem) bool {
		if i.TurnID == "" {
			return false
		}
		t, err := turn(i.TurnID)
		if err != nil {
			return AsError(err).Code == CodeNotFound
		}
		return i.Undecided() && i.decided(t)
	}
	return RecoveryReport{At: r.At, Items: slices.DeleteFunc(slices.Clone(r.Items), isOutdated)}
}

// decided reports whether a finding no longer needs a decision in the turn's current state.
func (i RecoveryItem) decided(t Turn) bool {
	if i.Kind == RecoveredTools || i.Kind == RecoveredProposed {
		return t.Phase.Finalized() || t.Phase == PhaseFailed
	}
	return !t.Incomplete() && !t.Unsent()
}

// recurring are the kinds of findings that are reported again until somebody acts on them.
var recurring = []RecoveryKind{RecoveredUnsent, RecoveredTools, RecoveredProposed, RecoveredJobFailed, RecoveredUnreadable, RecoveredSnapshot, RecoveredDaily}

// Routine reports whether the finding also occurs after a normal end of the program.
func (i RecoveryItem) Routine() bool {
	return i.Kind == RecoveredSwept || i.Kind == RecoveredCommitted || i.Kind == RecoveredJobFailed || i.Kind == RecoveredDaily
}

// Since returns the report without recurring findings that an earlier report already contains.
func (r RecoveryReport) Since(earlier ...RecoveryReport) RecoveryReport {
	wasReported := func(i RecoveryItem) bool {
		return slices.Contains(recurring, i.Kind) &&
			slices.ContainsFunc(earlier, func(e RecoveryReport) bool { return slices.Contains(e.Items, i) })
	}
	return RecoveryReport{At: r.At, Items: slices.DeleteFunc(slices.Clone(r.Items), wasReported)}
}

// counted chooses the text for one, or for several with their number.
func counted(n int, one, several string) Phrase {
	if n == 1 {
		return Quote(one)
	}
	return Say(several, n)
}
