package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/tools"
)

// fakeMemory is a store with a few sessions, and a search with scripted results.
type fakeMemory struct {
	sessions []chat.SessionSummary
	turns    []chat.Turn
	deleted  map[chat.TurnID]time.Time
	lineage  map[chat.BranchID][]chat.TurnID
	hits     []retrieval.Hit
	query    retrieval.Query
	err      error
}

func (p *fakeMemory) SessionOrFile(_ context.Context, id chat.SessionID) (chat.Session, error) {
	for _, s := range p.sessions {
		if s.ID == id {
			return s.Session, nil
		}
	}
	return chat.Session{}, chat.Errorf(chat.CodeNotFound, "", "There is no session %s.", id)
}

func (p *fakeMemory) Sessions(_ context.Context, q chat.SessionQuery) ([]chat.SessionSummary, error) {
	var out []chat.SessionSummary
	for _, s := range p.sessions {
		if (s.ArchivedAt != nil) == q.Archived && strings.Contains(s.Title, q.Title) {
			out = append(out, s)
		}
	}
	out = out[min(q.Offset, len(out)):]
	return out[:min(q.Limit, len(out))], nil
}

func (p *fakeMemory) Turn(_ context.Context, id chat.TurnID) (chat.Turn, error) {
	for _, t := range p.turns {
		if t.ID == id {
			return t, nil
		}
	}
	return chat.Turn{}, chat.Errorf(chat.CodeNotFound, "", "There is no turn %s.", id)
}

func (p *fakeMemory) Lineage(ctx context.Context, q chat.LineageQuery) ([]chat.Turn, error) {
	for _, id := range p.lineage[q.Branch] {
		if t, _ := p.Turn(ctx, id); t.Seq == q.FromSeq {
			return []chat.Turn{t}, nil
		}
	}
	return nil, nil
}

func (p *fakeMemory) DeletedTurns(context.Context, chat.SessionID, []chat.TurnID) (map[chat.TurnID]time.Time, error) {
	return p.deleted, nil
}

func (p *fakeMemory) Search(_ context.Context, q retrieval.Query) (retrieval.Result, error) {
	p.query = q
	return retrieval.Result{Hits: p.hits}, p.err
}

func newFakeMemory() *fakeMemory {
	at := time.Date(2026, 3, 4, 10, 22, 0, 0, time.Local)
	p := &fakeMemory{lineage: map[chat.BranchID][]chat.TurnID{"B1": {"T1", "T2"}, "B2": {"T3"}, "B3": {"T4"}}}
	session := func(id, title, branch string) chat.SessionSummary {
		return chat.SessionSummary{Session: chat.Session{ID: chat.SessionID(id), Title: title, ActiveBranch: chat.BranchID(branch), UpdatedAt: at}, Turns: 2}
	}
	p.sessions = []chat.SessionSummary{session("S1", "Garden\u202E", "B1"), session("S2", "Kitchen", "B2"), session("S3", "Cellar", "B3")}
	p.sessions[2].ArchivedAt = &at
	turn := func(id, session string, seq int64, user, assistant string) {
		t := chat.Turn{ID: chat.TurnID(id), SessionID: chat.SessionID(session), Seq: seq, CreatedAt: at, User: message(chat.RoleUser, user)}
		if assistant != "" {
			m := message(chat.RoleAssistant, assistant)
			t.Assistant = &m
		}
		p.turns = append(p.turns, t)
	}
	turn("T1", "S1", 1, "When do I sow beans?", "In May.")
	turn("T2", "S1", 2, "And peas?", "")
	turn("T3", "S2", 1, "Which pan?", strings.Repeat("Iron. ", 10_000))
	turn("T4", "S3", 1, "Which wine?", "Red.")
	return p
}

func message(role chat.Role, text string) chat.Message {
	return chat.Message{Role: role, Blocks: chat.Blocks{chat.Text{Text: text}}}
}

func (p *fakeMemory) hit(session, turn string, seq int64, text string) {
	p.hits = append(p.hits, retrieval.Hit{ChunkText: chat.ChunkText{
		Chunk:   chat.Chunk{SessionID: chat.SessionID(session), SourceTurn: chat.TurnID(turn), Role: chat.RoleUser, Text: text},
		TurnSeq: seq, SessionTitle: "Garden\n", At: time.Date(2026, 3, 4, 10, 22, 0, 0, time.Local),
	}})
}

// ask calls a memory tool as a model in session S1 does.
func (p *fakeMemory) ask(t *testing.T, scope chat.Scope, tool string, arguments map[string]any) (string, bool) {
	t.Helper()
	s := New(&Memory{Store: p, Search: p, Settings: func() (bool, chat.Scope) { return true, scope }}, nil)
	out, err := s.Call(t.Context(), tools.Call{Tool: tool, Session: "S1", Branch: "B1", Turn: "T2", Arguments: argumentsOf(t, arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return out.Content.RenderedText(), out.IsError
}

func TestSearchMemory(t *testing.T) {
	p := newFakeMemory()
	p.hit("S1", "T1", 1, "When do I sow beans?")
	p.hit("S2", "T3", 1, strings.Repeat("x", 5000))
	p.hit("S3", "T4", 1, "archived wine")
	got, isError := p.ask(t, chat.ScopeAll, "search_memory", map[string]any{"query": "beans", "since": "2026-01-01", "until": "2026-05-31", "role": "user", "limit": 3})
	want := "1. Session \"Garden\" (session_id S1), turn #1 (turn_id T1), user, 4 March 2026, 10:22\nWhen do I sow beans?\n\n2. "
	if isError || !strings.HasPrefix(got, want) || strings.Contains(got, "wine") || len(got) > 2200 {
		t.Errorf("%v: %s", isError, got)
	}
	in := p.query.Within
	if in.Scope != chat.ScopeAll || in.Branch != "B1" || in.Session != "S1" || in.Role != chat.RoleUser || len(in.ExcludeTurns) != 1 || in.ExcludeTurns[0] != "T2" ||
		in.Since.Format(time.DateOnly) != "2026-01-01" || in.Until.Format(time.DateOnly) != "2026-06-01" || in.Archived {
		t.Errorf("the scope of the search: %+v", in)
	}
	for _, wrong := range []map[string]any{{}, {"query": " "}, {"query": "x", "role": "system"}, {"query": "x", "since": "May"}, {"question": "x"}, {"query": strings.Repeat("x", 5000)}} {
		if got, isError := p.ask(t, chat.ScopeAll, "search_memory", wrong); !isError {
			t.Errorf("%v: %s", wrong, got)
		}
	}
	p.hits = nil
	if got, isError := p.ask(t, chat.ScopeAll, "search_memory", map[string]any{"query": "beans"}); isError || !strings.HasPrefix(got, "Nothing was found") {
		t.Error(got)
	}
	p.err = errors.New("canary of the database")
	if got, isError := p.ask(t, chat.ScopeAll, "search_memory", map[string]any{"query": "beans"}); !isError || strings.Contains(got, "canary") {
		t.Error(got)
	}
}

func TestGetTurn(t *testing.T) {
	p := newFakeMemory()
	full := "USER:\nWhen do I sow beans?\n\nASSISTANT:\nIn May."
	for _, a := range []map[string]any{{"turn_id": "T1"}, {"number": 1}, {"session_id": "S1", "number": 1}} {
		if got, isError := p.ask(t, chat.ScopeLineage, "get_turn", a); isError || !strings.HasSuffix(got, full) || !strings.HasPrefix(got, `Session "Garden" (session_id S1), turn #1 (turn_id T1), 4 March 2026, 10:22`) {
			t.Errorf("%v: %s", a, got)
		}
	}
	got, _ := p.ask(t, chat.ScopeAll, "get_turn", map[string]any{"session_id": "S2", "number": 1})
	if len(got) > maxTurnText+500 || !strings.Contains(got, fmt.Sprintf("call get_turn again with offset %d]", maxTurnText)) {
		t.Errorf("%d bytes: ...%s", len(got), got[len(got)-100:])
	}
	got, _ = p.ask(t, chat.ScopeAll, "get_turn", map[string]any{"turn_id": "T3", "offset": maxTurnText})
	if len(got) < maxTurnText || strings.Contains(got, "USER:") {
		t.Errorf("the second part: %s", got[:200])
	}
	for _, c := range []struct {
		scope chat.Scope
		a     map[string]any
	}{
		{chat.ScopeSession, map[string]any{"turn_id": "T3"}}, {chat.ScopeSession, map[string]any{"session_id": "S2", "number": 1}},
		{chat.ScopeLineage, map[string]any{"turn_id": "T3"}}, {chat.ScopeAll, map[string]any{"turn_id": "T4"}}, // archived
		{chat.ScopeAll, map[string]any{"turn_id": "T2"}}, // the running turn itself
		{chat.ScopeAll, map[string]any{"turn_id": "nowhere"}}, {chat.ScopeAll, map[string]any{"number": 7}}, {chat.ScopeAll, map[string]any{}},
	} {
		if got, isError := p.ask(t, c.scope, "get_turn", c.a); !isError {
			t.Errorf("%s %v: %s", c.scope, c.a, got)
		}
	}
	p.deleted = map[chat.TurnID]time.Time{"T1": time.Date(2026, 4, 1, 9, 0, 0, 0, time.Local)}
	if got, isError := p.ask(t, chat.ScopeAll, "get_turn", map[string]any{"turn_id": "T1"}); !isError || !strings.Contains(got, "permanently deleted on 1 April 2026") || strings.Contains(got, "beans") {
		t.Errorf("a deleted turn: %s", got)
	}
}

func TestListSessions(t *testing.T) {
	p := newFakeMemory()
	got, _ := p.ask(t, chat.ScopeAll, "list_sessions", map[string]any{})
	if got != "\"Garden\" (session_id S1), 2 turns, last used 4 March 2026, 10:22\n\"Kitchen\" (session_id S2), 2 turns, last used 4 March 2026, 10:22" {
		t.Error(got)
	}
	got, _ = p.ask(t, chat.ScopeAll, "list_sessions", map[string]any{"limit": 1})
	if strings.Contains(got, "Kitchen") || !strings.Contains(got, "offset 1]") {
		t.Error(got)
	}
	got, _ = p.ask(t, chat.ScopeAll, "list_sessions", map[string]any{"limit": 1, "offset": 1})
	if !strings.Contains(got, "Kitchen") || strings.Contains(got, "offset") {
		t.Error(got)
	}
	got, _ = p.ask(t, chat.ScopeSession, "list_sessions", map[string]any{})
	if strings.Contains(got, "Kitchen") || !strings.Contains(got, "limited to this conversation") {
		t.Error(got)
	}
}

// TestViewOfAnotherProgram: another program sees only the sessions that it may see.
func TestViewOfAnotherProgram(t *testing.T) {
	p := newFakeMemory()
	for i := range 30 {
		p.hit("S1", fmt.Sprintf("T1-%d", i), 1, "not for them")
	}
	p.hit("S2", "T3", 1, "Which pan?")
	m := &Memory{Store: p, Search: p}
	v := View{Scope: chat.ScopeAll, Only: []chat.SessionID{"S2"}}
	found, err := m.SearchMemory(t.Context(), v, SearchArguments{Query: "pan"})
	if err != nil || strings.Contains(found.Text, "not for them") || !strings.Contains(found.Text, "Which pan?") || len(found.Shown) != 1 || found.Shown[0].Session != "S2" || found.Shown[0].Turn != "T3" {
		t.Errorf("%+v, %v", found, err)
	}
	if found, err := m.ListSessions(t.Context(), v, SessionArguments{}); err != nil || len(found.Shown) != 1 || found.Shown[0].Session != "S2" {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err := m.GetTurn(t.Context(), v, TurnArguments{TurnID: "T1"}); !IsRefused(err) {
		t.Errorf("a turn of a session that it may not see: %v", err)
	}
	if found, err := m.GetTurn(t.Context(), v, TurnArguments{SessionID: "S2", Number: 1}); err != nil || len(found.Shown) != 1 {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestMemoryToolsAreOffWithoutMemory(t *testing.T) {
	s := New(&Memory{Settings: func() (bool, chat.Scope) { return false, chat.ScopeAll }}, nil)
	if defs := s.Definitions(); len(defs) != 0 {
		t.Errorf("offered: %+v", defs)
	}
	s = New(&Memory{Settings: func() (bool, chat.Scope) { return true, chat.ScopeAll }}, nil)
	for _, d := range s.Definitions() {
		if d.Effects || !s.AllowedByDefault(d.Tool) || s.AsksEachCall(d.Tool) {
			t.Errorf("%s has effects, or asks", d.Tool)
		}
	}
}

// A memory tool reports which turns it quoted and which sessions it named.
func TestMemoryToolsReportWhatTheyQuoted(t *testing.T) {
	p := newFakeMemory()
	p.hit("S2", "T3", 1, "Iron.")
	p.hit("S1", "T1", 1, "beans")
	p.hit("S1", "T1", 1, "beans again")
	s := New(&Memory{Store: p, Search: p, Settings: func() (bool, chat.Scope) { return true, chat.ScopeAll }}, nil)
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      []chat.ShownTurn
	}{
		{"search_memory", map[string]any{"query": "x"}, []chat.ShownTurn{{Session: "S2", Turn: "T3"}, {Session: "S1", Turn: "T1"}}},
		{"get_turn", map[string]any{"turn_id": "T1"}, []chat.ShownTurn{{Session: "S1", Turn: "T1"}}},
		{"get_turn", map[string]any{"turn_id": "T9"}, nil},
		{"list_sessions", map[string]any{}, []chat.ShownTurn{{Session: "S1"}, {Session: "S2"}}},
	} {
		out, err := s.Call(t.Context(), tools.Call{Tool: c.tool, Session: "S1", Branch: "B1", Turn: "T2", Arguments: argumentsOf(t, c.arguments)})
		if err != nil || !slices.Equal(out.Recalled, c.want) {
			t.Errorf("%s reported %+v, %v", c.tool, out.Recalled, err)
		}
	}
}
