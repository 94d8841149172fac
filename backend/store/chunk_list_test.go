package store

import (
	"fmt"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// expectChunks expects a query to return chunks with these texts, over all pages.
func (f *fixture) expectChunks(q chat.ChunkQuery, want ...string) {
	f.Helper()
	var got []string
	for {
		q.Offset = len(got)
		q.Limit = 2
		page, total, err := f.Chunks(f.ctx, q)
		f.ok(err)
		if total != len(want) {
			f.Fatalf("%+v: %d chunks in all, want %d", q, total, len(want))
		}
		if len(page) == 0 {
			break
		}
		for _, c := range page {
			got = append(got, c.Text)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		f.Errorf("%+v lists\n%q, want\n%q", q, got, want)
	}
	unlimited, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: q.Within, Text: q.Text})
	f.ok(err)
	if len(unlimited) != len(want) {
		f.Errorf("without a limit, %d chunks", len(unlimited))
	}
}

func TestChunksAreListedNewestFirst(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	first := f.full(b.ID, `one "quoted" 100% word_s`, "Reply ÄPFEL\nwith two lines")
	f.clock.Advance(time.Hour)
	later := f.clock.Now()
	child := f.fork(b.ID, first.ID)
	f.full(b.ID, "two wordless", "reply 我爱数据库")
	f.full(child.ID, "three", "other")
	_, ob := f.session("other")
	f.full(ob.ID, "four", "far")
	q := func(in chat.Within, text string) chat.ChunkQuery { return chat.ChunkQuery{Within: in, Text: text} }
	r0, r1 := `one "quoted" 100% word_s`, "Reply ÄPFEL\nwith two lines"
	f.expectChunks(q(chat.Within{}, ""), "four", "far", "three", "other", "two wordless", "reply 我爱数据库", r0, r1)
	f.expectChunks(q(chat.Within{Branch: child.ID}, ""), "three", "other", r0, r1)
	f.expectChunks(q(chat.Within{Session: s.ID}, ""), "three", "other", "two wordless", "reply 我爱数据库", r0, r1)
	f.expectChunks(q(chat.Within{Branch: b.ID, Role: chat.RoleUser}, ""), "two wordless", r0)
	f.expectChunks(q(chat.Within{Session: s.ID, Types: []chat.ChunkType{chat.ChunkExplanation}, Since: later}, ""), "other", "reply 我爱数据库")
	for text, want := range map[string][]string{
		"REPLY": {"reply 我爱数据库", r1}, "äpfel": {r1}, "l\nw": {r1}, `"quoted"`: {r0}, "100%": {r0}, "d_s": {r0}, "dw": {}, "word": {"two wordless", r0},
		"爱数": {"reply 我爱数据库"}, `\`: {}, "blocks": {}, "text": {},
	} {
		f.expectChunks(q(chat.Within{Branch: b.ID}, text), want...)
	}
	f.ok(f.Index(f.ctx, recut(f.indexing(first.ID, chat.IndexOK), 2)))
	f.expectChunks(q(chat.Within{Branch: b.ID}, ""), "two wordless", "reply 我爱数据库", r0[:3], r0[3:], r1[:3], r1[3:])
	page, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: chat.Within{Branch: "nobody"}})
	f.refused(err, chat.CodeNotFound)
	if len(page) != 0 {
		t.Error("chunks of no branch")
	}
}

func TestAChunkListsItsUses(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	f.full(b.ID, "zebra question", "zebra answer")
	ns := f.fill(embedder, 5)
	page, _, err := f.Chunks(f.ctx, chat.ChunkQuery{})
	f.ok(err)
	id := page[0].ID
	var turns []chat.TurnID
	for i := range 2 {
		child := f.fork(b.ID, "")
		turn := f.accept(child.ID, "again")
		f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte(`{}`),
			Retrieved: []chat.Retrieval{{Chunk: id, Score: 0.5, Rank: i + 1, Packed: chat.PackedSummary}}}))
		turns = append(turns, turn.ID)
	}
	uses, err := f.ChunkUses(f.ctx, id)
	f.ok(err)
	if len(uses) != 2 || uses[0].Turn != turns[1] || uses[0].Rank != 2 || uses[0].Score != 0.5 || uses[0].Session != s.ID ||
		uses[0].TurnSeq != 1 || uses[0].Packed != chat.PackedSummary || uses[0].At.IsZero() {
		t.Fatalf("%+v", uses)
	}
	if _, err = f.OpenNamespace(f.ctx, other("b")); err != nil {
		t.Fatal(err)
	}
	ids, err := f.ChunkEmbeddings(f.ctx, id)
	f.ok(err)
	if len(ids) != 1 || ids[0] != ns.Embedder {
		t.Fatalf("%v", ids)
	}
	if ids, err = f.ChunkEmbeddings(f.ctx, "nobody"); err != nil || len(ids) != 0 {
		t.Fatalf("%v %v", ids, err)
	}
	f.verifyClean()
}
