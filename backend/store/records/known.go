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
	text := strings.ToLower(q.Text)
	page = []chat.Known{}
	err = s.Read(ctx, "known.list", func(db *gorm.DB) error {
		rows, err := sqlite.All[knownSource](db, `SELECT s.id, s.title, s.active_branch, s.system_prompt, b.head_state, s.archived_at IS NOT NULL AS archived
			FROM sessions s JOIN branches b ON b.id = s.active_branch WHERE `+schema.Conversations+` AND `+where+` ORDER BY s.updated_at DESC, s.id DESC`)
		if err != nil {
			return err
		}
		add := func(found []chat.Known) {
			for _, k := range found {
				if !strings.Contains(strings.ToLower(k.Text), text) {
					continue
				}
				if total >= q.Offset && total < q.Offset+q.Limit {
					page = append(page, k)
				}
				total++
			}
		}
		fromProjects, err := knownOfProjects(db, q.Kind)
		if err != nil {
			return err
		}
		add(fromProjects)
		for _, r := range rows {
			if q.Kind == chat.KnownSummary && text == "" && (total < q.Offset || total >= q.Offset+q.Limit) {
				total++ // one per session: those of other pages need not be read
				continue
			}
			found, err := r.known(db, q.Kind)
			if err != nil {
				return err
			}
			add(found)
		}
		return nil
	})
	return page, total, err
}

// knownOfProjects returns the pinned facts or the instructions of all projects, by the projects' names.
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
	entry := chat.Known{
		Kind: kind, ID: r.ID, SessionID: chat.SessionID(r.ID), SessionTitle: r.Title, Archived: r.Archived,
		BranchID: chat.BranchID(r.ActiveBranch), Text: r.SystemPrompt,
	}
	segs, err := core.Segments(db, entry.BranchID)
	if err != nil {
		return nil, err
	}
	switch kind {
	case chat.KnownPin:
		return knownPins(db, segs, entry)
	case chat.KnownSuggestion:
		return knownSuggestions(db, entry)
	case chat.KnownSummary:
		state, err := StateByID(db, chat.StateID(r.HeadState))
		if err != nil || strings.TrimSpace(state.Summary) == "" {
			return nil, err
		}
		entry.ID, entry.Text, entry.At, entry.TurnSeq = state.ID, state.Summary, schema.ParseTime(state.CreatedAt), state.CoversSeq
		entry.TurnID, err = turnOn(db, segs, state.CoversSeq)
		return []chat.Known{entry}, err
	}
	times, err := sqlite.All[string](db, `SELECT created_at FROM events WHERE session_id = ? AND type IN ('session_created', 'session_prompt_set', 'session_settings_set')
		ORDER BY event_seq DESC LIMIT 1`, r.ID)
	if len(times) > 0 {
		entry.At = schema.ParseTime(times[0])
	}
	return []chat.Known{entry}, err
}

func knownPins(db *gorm.DB, segs []core.Segment, entry chat.Known) ([]chat.Known, error) {
	pins, err := PinsOn(db, segs)
	if err != nil {
		return nil, err
	}
	sources, err := suggestedSources(db, entry.SessionID)
	if err != nil {
		return nil, err
	}
	out := make([]chat.Known, len(pins))
	for i, p := range pins {
		out[i] = entry
		out[i].ID, out[i].Text, out[i].At, out[i].TurnSeq = p.ID, p.Text, schema.ParseTime(p.CreatedAt), p.AfterTurnSeq
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

// suggestedSources returns the suggestions of a session that were pinned, by the pins made from them. Their turn is
// where the user wrote it, which says more than the turn after which it was pinned.
func suggestedSources(db *gorm.DB, session chat.SessionID) (map[string]suggestionRow, error) {
	rows, err := sqlite.All[suggestionRow](db, `SELECT * FROM pin_suggestions WHERE session_id = ? AND pin_id IS NOT NULL`, session)
	out := map[string]suggestionRow{}
	for _, r := range rows {
		out[*r.PinID] = r
	}
	return out, err
}

func knownSuggestions(db *gorm.DB, entry chat.Known) ([]chat.Known, error) {
	suggestions, err := suggestedPins(db, entry.BranchID)
	if err != nil {
		return nil, err
	}
	out := make([]chat.Known, len(suggestions))
	for i, p := range suggestions {
		out[i] = entry
		out[i].ID, out[i].Text, out[i].TurnID, out[i].TurnSeq = string(p.ID), p.Text, p.TurnID, p.TurnSeq
		turn, err := schema.TurnByID(db, p.TurnID)
		if err != nil {
			return nil, err
		}
		out[i].At = schema.ParseTime(turn.CreatedAt)
	}
	return out, nil
}

// turnOn returns the turn with a number on a lineage; empty: none.
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
