package search

import (
	"context"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/highlight"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// Find searches the messages of a branch's lineage for a text. Only messages that may contain it are decoded.
func (s *Search) Find(ctx context.Context, q chat.FindQuery) (chat.Found, error) {
	var found chat.Found
	if strings.TrimSpace(q.Text) == "" {
		return found, nil
	}
	finder := highlight.NewFinder(schema.Clean(q.Text), q.MatchCase)
	err := s.Read(ctx, "turn.find", func(db *gorm.DB) error {
		segs, err := core.Segments(db, q.Branch)
		if err != nil {
			return err
		}
		return eachTurn(db, segs, func(m turnMessages) {
			turn := m.find(finder)
			if found.Total += turn.Count; turn.Count == 0 {
				return
			}
			if q.Limit > 0 && len(found.Turns) == q.Limit {
				found.Truncated = true
				return
			}
			found.Turns = append(found.Turns, turn)
		})
	})
	return found, err
}

// turnMessages are the stored messages of a turn.
type turnMessages struct {
	id     string
	seq    int64
	user   string
	answer *string
}

// eachTurn reads the turns of a lineage in order, one at a time.
func eachTurn(db *gorm.DB, segs []core.Segment, do func(turnMessages)) error {
	for _, g := range segs {
		rows, err := db.Raw(`SELECT id, turn_seq, user_message_json, final_assistant_message_json FROM turns
			WHERE branch_id = ? AND turn_seq > ? AND turn_seq <= ? ORDER BY turn_seq`, g.Branch, g.From, g.To).Rows()
		if err != nil {
			return err
		}
		for rows.Next() {
			var m turnMessages
			if err := rows.Scan(&m.id, &m.seq, &m.user, &m.answer); err != nil {
				rows.Close()
				return err
			}
			do(m)
		}
		rows.Close()
		if err := rows.Err(); err != nil {
			return err
		}
	}
	return nil
}

// maxMarks limits the matches marked in a result's snippet.
const maxMarks = 16

func (m turnMessages) find(f highlight.Finder) chat.FoundTurn {
	turn := chat.FoundTurn{Turn: chat.TurnID(m.id), Seq: m.seq}
	searchMessage := func(role chat.Role, raw string) {
		if !f.InJSON(raw) {
			return
		}
		message, err := schema.DecodeMessage(role, raw)
		if err != nil {
			return // an unreadable message shows no words
		}
		words := message.IndexedText()
		spans, n := f.Spans(words, maxMarks)
		if n > 0 && turn.Count == 0 {
			turn.First, turn.Spans = snippet(words, spans, role == chat.RoleAssistant)
		}
		turn.Count += n
	}
	searchMessage(chat.RoleUser, m.user)
	if m.answer != nil {
		searchMessage(chat.RoleAssistant, *m.answer)
	}
	return turn
}

// snippet returns the text around the first span, and the spans in it. Answers are Markdown.
func snippet(words string, spans []highlight.Span, markdown bool) (string, []chat.Span) {
	cut := highlight.Snippet
	if markdown {
		cut = highlight.MarkdownSnippet
	}
	short, in := cut(words, spans)
	out := lists.Map(in, func(sp highlight.Span) chat.Span { return chat.Span{Start: sp.Start, End: sp.End} })
	return short, out
}
