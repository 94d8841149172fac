package records

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// knownPage is the default size of a page.
const knownPage = 50

// knownSource is a session that may contain something of a kind.
type knownSource struct {
	ID           string
	Title        string
	ActiveBranch string
	SystemPrompt string
	HeadState    string
	Archived     bool
}

// knownSessions are the conditions, on a session s and its active branch b, under which it may contain something of a
// kind.
var knownSessions = map[chat.KnownKind]string{
	chat.KnownPin:          `s.id IN (SELECT session_id FROM pins)`,
	chat.KnownSuggestion:   `s.id IN (SELECT session_id FROM pin_suggestions WHERE dismissed_at IS NULL)`,
	chat.KnownInstructions: `s.system_prompt <> ''`,
	chat.KnownSummary:      `EXISTS (SELECT 1 FROM states t WHERE t.id = b.head_state AND t.origin <> 'root')`,
}

// Known returns a page of what is remembered, and the total count: what projects contain, and then what sessions
// contain, the most recently used session first.
func (s *Records) Known(ctx context.Context, q chat.KnownQuery) (page []chat.Known, total int, err error) {
	where, ok := knownSessions[q.Kind]
	if !ok {
		return nil, 0, sqlite.Invalid("%q is not a kind of memory.", q.Kind)
	}
	if q.Limit <= 0 {
		q.Limit = knownPage
	}
	find := strings.ToLower(q.Text)
	page = []chat.Known{}
	err = s.Read(ctx, "known.list", func(db *gorm.DB) error {
		rows, err := sqlite.All[knownSource](db, `SELECT s.id, s.title, s.active_branch, s.system_prompt, b.head_state, s.archived_at IS NOT NULL AS archived
			FROM sessions s JOIN branches b ON b.id = s.active_branch WHERE `+schema.Conversations+` AND `+where+` ORDER BY s.updated_at DESC, s.id DESC`)
		if err != nil {
			return err
		}
		list := func(found []chat.Known) {
			for _, k := range found {
				if !strings.Contains(strings.ToLower(k.Text), find) {
					continue
				}
				if total >= q.Offset && total < q.Offset+q.Limit {
					page = append(page, k)
				}
				total++
			}
		}
		of, err := knownOfProjects(db, q.Kind)
		if err != nil {
			return err
		}
		list(of)
		for _, r := range rows {
			if q.Kind == chat.KnownSummary && find == "" && (total < q.Offset || total >= q.Offset+q.Limit) {
				total++ // one per session: those of other pages need not be read
				continue
			}
			found, err := r.known(db, q.Kind)
			if err != nil {
				return err
			}
			list(found)
		}
		return nil
	})
	return page, total, err
}

// knownOfProjects are the pinned facts or the instructions of all projects, by the projects' names.
func knownOfProjects(db *gorm.DB, kind chat.KnownKind) (out []chat.Known, err error) {
	if kind != chat.KnownPin && kind != chat.KnownInstructions {
		return nil, nil
	}
	all, err := projects(db, `1 = 1`)
	for _, p := range all {
		switch {
		case kind == chat.KnownPin:
			for _, f := range p.Facts {
				out = append(out, chat.Known{Kind: kind, ID: string(f.ID), Project: p.Name, Text: f.Text})
			}
		case p.Instructions != "":
			out = append(out, chat.Known{Kind: kind, ID: string(p.ID), Project: p.Name, Text: p.Instructions})
		}
	}
	return out, err
}

func (r knownSource) known(db *gorm.DB, kind chat.KnownKind) ([]chat.Known, error) {
	one := chat.Known{
		Kind: kind, ID: r.ID, SessionID: chat.SessionID(r.ID), SessionTitle: r.Title, Archived: r.Archived,
		BranchID: chat.BranchID(r.ActiveBranch), Text: r.SystemPrompt,
	}
	segs, err := core.Segments(db, one.BranchID)
	if err != nil {
		return nil, err
	}
	switch kind {
	case chat.KnownPin:
		return knownPins(db, segs, one)
	case chat.KnownSuggestion:
		return knownSuggestions(db, one)
	case chat.KnownSummary:
		state, err := StateByID(db, chat.StateID(r.HeadState))
		if err != nil || strings.TrimSpace(state.Summary) == "" {
			return nil, err
		}
		one.ID, one.Text, one.At, one.TurnSeq = state.ID, state.Summary, schema.Moment(state.CreatedAt), state.CoversSeq
		one.TurnID, err = turnOn(db, segs, state.CoversSeq)
		return []chat.Known{one}, err
	}
	set, err := sqlite.All[string](db, `SELECT created_at FROM events WHERE session_id = ? AND type IN ('session_created', 'session_prompt_set', 'session_settings_set')
		ORDER BY event_seq DESC LIMIT 1`, r.ID)
	if len(set) > 0 {
		one.At = schema.Moment(set[0])
	}
	return []chat.Known{one}, err
}

func knownPins(db *gorm.DB, segs []core.Segment, one chat.Known) ([]chat.Known, error) {
	standing, err := PinsOn(db, segs)
	if err != nil {
		return nil, err
	}
	sources, err := suggestedSources(db, one.SessionID)
	if err != nil {
		return nil, err
	}
	out := make([]chat.Known, len(standing))
	for i, p := range standing {
		out[i] = one
		out[i].ID, out[i].Text, out[i].At, out[i].TurnSeq = p.ID, p.Text, schema.Moment(p.CreatedAt), p.AfterTurnSeq
		if source, ok := sources[p.First]; ok {
			out[i].TurnID, out[i].TurnSeq = chat.TurnID(source.TurnID), source.TurnSeq
			continue
		}
		if out[i].TurnID, err = turnOn(db, segs, p.AfterTurnSeq); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// suggestedSources are the suggestions of a session that were pinned, by the pins made from them. Their turn is where
// the user wrote it, which says more than the turn after which it was pinned.
func suggestedSources(db *gorm.DB, session chat.SessionID) (map[string]suggestionRow, error) {
	rows, err := sqlite.All[suggestionRow](db, `SELECT * FROM pin_suggestions WHERE session_id = ? AND pin_id IS NOT NULL`, session)
	out := map[string]suggestionRow{}
	for _, r := range rows {
		out[*r.PinID] = r
	}
	return out, err
}

func knownSuggestions(db *gorm.DB, one chat.Known) ([]chat.Known, error) {
	offered, err := suggestedPins(db, one.BranchID)
	if err != nil {
		return nil, err
	}
	out := make([]chat.Known, len(offered))
	for i, p := range offered {
		out[i] = one
		out[i].ID, out[i].Text, out[i].TurnID, out[i].TurnSeq = string(p.ID), p.Text, p.TurnID, p.TurnSeq
		turn, err := schema.TurnByID(db, p.TurnID)
		if err != nil {
			return nil, err
		}
		out[i].At = schema.Moment(turn.CreatedAt)
	}
	return out, nil
}

// turnOn is the turn with a number on a lineage; empty: none.
func turnOn(db *gorm.DB, segs []core.Segment, seq int64) (chat.TurnID, error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return "", err
	}
	ids, err := sqlite.All[chat.TurnID](db, core.ScopeCTE+`SELECT t.id FROM seg JOIN turns t ON t.branch_id = seg.branch
		AND t.turn_seq > seg."from" AND t.turn_seq <= seg."to" WHERE t.turn_seq = ?`, scope, seq)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}
