package store

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// counts are the numbers of rows that indexing writes.
type counts struct{ Chunks, Units, Vectors, Events, Indexed int }

func (f *fixture) counts() counts {
	f.Helper()
	var c counts
	f.ok(f.core.DB.Reader.Raw(`SELECT (SELECT count(*) FROM chunks) AS chunks, (SELECT count(*) FROM units) AS units,
		(SELECT count(*) FROM unit_embeddings) AS vectors, (SELECT count(*) FROM events) AS events,
		(SELECT count(*) FROM units_fts_docsize) AS indexed`).Scan(&c).Error)
	return c
}

// indexing returns TX-C of a turn with vectors for namespaces.
func (f *fixture) indexing(id chat.TurnID, status chat.IndexStatus, spaces ...chat.Namespace) chat.Indexing {
	f.Helper()
	turn, err := f.Turn(f.ctx, id)
	f.ok(err)
	i := chat.Indexing{TurnID: id, Chunks: chunksOf(turn), Status: status, IndexMs: 1, EmbedMs: 2, Vectors: map[int64][][]float32{}}
	for _, ns := range spaces {
		for _, c := range i.Chunks {
			for _, u := range c.Units {
				i.Vectors[ns.ID] = append(i.Vectors[ns.ID], vectorOf(u.Text, ns.Embedder.Dimension))
			}
		}
	}
	return i
}

func (f *fixture) committed(b chat.BranchID, user, assistant string) chat.Turn {
	f.Helper()
	turn := f.say(b, user, assistant)
	f.commitAll(b)
	return turn
}

// TestIndexingAgainInsertsNothing covers SRD 22.5.
func TestIndexingAgainInsertsNothing(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	ns, err := f.OpenNamespace(f.ctx, embedder)
	f.ok(err)
	turn := f.committed(b.ID, "zebra question", "zebra answer")
	i := f.indexing(turn.ID, chat.IndexOK, ns)
	f.ok(f.Index(f.ctx, i))
	once, gen := f.counts(), f.generation()
	if once.Chunks != 2 || once.Units != 2 || once.Vectors != 2 || once.Indexed != 2 {
		t.Fatalf("%+v", once)
	}
	for k := range i.Vectors[ns.ID] { // an embedder whose vectors differ each time
		i.Vectors[ns.ID][k] = vectorOf("other", 16)
	}
	for range 3 {
		f.ok(f.Index(f.ctx, i))
	}
	if again := f.counts(); again != once || f.generation() != gen {
		t.Fatalf("%+v, once %+v", again, once)
	}
	rows, err := f.Metrics(f.ctx, b.ID, 1)
	f.ok(err)
	if rows[0].Metrics.EmbedMs != 2 || rows[0].Metrics.IndexMs != 1 {
		t.Errorf("%+v", rows[0].Metrics)
	}
	f.verifyClean()
}

func TestIndexRefusesVectorsThatDoNotFit(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	ns, err := f.OpenNamespace(f.ctx, embedder)
	f.ok(err)
	turn := f.committed(b.ID, "zebra question", "zebra answer")
	for name, change := range map[string]func([][]float32) [][]float32{
		"one short":        func(v [][]float32) [][]float32 { return v[:1] },
		"none":             func([][]float32) [][]float32 { return nil },
		"another size":     func(v [][]float32) [][]float32 { v[1] = v[1][:15]; return v },
		"not a number":     func(v [][]float32) [][]float32 { v[1][3] = float32(math.NaN()); return v },
		"without a length": func(v [][]float32) [][]float32 { clear(v[1]); return v },
	} {
		i := f.indexing(turn.ID, chat.IndexOK, ns)
		i.Vectors[ns.ID] = change(i.Vectors[ns.ID])
		err := f.Index(f.ctx, i)
		if chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
		if c := f.counts(); c.Chunks+c.Units+c.Vectors != 0 {
			t.Fatalf("%s: it is partly stored: %+v", name, c)
		}
	}
}

// TestChunksWaitForTheirVectors: a turn is found by words before the embedder answers; its job stays open until the
// vectors are stored.
func TestChunksWaitForTheirVectors(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	ns, err := f.OpenNamespace(f.ctx, embedder)
	f.ok(err)
	turn := f.committed(b.ID, "zebra question", "zebra answer")
	job, ok, err := f.ClaimTurnJobs(f.ctx, time.Minute, turn.ID, chat.JobIndexTurn)
	f.ok(err)
	if !ok {
		t.Fatal("no job")
	}
	lease := job.Lease()
	i := f.indexing(turn.ID, chat.IndexNone)
	i.Job = lease
	f.ok(f.Index(f.ctx, i))
	f.ok(f.Index(f.ctx, i))
	f.verifyClean()
	f.expectReach(chat.Within{Branch: b.ID}, turn.ID)
	got, err := f.Turn(f.ctx, turn.ID)
	f.ok(err)
	job, _, err = f.JobFor(f.ctx, turn.ID, chat.JobIndexTurn)
	f.ok(err)
	if got.Phase != chat.PhaseStateCommitted || got.IndexStatus != chat.IndexNone || job.State != chat.JobRunning {
		t.Fatalf("%s %q, job %s", got.Phase, got.IndexStatus, job.State)
	}
	f.ok(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Status: chat.IndexDegraded}))
	f.ok(f.Index(f.ctx, i))
	if got, err = f.Turn(f.ctx, turn.ID); err != nil || got.IndexStatus != chat.IndexDegraded {
		t.Fatalf("%q %v", got.IndexStatus, err)
	}
	f.verifyClean()
	i = f.indexing(turn.ID, chat.IndexOK, ns)
	i.Job = lease
	f.ok(f.Index(f.ctx, i))
	if got, err = f.Turn(f.ctx, turn.ID); err != nil || got.Phase != chat.PhaseDone || len(f.rows(ns.ID, "", 0)) != 2 {
		t.Fatalf("%+v %v", got, err)
	}
	f.verifyClean()
}

func TestVectorsOfARetiredNamespaceAreSkipped(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	old, err := f.OpenNamespace(f.ctx, embedder)
	f.ok(err)
	turn := f.committed(b.ID, "zebra question", "zebra answer")
	i := f.indexing(turn.ID, chat.IndexOK, old, chat.Namespace{ID: 99, Embedder: embedder})
	fresh, err := f.OpenNamespace(f.ctx, other("b"))
	f.ok(err)
	f.ok(f.ServeNamespace(f.ctx, fresh.ID))
	f.ok(f.Index(f.ctx, i))
	if c := f.counts(); c.Units != 2 || c.Vectors != 0 {
		t.Fatalf("%+v", c)
	}
	f.verifyClean()
}

// recut returns the indexing of a later chunker, which splits each message in two.
func recut(i chat.Indexing, version int) chat.Indexing {
	out := i
	out.Chunks, out.Vectors = nil, nil
	for _, c := range i.Chunks {
		for _, part := range []struct{ from, to int }{{0, 3}, {3, len(c.Text)}} {
			n := c
			n.Ordinal, n.Start, n.End, n.Text = len(out.Chunks), part.from, part.to, c.Text[part.from:part.to]
			n.Version, n.ContentHash = version, ""
			n.Units = []chat.Unit{{Role: c.Role, Start: part.from, End: part.to, Text: "zebra: " + n.Text}}
			out.Chunks = append(out.Chunks, n)
		}
	}
	return out
}

// TestANewerChunkerReplacesChunks: nothing is found twice, and old chunks that were retrieved before are kept.
func TestANewerChunkerReplacesChunks(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	ns, err := f.OpenNamespace(f.ctx, embedder)
	f.ok(err)
	first := f.committed(b.ID, "zebra question", "zebra answer")
	second := f.committed(b.ID, "zebra again", "zebra once more")
	one := f.indexing(first.ID, chat.IndexOK, ns)
	f.ok(f.Index(f.ctx, one))
	f.ok(f.Index(f.ctx, f.indexing(second.ID, chat.IndexOK, ns)))
	old, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks ORDER BY id`)
	f.ok(err)
	if n, err := f.RequeueOlder(f.ctx, 1, 10); n != 0 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	if n, err := f.RequeueOlder(f.ctx, 2, 1); n != 1 || err != nil {
		t.Fatalf("%d %v", n, err)
	}
	job, ok, err := f.ClaimJob(f.ctx, 1, chat.JobIndexTurn)
	f.ok(err)
	if !ok || job.TurnID != second.ID || job.Priority >= 0 {
		t.Fatalf("%+v", job)
	}
	if n, err := f.RequeueOlder(f.ctx, 2, 10); n != 1 || err != nil { // the second turn; the first is already queued
		t.Fatalf("%d %v", n, err)
	}
	gen := f.generation()
	two := recut(f.indexing(second.ID, chat.IndexNone), 2) // found by words, without vectors yet
	f.ok(f.Index(f.ctx, two))
	f.verifyClean()
	if f.generation() == gen {
		t.Error("vectors were removed, but nothing is reported")
	}
	two = recut(f.indexing(first.ID, chat.IndexOK), 2)
	f.ok(f.Index(f.ctx, two))
	f.verifyClean()
	f.ok(f.Index(f.ctx, one)) // a late job of the older chunker
	if c := f.counts(); c.Chunks != 12 || c.Units != 8 || c.Vectors != 0 || c.Indexed != 8 {
		t.Fatalf("%+v", c)
	}
	if hits, err := f.SearchUnits(f.ctx, []string{"zebra"}, chat.Within{}, 100); err != nil || len(hits) != 8 {
		t.Fatalf("%d hits, %v", len(hits), err)
	}
	texts, err := f.ChunkTexts(f.ctx, old)
	f.ok(err)
	if len(texts) != 4 || texts[0].Text != "zebra question" {
		t.Fatalf("%+v", texts)
	}
	if n, err := f.RequeueOlder(f.ctx, 2, 10); n != 0 || err != nil {
		t.Fatalf("%d turns still have chunks of an earlier chunker, %v", n, err)
	}
	turn, err := f.Turn(f.ctx, second.ID)
	f.ok(err)
	if turn.Phase != chat.PhaseDone {
		t.Errorf("%s", turn.Phase)
	}
	f.verifyClean()
	f.ok(f.Index(f.ctx, chat.Indexing{TurnID: first.ID, Status: chat.IndexSkipped})) // none of it is found
	f.expectReach(chat.Within{}, second.ID)
	f.verifyClean()
}

func TestDocumentsAreIndexedByTheirOwnText(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	words := "# Zebras\n\nzebra one, naïve.\n\nzebra two " + strings.Repeat("stripe ", 20_000)
	file, err := f.AddFile(f.ctx, chat.NewFile{SessionID: s.ID, Name: "z.md", MediaType: "text/markdown", Content: []byte(words), Tokens: 9})
	f.ok(err)
	turn, err := f.Accept(f.ctx, chat.Acceptance{BranchID: b.ID, Provider: "p", Model: "m", User: chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{
		chat.Text{Text: "read this"}, chat.Document{File: file.ID, Name: "z.md", MediaType: "text/markdown", Tokens: 9, Text: words[:10]}}}})
	f.ok(err)
	f.finalize(turn, "done")
	f.commitAll(b.ID)
	i := f.indexing(turn.ID, chat.IndexOK)
	at := strings.Index(words, "zebra two")
	for _, part := range []struct{ from, to int }{{10, at}, {at, len(words)}} {
		body := words[part.from:part.to]
		i.Chunks = append(i.Chunks, chat.Chunk{Ordinal: len(i.Chunks), File: file.ID, Role: chat.RoleUser, Start: part.from, End: part.to, Text: body,
			Type: chat.ChunkOther, Version: 2, Units: []chat.Unit{{Start: part.from, End: part.to, Text: "z.md: " + body}}})
	}
	f.ok(f.Index(f.ctx, i))
	f.verifyClean()
	hits, err := f.SearchUnits(f.ctx, []string{"naïve"}, chat.Within{Branch: b.ID}, 5)
	f.ok(err)
	if len(hits) != 1 {
		t.Fatalf("%d hits", len(hits))
	}
	units, err := f.Units(f.ctx, chat.Within{Branch: b.ID}, []int64{hits[0].N})
	f.ok(err)
	if len(units) != 1 || units[0].File != file.ID || words[units[0].Start:units[0].End] != words[10:at] {
		t.Fatalf("%+v", units)
	}
	texts, err := f.ChunkTexts(f.ctx, []chat.ChunkID{units[0].Chunk})
	f.ok(err)
	if len(texts) != 1 || texts[0].Source != words || texts[0].File == nil || texts[0].File.Name != "z.md" || texts[0].Text != words[10:at] {
		t.Fatal("the chunk of a document does not have its text")
	}
	stored, err := sqlite.One[int](f.core.DB.Reader, "ledger", "", `SELECT length(payload) FROM events WHERE type = 'turn_indexed'`)
	f.ok(err)
	if stored > 4000 {
		t.Errorf("the ledger repeats the document: %d bytes", stored)
	}
	_, far := f.session("another")
	stray := f.committed(far.ID, "x", "y")
	j := f.indexing(stray.ID, chat.IndexOK)
	j.Chunks = append(j.Chunks, i.Chunks[2])
	f.refused(f.Index(f.ctx, j), chat.CodeInvalid)
	i.Chunks[2].Start++
	f.refused(f.Index(f.ctx, i), chat.CodeInvalid)
}

func TestRetrievalsAreRecordedOnce(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "zebra question", "zebra answer")
	chunks, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks ORDER BY ordinal`)
	f.ok(err)
	turn := f.accept(b.ID, "what about zebras")
	list := []chat.Retrieval{
		{Chunk: chunks[1], Similarity: 0.91, Vector: 0.5, Keyword: 1, Score: 0.7000000004, Rank: 2, Packed: chat.PackedSlice, Tokens: 12},
		{Chunk: chunks[0], Keyword: 0.25, Score: 0.75, Rank: 1, Packed: chat.PackedFull, Tokens: 30},
	}
	prepare := func(list []chat.Retrieval) {
		t.Helper()
		f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte(`{}`), Retrieved: list}))
	}
	expectRetrieved := func(want ...chat.Retrieval) {
		t.Helper()
		got := f.retrievals(turn.ID)
		if !slices.Equal(got, want) {
			t.Fatalf("%+v, not %+v", got, want)
		}
		f.verifyClean()
	}
	rounded := list[0]
	rounded.Score = 0.7
	prepare(nil)
	expectRetrieved()
	prepare(list)
	prepare(list)
	expectRetrieved(list[1], rounded)
	prepare(list[:1])
	expectRetrieved(rounded)
	if uses, err := f.ChunkUses(f.ctx, chunks[0]); err != nil || len(uses) != 0 {
		t.Errorf("a replaced context is listed as a use: %+v, %v", uses, err)
	}
	prepare(nil)
	expectRetrieved()
	if n, err := sqlite.One[int](f.core.DB.Reader, "chunks", "", `SELECT count(*) FROM retrieved WHERE rank = 0`); err != nil || n != 2 {
		t.Errorf("%d of the chunks that earlier contexts contained are known, %v", n, err)
	}
	prepare(list)
	var view chat.Retrieval
	f.ok(f.core.DB.Reader.Raw(`SELECT chunk_id AS chunk, similarity, rank FROM retrievals WHERE turn_id = ? ORDER BY rank DESC LIMIT 1`, turn.ID).Scan(&view).Error)
	if view != (chat.Retrieval{Chunk: chunks[1], Similarity: 0.91, Rank: 2}) {
		t.Errorf("the view says %+v", view)
	}
	for name, bad := range map[string]chat.Retrieval{
		"no form": {Chunk: chunks[0], Rank: 1}, "no rank": {Chunk: chunks[0], Packed: chat.PackedFull}, "no chunk": {Chunk: "x", Rank: 1, Packed: chat.PackedFull},
		"no number": {Chunk: chunks[0], Rank: 1, Packed: chat.PackedFull, Score: math.Inf(1)}, "twice": {Chunk: chunks[1], Rank: 7, Packed: chat.PackedFull},
	} {
		err := f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: []byte(`{}`), Retrieved: []chat.Retrieval{list[0], bad}})
		if chat.CodeOf(err) != chat.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
