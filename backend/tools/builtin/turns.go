package builtin

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// GetTurn returns a complete turn, in parts if it is long.
func (m *Memory) GetTurn(ctx context.Context, v View, a TurnArguments) (MemoryResult, error) {
	if a.Offset < 0 || a.TurnID == "" && a.Number < 1 {
		return MemoryResult{}, refusal("identify the turn by turn_id, or by its number")
	}
	t, s, err := m.turn(ctx, v, a)
	if err != nil {
		return MemoryResult{}, err
	}
	deleted, err := m.Store.DeletedTurns(ctx, t.SessionID, []chat.TurnID{t.ID})
	if err != nil {
		return MemoryResult{}, err
	}
	if at, ok := deleted[t.ID]; ok {
		return MemoryResult{}, refusal("turn #%d was permanently deleted on %s", t.Seq, formatTime(at))
	}
	full := turnText(t)
	if a.Offset > len(full) {
		return MemoryResult{}, refusal("the turn has %d bytes; the offset is beyond its end", len(full))
	}
	rest := full[display.CharacterStart(full, a.Offset):]
	part := display.Start(rest, maxTurnText)
	var b strings.Builder
	fmt.Fprintf(&b, "Session %q (session_id %s), turn #%d (turn_id %s), %s\n\n%s", display.OneLine(display.Clip(s.Title, 120)), s.ID, t.Seq, t.ID, formatTime(t.CreatedAt), part)
	if len(part) < len(rest) {
		fmt.Fprintf(&b, "\n\n[%d bytes follow: call get_turn again with offset %d]", len(rest)-len(part), len(full)-len(rest)+len(part))
	}
	out := MemoryResult{Text: b.String()}
	out.note(s.ID, t.ID)
	return out, nil
}

// turn finds a turn that the caller may see. A forbidden turn is reported as missing, and so is one of a project's
// file, which is not a conversation.
func (m *Memory) turn(ctx context.Context, v View, a TurnArguments) (chat.Turn, chat.Session, error) {
	var none chat.Turn
	t, s, err := m.lookUp(ctx, v, a)
	switch {
	case chat.CodeOf(err) == chat.CodeNotFound:
		return none, s, noTurn(a)
	case err != nil:
		return none, s, err
	case !v.canSee(s) || t.ID == v.Turn:
		return none, s, noTurn(a)
	}
	if v.Scope == chat.ScopeLineage {
		page, err := m.Store.Lineage(ctx, chat.LineageQuery{Branch: v.Branch, FromSeq: t.Seq, ToSeq: t.Seq})
		if err != nil || len(page) == 0 || page[0].ID != t.ID {
			return none, s, orNoTurn(err, a)
		}
	}
	return t, s, nil
}

// lookUp finds the turn that the arguments identify, whether or not the caller may see it.
func (m *Memory) lookUp(ctx context.Context, v View, a TurnArguments) (chat.Turn, chat.Session, error) {
	if a.TurnID != "" {
		t, err := m.Store.Turn(ctx, chat.TurnID(a.TurnID))
		if err != nil {
			return t, chat.Session{}, err
		}
		s, err := m.conversation(ctx, t.SessionID, a)
		return t, s, err
	}
	id := chat.SessionID(a.SessionID)
	id = cmp.Or(id, v.Session)
	s, err := m.conversation(ctx, id, a)
	if err != nil {
		return chat.Turn{}, s, err
	}
	branch := s.ActiveBranch
	if id == v.Session && v.Branch != "" {
		branch = v.Branch
	}
	page, err := m.Store.Lineage(ctx, chat.LineageQuery{Branch: branch, FromSeq: a.Number, ToSeq: a.Number})
	if err != nil || len(page) == 0 {
		return chat.Turn{}, s, orNoTurn(err, a)
	}
	return page[0], s, nil
}

// conversation returns a session that is a conversation, not a file of a project.
func (m *Memory) conversation(ctx context.Context, id chat.SessionID, a TurnArguments) (chat.Session, error) {
	s, err := m.Store.SessionOrFile(ctx, id)
	if err == nil && s.Source == chat.SourceFiles {
		err = noTurn(a)
	}
	return s, err
}

func orNoTurn(err error, a TurnArguments) error {
	if err != nil {
		return err
	}
	return noTurn(a)
}

func noTurn(a TurnArguments) error {
	if a.TurnID != "" {
		return refusal("there is no turn %s that can be read from here", display.OneLine(display.Clip(a.TurnID, 60)))
	}
	return refusal("there is no turn #%d that can be read from here", a.Number)
}

// turnText returns the text of a turn.
func turnText(t chat.Turn) string {
	var b strings.Builder
	b.WriteString("USER:\n" + messageText(t.User))
	switch {
	case t.Assistant != nil:
		b.WriteString("\n\nASSISTANT:\n" + messageText(*t.Assistant))
	default:
		b.WriteString("\n\nThere is no answer.")
	}
	return b.String()
}

// messageText returns the text of a message, and a description of its other content.
func messageText(m chat.Message) string {
	text := m.RenderedText()
	var others []string
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case chat.Document:
			others = append(others, fmt.Sprintf("document %q", display.OneLine(display.Clip(b.Name, 120))))
		case chat.Image:
			others = append(others, "an image")
		case chat.ToolUse:
			others = append(others, fmt.Sprintf("a call of the tool %s", display.OneLine(display.Clip(b.Name, 64))))
		}
	}
	if len(others) == 0 {
		return text
	}
	return strings.TrimSpace(text + "\n[with: " + strings.Join(others[:min(len(others), 20)], ", ") + "]")
}

// ListSessions lists the sessions that the caller may see.
func (m *Memory) ListSessions(ctx context.Context, v View, a SessionArguments) (MemoryResult, error) {
	if a.Offset < 0 {
		return MemoryResult{}, refusal("the offset must not be negative")
	}
	limit := bounded(a.Limit, defaultListed, maxListed)
	list, more, err := m.visibleSessions(ctx, v, a, limit)
	if err != nil {
		return MemoryResult{}, err
	}
	var out MemoryResult
	var b strings.Builder
	switch {
	case len(list) == 0 && a.Offset > 0:
		b.WriteString("There are no more sessions.")
	case len(list) == 0:
		b.WriteString("There is no such session.")
	}
	for _, s := range list {
		title := display.OneLine(display.Clip(s.Title, 120))
		fmt.Fprintf(&b, "%q (session_id %s), %s, last used %s\n", title, s.ID, display.Count(s.Turns, "turn", "turns"), formatTime(s.UpdatedAt))
		out.note(s.ID, "")
	}
	if more {
		fmt.Fprintf(&b, "\n[There are more: call list_sessions again with offset %d]", a.Offset+limit)
	}
	switch v.Scope {
	case chat.ScopeAll:
	case chat.ScopeProject:
		b.WriteString("\n[Memory is limited to this project, so no other session is listed.]")
	default:
		b.WriteString("\n[Memory is limited to this conversation, so no other one is listed.]")
	}
	out.Text = strings.TrimSpace(b.String())
	return out, nil
}

// visibleSessions returns a page of the sessions that the caller may see, and whether there are more.
func (m *Memory) visibleSessions(ctx context.Context, v View, a SessionArguments, limit int) ([]chat.SessionSummary, bool, error) {
	const step = 200
	skip := a.Offset
	var out []chat.SessionSummary
	for offset := 0; ; offset += step {
		page, err := m.Store.Sessions(ctx, chat.SessionQuery{Title: strings.TrimSpace(a.Title), Limit: step, Offset: offset})
		if err != nil {
			return nil, false, err
		}
		for _, s := range page {
			switch {
			case !v.canSee(s.Session):
			case skip > 0:
				skip--
			case len(out) == limit:
				return out, true, nil
			default:
				out = append(out, s)
			}
		}
		if len(page) < step {
			return out, false, nil
		}
	}
}
