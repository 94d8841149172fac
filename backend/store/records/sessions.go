// Package records reads and writes the transcript and what follows from it (sessions, branches, turns, steps, tool
// calls, pins, state and range summaries, documents), and what belongs to no session: projects, the library,
// permissions, other programs and settings.
package records

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Records reads and writes the records of an open database.
type Records struct{ *core.Core }

// mainBranch is the label of a session's first branch.
const mainBranch = "main"

// CreateSession creates a session with its first branch and root state.
func (s *Records) CreateSession(ctx context.Context, n chat.NewSession) (chat.Session, chat.Branch, error) {
	var session schema.SessionRow
	var branch schema.BranchRow
	err := s.Write(ctx, "session.create", func(t *core.Tx) error {
		var err error
		session, branch, err = CreateSession(t, n)
		if err != nil || n.Folder == "" {
			return err
		}
		if err := placeInFolder(t, session, schema.Clean(n.Folder)); err != nil {
			return err
		}
		session, err = schema.SessionByID(t.DB, chat.SessionID(session.ID))
		return err
	})
	return session.Session(), branch.Branch(), err
}

func CreateSession(t *core.Tx, n chat.NewSession) (schema.SessionRow, schema.BranchRow, error) {
	n.Source = cmp.Or(n.Source, chat.SourceNative)
	session := schema.SessionRow{
		ID: t.NewID(), CreatedAt: t.Stamp(), UpdatedAt: t.Stamp(), Source: schema.Clean(n.Source),
		ActiveBranch: t.NewID(), Title: chat.BoundTitle(schema.Clean(n.Title)), SystemPrompt: schema.Clean(n.SystemPrompt),
	}
	root := schema.StateRow{
		ID: t.NewID(), SessionID: session.ID, BranchID: session.ActiveBranch,
		Origin: string(chat.StateRoot), SchemaVersion: schema.StateSchema, CreatedAt: t.Stamp(),
	}
	branch := schema.BranchRow{
		ID: session.ActiveBranch, SessionID: session.ID, CreatedAt: t.Stamp(), Label: mainBranch,
		BaseState: root.ID, HeadState: root.ID,
	}
	err := events.Record(t, chat.SessionID(session.ID), ledger.EventSessionCreated, session.ID, ledger.SessionCreated{
		Title: session.Title, SystemPrompt: session.SystemPrompt, Source: session.Source,
		ActiveBranch: chat.BranchID(branch.ID),
	})
	if err != nil {
		return session, branch, err
	}
	if err := insertBranch(t, branch); err != nil {
		return session, branch, err
	}
	if err := InsertState(t, root, nil, 0); err != nil || n.Assistant == "" {
		return session, branch, err
	}
	if err := applyAssistant(t, chat.SessionID(session.ID), n.Assistant); err != nil {
		return session, branch, err
	}
	session, err = schema.SessionByID(t.DB, chat.SessionID(session.ID))
	return session, branch, err
}

// Session reads one conversation; CodeInvalid: it is a file of a project.
func (s *Records) Session(ctx context.Context, id chat.SessionID) (chat.Session, error) {
	row, err := core.Query(ctx, s, "session.read", func(db *gorm.DB) (schema.SessionRow, error) { return schema.SessionByID(db, id) })
	return row.Session(), err
}

// SessionOrFile reads a session, which may be that of a project's file: passages of both are found and shown.
func (s *Records) SessionOrFile(ctx context.Context, id chat.SessionID) (chat.Session, error) {
	row, err := core.Query(ctx, s, "session.read", func(db *gorm.DB) (schema.SessionRow, error) { return schema.SessionOrFile(db, id) })
	return row.Session(), err
}

type summaryRow struct {
	Row         schema.SessionRow `gorm:"embedded"`
	Branches    int
	Turns       int
	Pending     int
	LastTurn    string
	LastPhase   string
	LastOutcome string
	LastError   string
}

// interrupted reports whether no process writes the newest answer any longer, although it is not final. Recovery finds
// the same at the next start.
func (s *Records) interrupted(r summaryRow) bool {
	return chat.Phase(r.LastPhase) == chat.PhaseResponding && r.LastOutcome == "" && !s.IsRunning(chat.TurnID(r.LastTurn)) &&
		(!s.ReadOnly || !sqlite.WriterAlive(s.Dir))
}

// unanswered reports whether the newest turn was imported without an answer.
func unanswered(r summaryRow) bool {
	if chat.Phase(r.LastPhase) != chat.PhaseFailed || r.LastError == "" {
		return false
	}
	failure, err := schema.DecodeOptional[chat.Failure](&r.LastError)
	return err == nil && failure.Unanswered()
}

// Sessions lists sessions, pinned ones first, then newest first.
//
// Sequences have no gaps, so the number of the newest turn is the length of the lineage; each count is one index
// lookup.
func (s *Records) Sessions(ctx context.Context, q chat.SessionQuery) ([]chat.SessionSummary, error) {
	query := `
		SELECT s.*,
		  (SELECT count(*) FROM branches x WHERE x.session_id = s.id AND x.archived_at IS NULL) AS branches,
		  coalesce(last.turn_seq, b.fork_seq, 0) AS turns,
		  (SELECT count(*) FROM turns p WHERE p.branch_id = s.active_branch AND p.phase = 'ResponseFinalized') AS pending,
		  coalesce(last.id, '') AS last_turn, coalesce(last.phase, '') AS last_phase, coalesce(last.outcome, '') AS last_outcome,
		  coalesce(last.error_json, '') AS last_error
		FROM sessions s
		LEFT JOIN branches b ON b.id = s.active_branch
		LEFT JOIN turns last ON last.id = coalesce(
		  (SELECT n.id FROM turns n WHERE n.branch_id = s.active_branch ORDER BY n.turn_seq DESC LIMIT 1), b.fork_turn)
		WHERE %s ORDER BY s.pinned DESC, s.updated_at DESC, s.id DESC LIMIT ? OFFSET ?`
	limit := q.Limit
	if limit <= 0 {
		limit = -1
	}
	rows, err := core.Query(ctx, s, "session.list", func(db *gorm.DB) ([]summaryRow, error) {
		if q.ID != "" {
			return sqlite.All[summaryRow](db, fmt.Sprintf(query, `s.id = ?`), q.ID, limit, max(q.Offset, 0))
		}
		titled, err := titledJSON(db, q.Title)
		if err != nil {
			return nil, err
		}
		const listed = `(s.archived_at IS NOT NULL) = ? AND ` + schema.Conversations +
			` AND (? = '' OR s.id IN (SELECT value FROM json_each(?)))`
		return sqlite.All[summaryRow](db, fmt.Sprintf(query, listed), q.Archived, titled, titled, limit, max(q.Offset, 0))
	})
	return lists.Map(rows, func(r summaryRow) chat.SessionSummary {
		return chat.SessionSummary{
			Session: r.Row.Session(), Branches: r.Branches, Turns: r.Turns, Pending: r.Pending,
			LastPhase: chat.Phase(r.LastPhase), LastOutcome: chat.Outcome(r.LastOutcome), Interrupted: s.interrupted(r),
			Unanswered: unanswered(r),
		}
	}), err
}

// titledJSON returns the ids of the sessions whose title contains words, as a JSON array; empty for no words. SQLite
// only folds the case of ASCII, so the comparison is done in Go.
func titledJSON(db *gorm.DB, words string) (string, error) {
	if words == "" {
		return "", nil
	}
	rows, err := sqlite.All[struct{ ID, Title string }](db, `SELECT id, title FROM sessions`)
	if err != nil {
		return "", err
	}
	words = strings.ToLower(schema.Clean(words))
	ids := []string{}
	for _, r := range rows {
		if strings.Contains(strings.ToLower(r.Title), words) {
			ids = append(ids, r.ID)
		}
	}
	b, err := chat.MarshalJSON(ids)
	return string(b), err
}

// checkTitle refuses a title, a label or a name that is too long.
func checkTitle(subject, title string) error {
	if chat.BoundTitle(title) == title {
		return nil
	}
	return sqlite.Invalid("%s has at most %d characters; nothing was changed.", subject, chat.MaxTitleRunes).WithHint("choose a shorter one")
}

// RenameSession gives a session another title.
func (s *Records) RenameSession(ctx context.Context, id chat.SessionID, title string) error {
	title = schema.Clean(title)
	if err := checkTitle("A title", title); err != nil {
		return err
	}
	return s.changeSession(ctx, "session.rename", id, ledger.EventSessionRenamed, ledger.TextChanged{Text: title})
}

// SetSystemPrompt sets the session's system text.
func (s *Records) SetSystemPrompt(ctx context.Context, id chat.SessionID, prompt string) error {
	return s.changeSession(ctx, "session.prompt", id, ledger.EventSessionPrompt, ledger.TextChanged{Text: schema.Clean(prompt)})
}

// SetSessionSettings replaces all of a session's settings.
func (s *Records) SetSessionSettings(ctx context.Context, id chat.SessionID, v chat.SessionSettings) error {
	v.SystemPrompt, v.AssistantName = schema.Clean(v.SystemPrompt), schema.Clean(v.AssistantName)
	return s.Write(ctx, "session.settings", func(t *core.Tx) error {
		if v.Temperature != nil && !(*v.Temperature >= 0 && *v.Temperature <= 2) { // also refuses NaN
			return sqlite.Invalid("%v is not a temperature.", *v.Temperature).WithHint("choose one from 0 to 2, or leave it unset")
		}
		if !slices.Contains(chat.Efforts, v.Effort) {
			return sqlite.Invalid("%q is not a reasoning effort.", v.Effort).WithHint("choose minimal, low, medium or high, or leave it unset")
		}
		if !slices.Contains([]chat.Scope{"", chat.ScopeLineage, chat.ScopeSession, chat.ScopeProject, chat.ScopeAll}, v.MemoryScope) {
			return sqlite.Invalid("%q is not a scope of memory.", v.MemoryScope).WithHint("choose lineage, session, project or all, or leave it unset")
		}
		return SetSettings(t, id, v)
	})
}

func SetSettings(t *core.Tx, id chat.SessionID, v chat.SessionSettings) error {
	return SetSession(t, id, ledger.EventSessionSettings, ledger.SettingsChanged(v))
}

// SetSessionModel sets the model the session uses from now on; empty: the default.
func (s *Records) SetSessionModel(ctx context.Context, id chat.SessionID, model string) error {
	return s.changeSession(ctx, "session.model", id, ledger.EventSessionModel, ledger.TextChanged{Text: schema.Clean(model)})
}

// PinSession pins a session to the top of the list, or unpins it.
func (s *Records) PinSession(ctx context.Context, id chat.SessionID, pinned bool) error {
	return s.changeSession(ctx, "session.pin", id, ledger.EventSessionPinned, ledger.FlagChanged{On: pinned})
}

// ArchiveSession hides a session from list and search, or restores it.
func (s *Records) ArchiveSession(ctx context.Context, id chat.SessionID, archived bool) error {
	return s.ArchiveSessions(ctx, []chat.SessionID{id}, archived)
}

// ArchiveSessions archives or restores sessions, all of them or none.
func (s *Records) ArchiveSessions(ctx context.Context, ids []chat.SessionID, archived bool) error {
	return s.Write(ctx, "session.archive", func(t *core.Tx) error {
		for _, id := range ids {
			if err := SetSession(t, id, ledger.EventSessionArchived, ledger.FlagChanged{On: archived}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Records) changeSession(ctx context.Context, op string, id chat.SessionID, kind ledger.Type, data any) error {
	return s.Write(ctx, op, func(t *core.Tx) error { return SetSession(t, id, kind, data) })
}

// SetSession changes an existing session. Its position in the list, updated_at, changes only with turns.
func SetSession(t *core.Tx, id chat.SessionID, kind ledger.Type, data any) error {
	if _, err := schema.SessionByID(t.DB, id); err != nil {
		return err
	}
	return events.Record(t, id, kind, string(id), data)
}
