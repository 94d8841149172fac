package store

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

func TestAcceptRefuses(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	_, other := f.session("other")
	foreign := f.failed(other.ID, "elsewhere", chat.OutcomeFailed)
	for name, c := range map[string]struct {
		a    chat.Acceptance
		code chat.Code
	}{
		"empty":            {chat.Acceptance{BranchID: b.ID, User: chat.UserText(" \n")}, chat.CodeInvalid},
		"no blocks":        {chat.Acceptance{BranchID: b.ID, User: chat.Message{Role: chat.RoleUser}}, chat.CodeInvalid},
		"wrong role":       {chat.Acceptance{BranchID: b.ID, User: chat.AssistantText("x")}, chat.CodeInvalid},
		"no branch":        {chat.Acceptance{BranchID: "nowhere", User: chat.UserText("x")}, chat.CodeNotFound},
		"retry of nothing": {chat.Acceptance{BranchID: b.ID, User: chat.UserText("x"), RetryOf: "nothing"}, chat.CodeNotFound},
		"retry of foreign": {chat.Acceptance{BranchID: b.ID, User: chat.UserText("x"), RetryOf: foreign.ID}, chat.CodeInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.Accept(f.ctx, c.a)
			if chat.CodeOf(err) != c.code {
				t.Errorf("got %v, want %s", err, c.code)
			}
		})
	}
	if turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: b.ID}); err != nil || len(turns) != 0 {
		t.Errorf("a refusal left %v, %v", turns, err)
	}
}

// TestBlockedBranch: a branch is busy while a turn runs in this process, and incomplete while an interrupted turn
// waits.
func TestBlockedBranch(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	again := func() error {
		_, err := f.Accept(f.ctx, chat.Acceptance{BranchID: b.ID, User: chat.UserText("next")})
		return err
	}
	first := f.accept(b.ID, "first")
	f.refused(again(), chat.CodeBusy)
	step := f.respond(first)
	f.refused(again(), chat.CodeBusy)
	_, err := f.Interrupt(f.ctx, chat.Interruption{TurnID: first.ID, Step: f.ended(step, chat.StepIncomplete, "half")})
	f.ok(err)
	f.refused(again(), chat.CodeIncomplete)
	f.ok(f.Resume(f.ctx, first.ID))
	f.refused(again(), chat.CodeBusy)
	f.refused(f.Resume(f.ctx, first.ID), chat.CodeConflict)
	_, err = f.FailTurn(f.ctx, chat.TurnFailure{TurnID: first.ID, Outcome: chat.OutcomeDiscarded})
	f.ok(err)
	second := f.accept(b.ID, "second")
	f.reopen() // as after a crash: nothing runs it
	f.refused(again(), chat.CodeIncomplete)
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: second.ID})) // SendUnsent
	f.refused(again(), chat.CodeBusy)
}

func TestPhasesOnlyGoForward(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.accept(b.ID, "x")
	answer := chat.Finalization{TurnID: turn.ID, Message: chat.AssistantText("y"), Outcome: chat.OutcomeCompleted}
	_, err := f.Finalize(f.ctx, answer)
	f.refused(err, chat.CodeConflict)
	_, err = f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID})
	f.refused(err, chat.CodeConflict)
	_, err = f.Interrupt(f.ctx, chat.Interruption{TurnID: turn.ID})
	f.refused(err, chat.CodeConflict)
	f.refused(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Status: chat.IndexOK}), chat.CodeConflict)
	step := f.respond(turn)
	_, err = f.Finalize(f.ctx, answer)
	f.refused(err, chat.CodeConflict) // a step is open
	empty := answer
	empty.Message, empty.Step = chat.AssistantText("  "), f.ended(step, chat.StepCompleted, "")
	_, err = f.Finalize(f.ctx, empty)
	f.refused(err, chat.CodeInvalid)
	bad := answer
	bad.Outcome = chat.OutcomeIncomplete
	_, err = f.Finalize(f.ctx, bad)
	f.refused(err, chat.CodeInvalid)
	f.ok(f.EndStep(f.ctx, *f.ended(step, chat.StepCompleted, "y")))
	f.refused(f.EndStep(f.ctx, *f.ended(step, chat.StepCompleted, "y")), chat.CodeConflict)
	_, err = f.Finalize(f.ctx, answer)
	f.ok(err)
	_, err = f.Finalize(f.ctx, answer)
	f.refused(err, chat.CodeConflict)
	_, err = f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Outcome: chat.OutcomeFailed})
	f.refused(err, chat.CodeConflict)
	f.refused(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID}), chat.CodeConflict)
	f.verifyClean()
}

func TestFailedTurnIsNeverPendingAndNeverBlocks(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	failed := f.failed(b.ID, "x", chat.OutcomeFailed)
	pending, err := f.PendingTurns(f.ctx, b.ID)
	f.ok(err)
	if len(pending) != 0 || failed.Failure.Attempts != 4 || failed.Phase != chat.PhaseFailed {
		t.Fatalf("%v %+v", pending, failed)
	}
	retry, err := f.Accept(f.ctx, chat.Acceptance{BranchID: b.ID, User: failed.User, RetryOf: failed.ID})
	f.ok(err)
	if retry.Seq != 2 || retry.RetryOf != failed.ID {
		t.Errorf("%+v", retry)
	}
}

func TestStepsKeepEveryByte(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.accept(b.ID, "x")
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: json.RawMessage(`{"sections":[1]}`), Tokens: 77}))
	request, response := []byte(randomText(100_000)), []byte("{\"a\": \xff}")
	var steps []chat.Step
	for range 3 {
		step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID, Provider: "p", ModelID: "m", Request: request,
			StreamPath: func(id chat.StepID) string { return "streams/" + string(id) + ".jsonl" }})
		f.ok(err)
		if _, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID}); chat.CodeOf(err) != chat.CodeConflict {
			t.Errorf("two open steps: %v", err)
		}
		end := f.ended(step, chat.StepFailed, "z")
		end.Response, end.Outcome.Code = response, chat.CodeRateLimited
		f.ok(f.EndStep(f.ctx, *end))
		steps = append(steps, step)
	}
	byTurn, err := f.StepsWithItems(f.ctx, []chat.TurnID{turn.ID})
	f.ok(err)
	listed := byTurn[turn.ID]
	for i, step := range listed {
		if step.Attempt != i+1 || step.ID != steps[i].ID || step.Outcome.Code != chat.CodeRateLimited ||
			step.StreamPath != "streams/"+string(step.ID)+".jsonl" || len(step.Items) != 1 || step.EndedAt == nil {
			t.Errorf("step %d: %+v", i, step)
		}
	}
	p, err := f.StepPayload(f.ctx, steps[1].ID)
	f.ok(err)
	if string(p.Request) != string(request) || string(p.Response) != string(response) || len(p.Events) != 2 || string(p.Events[1].Data) != "\xff\x00\n" {
		t.Errorf("payload changed: %d events", len(p.Events))
	}
	manifest, err := f.Manifest(f.ctx, turn.ID)
	f.ok(err)
	if string(manifest) != `{"sections":[1]}` {
		t.Errorf("manifest %s", manifest)
	}
	f.verifyClean()
}

// A stream that is encoded while it arrives is stored as the same bytes as one that is encoded at the end, whether
// short or long, and also if the end is stored again after a failure.
func TestAPackedStreamIsTheSame(t *testing.T) {
	for name, copies := range map[string]int{"empty": 0, "short": 1, "long": 3000} {
		t.Run(name, func(t *testing.T) {
			end := chat.StepEnd{}
			events := []chat.RawEvent{}
			pack := schema.NewEventPack()
			for i := range copies {
				ev := chat.RawEvent{Type: "delta", Data: []byte(strings.Repeat("word ", i%50) + "\xff")}
				events = append(events, ev)
				if err := pack.Add(ev); err != nil {
					t.Fatal(err)
				}
			}
			end.Events = chat.EventsOf(events)
			want, sum, err := schema.PackEvents(end, codec.Base{})
			if err != nil {
				t.Fatal(err)
			}
			end.Packed = pack
			for range 2 {
				got, gotSum, err := schema.PackEvents(end, codec.Base{})
				if err != nil || gotSum != sum || !bytes.Equal(got, want) {
					t.Fatalf("%d bytes with the sum %s, want %d with %s: %v", len(got), gotSum, len(want), sum, err)
				}
			}
		})
	}
}

// Memory does not grow without limit for a stream that cannot be compressed.
func TestAPackIsBounded(t *testing.T) {
	pack, data := schema.NewEventPack(), make([]byte, 1<<20)
	for n := 0; ; n++ {
		_, _ = rand.Read(data)
		if err := pack.Add(chat.RawEvent{Data: data}); err != nil {
			return
		}
		if n > 64 {
			t.Fatal("64 MB of random data are kept in memory")
		}
	}
}

// TestTextsOfAnyKind: whatever a user pastes is stored and read back.
func TestTextsOfAnyKind(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("nul\x00 and \xff bytes")
	for name, s := range map[string]string{
		"NUL": "a\x00b", "invalid UTF-8": "a\xff\xfeb", "a megabyte": strings.Repeat("0123456789abcdef", 1<<16),
		"Chinese": strings.Repeat("数据库", 5_000), "one letter": strings.Repeat("a", 64<<10), "markup": "<script>&\u2028</script>", "emoji": "👩‍👩‍👧‍👦",
	} {
		t.Run(name, func(t *testing.T) {
			want := strings.ToValidUTF8(s, "\uFFFD")
			turn := f.say(b.ID, s, "ok")
			if len(s) < 1<<20 {
				f.commitAll(b.ID)
				f.index(turn.ID)
			}
			got := turn.User.RenderedText()
			if got != want && strings.ReplaceAll(got, "\uFFFD", "") != strings.ReplaceAll(want, "\uFFFD", "") {
				t.Error("the text changed")
			}
		})
	}
	f.verifyClean()
}

func TestCommitComparesAndSwaps(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	one, two := f.say(b.ID, "1", "a"), f.say(b.ID, "2", "b")
	commit := func(epoch int64, turns ...chat.TurnID) error {
		_, err := f.Commit(f.ctx, chat.Commit{BranchID: b.ID, Epoch: epoch, Turns: turns, Origin: chat.StateFallback})
		return err
	}
	f.refused(commit(0), chat.CodeInvalid)
	f.refused(commit(0, two.ID), chat.CodeConflict)         // leaves a gap
	f.refused(commit(0, two.ID, one.ID), chat.CodeConflict) // out of order
	f.refused(commit(1, one.ID), chat.CodeConflict)         // a future epoch
	f.ok(commit(0, one.ID))
	f.refused(commit(0, two.ID), chat.CodeConflict) // stale epoch
	f.refused(commit(1, one.ID), chat.CodeConflict) // twice
	f.ok(commit(1, two.ID))
	branch, err := f.Branch(f.ctx, b.ID)
	f.ok(err)
	states, err := f.States(f.ctx, b.ID)
	f.ok(err)
	if branch.Epoch != 2 || branch.HeadSeq != 2 || len(states) != 3 || states[0].ID != branch.HeadState || states[2].Origin != chat.StateRoot {
		t.Fatalf("%+v %+v", branch, states)
	}
	for i, want := range []int64{2, 1, 0} {
		if seq, err := f.StateTurnSeq(f.ctx, states[i].ID); err != nil || seq != want {
			t.Errorf("state %d covers %d, %v", i, seq, err)
		}
	}
	f.verifyClean()
}

func TestPinsStateNeedsNoTurns(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "1", "a")
	st, err := f.Commit(f.ctx, chat.Commit{BranchID: b.ID, Epoch: 1, PinnedFacts: "new facts", Origin: chat.StatePins})
	f.ok(err)
	if seq, err := f.StateTurnSeq(f.ctx, st.ID); err != nil || seq != 1 || st.Seq != 2 {
		t.Errorf("covers %d, %v, %+v", seq, err, st)
	}
	f.verifyClean()
}

func TestIndexIsIdempotent(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.full(b.ID, "unusual question", "peculiar answer")
	events := func() int {
		st, err := f.Stats(f.ctx)
		f.ok(err)
		return st.Events*1000 + st.Chunks*10 + st.Units
	}
	before := events()
	f.index(turn.ID)
	f.index(turn.ID)
	if after := events(); after != before {
		t.Errorf("indexing again changed %d to %d", before, after)
	}
	wrong := chunksOf(turn)
	wrong[0].Text = "not what was said"
	wrong[0].ContentHash = ""
	f.refused(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Chunks: wrong, Status: chat.IndexOK}), chat.CodeInvalid)
	wrong = chunksOf(turn)
	wrong[0].ContentHash = chat.HashText("another")
	f.refused(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Chunks: wrong, Status: chat.IndexOK}), chat.CodeInvalid)
	f.verifyClean()
}

func TestDegradedIndexIsNotRequeuedAndCanBeRetried(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.say(b.ID, "x", "y")
	f.commitAll(b.ID)
	f.ok(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Status: chat.IndexDegraded}))
	job, found, err := f.JobFor(f.ctx, turn.ID, chat.JobIndexTurn)
	f.ok(err)
	if !found {
		t.Fatal("no job")
	}
	f.ok(f.DismissJob(f.ctx, job.ID))
	if n, err := f.RequeueMissing(f.ctx); err != nil || n != 0 {
		t.Fatalf("requeued %d, %v", n, err)
	}
	f.verifyClean()
	f.ok(f.RetryJob(f.ctx, job.ID))
	f.index(turn.ID)
	got, err := f.Turn(f.ctx, turn.ID)
	f.ok(err)
	if got.Phase != chat.PhaseDone || got.IndexStatus != chat.IndexOK {
		t.Errorf("%+v", got)
	}
	f.verifyClean()
}

func TestLineagePages(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	var last chat.Turn
	for range 6 {
		last = f.full(main.ID, "q", "a")
	}
	turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: main.ID})
	f.ok(err)
	child := f.fork(main.ID, turns[3].ID)
	for range 3 {
		last = f.full(child.ID, "cq", "ca")
	}
	grand := f.fork(child.ID, last.ID)
	f.say(grand.ID, "gq", "ga")
	for _, c := range []struct {
		q    chat.LineageQuery
		want []int64
	}{
		{chat.LineageQuery{}, []int64{1, 2, 3, 4, 5, 6, 7, 8}},
		{chat.LineageQuery{FromSeq: 3, ToSeq: 6}, []int64{3, 4, 5, 6}},
		{chat.LineageQuery{Limit: 2}, []int64{1, 2}},
		{chat.LineageQuery{Limit: 3, Newest: true}, []int64{6, 7, 8}},
		{chat.LineageQuery{FromSeq: 4, Limit: 2}, []int64{4, 5}},
		{chat.LineageQuery{ToSeq: 5, Limit: 2, Newest: true}, []int64{4, 5}},
		{chat.LineageQuery{FromSeq: 9}, nil},
	} {
		c.q.Branch = grand.ID
		got, err := f.Lineage(f.ctx, c.q)
		f.ok(err)
		seqs := lists.Map(got, func(turn chat.Turn) int64 { return turn.Seq })
		if len(seqs) != len(c.want) || len(seqs) > 0 && (seqs[0] != c.want[0] || seqs[len(seqs)-1] != c.want[len(c.want)-1]) {
			t.Errorf("%+v returned %v, want %v", c.q, seqs, c.want)
		}
	}
	branchOf := map[int64]chat.BranchID{4: main.ID, 5: child.ID, 7: child.ID, 8: grand.ID}
	all, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: grand.ID})
	f.ok(err)
	for seq, want := range branchOf {
		if got := all[seq-1].BranchID; got != want {
			t.Errorf("turn %d belongs to branch %s, want %s", seq, got, want)
		}
	}
	if first, to, n, err := f.LineageBounds(f.ctx, grand.ID); err != nil || first != 1 || to != 8 || n != 8 {
		t.Errorf("bounds %d %d %d %v", first, to, n, err)
	}
	f.verifyClean()
}

func TestUnfinishedTurns(t *testing.T) {
	f := newFixture(t)
	d := seed(f)
	got, err := f.UnfinishedTurns(f.ctx)
	f.ok(err)
	want := map[chat.TurnID]chat.Phase{
		d.Turns[8].ID: chat.PhaseResponding, d.Unsent.ID: chat.PhaseAccepted,
		d.Prepared.ID: chat.PhaseContextPrepared, d.Streaming.ID: chat.PhaseResponding,
	}
	if len(got) != len(want) {
		t.Fatalf("%d unfinished", len(got))
	}
	for _, turn := range got {
		if want[turn.ID] != turn.Phase {
			t.Errorf("%+v", turn)
		}
	}
}

func TestMetrics(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "1", "a")
	last := f.full(b.ID, "2", "b")
	rows, err := f.Metrics(f.ctx, b.ID, 1)
	f.ok(err)
	if len(rows) != 1 || rows[0].TurnID != last.ID {
		t.Fatalf("%+v", rows)
	}
	want := chat.TurnMetrics{EstimateTokens: 12, AssembleMs: 2, StreamMs: 9, SummarizeMs: 3, IndexMs: 1, Attempts: 1}
	if rows[0].Metrics != want || rows[0].FirstByte != 7 || rows[0].Usage.InputTokens != 10 {
		t.Errorf("%+v", rows[0])
	}
}

func TestDrafts(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	if _, found, err := f.Draft(f.ctx, b.ID); found || err != nil {
		t.Fatal(found, err)
	}
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("half a th")}))
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("half a thought")}))
	f.reopen()
	d, _, err := f.Draft(f.ctx, b.ID)
	f.ok(err)
	if d.Message.RenderedText() != "half a thought" {
		t.Fatalf("%+v", d)
	}
	f.refused(f.SaveDraft(f.ctx, chat.Draft{BranchID: "nowhere", Message: chat.UserText("x")}), chat.CodeNotFound)
	_, err = f.Accept(f.ctx, chat.Acceptance{BranchID: b.ID, User: d.Message, ClearDraft: true})
	f.ok(err)
	if _, found, err := f.Draft(f.ctx, b.ID); found || err != nil {
		t.Fatal("the draft was kept after its message")
	}
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: chat.UserText("x")}))
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID}))
	if _, found, err := f.Draft(f.ctx, b.ID); found || err != nil {
		t.Fatal("an emptied draft is still stored")
	}
}

func TestSessionsList(t *testing.T) {
	f := newFixture(t)
	d := seed(f)
	list, err := f.Sessions(f.ctx, chat.SessionQuery{})
	f.ok(err)
	if len(list) != 2 || list[0].ID != d.Session.ID || !list[0].Pinned {
		t.Fatalf("%+v", list)
	}
	got := list[0]
	if got.Branches != 3 || got.Turns != 9 || got.Pending != 1 || got.LastOutcome != chat.OutcomeIncomplete || got.LastPhase != chat.PhaseResponding || got.Model != "recall" {
		t.Errorf("%+v", got)
	}
	archived, err := f.Sessions(f.ctx, chat.SessionQuery{Archived: true})
	f.ok(err)
	if len(archived) != 1 || archived[0].ID != d.Archived.ID || archived[0].ArchivedAt == nil {
		t.Errorf("%+v", archived)
	}
	f.session("100% _odd_ ÜBUNG")
	for title, want := range map[string]int{"JOURNEY": 1, "übung": 1, "旅": 1, "%": 1, "_": 1, "no such": 0} {
		found, err := f.Sessions(f.ctx, chat.SessionQuery{Title: title})
		f.ok(err)
		if len(found) != want {
			t.Errorf("%q found %d, want %d", title, len(found), want)
		}
	}
	page, err := f.Sessions(f.ctx, chat.SessionQuery{Limit: 1, Offset: 1})
	f.ok(err)
	if len(page) != 1 || page[0].ID == d.Session.ID {
		t.Errorf("%+v", page)
	}
	f.refused(f.RenameSession(f.ctx, "nobody", "x"), chat.CodeNotFound)
}

func TestSettings(t *testing.T) {
	f := newFixture(t)
	if _, found, err := f.Setting(f.ctx, "first_run"); found || err != nil {
		t.Fatal(found, err)
	}
	f.ok(f.PutSetting(f.ctx, "first_run", "a"))
	f.ok(f.PutSetting(f.ctx, "first_run", "b"))
	if v, found, err := f.Setting(f.ctx, "first_run"); v != "b" || !found || err != nil {
		t.Fatal(v, found, err)
	}
}

// TestLedgerRecordsEverything: a session's messages can be recovered from its events alone.
func TestLedgerRecordsEverything(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("s")
	f.full(b.ID, "the question", "the answer")
	events, err := sqlite.All[schema.EventRow](f.core.DB.Reader, `SELECT * FROM events WHERE session_id = ? ORDER BY event_seq`, s.ID)
	f.ok(err)
	var kinds []string
	var recorded strings.Builder
	for i, e := range events {
		if e.EventSeq != int64(i+1) {
			t.Errorf("event %d has number %d", i, e.EventSeq)
		}
		payload, err := core.UnpackPayload(f.core.DB.Reader, e.SessionID, e.Payload)
		f.ok(err)
		kinds = append(kinds, e.Type)
		recorded.Write(payload)
	}
	want := "session_created branch_created state_committed turn_accepted turn_prepared step_started step_ended turn_finalized state_committed turn_indexed"
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("events %s\n want %s", got, want)
	}
	for _, words := range []string{"the question", "the answer", "## Facts", "pinned"} {
		if !strings.Contains(recorded.String(), words) {
			t.Errorf("the ledger does not contain %q", words)
		}
	}
}

// An answer that no process is writing is listed as interrupted: by a reader if no process has the data open for
// writing, and by the writer if it does not run the turn.
func TestAnInterruptedAnswerIsListed(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("cut off")
	f.respond(f.accept(b.ID, "hello"))
	interrupted := func(s *Store) bool {
		t.Helper()
		list, err := s.Sessions(f.ctx, chat.SessionQuery{})
		f.ok(err)
		if len(list) != 1 || list[0].LastPhase != chat.PhaseResponding {
			t.Fatalf("%+v", list)
		}
		return list[0].Interrupted
	}
	reading := func() bool {
		t.Helper()
		ro, err := Open(f.ctx, Options{DataDir: f.dir, ReadOnly: true})
		f.ok(err)
		defer func() { f.ok(ro.Close()) }()
		return interrupted(ro)
	}
	if interrupted(f.Store) || reading() {
		t.Error("an answer that is being written counts as interrupted")
	}
	f.ok(f.Store.Close())
	if !reading() {
		t.Error("a reader does not notice that no process writes the answer")
	}
	f.open()
	if !interrupted(f.Store) {
		t.Error("the writer does not notice that it does not write the answer")
	}
}
