package store

import (
	"testing"

	"contextinfinity/backend/chat"
)

// A page of turns shows how much memory each turn used, or why none. The latest preparation counts, not an earlier
// one.
func TestRecalledOfAPage(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	mine := f.committed(b.ID, "zebra question", "zebra answer")
	f.index(mine.ID)
	chunks, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: chat.Within{Scope: chat.ScopeAll}})
	f.ok(err)
	if len(chunks) != 2 {
		t.Fatalf("%d chunks", len(chunks))
	}
	one := []chat.Retrieval{{Chunk: chunks[0].ID, Rank: 1, Packed: chat.PackedFull}}
	two := append(one, chat.Retrieval{Chunk: chunks[1].ID, Rank: 2, Packed: chat.PackedFull})
	turn := f.accept(b.ID, "and now?")
	step := f.respond(turn)
	last := chat.Recalled{}
	for i, p := range []chat.Preparation{
		{RetrievalError: chat.Quote("The server cannot be reached.")}, {Retrieved: two}, {}, {Retrieved: one, RetrievalError: chat.Quote("Half of it.")},
	} {
		p.TurnID, p.Manifest, p.Tokens = turn.ID, []byte(`{}`), 10
		f.ok(f.Prepare(f.ctx, p))
		last = chat.Recalled{Pieces: len(p.Retrieved), Error: p.RetrievalError.String()}
		got, err := f.Recalled(f.ctx, []chat.TurnID{turn.ID, mine.ID, "gone"})
		f.ok(err)
		if got[turn.ID] != last {
			t.Errorf("preparation %d: %+v, want %+v", i, got[turn.ID], last)
		}
		if _, ok := got[mine.ID]; ok || len(got) > 1 {
			t.Errorf("preparation %d: %+v", i, got)
		}
	}
	_, err = f.Finalize(f.ctx, chat.Finalization{ // its metrics are merged into those of the preparation
		TurnID: turn.ID, Step: f.ended(step, chat.StepCompleted, "this"), Message: chat.AssistantText("this"),
		Outcome: chat.OutcomeCompleted, Metrics: chat.TurnMetrics{StreamMs: 9},
	})
	f.ok(err)
	got, err := f.Recalled(f.ctx, []chat.TurnID{turn.ID})
	f.ok(err)
	if got[turn.ID] != last {
		t.Errorf("after the answer: %+v", got)
	}
	f.unguard()
	f.ok(f.core.DB.Writer.Exec(`UPDATE metrics SET metrics_json = 'no JSON' WHERE turn_id = ?`, turn.ID).Error)
	if got, err = f.Recalled(f.ctx, []chat.TurnID{turn.ID}); err != nil || got[turn.ID] != (chat.Recalled{Pieces: 1}) {
		t.Errorf("with damaged metrics: %+v, %v", got, err)
	}
}

// A draft with only attached memory is saved, but cannot be queued for sending.
func TestDraftOfMemoryAlone(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	d := chat.Draft{BranchID: b.ID, Message: chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Memory{Chunk: "c1"}, chat.Memory{Chunk: "c2"}}}}
	f.ok(f.SaveDraft(f.ctx, d))
	got, ok, err := f.Draft(f.ctx, b.ID)
	f.ok(err)
	if ids := got.Message.Blocks.Memories(); !ok || len(ids) != 2 || ids[0] != "c1" || ids[1] != "c2" {
		t.Errorf("%v, %+v", ok, got)
	}
	_, err = f.Enqueue(f.ctx, b.ID, d.Message, 0, false)
	f.refused(err, chat.CodeInvalid)
	d.Message.Blocks = chat.Blocks{chat.Text{Text: "  "}}
	f.ok(f.SaveDraft(f.ctx, d))
	if _, ok, err := f.Draft(f.ctx, b.ID); ok || err != nil {
		t.Errorf("an empty draft is kept: %v", err)
	}
}

func TestJobsOfAType(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.committed(b.ID, "zebra question", "zebra answer")
	for _, kind := range []chat.JobType{chat.JobIndexTurn, chat.JobSummarizeTurn} {
		jobs, err := f.Jobs(f.ctx, chat.JobQuery{Type: kind})
		f.ok(err)
		if len(jobs) != 1 || jobs[0].Type != kind || jobs[0].TurnID != turn.ID {
			t.Errorf("%s: %+v", kind, jobs)
		}
	}
}
