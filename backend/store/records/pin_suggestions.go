package records

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// suggestionRow is a standing instruction in a user's message. A dismissed one is never suggested again; a pinned one
// is suggested only on branches without that pin.
type suggestionRow struct {
	ID          string
	SessionID   string
	BranchID    string
	TurnID      string
	TurnSeq     int64
	SpanFrom    int
	SpanTo      int
	DismissedAt *string
	PinID       *string
}

func (suggestionRow) TableName() string { return "pin_suggestions" }

const (
	// maxTurnSuggestions limits what is kept of one message.
	maxTurnSuggestions = 20
	// maxSuggestions limits the suggestions of a branch, and consideredSuggestions the newest ones among which they
	// are chosen.
	maxSuggestions        = 50
	consideredSuggestions = 500
)

// suggestPins stores the standing instructions of a turn that is being committed.
func suggestPins(t *core.Tx, turn schema.TurnRow) error {
	text, err := userText(t.DB, turn.ID)
	if err != nil {
		return err
	}
	found := intent.TypedInstructions(text)
	for _, s := range found[:min(len(found), maxTurnSuggestions)] {
		err := t.Run(`INSERT INTO pin_suggestions (id, session_id, branch_id, turn_id, turn_seq, span_from, span_to)
			VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (turn_id, span_from) DO NOTHING`,
			t.NewID(), turn.SessionID, turn.BranchID, turn.ID, turn.TurnSeq, s.Start, s.End)
		if err != nil {
			return err
		}
	}
	return nil
}

// userText returns the user's text in a turn; empty if unreadable.
func userText(db *gorm.DB, turn string) (string, error) {
	raw, err := sqlite.All[string](db, `SELECT user_message_json FROM turns WHERE id = ?`, turn)
	if err != nil || len(raw) == 0 {
		return "", err
	}
	m, err := schema.DecodeMessage(chat.RoleUser, raw[0])
	if err != nil {
		return "", nil // verify reports it
	}
	return m.RenderedText(), nil
}

// SuggestedPins returns the standing instructions of a branch's lineage that are neither pinned nor dismissed, newest
// first.
func (s *Records) SuggestedPins(ctx context.Context, branch chat.BranchID) ([]chat.PinSuggestion, error) {
	return core.Query(ctx, s, "pin.suggested", func(db *gorm.DB) ([]chat.PinSuggestion, error) { return suggestedPins(db, branch) })
}

func suggestedPins(db *gorm.DB, branch chat.BranchID) ([]chat.PinSuggestion, error) {
	segs, err := core.Segments(db, branch)
	if err != nil {
		return nil, err
	}
	rows, err := suggestionsOn(db, segs)
	if err != nil {
		return nil, err
	}
	pinned, known, err := knownInstructions(db, segs)
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(rows))
	for i, r := range rows {
		if texts[i], err = r.text(db); err != nil {
			return nil, err
		}
		if r.DismissedAt != nil || pinned[schema.Text(r.PinID)] {
			known[plainInstruction(texts[i])] = true
		}
	}
	out := []chat.PinSuggestion{}
	for i, r := range rows {
		plain := plainInstruction(texts[i])
		if plain == "" || known[plain] || len(out) == maxSuggestions {
			continue
		}
		known[plain] = true // a repetition: only the newest is suggested
		out = append(out, chat.PinSuggestion{
			ID: chat.SuggestionID(r.ID), SessionID: chat.SessionID(r.SessionID), TurnID: chat.TurnID(r.TurnID), TurnSeq: r.TurnSeq, Text: texts[i],
		})
	}
	return out, nil
}

// suggestionsOn returns the newest suggestions of a lineage, in whatever state.
func suggestionsOn(db *gorm.DB, segs []core.Segment) ([]suggestionRow, error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return nil, err
	}
	return sqlite.All[suggestionRow](db, core.ScopeCTE+`SELECT s.* FROM seg JOIN pin_suggestions s ON s.branch_id = seg.branch
		AND s.turn_seq > seg."from" AND s.turn_seq <= seg."to" ORDER BY s.turn_seq DESC, s.span_from LIMIT ?`, scope, consideredSuggestions)
}

// knownInstructions returns all pins ever made on a lineage, and those pinned on it now, as a whole and sentence by
// sentence.
func knownInstructions(db *gorm.DB, segs []core.Segment) (pinned, known map[string]bool, err error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return nil, nil, err
	}
	ids, err := sqlite.All[string](db, core.ScopeCTE+`SELECT p.id FROM seg JOIN pins p ON p.branch_id = seg.branch
		WHERE `+VisiblePin, scope)
	if err != nil {
		return nil, nil, err
	}
	pins, err := PinsOn(db, segs)
	known = map[string]bool{}
	for _, p := range pins {
		known[plainInstruction(p.Text)] = true
		for s := range intent.Sentences(p.Text, intent.Span{End: len(p.Text)}) {
			known[plainInstruction(p.Text[s.Start:s.End])] = true
		}
	}
	return schema.SetOf(ids), known, err
}

// plainInstruction removes what makes no difference between instructions: case, white space and surrounding
// punctuation.
func plainInstruction(s string) string {
	return strings.Trim(strings.ToLower(strings.Join(strings.Fields(s), " ")), " .!;:-*。！")
}

func (r suggestionRow) text(db *gorm.DB) (string, error) {
	message, err := userText(db, r.TurnID)
	if err != nil || r.SpanTo > len(message) {
		return "", err
	}
	return strings.TrimSpace(message[r.SpanFrom:r.SpanTo]), nil
}

// SuggestionPinned records that a suggestion was pinned on a branch.
func (s *Records) SuggestionPinned(ctx context.Context, branch chat.BranchID, id chat.SuggestionID, pin chat.PinID) error {
	return s.updateSuggestion(ctx, "pin.accept", branch, id, func(t *core.Tx) (int64, error) {
		return t.Exec(`UPDATE pin_suggestions SET pin_id = ?, dismissed_at = NULL WHERE id = ?`, pin, id)
	})
}

// DismissSuggestion stops suggesting an instruction anywhere.
func (s *Records) DismissSuggestion(ctx context.Context, branch chat.BranchID, id chat.SuggestionID) error {
	return s.updateSuggestion(ctx, "pin.dismiss", branch, id, func(t *core.Tx) (int64, error) {
		return t.Exec(`UPDATE pin_suggestions SET dismissed_at = ? WHERE id = ?`, t.Stamp(), id)
	})
}

func (s *Records) updateSuggestion(ctx context.Context, op string, branch chat.BranchID, id chat.SuggestionID, update func(*core.Tx) (int64, error)) error {
	return s.Write(ctx, op, func(t *core.Tx) error {
		segs, err := core.Segments(t.DB, branch)
		if err != nil {
			return err
		}
		rows, err := suggestionsOn(t.DB, segs)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(rows, func(r suggestionRow) bool { return r.ID == string(id) }) {
			return chat.Errorf(chat.CodeNotFound, "", "There is no suggested pin %s on this branch.", id)
		}
		_, err = update(t)
		return err
	})
}
