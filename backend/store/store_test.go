package store

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/test/testtier"
)

func TestMain(m *testing.M) {
	testtier.Checks(5)
	seal.Work = 10 // what a passphrase seals is cheap to open
	if isSealedRun() {
		useTestKey()
	}
	goleak.VerifyTestMain(m)
}

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// fixture is a store with helpers that bring a turn to each phase.
type fixture struct {
	testing.TB
	*Store
	ctx   context.Context
	clock *clock.Fake
	dir   string
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	return newFixtureIn(tb, tb.TempDir())
}

// newFixtureIn returns a fixture whose database is in a given directory and is kept.
func newFixtureIn(tb testing.TB, dir string) *fixture {
	tb.Helper()
	f := &fixture{TB: tb, ctx: context.Background(), clock: clock.NewFake(start), dir: dir}
	f.ok(os.WriteFile(filepath.Join(f.dir, sqlite.DatabaseFile), template(), 0o600))
	f.open()
	tb.Cleanup(func() { _ = f.Store.Close() })
	return f
}

// template returns an empty database with the newest schema. Migrating one for each test would take most of the suite's
// time.
var template = sync.OnceValue(func() []byte {
	dir, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	s, err := Open(context.Background(), Options{DataDir: dir})
	if err == nil {
		err = s.Close() // the last connection checkpoints the log
	}
	if err != nil {
		panic(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, sqlite.DatabaseFile))
	if err != nil {
		panic(err)
	}
	return data
})

func (f *fixture) open() {
	f.Helper()
	s, err := Open(f.ctx, Options{DataDir: f.dir, Clock: f.clock.Now})
	f.ok(err)
	f.Store = s
}

func (f *fixture) reopen() {
	f.Helper()
	f.ok(f.Store.Close())
	f.open()
}

func (f *fixture) ok(err error) {
	f.Helper()
	if err != nil {
		f.Fatalf("%v: %v", err, chat.AsError(err).Err)
	}
}

// refused expects an error with this code.
func (f *fixture) refused(err error, code chat.Code) {
	f.Helper()
	if chat.CodeOf(err) != code {
		f.Fatalf("error %v has code %q, want %q", err, chat.CodeOf(err), code)
	}
}

func (f *fixture) session(title string) (chat.Session, chat.Branch) {
	f.Helper()
	s, b, err := f.CreateSession(f.ctx, chat.NewSession{Title: title})
	f.ok(err)
	return s, b
}

func (f *fixture) accept(branch chat.BranchID, words string) chat.Turn {
	f.Helper()
	f.clock.Advance(time.Millisecond)
	t, err := f.Accept(f.ctx, chat.Acceptance{BranchID: branch, User: chat.UserText(words), Provider: "recall", Model: "recall"})
	f.ok(err)
	return t
}

// respond brings an accepted turn to Responding, with one open step.
func (f *fixture) respond(t chat.Turn) chat.Step {
	f.Helper()
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: t.ID, Manifest: json.RawMessage(`{"sections":[]}`), Tokens: 12}))
	step, err := f.BeginStep(f.ctx, chat.StepStart{
		TurnID: t.ID, Provider: "recall", ModelID: "recall", Request: []byte(`{"query":"` + string(t.ID) + `"}`),
		StreamPath: func(id chat.StepID) string { return "streams/" + string(id) + ".jsonl" },
	})
	f.ok(err)
	return step
}

func (f *fixture) ended(step chat.Step, status chat.StepStatus, words string) *chat.StepEnd {
	return &chat.StepEnd{
		StepID: step.ID, Outcome: chat.StepOutcome{Status: status},
		Items: chat.Items{chat.AssistantMessage{Blocks: chat.Blocks{chat.Text{Text: words}}}},
		Usage: &chat.Usage{InputTokens: 10, OutputTokens: 5}, DisplayedBytes: int64(len(words)), DurableBytes: int64(len(words)),
		Events:  chat.EventsOf([]chat.RawEvent{{Type: "delta", Data: []byte(words)}, {Type: "odd", Data: []byte{0xff, 0, '\n'}}}),
		Metrics: chat.StepMetrics{FirstByteMs: 7, StreamMs: 9, Deltas: 2},
	}
}

func (f *fixture) finalize(t chat.Turn, words string) chat.Turn {
	f.Helper()
	step := f.respond(t)
	done, err := f.Finalize(f.ctx, chat.Finalization{
		TurnID: t.ID, Step: f.ended(step, chat.StepCompleted, words), Message: chat.AssistantText(words),
		Outcome: chat.OutcomeCompleted, Usage: &chat.Usage{InputTokens: 10, OutputTokens: 5},
		Metrics: chat.TurnMetrics{StreamMs: 9, AssembleMs: 2},
	})
	f.ok(err)
	return done
}

// say adds a complete exchange, which stays pending.
func (f *fixture) say(branch chat.BranchID, user, assistant string) chat.Turn {
	f.Helper()
	return f.finalize(f.accept(branch, user), assistant)
}

// commitAll commits each pending turn of a branch separately.
func (f *fixture) commitAll(branch chat.BranchID) {
	f.Helper()
	pending, err := f.PendingTurns(f.ctx, branch)
	f.ok(err)
	for _, t := range pending {
		if t.BranchID == branch { // of a copied device, the branch before may have one that it covers by its first state
			f.commitRun(branch, t.ID)
		}
	}
}

func (f *fixture) commitRun(branch chat.BranchID, turns ...chat.TurnID) chat.State {
	f.Helper()
	b, err := f.Branch(f.ctx, branch)
	f.ok(err)
	st, err := f.Commit(f.ctx, chat.Commit{
		BranchID: branch, Epoch: b.Epoch, Turns: turns, Summary: fmt.Sprintf("## Facts\n- state %d", b.HeadSeq+1),
		PinnedFacts: "pinned", TokenCount: 9, Origin: chat.StateFallback, Validation: json.RawMessage(`{"kept":1}`), SummarizeMs: 3,
	})
	f.ok(err)
	return st
}

// chunksOf returns one chunk with one unit for each message, as the first chunker did.
func chunksOf(t chat.Turn) []chat.Chunk {
	var out []chat.Chunk
	add := func(role chat.Role, kind chat.ChunkType, body string) {
		out = append(out, chat.Chunk{
			Ordinal: len(out), Role: role, End: len(body), Text: body, Type: kind, Tokens: len(body) / 4,
			ContentHash: chat.HashText(body), Version: 1,
			Units: []chat.Unit{{Role: role, End: len(body), Tokens: len(body) / 4, Text: "[2026-01-02] " + string(role) + ": " + body}},
		})
	}
	add(chat.RoleUser, chat.ChunkUserContext, t.User.RenderedText())
	if t.Assistant != nil {
		add(chat.RoleAssistant, chat.ChunkExplanation, t.Assistant.RenderedText())
	}
	return out
}

func (f *fixture) index(id chat.TurnID) {
	f.Helper()
	t, err := f.Turn(f.ctx, id)
	f.ok(err)
	f.ok(f.Index(f.ctx, chat.Indexing{TurnID: id, Chunks: chunksOf(t), Status: chat.IndexOK, IndexMs: 1}))
}

// full adds an exchange that is committed and indexed.
func (f *fixture) full(branch chat.BranchID, user, assistant string) chat.Turn {
	f.Helper()
	t := f.say(branch, user, assistant)
	f.commitAll(branch)
	f.index(t.ID)
	t, err := f.Turn(f.ctx, t.ID)
	f.ok(err)
	return t
}

func TestWholeTurn(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("first")
	turn := f.full(b.ID, "what is a lineage", "the turns visible from a branch")
	if turn.Phase != chat.PhaseDone || turn.Seq != 1 || turn.StateAfter == "" || turn.Assistant.RenderedText() != "the turns visible from a branch" {
		t.Fatalf("turn %+v", turn)
	}
	hits := f.find(everywhere, 20, "lineage")
	if len(hits) != 1 || hits[0].Turn != turn.ID || hits[0].Score <= 0 {
		t.Fatalf("hits %+v", hits)
	}
	freq, err := f.TermFrequencies(f.ctx, []string{"branches", "turn", "nowhere"})
	f.ok(err)
	if freq["branches"] != 1 || freq["turn"] != 1 || freq["nowhere"] != 0 {
		t.Fatalf("frequencies %v", freq)
	}
}
