package turn_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"time"

	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/storetest"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/journal"
	"contextinfinity/backend/store"
	"contextinfinity/backend/turn"
)

// life limits how many more writes of a program reach the disk. After that none does, as if the program had been
// killed; code that still runs only gets errors.
type life struct {
	writes atomic.Int64 // remaining
	// before: the last write is not done; otherwise it is done, but its caller gets an error.
	before bool
}

var errKilled = errors.New("the program was killed")

func (l *life) write() error {
	if l.writes.Add(-1) < 0 {
		return errKilled
	}
	return nil
}

// killable is a store whose writes fail once a life is over. In half of the cases the last write reaches the disk, but
// its caller gets an error.
type killable struct {
	*store.Store
	life *life
}

// writing does a write unless the life is over; the last one may be done and still return an error.
func writing[T any](l *life, do func() (T, error)) (T, error) {
	remaining := l.writes.Add(-1)
	var none T
	if remaining < 0 || remaining == 0 && l.before {
		return none, errKilled
	}
	v, err := do()
	if remaining == 0 && err == nil {
		return none, errKilled
	}
	return v, err
}

func (m *killable) write(do func() error) error {
	_, err := writing(m.life, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

func (m *killable) Accept(ctx context.Context, a chat.Acceptance) (chat.Turn, error) {
	return writing(m.life, func() (chat.Turn, error) { return m.Store.Accept(ctx, a) })
}

func (m *killable) Prepare(ctx context.Context, p chat.Preparation) error {
	return m.write(func() error { return m.Store.Prepare(ctx, p) })
}

func (m *killable) BeginStep(ctx context.Context, s chat.StepStart) (chat.Step, error) {
	return writing(m.life, func() (chat.Step, error) { return m.Store.BeginStep(ctx, s) })
}

func (m *killable) EndStep(ctx context.Context, s chat.StepEnd) error {
	return m.write(func() error { return m.Store.EndStep(ctx, s) })
}

func (m *killable) Finalize(ctx context.Context, f chat.Finalization) (chat.Turn, error) {
	return writing(m.life, func() (chat.Turn, error) { return m.Store.Finalize(ctx, f) })
}

func (m *killable) Interrupt(ctx context.Context, i chat.Interruption) (chat.Turn, error) {
	return writing(m.life, func() (chat.Turn, error) { return m.Store.Interrupt(ctx, i) })
}

func (m *killable) Resume(ctx context.Context, id chat.TurnID) error {
	return m.write(func() error { return m.Store.Resume(ctx, id) })
}

func (m *killable) FailTurn(ctx context.Context, f chat.TurnFailure) (chat.Turn, error) {
	return writing(m.life, func() (chat.Turn, error) { return m.Store.FailTurn(ctx, f) })
}

func (m *killable) ProposeCalls(ctx context.Context, id chat.TurnID, s chat.StepEnd, calls []chat.ProposedCall) (chat.ToolBatch, error) {
	return writing(m.life, func() (chat.ToolBatch, error) { return m.Store.ProposeCalls(ctx, id, s, calls) })
}

func (m *killable) DecideCall(ctx context.Context, d chat.CallDecision) error {
	return m.write(func() error { return m.Store.DecideCall(ctx, d) })
}

func (m *killable) StartCall(ctx context.Context, id chat.ToolCallID, r []chat.CallRedaction) error {
	return m.write(func() error { return m.Store.StartCall(ctx, id, r) })
}

func (m *killable) EndCall(ctx context.Context, end chat.CallEnd) error {
	return m.write(func() error { return m.Store.EndCall(ctx, end) })
}

func (m *killable) CommitBatch(ctx context.Context, id chat.ToolBatchID) error {
	return m.write(func() error { return m.Store.CommitBatch(ctx, id) })
}

func (m *killable) AbandonBatches(ctx context.Context, id chat.TurnID) error {
	return m.write(func() error { return m.Store.AbandonBatches(ctx, id) })
}

func (m *killable) Enqueue(ctx context.Context, branch chat.BranchID, msg chat.Message, at int, clearDraft bool) (chat.QueuedMessage, error) {
	return writing(m.life, func() (chat.QueuedMessage, error) { return m.Store.Enqueue(ctx, branch, msg, at, clearDraft) })
}

func (m *killable) PutSizes(ctx context.Context, encoding string, sizes []chat.TurnSize) error {
	return m.write(func() error { return m.Store.PutSizes(ctx, encoding, sizes) })
}

func (m *killable) ObserveCalibration(ctx context.Context, provider, model string, estimated, reported int) error {
	return m.write(func() error { return m.Store.ObserveCalibration(ctx, provider, model, estimated, reported) })
}

func (m *killable) ClaimJob(ctx context.Context, lease time.Duration, types ...chat.JobType) (chat.Job, bool, error) {
	if err := m.life.write(); err != nil {
		return chat.Job{}, false, err
	}
	return m.Store.ClaimJob(ctx, lease, types...)
}

func (m *killable) FinishJob(ctx context.Context, h chat.Lease) error {
	return m.write(func() error { return m.Store.FinishJob(ctx, h) })
}

func (m *killable) FailJob(ctx context.Context, h chat.Lease, why chat.Phrase, after time.Duration) (chat.Job, error) {
	return writing(m.life, func() (chat.Job, error) { return m.Store.FailJob(ctx, h, why, after) })
}

func (m *killable) PostponeJob(ctx context.Context, h chat.Lease, pause time.Duration) error {
	return m.write(func() error { return m.Store.PostponeJob(ctx, h, pause) })
}

func (m *killable) Commit(ctx context.Context, c chat.Commit) (chat.State, error) {
	return writing(m.life, func() (chat.State, error) { return m.Store.Commit(ctx, c) })
}

func (m *killable) Index(ctx context.Context, i chat.Indexing) error {
	return m.write(func() error { return m.Store.Index(ctx, i) })
}

func (m *killable) RequeueMissing(ctx context.Context) (int, error) {
	return writing(m.life, func() (int, error) { return m.Store.RequeueMissing(ctx) })
}

func (m *killable) PutSetting(ctx context.Context, key, value string) error {
	return m.write(func() error { return m.Store.PutSetting(ctx, key, value) })
}

// killableFS is a file system whose writes fail once a life is over; the last write may be torn.
type killableFS struct {
	journal.FS
	life *life
}

func (f killableFS) Create(path string) (journal.File, error) {
	if err := f.life.write(); err != nil {
		return nil, err
	}
	file, err := f.FS.Create(path)
	return killableFile{file, f.life}, err
}

func (f killableFS) Remove(path string) error {
	if err := f.life.write(); err != nil {
		return err
	}
	return f.FS.Remove(path)
}

type killableFile struct {
	journal.File
	life *life
}

func (f killableFile) Write(p []byte) (int, error) {
	remaining := f.life.writes.Add(-1)
	switch {
	case remaining < 0:
		return 0, errKilled
	case remaining == 0:
		n, _ := f.File.Write(p[:len(p)/2])
		return n, errKilled
	}
	return f.File.Write(p)
}

// program is one run of the program on an environment's directory, with its reconciler.
type program struct {
	*env
	life       *life
	clock      *clock.Fake
	reconciler *jobs.Reconciler
}

// run opens the directory for this many writes.
func (w *env) run(c *clock.Fake, writes int64) *program {
	w.t.Helper()
	p := &program{env: w, life: &life{}, clock: c}
	p.life.writes.Store(writes)
	var now clock.Clock
	if c != nil {
		now = c.Now
	}
	storetest.Fill(w.t, w.dir)
	s, err := store.Open(context.Background(), store.Options{DataDir: w.dir, Clock: now, Scratch: true})
	if err != nil {
		w.t.Fatal(err)
	}
	m := &killable{s, p.life}
	w.store = s
	w.journals = journal.New(journal.Options{Dir: filepath.Join(w.dir, "streams"), FS: killableFS{journal.OS(), p.life}})
	w.jobs = jobs.NewRunner(jobs.Deps{Queue: m, Store: m, Publish: w.published, Counter: words{}, TargetTokens: func() int { return 1200 }, Clock: now})
	w.branches = branches.New(s, w.jobs, w.published)
	d := turn.Deps{
		Turns: m, History: m, Contexts: m, Drafts: m, Calls: m, Journals: w.journals, Models: models{w}, Branches: w.branches, Publish: w.published, Counter: words{},
		Settings: func() turn.Settings { return w.settings }, Clock: now,
	}
	if w.tools != nil {
		d.Tools = w.tools
	}
	w.engine = turn.NewEngine(d)
	p.reconciler = jobs.NewReconciler(jobs.ReconcilerDeps{
		Turns: w.engine, Store: m, Runner: w.jobs, Publish: w.published, Clock: now,
	})
	return p
}

// die ends a run like a kill: nothing that it does afterwards reaches the disk.
func (p *program) die() {
	p.life.writes.Store(0)
	p.reconciler.Stop()
	p.close()
}
