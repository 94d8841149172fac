package api

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/sessions"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("wörter sind da ", 100)
	at := strings.Index(long, "sind") // the first occurrence
	middle := len(long) / 2
	for name, c := range map[string]struct {
		text  string
		at    int
		front bool
		back  bool
	}{
		"short": {"a few words", 5, false, false}, "beginning": {long, 0, false, true}, "near the beginning": {long, at, false, true},
		"middle": {long, middle, true, true}, "end": {long, len(long), true, false}, "beyond": {long, len(long) + 9, true, false},
		"inside a letter": {strings.Repeat("漢", 700), 301, true, true}, "before": {long, -3, false, true},
	} {
		got := excerpt(c.text, c.at)
		if strings.HasPrefix(got, "… ") != c.front || strings.HasSuffix(got, " …") != c.back || !utf8.ValidString(got) {
			t.Errorf("%s: %q", name, got)
		}
		visible := strings.TrimSuffix(strings.TrimPrefix(got, "… "), " …")
		if !strings.Contains(c.text, visible) || utf8.RuneCountInString(visible) > excerptRunes+2*wordRunes || len(c.text) > 400 && utf8.RuneCountInString(visible) < excerptRunes-2*wordRunes {
			t.Errorf("%s: %d runes of %q", name, utf8.RuneCountInString(visible), visible)
		}
	}
	if got := excerpt(long, middle); strings.HasPrefix(got, "… rter") || strings.HasSuffix(got, "wört …") {
		t.Errorf("cut inside a word: %q", got)
	}
}

// The window shows the search's explanation as a sentence.
func TestMatchView(t *testing.T) {
	share := 0.978
	m := retrieval.Match{Words: []string{"Deployments", "Gion"}, Similarity: share, Turn: 3, Reasons: []chat.Reason{chat.ReasonAnswer}}
	got := matchView(m, chat.RoleAssistant, &share)
	if !slices.Equal(got.Words, m.Words) || got.Role != "assistant" || got.Similarity != &share ||
		got.Reason != "Matched: Deployments, Gion · more similar than 97 % of unrelated text · answer to the question of #3." {
		t.Errorf("%+v", got)
	}
	if got := matchView(retrieval.Match{}, chat.RoleUser, nil); got.Words == nil || got.Reason != "Next to a passage that matches." {
		t.Errorf("%+v", got)
	}
	attached := inspecting.Recalled{Part: prompt.Part{Attached: true, Keyword: 1}, Match: retrieval.Match{Attached: true}}
	if got := recalledMatch(attached); got.Reason != "Attached manually." {
		t.Errorf("%+v", got)
	}
}

// The title of attached memory has no markup.
func TestMemoryChipHasNoMarkup(t *testing.T) {
	c := chat.ChunkText{Chunk: chat.Chunk{Role: chat.RoleAssistant, Text: "## Lag\n\nAbout **replication lag**, `step` 50"}}
	if m := memoryChip(c); m.Title != "Lag About replication lag, step 50" || m.Role != "assistant" {
		t.Errorf("%+v", m)
	}
}

// The excerpt in a row has no Markdown syntax or list markers, wherever in the text it begins. Code stays unchanged.
func TestChunkRowHasNoMarkup(t *testing.T) {
	filler := strings.Repeat(" more of it here,", 60)
	prose := func(text string) chat.ChunkText { return chat.ChunkText{Chunk: chat.Chunk{Text: text}} }
	for name, c := range map[string]struct {
		chunk chat.ChunkText
		at    string
		want  string
	}{
		"heading": {prose("## The **plan**\n\n- copy `orders`\n- verify"), "", "The plan\n- copy orders\n- verify"},
		"list":    {prose("- **copy** first"), "", "copy first"},
		"table":   {prose("| Step | Rows |\n|---|---|\n| Dual writes | 2 410 000 |"), "", "Step | Rows\nDual writes | 2 410 000"},
		"inside":  {prose(strings.Repeat("Before it. ", 60) + "**The rollback** is one flag." + filler), "**The", "… The rollback is one flag."},
		"code":    {chat.ChunkText{Chunk: chat.Chunk{Type: chat.ChunkCode, Text: "# run\n- `a`"}}, "", "# run\n- `a`"},
	} {
		at := 0
		if c.at != "" {
			at = strings.Index(c.chunk.Text, c.at)
		}
		if got := chunkRow(c.chunk, at).Excerpt; !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// failedJobs is a store with failed indexing jobs.
type failedJobs struct {
	jobs.ListStore
	HistoryStore
	query chat.JobQuery
	turns map[chat.TurnID]chat.Turn
	jobs  []chat.Job
}

func (f *failedJobs) Jobs(_ context.Context, q chat.JobQuery) ([]chat.Job, error) {
	f.query = q
	return f.jobs, nil
}

func (f *failedJobs) Turn(_ context.Context, id chat.TurnID) (chat.Turn, error) {
	t, ok := f.turns[id]
	if !ok {
		return t, chat.Errorf(chat.CodeCorrupt, "turn.read", "damaged")
	}
	return t, nil
}

// singleSession is a store whose branches belong to one session.
type singleSession struct{ sessions.Store }

func (singleSession) Branch(context.Context, chat.BranchID) (chat.Branch, error) {
	return chat.Branch{SessionID: "mine"}, nil
}

type fakeVectors struct{}

func (fakeVectors) Status(context.Context) ([]chat.Namespace, error) {
	return []chat.Namespace{
		{State: chat.NamespaceServing, Done: 7, Total: 7, Embedder: chat.EmbedderID{Name: "local", Model: "hashed", Dimension: 256, Version: 1}},
		{State: chat.NamespaceBuilding, Done: 3, Total: 7, LastError: "The server cannot be reached."}, {State: chat.NamespaceRetired, Total: 99},
	}, nil
}

// Status lists the turns whose jobs failed, those of the open conversation first; turns that cannot be read, or were
// indexed later, are not listed.
func TestStatusListsFailedTurns(t *testing.T) {
	turn := func(id chat.TurnID, session chat.SessionID, status chat.IndexStatus) chat.Turn {
		return chat.Turn{ID: id, Seq: 4, SessionID: session, IndexStatus: status, User: chat.UserText("About " + string(id))}
	}
	f := &failedJobs{
		jobs: []chat.Job{{ID: 9, TurnID: "a", LastError: "no"}, {ID: 8, TurnID: "damaged"}, {ID: 7, TurnID: "b"}, {ID: 6, TurnID: "c"}},
		turns: map[chat.TurnID]chat.Turn{
			"a": turn("a", "other", chat.IndexDegraded), "b": turn("b", "mine", chat.IndexDegraded), "c": turn("c", "mine", chat.IndexOK),
		},
	}
	m := NewMemory(&Core{Queue: jobs.NewList(f, nil, nil), History: f, Sessions: sessions.New(sessions.Deps{Store: singleSession{}}), Log: slog.New(slog.DiscardHandler), Retrieval: Retrieval{
		Vectors: fakeVectors{}, Retrieves: func() (bool, chat.Scope) { return true, chat.ScopeSession },
	}})
	st, err := m.Status("branch")
	if err != nil {
		t.Fatal(err)
	}
	if f.query.State != chat.JobFailed || f.query.Type != chat.JobIndexTurn {
		t.Errorf("queried %+v", f.query)
	}
	want := []DegradedTurn{{TurnID: "b", TurnSeq: 4, SessionID: "mine", Title: "About b", JobID: 7}, {TurnID: "a", TurnSeq: 4, SessionID: "other", Title: "About a", JobID: 9, Error: "no"}}
	if len(st.Degraded) != 2 || st.Degraded[0] != want[0] || st.Degraded[1] != want[1] {
		t.Errorf("%+v", st.Degraded)
	}
	if !st.On || st.Scope != "session" || st.Units != 7 || len(st.Spaces) != 2 || st.Spaces[0].Embedder != "local/hashed/256/v1" || st.Spaces[1].Error != "The server cannot be reached." || st.Spaces[1].Done != 3 {
		t.Errorf("%+v", st)
	}
}
