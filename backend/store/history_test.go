package store

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/maintenance"
	"contextinfinity/backend/store/sqlite"
)

func summaryOf(b chat.BranchID, from, to int64, supersedes ...string) chat.NewSummary {
	return chat.NewSummary{
		BranchID: b, From: from, To: to, Content: fmt.Sprintf("## Facts\n- turns %d to %d", from, to-1), TokenCount: 8,
		OriginalTokens: 100, GeneratedBy: chat.GeneratedByExtract, Supersedes: supersedes,
		Validation: json.RawMessage(fmt.Sprintf(`{"tries":1,"missing":["turn %d"]}`, from)),
	}
}

func (f *fixture) summarize(b chat.BranchID, from, to int64, supersedes ...string) chat.RangeSummary {
	f.Helper()
	s, err := f.AddSummary(f.ctx, summaryOf(b, from, to, supersedes...))
	f.ok(err)
	return s
}

// usableSummaries returns the ranges of summaries that a branch can use, as "from-to".
func (f *fixture) usableSummaries(b chat.BranchID) string {
	f.Helper()
	got, err := f.Summaries(f.ctx, b)
	f.ok(err)
	out := ""
	for _, s := range got {
		out += fmt.Sprintf("%d-%d ", s.From, s.To)
	}
	return out
}

func TestSummaryIsRefused(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "1", "a")
	failed := f.failed(b.ID, "2", chat.OutcomeFailed)
	f.full(b.ID, "3", "c")
	f.say(b.ID, "4", "pending")
	existing := f.summarize(b.ID, 1, 4)
	_, other := f.session("other")
	f.full(other.ID, "1", "a")
	strange := f.summarize(other.ID, 1, 2)
	cases := map[string]struct {
		change func(*chat.NewSummary)
		code   chat.Code
	}{
		"empty":              {func(n *chat.NewSummary) { n.Content = " \n" }, chat.CodeInvalid},
		"no smaller":         {func(n *chat.NewSummary) { n.TokenCount = n.OriginalTokens }, chat.CodeInvalid},
		"larger":             {func(n *chat.NewSummary) { n.TokenCount = 101 }, chat.CodeInvalid},
		"uncounted":          {func(n *chat.NewSummary) { n.TokenCount = 0 }, chat.CodeInvalid},
		"unreadable check":   {func(n *chat.NewSummary) { n.Validation = json.RawMessage("{") }, chat.CodeInvalid},
		"of no origin":       {func(n *chat.NewSummary) { n.GeneratedBy = "" }, chat.CodeInvalid},
		"no range":           {func(n *chat.NewSummary) { n.To = n.From }, chat.CodeInvalid},
		"before the first":   {func(n *chat.NewSummary) { n.From = 0 }, chat.CodeInvalid},
		"a pending turn":     {func(n *chat.NewSummary) { n.To = 5 }, chat.CodeInvalid},
		"past the end":       {func(n *chat.NewSummary) { n.To = 9 }, chat.CodeInvalid},
		"a failed turn only": {func(n *chat.NewSummary) { n.From, n.To = failed.Seq, failed.Seq+1 }, chat.CodeInvalid},
		"no branch":          {func(n *chat.NewSummary) { n.BranchID = "nowhere" }, chat.CodeNotFound},
		"a second":           {func(n *chat.NewSummary) { n.To = 4 }, chat.CodeConflict},
		"replaces nothing":   {func(n *chat.NewSummary) { n.Supersedes = []string{"nobody"} }, chat.CodeNotFound},
		"replaces a wider":   {func(n *chat.NewSummary) { n.Supersedes = []string{existing.ID} }, chat.CodeInvalid},
		"another session's":  {func(n *chat.NewSummary) { n.Supersedes = []string{strange.ID} }, chat.CodeInvalid},
	}
	for name, c := range cases {
		n := summaryOf(b.ID, 1, 2)
		c.change(&n)
		if _, err := f.AddSummary(f.ctx, n); chat.CodeOf(err) != c.code {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	if got := f.usableSummaries(b.ID); got != "1-4 " {
		t.Errorf("a refused summary left %q", got)
	}
	f.verifyClean()
}

// TestSummariesFollowTheLineage: a branch can use a summary if it sees the whole range, and superseding one on a
// child does not take it from the parent.
func TestSummariesFollowTheLineage(t *testing.T) {
	f := newFixture(t)
	s, main := f.session("s")
	var turns []chat.Turn
	for i := range 6 {
		turns = append(turns, f.full(main.ID, fmt.Sprint("q", i), fmt.Sprint("a", i)))
	}
	child := f.fork(main.ID, turns[3].ID)
	f.full(child.ID, "q4'", "a4'")
	early := f.summarize(main.ID, 1, 3)
	f.summarize(main.ID, 3, 5)
	f.summarize(main.ID, 5, 7)
	if shared := f.summarize(child.ID, 2, 4); shared.BranchID != main.ID {
		t.Errorf("a summary of the shared part belongs to %s", shared.BranchID)
	}
	wide := f.summarize(child.ID, 1, 6, early.ID)
	if got := f.usableSummaries(main.ID); got != "1-3 2-4 3-5 5-7 " {
		t.Errorf("main uses %s", got)
	}
	if got := f.usableSummaries(child.ID); got != "1-3 1-6 2-4 3-5 " {
		t.Errorf("the child uses %s", got)
	}
	again := f.summarize(main.ID, 1, 3, early.ID) // a better one of the same range
	all, err := f.AllSummaries(f.ctx, s.ID)
	f.ok(err)
	if len(all) != 6 || all[0].SupersededBy != again.ID || all[0].Content != early.Content || wide.SupersededBy != "" {
		t.Errorf("%+v", all)
	}
	_, err = f.AddSummary(f.ctx, summaryOf(main.ID, 1, 5, early.ID))
	f.refused(err, chat.CodeConflict) // no longer live
	if first := f.fork(child.ID, ""); f.usableSummaries(first.ID) != "" {
		t.Error("a branch without turns uses summaries")
	}
	f.verifyClean()
	f.ok(f.core.DB.Writer.Exec(`UPDATE summaries SET content = 'damaged' WHERE id = ?`, again.ID).Error)
	if got := f.usableSummaries(main.ID); got != "2-4 3-5 5-7 " {
		t.Errorf("with a damaged summary main uses %s", got)
	}
}

// TestSummariesRace: if two workers make the same summary, or supersede the same one, the first to commit wins,
// whichever it is.
func TestSummariesRace(t *testing.T) {
	for _, firstByModel := range []bool{true, false} {
		f := newFixture(t)
		_, b := f.session("s")
		for range 4 {
			f.full(b.ID, "q", "a")
		}
		old := f.summarize(b.ID, 1, 3)
		model, extract := summaryOf(b.ID, 1, 4, old.ID), summaryOf(b.ID, 1, 5, old.ID)
		model.GeneratedBy = "model"
		order := []chat.NewSummary{extract, model}
		if firstByModel {
			order = []chat.NewSummary{model, extract}
		}
		won, err := f.AddSummary(f.ctx, order[0])
		f.ok(err)
		_, err = f.AddSummary(f.ctx, order[1])
		f.refused(err, chat.CodeConflict)
		_, err = f.AddSummary(f.ctx, order[0])
		f.refused(err, chat.CodeConflict)
		got, err := f.Summaries(f.ctx, b.ID)
		f.ok(err)
		if len(got) != 1 || !reflect.DeepEqual(got[0], won) {
			t.Errorf("live: %+v", got)
		}
		f.verifyClean()
	}
}

func TestSizes(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	one := f.full(main.ID, "1", "a")
	f.failed(main.ID, "2", chat.OutcomeFailed)
	three := f.full(main.ID, "3", "c")
	child := f.fork(main.ID, three.ID)
	four := f.say(main.ID, "4", "pending")
	running := f.accept(main.ID, "5")
	expect := func(b chat.BranchID, want ...chat.TurnSize) {
		t.Helper()
		for range 2 { // uncached and cached
			got, err := f.Sizes(f.ctx, b, "e")
			f.ok(err)
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%v\nwant %v", got, want)
			}
			for i := range got {
				got[i].Tokens = 99 // the caller's copy
			}
		}
	}
	expect(main.ID, chat.TurnSize{TurnID: one.ID, Seq: 1, Tokens: -1}, chat.TurnSize{TurnID: three.ID, Seq: 3, Tokens: -1}, chat.TurnSize{TurnID: four.ID, Seq: 4, Tokens: -1, Pending: true})
	put := func(id chat.TurnID, tokens int) {
		t.Helper()
		f.ok(f.PutSizes(f.ctx, "e", []chat.TurnSize{{TurnID: id, Tokens: tokens}, {TurnID: running.ID, Tokens: 1}, {TurnID: "nobody", Tokens: 1}, {TurnID: one.ID, Tokens: -1}}))
	}
	put(one.ID, 10)
	put(three.ID, 30)
	put(four.ID, 40)
	f.ok(f.PutSizes(f.ctx, "other", []chat.TurnSize{{TurnID: one.ID, Tokens: 7}}))
	expect(main.ID, chat.TurnSize{TurnID: one.ID, Seq: 1, Tokens: 10}, chat.TurnSize{TurnID: three.ID, Seq: 3, Tokens: 30}, chat.TurnSize{TurnID: four.ID, Seq: 4, Tokens: 40, Pending: true})
	expect(child.ID, chat.TurnSize{TurnID: one.ID, Seq: 1, Tokens: 10}, chat.TurnSize{TurnID: three.ID, Seq: 3, Tokens: 30})
	_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: running.ID, Outcome: chat.OutcomeFailed})
	f.ok(err)
	f.commitAll(main.ID)
	put(one.ID, 11) // a corrected count is used, although the old one was cached
	six := f.say(main.ID, "6", "f")
	expect(main.ID, chat.TurnSize{TurnID: one.ID, Seq: 1, Tokens: 11}, chat.TurnSize{TurnID: three.ID, Seq: 3, Tokens: 30}, chat.TurnSize{TurnID: four.ID, Seq: 4, Tokens: 40}, chat.TurnSize{TurnID: six.ID, Seq: 6, Tokens: -1, Pending: true})
	for i := range 2 * maintenance.MaxLineages {
		fresh := f.fork(main.ID, four.ID)
		if _, err := f.Sizes(f.ctx, fresh.ID, "e"); err != nil || len(f.Store.maintenancePart.FinalSizes.Lineages) > maintenance.MaxLineages {
			t.Fatalf("%d lineages remembered after %d, %v", len(f.Store.maintenancePart.FinalSizes.Lineages), i, err)
		}
	}
	f.refused(f.PutSizes(f.ctx, "", nil), chat.CodeInvalid)
	_, err = f.Sizes(f.ctx, "nowhere", "e")
	f.refused(err, chat.CodeNotFound)
	f.verifyClean()
}

func TestPreviousManifest(t *testing.T) {
	f := newFixture(t)
	_, main := f.session("s")
	expect := func(b chat.BranchID, before int64, want chat.TurnID) {
		t.Helper()
		raw, id, err := f.PreviousManifest(f.ctx, b, before)
		f.ok(err)
		if id != want || (raw == nil) != (want == "") {
			t.Errorf("before %d: turn %q, %d bytes; want %q", before, id, len(raw), want)
		}
	}
	expect(main.ID, 0, "")
	one := f.full(main.ID, "1", "a")
	two := f.full(main.ID, "2", "b")
	f.accept(main.ID, "3: without a context yet")
	expect(main.ID, 0, two.ID)
	expect(main.ID, 3, two.ID)
	expect(main.ID, 2, one.ID)
	expect(main.ID, 1, "")
	child := f.fork(main.ID, one.ID)
	expect(child.ID, 0, one.ID)
	f.ok(f.core.DB.Writer.Exec(`UPDATE turns SET manifest = x'01ff' WHERE id = ?`, two.ID).Error)
	expect(main.ID, 0, "") // an unreadable manifest counts as none
	_, _, err := f.PreviousManifest(f.ctx, "nowhere", 0)
	f.refused(err, chat.CodeNotFound)
}

func TestCalibration(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	recorded := func() int {
		t.Helper()
		n, err := sqlite.One[int](f.core.DB.Reader, "events", "", `SELECT count(*) FROM events WHERE type = 'calibration_set'`)
		f.ok(err)
		return n
	}
	observe := func(estimated, reported int) chat.Calibration {
		t.Helper()
		f.ok(f.ObserveCalibration(f.ctx, "recall", "recall", estimated, reported))
		c, err := f.Calibration(f.ctx, "recall", "recall")
		f.ok(err)
		return c
	}
	if c := observe(199, 400); c != (chat.Calibration{Factor: 1, Mean: 1}) {
		t.Errorf("a small estimate counts: %+v", c)
	}
	if c := observe(1000, 0); c.Samples != 0 {
		t.Errorf("an absent report counts: %+v", c)
	}
	if c := observe(1000, 1010); c.Samples != 1 || c.Factor != 1 || c.Mean != 1.01 || recorded() != 0 {
		t.Errorf("%+v", c)
	}
	f.say(b.ID, "the ledger's session", "has a step of this model")
	if c := observe(1000, 1210); c.Samples != 2 || c.Factor != 1.1 || math.Abs(c.Mean-1.11) > 1e-9 || recorded() != 1 {
		t.Errorf("%+v, %d events", c, recorded())
	}
	if c := observe(1000, 1120); c.Factor != 1.1 || recorded() != 1 {
		t.Errorf("the ledger has an event although the factor is unchanged: %+v, %d", c, recorded())
	}
	c := chat.Calibration{}
	for range 2 * events.CalibrationSamples {
		c = observe(1000, 90_000)
	}
	if c.Factor != events.CalibrationHigh || c.Samples != events.CalibrationSamples || c.Mean > events.SampleHigh {
		t.Errorf("%+v", c)
	}
	for range 8 * events.CalibrationSamples {
		c = observe(1000, 1)
	}
	if c.Factor != events.CalibrationLow {
		t.Errorf("%+v", c)
	}
	if other, err := f.Calibration(f.ctx, "recall", "another"); err != nil || other.Factor != 1 {
		t.Errorf("%+v %v", other, err)
	}
	f.ok(f.ObserveCalibration(f.ctx, "never", "seen", 1000, 1500)) // this model has no session with a ledger
	f.verifyClean()
}

func TestSessionSettings(t *testing.T) {
	f := newFixture(t)
	s, _ := f.session("s")
	warm, hot, none := 0.7, 2.1, math.NaN()
	f.ok(f.SetSessionSettings(f.ctx, s.ID, chat.SessionSettings{SystemPrompt: "Be \x00brief.", Temperature: &warm, Effort: "high"}))
	got, err := f.Session(f.ctx, s.ID)
	f.ok(err)
	if got.SystemPrompt != "Be \uFFFDbrief." || got.Temperature == nil || *got.Temperature != 0.7 || got.Effort != "high" {
		t.Errorf("%+v", got)
	}
	for _, bad := range []chat.SessionSettings{{Temperature: &hot}, {Temperature: &none}, {Effort: "enormous"}} {
		f.refused(f.SetSessionSettings(f.ctx, s.ID, bad), chat.CodeInvalid)
	}
	f.refused(f.SetSessionSettings(f.ctx, "nowhere", chat.SessionSettings{}), chat.CodeNotFound)
	f.verifyClean()
	f.ok(f.SetSessionSettings(f.ctx, s.ID, chat.SessionSettings{}))
	if got, err = f.Session(f.ctx, s.ID); err != nil || got.SystemPrompt != "" || got.Temperature != nil || got.Effort != "" {
		t.Errorf("%+v %v", got, err)
	}
	f.verifyClean()
}

func TestRangeJobs(t *testing.T) {
	f := newFixture(t)
	s, main := f.session("s")
	var turns []chat.Turn
	for range 3 {
		turns = append(turns, f.full(main.ID, "q", "a"))
	}
	child := f.fork(main.ID, turns[1].ID)
	enqueue := func(b chat.BranchID, from int64, last chat.TurnID) bool {
		t.Helper()
		enqueued, err := f.EnqueueRange(f.ctx, b, from, last)
		f.ok(err)
		return enqueued
	}
	if !enqueue(child.ID, 1, turns[1].ID) || enqueue(main.ID, 1, turns[1].ID) || !enqueue(main.ID, 2, turns[1].ID) {
		t.Error("a range must have one job, whatever the branch")
	}
	_, err := f.EnqueueRange(f.ctx, child.ID, 1, turns[2].ID)
	f.refused(err, chat.CodeInvalid)
	_, err = f.EnqueueRange(f.ctx, main.ID, 4, turns[2].ID)
	f.refused(err, chat.CodeInvalid)
	job, found, err := f.ClaimJob(f.ctx, time.Minute)
	f.ok(err)
	if !found || job.Type != chat.JobSummarizeRange || job.FromSeq != 1 || job.TurnID != turns[1].ID || job.BranchID != main.ID {
		t.Fatalf("%v %+v", found, job)
	}
	n := summaryOf(job.BranchID, job.FromSeq, turns[1].Seq+1)
	n.Job = job.Lease()
	_, err = f.AddSummary(f.ctx, n)
	f.ok(err)
	if jobs, err := f.Jobs(f.ctx, chat.JobQuery{Session: s.ID, State: chat.JobQueued}); err != nil || len(jobs) != 1 || jobs[0].FromSeq != 2 {
		t.Errorf("the summary did not complete its job: %+v %v", jobs, err)
	}
	for range chat.MaxJobAttempts {
		job, found, err = f.ClaimJob(f.ctx, time.Minute, chat.JobSummarizeRange)
		f.ok(err)
		if !found {
			t.Fatal("no job to claim")
		}
		_, err = f.FailJob(f.ctx, job.Lease(), chat.Quote("nonsense"), 0)
		f.ok(err)
	}
	if n, err := f.RequeueMissing(f.ctx); n != 0 || err != nil {
		t.Errorf("requeued %d, %v", n, err)
	}
	if _, _, failedJobs, err := f.JobCounts(f.ctx); failedJobs != 1 || err != nil || enqueue(main.ID, 2, turns[1].ID) {
		t.Errorf("%d dead, %v", failedJobs, err)
	}
	f.summarize(main.ID, 1, 4)
	if enqueue(main.ID, 1, turns[2].ID) {
		t.Error("a range with a summary is due")
	}
	f.verifyClean()
}

// TestSummariesAreDeltasOfTheirParents: they take little space, and every way of reading them gives the same text.
func TestSummariesAreDeltasOfTheirParents(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	var want []string
	for i := range 20 {
		turn := f.say(b.ID, "q", "a")
		branch, err := f.Branch(f.ctx, b.ID)
		f.ok(err)
		want = append(want, benchText(700+i))
		st, err := f.Commit(f.ctx, chat.Commit{BranchID: b.ID, Epoch: branch.Epoch, Turns: []chat.TurnID{turn.ID}, Summary: want[i], Origin: chat.StateFallback})
		f.ok(err)
		read, err := f.State(f.ctx, st.ID)
		f.ok(err)
		if st.Summary != want[i] || read.Summary != want[i] {
			t.Fatalf("state %d came back with %d bytes of %d", i, len(read.Summary), len(want[i]))
		}
	}
	states, err := f.States(f.ctx, b.ID)
	f.ok(err)
	for i := range want {
		if states[19-i].Summary != want[i] {
			t.Errorf("state %d is listed with %d bytes of %d", i, len(states[19-i].Summary), len(want[i]))
		}
	}
	r, err := sqlite.One[struct{ Alone, Small int }](f.core.DB.Reader, "states", "", `SELECT coalesce(sum(summary_z IS NULL), 0) AS alone,
		coalesce(sum(length(summary_z) < 200), 0) AS small FROM states WHERE origin <> 'root'`)
	f.ok(err)
	if r.Alone != 2 || r.Small != 18 {
		t.Errorf("20 summaries, of which %d are single and %d are small", r.Alone, r.Small)
	}
	f.verifyClean()
}

// manifestOf returns a manifest of some size.
func manifestOf(n int) json.RawMessage {
	b, _ := json.Marshal(map[string]any{"n": n, "items": benchText(600)})
	return b
}
