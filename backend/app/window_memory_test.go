package app

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// openMemory opens a window with some content, whose turns retrieve from every session.
func openMemory(t *testing.T, config string) *page {
	t.Helper()
	r := harness.NewRelay(t, harness.ChatWire, func(int) llmtest.Step { return llmtest.Stream(harness.ChatWire.TextStream(true, "It is noted.")...) }, nil)
	dir := t.TempDir()
	harness.WriteFile(t, filepath.Join(dir, "config.toml"), []byte(harness.ChatWire.Windowed("m", r.URL, 8192)+"[librarian]\nmodel = \"\"\n[retrieval]\nscope = \"all\"\n"+config))
	p := openPage(t, dir)
	for _, s := range rememberedTexts[:2] {
		p.say(api.SendRequest{Text: s, Model: "m"})
	}
	return p
}

func (p *page) find(query string) api.MemoryHit {
	p.t.Helper()
	found := must[api.MemorySearch](p.t)(p.memory.Search(api.MemoryFilter{Scope: "all"}, query))
	if len(found.Hits) == 0 {
		p.t.Fatalf("%q finds nothing: %+v", query, found)
	}
	return found.Hits[0]
}

func retrievedItems(v api.ContextView) []api.ContextItem {
	var out []api.ContextItem
	for _, s := range v.Sections {
		for _, it := range s.Items {
			if it.Source == "chunk" {
				out = append(out, it)
			}
		}
	}
	return out
}

// Memory is browsed and searched, a chunk is attached to a message, and the context shows why each chunk is in it.
func TestWindowMemory(t *testing.T) {
	t.Parallel()
	p := openMemory(t, "")
	all := must[api.ChunkPage](t)(p.memory.Chunks(api.MemoryFilter{Scope: "all"}))
	if all.Total != 4 || len(all.Chunks) != 4 || !strings.Contains(all.Chunks[0].Excerpt+all.Chunks[1].Excerpt, "parseInvoiceHeader") {
		t.Fatalf("%+v", all)
	}
	second := must[api.ChunkPage](t)(p.memory.Chunks(api.MemoryFilter{Scope: "all", Offset: 1, Limit: 1}))
	if second.Total != 4 || len(second.Chunks) != 1 || second.Chunks[0] != all.Chunks[1] {
		t.Errorf("a page with only the second chunk: %+v", second)
	}
	byUser := must[api.ChunkPage](t)(p.memory.Chunks(api.MemoryFilter{Scope: "all", Text: "RYOKAN", Role: "user"}))
	if byUser.Total != 1 || byUser.Chunks[0].Excerpt != rememberedTexts[0] || byUser.Chunks[0].SessionTitle == "" {
		t.Fatalf("by a word: %+v", byUser)
	}
	row := byUser.Chunks[0]
	if none := must[api.ChunkPage](t)(p.memory.Chunks(api.MemoryFilter{Scope: "all", Until: row.At})); none.Total != 0 {
		t.Errorf("before the first turn there is %+v", none)
	}
	if h := p.find("What did the ryokan cost?"); h.Chunk != row || h.Rank != 1 || h.Score <= 0 || h.Score > 1 || !slices.Contains(h.Match.Words, "ryokan") || h.Match.Role != "user" {
		t.Errorf("found %+v", h)
	}
	st := must[api.IndexStatus](t)(p.memory.Status(row.BranchID))
	if !st.On || st.Scope != "all" || st.Units != 4 || len(st.Degraded) != 0 || len(st.Spaces) != 1 || st.Spaces[0].State != "serving" || st.Spaces[0].Done != 4 {
		t.Errorf("status %+v", st)
	}

	chip := must[api.MemoryChip](t)(p.memory.Chip(row.ID))
	if chip.Role != "user" || chip.At != row.At || !strings.HasPrefix(chip.Title, "The ryokan near Gion") {
		t.Errorf("chip %+v", chip)
	}
	sent := p.say(api.SendRequest{Text: "Does parseInvoiceHeader still drop the tax?", Memories: []api.MemoryChip{chip, chip}, Model: "m"})
	v := must[api.TurnView](t)(p.sessions.Turn(sent.BranchID, sent.TurnID))
	if len(v.User) != 2 || v.User[0].ID != chip.ID || v.User[0].Text != chip.Title || v.User[0].Memory == nil || *v.User[0].Memory != chip || v.Memories < 2 || v.MemoryError != "" {
		t.Errorf("turn %+v", v)
	}
	items := retrievedItems(must[api.ContextView](t)(p.inspect.Context(sent.TurnID)))
	if len(items) != v.Memories {
		t.Fatalf("%d pieces, the turn says %d", len(items), v.Memories)
	}
	attached, found := items[0], items[1]
	if attached.ID != row.ID || attached.TurnID != row.TurnID || !attached.Memory.Attached || attached.Memory.Chunk == nil || *attached.Memory.Chunk != row ||
		attached.Memory.Match.Reason.String() != "attached manually" {
		t.Errorf("what was attached: %+v %+v", attached, attached.Memory)
	}
	if m := found.Memory; m.Attached || m.Rank != 2 || m.Score <= 0 || m.Score > 1 || !slices.Contains(m.Match.Words, "parseInvoiceHeader") ||
		!strings.HasPrefix(m.Match.Reason.String(), "matched: parseInvoiceHeader") ||
		strings.HasPrefix(m.Chunk.Excerpt, "[") || !strings.Contains(found.Text, "parseInvoiceHeader") {
		t.Errorf("what was found: %+v %+v", found, m)
	}
	d := must[api.ChunkDetail](t)(p.memory.Chunk(row.ID))
	if d.Chunk != row || d.Text != rememberedTexts[0] || d.Start != 0 || d.End != len(rememberedTexts[0]) || len(d.Embedders) != 1 || len(d.Uses) != 1 ||
		d.Uses[0].TurnID != sent.TurnID || d.Uses[0].Rank != 1 || d.Uses[0].Form != "full" || d.Uses[0].At != v.CreatedAt {
		t.Errorf("chunk %+v", d)
	}
}

// A draft keeps attached memory, even without text or if the chunk does not exist. A message with a missing chunk is
// refused, and nothing is created.
func TestWindowMemoryAttached(t *testing.T) {
	t.Parallel()
	p := openMemory(t, "")
	row := p.find("ryokan").Chunk
	chip := must[api.MemoryChip](t)(p.memory.Chip(row.ID))
	missing := api.MemoryChip{ID: "01JZZZZZZZZZZZZZZZZZZZZZZZ"}
	if err := p.sessions.SaveDraft(row.BranchID, api.Draft{Memories: []api.MemoryChip{chip, missing, chip}}); err != nil {
		t.Fatal(err)
	}
	d := must[api.Draft](t)(p.sessions.Draft(row.BranchID))
	if len(d.Memories) != 2 || d.Memories[0] != chip || d.Memories[1] != missing {
		t.Errorf("draft %+v", d)
	}
	preview := must[api.ContextView](t)(p.inspect.NextContext(row.BranchID, "m", api.Draft{Text: "What of it?", Memories: []api.MemoryChip{chip}}))
	if items := retrievedItems(preview); len(items) == 0 || items[0].ID != row.ID || !items[0].Memory.Attached {
		t.Errorf("the preview lacks what is attached: %+v", items)
	}
	if _, err := p.inspect.NextContext(row.BranchID, "m", api.Draft{Text: "What of it?", Memories: []api.MemoryChip{missing}}); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("the preview contains deleted content: %v", err)
	}
	var many []api.MemoryChip
	for i := range 21 {
		many = append(many, api.MemoryChip{ID: row.ID + strconv.Itoa(i)})
	}
	for name, c := range map[string]struct {
		text     string
		memories []api.MemoryChip
		want     chat.Code
	}{
		"only memory": {" ", []api.MemoryChip{chip}, chat.CodeInvalid},
		"gone":        {"What of it?", []api.MemoryChip{chip, missing}, chat.CodeNotFound},
		"too many":    {"What of it?", many, chat.CodeInvalid},
	} {
		if _, err := p.chat.Send(api.SendRequest{Text: c.text, Memories: c.memories, Model: "m"}); chat.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rows := must[[]api.SessionRow](t)(p.sessions.List(false, "")); len(rows) != 2 {
		t.Errorf("%d sessions", len(rows))
	}
	if after := must[api.Draft](t)(p.sessions.Draft(row.BranchID)); !slices.Equal(after.Memories, d.Memories) {
		t.Errorf("the draft became %+v", after)
	}
	id := must[string](t)(p.chat.TemporaryStart())
	if _, err := p.chat.TemporarySend(id, api.SendRequest{Text: "x", Memories: []api.MemoryChip{chip}, Model: "m"}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a temporary chat was given memory: %v", err)
	}
	must[api.SendResult](t)(p.chat.TemporarySend(id, api.SendRequest{Text: "What does the ryokan cost?", Model: "recall"}))
	var turn api.TurnView
	p.eventually("recall does not answer in a temporary chat", func() bool {
		turn = must[[]api.TurnView](t)(p.chat.TemporaryTurns(id))[0]
		return !turn.Live
	})
	if answer := turn.Assistant[0].Text; strings.Contains(answer, "180") || !strings.Contains(answer, "does not search your history here") {
		t.Errorf("recall answers in a temporary chat: %q", answer)
	}
}

func TestWindowMemoryRefuses(t *testing.T) {
	t.Parallel()
	p := openPage(t, t.TempDir())
	for _, f := range []api.MemoryFilter{
		{Scope: "world"}, {Scope: "lineage"}, {Scope: "session"}, {Type: "poem"}, {Role: "system"}, {Since: 2, Until: 1}, {Offset: -1}, {Limit: -1}, {Until: -1},
	} {
		if _, err := p.memory.Chunks(f); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%+v lists: %v", f, err)
		}
		if _, err := p.memory.Search(f, "x"); chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%+v searches: %v", f, err)
		}
	}
	if _, err := p.memory.Chunk("gone"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("a deleted chunk: %v", err)
	}
	if _, err := p.memory.Chip("gone"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("its chip: %v", err)
	}
	if found := must[api.MemorySearch](t)(p.memory.Search(api.MemoryFilter{Scope: "all"}, "?!")); found.Hits == nil || len(found.Hits) != 0 {
		t.Errorf("a query of punctuation finds %+v", found)
	}
}

// A turn whose memory could not be searched says why, in the conversation and in its context. A search warns that it
// used only words.
func TestWindowMemoryFails(t *testing.T) {
	t.Parallel()
	gate, broken := newBreakableServer(t)
	p := openMemory(t, "embedder = \"openai\"\nembedding_model = \"planted\"\nembedding_base_url = \""+gate.URL+"\"\n")
	broken.Store(true)
	sent := must[api.SendResult](t)(p.chat.Send(api.SendRequest{Text: "What did the ryokan cost, and where was it?", Model: "m"}))
	p.eventually("the turn was not answered", func() bool {
		v, err := p.sessions.Turn(sent.BranchID, sent.TurnID)
		return err == nil && v.Phase.Finalized()
	})
	v := must[api.TurnView](t)(p.sessions.Turn(sent.BranchID, sent.TurnID))
	c := must[api.ContextView](t)(p.inspect.Context(sent.TurnID))
	if !strings.Contains(v.MemoryError, "no model is loaded") || v.Memories != 0 || c.RetrievalError.String() != v.MemoryError {
		t.Errorf("turn %q, %d; context %q", v.MemoryError, v.Memories, c.RetrievalError)
	}
	found := must[api.MemorySearch](t)(p.memory.Search(api.MemoryFilter{Scope: "all"}, "Gion breakfast"))
	if found.Warning.IsZero() || found.Embedder != "" || len(found.Hits) == 0 || found.Hits[0].Chunk.Excerpt != rememberedTexts[0] {
		t.Errorf("found %+v", found)
	}
}

// The sizes that the header reports for the next request, without memory and with as much as can be recalled, are lower
// and upper bounds for the preview with a message.
func TestWindowSizeOfTheNextRequest(t *testing.T) {
	t.Parallel()
	p := openMemory(t, "")
	other := p.say(api.SendRequest{Text: "Good morning.", Model: "m"})
	h := must[api.SessionSnapshot](t)(p.sessions.Open(other.SessionID, "")).Header
	const question = "What did the ryokan near Gion cost, with breakfast?"
	next := must[api.ContextView](t)(p.inspect.NextContext(other.BranchID, "m", api.Draft{Text: question}))
	if least := h.ContextTokens - h.ContextRecalled; len(retrievedItems(next)) == 0 || next.Tokens <= least+len(question)/4 || next.Tokens > least+h.ContextRecalled+h.ContextMemory+len(question) {
		t.Errorf("the next request has %d tokens, %d passages; the header says %d, and up to %d of memory", next.Tokens, len(retrievedItems(next)), least, h.ContextMemory)
	}
}
