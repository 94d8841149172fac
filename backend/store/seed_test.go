package store

import (
	"encoding/json"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// seeded names the records of a small database with one of everything.
type seeded struct {
	Session   chat.Session
	Main      chat.Branch
	Child     chat.Branch // forked after turn 2 of Main
	Early     chat.Branch // forked before the first turn
	Inside    chat.Branch // forked inside a run that one state summary committed
	Turns     []chat.Turn // of Main: 1 indexed, 2 indexed (CJK), 3 and 4 committed as one run, 5 committed, 6 failed, 7 discarded, 8 kept and pending, 9 incomplete
	Pins      []chat.Pin
	Queued    chat.QueuedID
	Archived  chat.Session
	Unsent    chat.Turn
	Prepared  chat.Turn
	Streaming chat.Turn
	Step      chat.Step           // of turn 1
	Summaries []chat.RangeSummary // of Main: [1, 3) and [3, 5), superseded by [1, 6); [4, 6)
	Linked    []chat.Step         // requests of one chain
	Quoting   chat.Step           // its request quotes a chunk
	Quoted    chat.ChunkID
	Manifests []chat.TurnID // the turns of Linked
	States    []chat.State  // of Archived, each based on the one before
}

func seed(f *fixture) seeded {
	f.Helper()
	var d seeded
	d.Session, d.Main = f.session("A journey 旅")
	f.ok(f.SetSystemPrompt(f.ctx, d.Session.ID, "Be brief."))
	f.ok(f.SetSessionModel(f.ctx, d.Session.ID, "recall"))
	f.ok(f.PinSession(f.ctx, d.Session.ID, true))
	d.Pins = append(d.Pins, f.pin(d.Main.ID, "the deadline is Friday"), f.pin(d.Main.ID, "never use tabs"))
	main := d.Main.ID
	d.Turns = append(d.Turns, f.full(main, "where does the lineage start", "at the root, "+strings.Repeat("deep ", 30)))
	d.Turns = append(d.Turns, f.full(main, "我爱数据库 and SQLite", "数据库很好, 東京タワー, 데이터"))
	d.Child = f.fork(main, d.Turns[1].ID)
	d.Turns = append(d.Turns, f.say(main, "third", "one of a run"), f.say(main, "fourth", "two of a run"))
	f.commitRun(main, d.Turns[2].ID, d.Turns[3].ID)
	d.Inside = f.forkInside(main, d.Turns[2].ID)
	d.Turns = append(d.Turns, f.say(main, "fifth", "committed, to be indexed"))
	f.commitAll(main)
	d.Turns = append(d.Turns, f.failed(main, "sixth", chat.OutcomeFailed), f.failed(main, "seventh", chat.OutcomeDiscarded))
	d.Turns = append(d.Turns, f.kept(main, "eighth"), f.interrupted(main, "ninth"))
	d.Early = f.fork(main, "")
	f.say(d.Early.ID, "an early branch", "pending there")
	f.full(d.Child.ID, "a sibling secret", "only the child knows zebra")
	f.ok(f.RemovePin(f.ctx, d.Child.ID, d.Pins[0].ID))
	edited, err := f.EditPin(f.ctx, main, d.Pins[1].ID, "never use tabs, ever", 5)
	f.ok(err)
	f.ok(f.MovePin(f.ctx, main, edited.ID, 0))
	d.Pins = append(d.Pins, edited)
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: d.Child.ID, Message: chat.UserText("unsent words")}))
	queued, err := f.Enqueue(f.ctx, d.Child.ID, chat.UserText("queued words"), 0, false)
	f.ok(err)
	d.Queued = queued.ID
	d.openTurns(f)
	d.history(f)
	d.archive(f)
	d.recall(f)
	f.ok(f.PutSetting(f.ctx, "last_session", string(d.Session.ID)))
	steps, err := f.Steps(f.ctx, d.Turns[0].ID)
	f.ok(err)
	d.Step = steps[0]
	return d
}

// openTurns leaves one turn in each phase before the answer, in a session of its own.
func (d *seeded) openTurns(f *fixture) {
	_, b := f.session("open turns")
	d.Unsent = f.accept(b.ID, "accepted, never sent")
	second := f.fork(b.ID, "")
	d.Prepared = f.accept(second.ID, "prepared, never sent")
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: d.Prepared.ID, Manifest: json.RawMessage(`{"a":1}`), Tokens: 3}))
	third := f.fork(b.ID, "")
	d.Streaming = f.accept(third.ID, "still streaming")
	f.respond(d.Streaming)
	job, found, err := f.ClaimJob(f.ctx, time.Minute, chat.JobIndexTurn)
	f.ok(err)
	if !found {
		f.Fatal("no job to claim")
	}
	_, err = f.FailJob(f.ctx, job.Lease(), chat.Quote("it did not work"), time.Second)
	f.ok(err)
}

// history adds summaries, sizes, settings, a calibration and chains of requests.
func (d *seeded) history(f *fixture) {
	main := d.Main.ID
	d.Summaries = append(d.Summaries, f.summarize(main, 1, 3), f.summarize(main, 3, 5))
	d.Summaries = append(d.Summaries, f.summarize(main, 1, 6, d.Summaries[0].ID, d.Summaries[1].ID), f.summarize(main, 4, 6))
	sizes, err := f.Sizes(f.ctx, main, "o200k_base")
	f.ok(err)
	for i := range sizes {
		sizes[i].Tokens = 10 + i
	}
	f.ok(f.PutSizes(f.ctx, "o200k_base", sizes))
	warm := 0.3
	f.ok(f.SetSessionSettings(f.ctx, d.Session.ID, chat.SessionSettings{SystemPrompt: "Be brief.", Temperature: &warm, Effort: "low"}))
	f.ok(f.ObserveCalibration(f.ctx, "recall", "recall", 1000, 1230))
	_, err = f.EnqueueRange(f.ctx, main, 1, d.Turns[3].ID)
	f.ok(err)
}

// recall adds vectors in two namespaces, one of them half complete, and a retrieval record.
func (d *seeded) recall(f *fixture) {
	f.fill(embedder, 100)
	next, err := f.OpenNamespace(f.ctx, other("next"))
	f.ok(err)
	missing, err := f.Unembedded(f.ctx, next.ID, 3)
	f.ok(err)
	f.ok(f.PutVectors(f.ctx, next.ID, vectorsFor(missing, 16)))
	page, _, err := f.Chunks(f.ctx, chat.ChunkQuery{Within: chat.Within{Branch: d.Main.ID}, Limit: 2})
	f.ok(err)
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: d.Prepared.ID, Manifest: json.RawMessage(`{"a":1}`), Tokens: 3, Retrieved: []chat.Retrieval{
		{Chunk: page[0].ID, Similarity: 0.9, Vector: 0.4, Score: 0.8, Rank: 1, Packed: chat.PackedFull, Tokens: 9},
		{Chunk: page[1].ID, Keyword: 0.3, Score: 0.2, Rank: 2, Packed: chat.PackedSlice, Tokens: 4},
	}}))
}

func (d *seeded) archive(f *fixture) {
	s, b := f.session("archived")
	f.full(b.ID, "an old matter", "settled long ago")
	for i := range 3 { // summaries and answers long enough to be based on each other
		turn := f.say(b.ID, "go on", benchText(200+i))
		branch, err := f.Branch(f.ctx, b.ID)
		f.ok(err)
		st, err := f.Commit(f.ctx, chat.Commit{
			BranchID: b.ID, Epoch: branch.Epoch, Turns: []chat.TurnID{turn.ID}, Summary: benchText(300 + i), TokenCount: 9, Origin: chat.StateFallback,
		})
		f.ok(err)
		f.index(turn.ID)
		d.States = append(d.States, st)
	}
	for i := range 4 {
		turn, step := f.ask(b.ID, []byte(benchText(300)+sqlite.Itoa(int64(i))))
		d.Linked, d.Manifests = append(d.Linked, step), append(d.Manifests, turn.ID)
	}
	d.Quoted, d.Quoting = f.quoting(b.ID)
	f.ok(f.ArchiveSession(f.ctx, s.ID, true))
	d.Archived = s
	f.ok(f.ArchiveBranch(f.ctx, d.Early.ID, true))
}

func (f *fixture) pin(b chat.BranchID, fact string) chat.Pin {
	f.Helper()
	f.clock.Advance(time.Millisecond)
	p, err := f.AddPin(f.ctx, b, fact, 4)
	f.ok(err)
	return p
}

func (f *fixture) fork(b chat.BranchID, after chat.TurnID) chat.Branch {
	f.Helper()
	f.clock.Advance(time.Millisecond)
	child, err := f.Fork(f.ctx, chat.ForkPoint{Branch: b, After: after})
	f.ok(err)
	return child
}

// forkInside forks inside a run that one state summary covers, with a fallback state.
func (f *fixture) forkInside(b chat.BranchID, after chat.TurnID) chat.Branch {
	f.Helper()
	_, uncovered, err := f.ForkBase(f.ctx, b, after)
	f.ok(err)
	if len(uncovered) == 0 {
		f.Fatal("the base covers the fork point, so this is not inside a run")
	}
	child, err := f.Fork(f.ctx, chat.ForkPoint{Branch: b, After: after, Label: "inside", Fallback: &chat.ForkState{
		Summary: "## Facts\n- " + uncovered[0].User.RenderedText(), TokenCount: 4,
	}})
	f.ok(err)
	return child
}

func (f *fixture) failed(b chat.BranchID, words string, o chat.Outcome) chat.Turn {
	f.Helper()
	t := f.accept(b, words)
	step := f.respond(t)
	t, err := f.FailTurn(f.ctx, chat.TurnFailure{
		TurnID: t.ID, Step: f.ended(step, chat.StepFailed, ""), Outcome: o,
		Failure: &chat.Failure{Code: chat.CodeUnavailable, Message: "The provider did not answer.", Attempts: 4},
	})
	f.ok(err)
	return t
}

func (f *fixture) interrupted(b chat.BranchID, words string) chat.Turn {
	f.Helper()
	t := f.accept(b, words)
	step := f.respond(t)
	t, err := f.Interrupt(f.ctx, chat.Interruption{
		TurnID: t.ID, Step: f.ended(step, chat.StepIncomplete, "half an"), Failure: &chat.Failure{Code: chat.CodeUnavailable, Message: "dropped"},
	})
	f.ok(err)
	return t
}

// kept adds an incomplete answer that was continued, interrupted again and kept.
func (f *fixture) kept(b chat.BranchID, words string) chat.Turn {
	f.Helper()
	t := f.interrupted(b, words)
	f.ok(f.Resume(f.ctx, t.ID))
	step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: t.ID, Index: 1, Provider: "recall", ModelID: "recall", Request: []byte("{}")})
	f.ok(err)
	_, err = f.Interrupt(f.ctx, chat.Interruption{TurnID: t.ID, Step: f.ended(step, chat.StepIncomplete, " answer")})
	f.ok(err)
	t, err = f.Finalize(f.ctx, chat.Finalization{TurnID: t.ID, Message: chat.AssistantText("half an answer"), Outcome: chat.OutcomeKept})
	f.ok(err)
	return t
}

func (f *fixture) verifyClean() {
	f.Helper()
	found, err := f.Verify(f.ctx)
	f.ok(err)
	for _, x := range found {
		f.Errorf("%s: %s %s: %s", x.Kind, x.Table, x.ID, x.Message)
	}
	if len(found) > 0 {
		f.FailNow()
	}
}
