package jobs_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/retrieval"
)

// describing is a model that describes passages. It uses 1000 tokens per call.
type describing struct {
	calls  []string // the messages about passages
	answer string
	fail   error
}

func (*describing) Name() string    { return "describing" }
func (*describing) InputLimit() int { return 100_000 }

func (m *describing) Complete(_ context.Context, _, user string, _ int) (string, *chat.Usage, error) {
	m.calls = append(m.calls, user)
	if m.fail != nil {
		return "", nil, m.fail
	}
	return m.answer, &chat.Usage{InputTokens: 900, OutputTokens: 100}, nil
}

const harbour = "The harbour master moves the ferry to pier seven because of the storm."

// passage is a text of more than librarian.MinChunk tokens whose first sentences say nothing.
func passage(about string) string {
	return strings.Repeat("It was a long day and much was said about this and that. ", 20) + about + " " +
		strings.Repeat("The harbour, the ferry and the storm came up again and again. ", 10)
}

// chunkDeps returns dependencies with a model for long chunks only.
func (b *fixture) chunkDeps(m librarian.Model, p jobs.ChunkPolicy) jobs.Deps {
	d := b.deps(nil)
	d.Clock = clock.Clock(b.clock.Now)
	d.Chunks = jobs.Chunks{Store: b.store, Policy: func() jobs.ChunkPolicy { return p }}
	d.Chunks.Model = func(_ context.Context, t chat.Turn) librarian.Model {
		if t.Model != "m" {
			return nil
		}
		return m
	}
	return d
}

func (b *fixture) catchUp(d jobs.Deps) {
	b.t.Helper()
	_, err := jobs.NewRunner(d).CatchUp(b.t.Context())
	b.must(err)
}

// long returns the stored long chunks.
func (b *fixture) long() []chat.ChunkText {
	b.t.Helper()
	all, _, err := b.store.Chunks(b.t.Context(), chat.ChunkQuery{Within: chat.Within{Scope: chat.ScopeAll}})
	b.must(err)
	var out []chat.ChunkText
	for _, c := range all {
		if c.Tokens >= librarian.MinChunk {
			out = append(out, c)
		}
	}
	return out
}

func (b *fixture) progress() chat.ChunkSummaries {
	b.t.Helper()
	all, err := b.store.UnsummarizedModels(b.t.Context(), librarian.MinChunk)
	b.must(err)
	p, err := b.store.ChunkSummaries(b.t.Context(), all, librarian.MinChunk)
	b.must(err)
	return p
}

var on = jobs.ChunkPolicy{On: true, DailyTokens: 50_000}

// TestChunkSummariesAreOffByDefault: without the option no model is asked about a passage, and an allowed one is not asked
// about turns of a model that it may not read.
func TestChunkSummariesAreOffByDefault(t *testing.T) {
	b := newFixture(t)
	b.addTurn("What happened?", passage(harbour))
	m := &describing{answer: harbour}
	b.catchUp(b.chunkDeps(m, jobs.ChunkPolicy{DailyTokens: 50_000}))
	if len(b.long()) == 0 || len(m.calls) > 0 {
		t.Fatalf("%d long chunks, %d calls although it is off", len(b.long()), len(m.calls))
	}
	refused := b.chunkDeps(m, on)
	refused.Chunks.Model = func(context.Context, chat.Turn) librarian.Model { return nil }
	b.catchUp(refused)
	if p := b.progress(); len(m.calls) > 0 || p.Written > 0 || p.Waiting == 0 || p.Tokens != 0 {
		t.Fatalf("%d calls, %+v", len(m.calls), p)
	}
	// What no model may read is not said to be waiting.
	for d, want := range map[*jobs.Deps]int{&refused: 0, new(b.chunkDeps(m, on)): len(b.long())} {
		p, err := jobs.NewRunner(*d).ChunkProgress(t.Context())
		b.must(err)
		if p.Waiting != want {
			t.Errorf("%d are waiting, want %d", p.Waiting, want)
		}
	}
}

// TestThePackedSummaryIsTheLibrarians: with the option on, each long chunk is described once, and where packing has no room
// for the text, the description is sent.
func TestThePackedSummaryIsTheLibrarians(t *testing.T) {
	b := newFixture(t)
	b.addTurn("What happened?", passage(harbour))
	b.addTurn("Is it short?", "Yes, it is.")
	m := &describing{answer: harbour}
	b.catchUp(b.chunkDeps(m, on))
	b.catchUp(b.chunkDeps(m, on))
	list := b.long()
	if len(list) == 0 || len(m.calls) != len(list) {
		t.Fatalf("%d calls about %d long chunks, want one each", len(m.calls), len(list))
	}
	for _, c := range list {
		if c.ByLibrarian != harbour || c.Brief() != harbour || c.Summary == "" || strings.Contains(c.Summary, "pier seven") {
			t.Errorf("a chunk has the summaries %q and %q", c.Summary, c.ByLibrarian)
		}
	}
	engine := retrieval.New(retrieval.Deps{Store: b.store})
	packed, err := engine.Attached(t.Context(), []chat.ChunkID{list[0].ID}, 50, nil)
	b.must(err)
	if len(packed) != 1 || packed[0].Form != chat.PackedSummary || !strings.Contains(packed[0].Text, "pier seven") {
		t.Fatalf("packed in 50 tokens: %+v", packed)
	}
	if a := retrieval.Passage(list[0], chat.PackedFull, nil, ""); !strings.Contains(a.Summary, "pier seven") || !a.ByLibrarian {
		t.Errorf("the shrinker would use %q", a.Summary)
	}
	if p := b.progress(); p.Waiting != 0 || p.Written != len(list) || p.Tokens != 1000*len(list) {
		t.Errorf("%+v", p)
	}
	used, err := b.store.BackgroundUsage(t.Context(), chat.UsageQuery{})
	b.must(err)
	if len(used) != 1 || used[0].Model != "describing" || used[0].Turns != len(list) || used[0].Usage.InputTokens != 900*len(list) {
		t.Errorf("the usage is %+v", used)
	}
}

// TestTheDailyLimitStopsChunkSummaries: no call begins that could exceed the day's tokens; the rest waits for the next days.
func TestTheDailyLimitStopsChunkSummaries(t *testing.T) {
	b := newFixture(t)
	for range 6 {
		b.addTurn("What happened?", passage(harbour))
	}
	m := &describing{answer: harbour}
	policy := jobs.ChunkPolicy{On: true, DailyTokens: 8000}
	b.catchUp(b.chunkDeps(m, policy))
	first, all := b.progress(), len(b.long())
	if first.Tokens > policy.DailyTokens || first.Written == 0 || first.Written == all || first.Waiting != all-first.Written {
		t.Fatalf("of %d chunks on the first day: %+v", all, first)
	}
	b.catchUp(b.chunkDeps(m, policy))
	if again := b.progress(); again != first {
		t.Fatalf("later that day: %+v, before %+v", again, first)
	}
	for range 3 * all {
		b.clock.Advance(24 * time.Hour)
		b.catchUp(b.chunkDeps(m, policy))
	}
	if p := b.progress(); p.Written != all || p.Waiting != 0 || len(m.calls) != all {
		t.Errorf("in the end %+v after %d calls", p, len(m.calls))
	}
}

// TestAnUnusableDescriptionLeavesTheRulesSummary: an answer that invents, declines or is too long is not used, and the
// chunk is not asked about again.
func TestAnUnusableDescriptionLeavesTheRulesSummary(t *testing.T) {
	for name, answer := range map[string]string{
		"invents":   "The harbour master moves the ferry to pier 4711 because of the storm.",
		"declines":  "I'm sorry, but I can't help with the harbour and the storm.",
		"too long":  strings.Repeat(harbour+" ", 30),
		"off topic": "Bananas, apples and cherries grow in gardens near mountains and valleys.",
		"nothing":   "",
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			b.addTurn("What happened?", passage(harbour))
			m := &describing{answer: answer}
			b.catchUp(b.chunkDeps(m, on))
			b.catchUp(b.chunkDeps(m, on))
			for _, c := range b.long() {
				if c.ByLibrarian != "" || c.Brief() != c.Summary || c.Summary == "" {
					t.Errorf("the chunk has %q, by rule %q", c.ByLibrarian, c.Summary)
				}
			}
			if len(m.calls) != len(b.long()) {
				t.Errorf("%d calls about %d chunks", len(m.calls), len(b.long()))
			}
		})
	}
}

// TestChunkSummariesAfterFailuresAndCrashes: while the provider fails, jobs are retried with pauses and fail like any
// other, few are queued, and nothing is counted as used; a worker that dies in the middle is continued.
func TestChunkSummariesAfterFailuresAndCrashes(t *testing.T) {
	b := newFixture(t)
	for range 12 {
		b.addTurn("What happened?", passage(harbour))
	}
	m := &describing{fail: &llm.Error{Code: chat.CodeProvider, Retry: true, Message: "down"}}
	d := b.chunkDeps(m, on)
	for range 3 * chat.MaxJobAttempts {
		b.catchUp(d)
		b.clock.Advance(10 * time.Minute)
	}
	failed, err := b.store.Jobs(t.Context(), chat.JobQuery{Type: chat.JobSummarizeChunks, State: chat.JobFailed})
	b.must(err)
	if len(failed) != 8 || len(m.calls) != 8*chat.MaxJobAttempts || b.progress().Tokens != 0 {
		t.Fatalf("%d failed jobs, %d calls, %+v", len(failed), len(m.calls), b.progress())
	}
	for _, j := range failed {
		b.must(b.store.RetryJob(t.Context(), j.ID))
	}
	m.fail, m.answer = nil, harbour
	_, claimed, err := b.store.ClaimJob(t.Context(), chat.MaxJobLease, chat.JobSummarizeChunks) // this worker dies
	b.must(err)
	lost := b.chunkDeps(m, on)
	lost.Chunks.Store = &unwritten{ChunkStore: b.store} // and this one between the answer and its row
	b.catchUp(lost)
	if !claimed || b.progress().Written == 0 {
		t.Fatalf("nothing was claimed or written: %+v", b.progress())
	}
	b.clock.Advance(2 * chat.MaxJobLease)
	b.catchUp(d)
	b.clock.Advance(time.Hour)
	b.catchUp(d)
	if p := b.progress(); p.Waiting != 0 || p.Written != len(b.long()) {
		t.Errorf("in the end %+v of %d", p, len(b.long()))
	}
}

// TestChunkSummariesWaitForTheNetwork: while no server can be reached, one call per rest, which grows to an hour, finds out
// whether one can be; nothing counts as failed, and all is done when the network is back.
func TestChunkSummariesWaitForTheNetwork(t *testing.T) {
	b := newFixture(t)
	for range 12 {
		b.addTurn("What happened?", passage(harbour))
	}
	m := &describing{fail: &llm.Error{Code: chat.CodeUnavailable, Retry: true, Message: "no route to host"}}
	r := jobs.NewRunner(b.chunkDeps(m, on))
	const hours = 6 * 60
	var at []int // minutes
	for minute := range hours {
		before := len(m.calls)
		_, err := r.CatchUp(t.Context())
		b.must(err)
		if len(m.calls) > before {
			at = append(at, minute)
		}
		b.clock.Advance(time.Minute)
	}
	failed, err := b.store.Jobs(t.Context(), chat.JobQuery{Type: chat.JobSummarizeChunks, State: chat.JobFailed})
	b.must(err)
	if len(failed) > 0 || len(m.calls) != len(at) || b.progress().Tokens != 0 {
		t.Fatalf("%d failed jobs, %d calls at %d times, %+v", len(failed), len(m.calls), len(at), b.progress())
	}
	if want := []int{0, 1, 3, 7, 15, 31, 63, 123, 183}; !slices.Equal(at[:min(len(at), len(want))], want) || at[len(at)-1] < hours-61 {
		t.Fatalf("calls at the minutes %v, want %v and so on each hour", at, want)
	}
	m.fail, m.answer = nil, harbour
	b.clock.Advance(time.Hour)
	_, err = r.CatchUp(t.Context())
	b.must(err)
	if p := b.progress(); p.Waiting != 0 || p.Written != len(b.long()) {
		t.Errorf("with the network %+v of %d", p, len(b.long()))
	}
	b.addTurn("What happened?", passage(harbour))
	m.fail = &llm.Error{Code: chat.CodeUnavailable, Retry: true, Message: "no route to host"}
	before := len(m.calls)
	for range 4 {
		_, err := r.CatchUp(t.Context())
		b.must(err)
		b.clock.Advance(time.Minute)
	}
	if got := len(m.calls) - before; got != 3 {
		t.Errorf("after it was reached, %d calls in the first four minutes, want 3: the rests begin anew", got)
	}
}

// TestAFailingModelKeepsNoOtherFromItsTurns: summaries by a model that can be reached are written while another cannot, or
// fails.
func TestAFailingModelKeepsNoOtherFromItsTurns(t *testing.T) {
	for name, fail := range map[string]*llm.Error{
		"unreachable": {Code: chat.CodeUnavailable, Retry: true, Message: "no route to host"},
		"failing":     {Code: chat.CodeProvider, Retry: true, Message: "down"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFixture(t)
			const each = 10
			for range each {
				b.addTurnOf("m", "What happened?", passage(harbour)) // older, so queued last
			}
			for range each {
				b.addTurnOf("broken", "What happened?", passage(harbour))
			}
			good, bad := &describing{answer: harbour}, &describing{fail: fail}
			d := b.chunkDeps(good, on)
			d.Chunks.Model = func(_ context.Context, t chat.Turn) librarian.Model {
				if t.Model == "m" {
					return good
				}
				return bad
			}
			b.catchUp(d)
			if p := b.progress(); len(bad.calls) == 0 || p.Written != each || p.Waiting != each {
				t.Errorf("%d calls of the broken model, %+v", len(bad.calls), p)
			}
		})
	}
}

// TestCopiesAreNotDescribed: a copy of a session may be one of an imported session, so only what was sent from it is given
// to a model.
func TestCopiesAreNotDescribed(t *testing.T) {
	b := newFixture(t)
	b.addTurn("What happened?", passage(harbour))
	_, err := b.store.Duplicate(t.Context(), b.branch.ID, "")
	b.must(err)
	m := &describing{answer: harbour}
	for range 3 {
		b.catchUp(b.chunkDeps(m, on))
	}
	if len(b.long()) != 2 || len(m.calls) != 1 || b.progress().Waiting != 0 {
		t.Errorf("%d calls about %d long chunks, %+v", len(m.calls), len(b.long()), b.progress())
	}
}

// unwritten does not store the first summary.
type unwritten struct {
	jobs.ChunkStore
	tried bool
}

func (u *unwritten) PutChunkSummary(ctx context.Context, n chat.ChunkSummary) error {
	if !u.tried {
		u.tried = true
		return errors.New("the process ended")
	}
	return u.ChunkStore.PutChunkSummary(ctx, n)
}

// TestPinnedFactsStayOutOfDescriptions: a pinned fact is not given to the model.
func TestPinnedFactsStayOutOfDescriptions(t *testing.T) {
	b := newFixture(t)
	b.addTurn("What happened?", passage(harbour))
	_, err := b.store.AddPin(t.Context(), b.branch.ID, harbour, 20)
	b.must(err)
	m := &describing{answer: "The harbour, the ferry and the storm came up on a long day."}
	b.catchUp(b.chunkDeps(m, on))
	for _, call := range m.calls {
		if strings.Contains(call, "pier seven") {
			t.Errorf("a pinned fact was sent:\n%s", call)
		}
	}
	if len(m.calls) == 0 {
		t.Error("nothing was sent")
	}
}
