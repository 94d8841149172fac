package api

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/services"
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

// The window has the search's explanation, in one line.
func TestMatchView(t *testing.T) {
	share := 0.978
	m := retrieval.Match{Words: []string{"Deployments", "Gion"}, Similarity: share, Turn: 3, Reasons: []chat.Reason{chat.ReasonAnswer}}
	got := matchView(m, chat.RoleAssistant, &share)
	if !slices.Equal(got.Words, m.Words) || got.Role != "assistant" || got.Similarity != &share ||
		got.Reason.String() != "matched: Deployments, Gion · more similar than 97 % of unrelated text · answer to the question of #3" {
		t.Errorf("%+v", got)
	}
	if got := matchView(retrieval.Match{}, chat.RoleUser, nil); got.Words == nil || got.Reason.String() != "next to a passage that matches" {
		t.Errorf("%+v", got)
	}
	attached := inspecting.Recalled{Part: prompt.Part{Attached: true, Keyword: 1}, Match: retrieval.Match{Attached: true}}
	if got := recalledMatch(attached); got.Reason.String() != "attached manually" {
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

// The turns whose jobs failed are listed, those of the open conversation first; turns that cannot be read, or were
// indexed later, are not.
func TestFailedTurnsAreListed(t *testing.T) {
	failed := []chat.Job{{ID: 9, TurnID: "a", LastError: "no"}, {ID: 8, TurnID: "damaged"}, {ID: 7, TurnID: "b"}, {ID: 6, TurnID: "c"}}
	turns := map[chat.TurnID]chat.Turn{
		"a": {SessionID: "other", IndexStatus: chat.IndexDegraded},
		"b": {SessionID: "mine", IndexStatus: chat.IndexDegraded},
		"c": {SessionID: "mine", IndexStatus: chat.IndexOK},
	}
	m := NewMemory(&Core{Set: &services.Set{Setup: services.Setup{Log: slog.New(slog.DiscardHandler)}}})
	got := m.degradedTurns(failed, "mine", func(id chat.TurnID) (chat.Turn, error) {
		turn, ok := turns[id]
		if !ok {
			return turn, chat.Errorf(chat.CodeCorrupt, "turn.read", "damaged")
		}
		turn.ID, turn.Seq, turn.User = id, 4, chat.UserText("About "+string(id))
		return turn, nil
	})
	want := []DegradedTurn{
		{TurnID: "b", TurnSeq: 4, SessionID: "mine", Title: "About b", JobID: 7},
		{TurnID: "a", TurnSeq: 4, SessionID: "other", Title: "About a", JobID: 9, Error: chat.Quote("no")},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

// The status counts the units of the namespaces in use and says why one is not complete.
func TestStatusOfTheIndex(t *testing.T) {
	var st IndexStatus
	st.add([]chat.Namespace{
		{State: chat.NamespaceServing, Done: 7, Total: 7, Embedder: chat.EmbedderID{Name: "local", Model: "hashed", Dimension: 256, Version: 1}},
		{State: chat.NamespaceBuilding, Done: 3, Total: 7, LastError: "The server cannot be reached."},
		{State: chat.NamespaceRetired, Total: 99},
	})
	if st.Units != 7 || len(st.Spaces) != 2 || st.Spaces[0].Embedder != "local/hashed/256/v1" ||
		st.Spaces[1].Error.String() != "The server cannot be reached." || st.Spaces[1].Done != 3 {
		t.Errorf("%+v", st)
	}
}
