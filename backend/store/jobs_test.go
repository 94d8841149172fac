package store

import (
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/queue"
	"contextinfinity/backend/store/sqlite"
)

func TestJobs(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.say(b.ID, "x", "y")
	job, found, err := f.ClaimJob(f.ctx, time.Minute, chat.JobSummarizeTurn)
	f.ok(err)
	if !found || job.TurnID != turn.ID || job.Attempts != 1 || job.State != chat.JobRunning {
		t.Fatalf("%v %+v", found, job)
	}
	if _, found, err := f.ClaimTurnJobs(f.ctx, time.Minute, turn.ID); found || err != nil {
		t.Fatal("claimed twice", err)
	}
	job, err = f.FailJob(f.ctx, job.Lease(), chat.Quote("no \xff luck"), time.Hour)
	f.ok(err)
	if job.State != chat.JobQueued || job.LastError != "no \uFFFD luck" {
		t.Errorf("%+v", job)
	}
	if _, found, _ := f.ClaimJob(f.ctx, time.Minute); found {
		t.Error("claimed before it was due")
	}
	f.clock.Advance(time.Hour)
	for try := 2; try <= chat.MaxJobAttempts; try++ {
		job, found, err = f.ClaimTurnJobs(f.ctx, time.Minute, turn.ID, chat.JobSummarizeTurn)
		f.ok(err)
		if !found || job.Attempts != try {
			t.Fatalf("try %d: %v %+v", try, found, job)
		}
		job, err = f.FailJob(f.ctx, job.Lease(), chat.Quote("again"), 0)
		f.ok(err)
	}
	if job.State != chat.JobFailed {
		t.Fatalf("after %d tries %+v", chat.MaxJobAttempts, job)
	}
	if n, err := f.RequeueMissing(f.ctx); n != 0 || err != nil {
		t.Errorf("a failed job was requeued: %d %v", n, err)
	}
	if _, _, failed, err := f.JobCounts(f.ctx); failed != 1 || err != nil {
		t.Errorf("%d failed, %v", failed, err)
	}
	f.ok(f.RetryJob(f.ctx, job.ID))
	f.commitAll(b.ID)
	job, _, err = f.JobFor(f.ctx, turn.ID, chat.JobSummarizeTurn)
	f.ok(err)
	if job.State != chat.JobDone {
		t.Errorf("the commit did not complete its job: %+v", job)
	}
	f.refused(f.DismissJob(f.ctx, job.ID), chat.CodeConflict)
	f.refused(f.RetryJob(f.ctx, 4711), chat.CodeNotFound)
}

func TestLeases(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.say(b.ID, "x", "y")
	first, _, err := f.ClaimJob(f.ctx, time.Minute)
	f.ok(err)
	f.clock.Advance(2 * time.Minute)
	second, found, err := f.ClaimJob(f.ctx, time.Minute)
	f.ok(err)
	if !found || second.ID != first.ID || second.Attempts != 2 {
		t.Fatalf("an expired lease: %v %+v", found, second)
	}
	f.reopen() // the process with the second lease has ended
	third, found, err := f.ClaimJob(f.ctx, time.Minute)
	f.ok(err)
	if !found || third.Attempts != 3 {
		t.Fatalf("an orphaned lease: %v %+v", found, third)
	}
	f.clock.Advance(2 * time.Minute)
	if n, err := f.RequeueMissing(f.ctx); n != 1 || err != nil {
		t.Errorf("requeued %d, %v", n, err)
	}
	if n, err := f.RequeueMissing(f.ctx); n != 0 || err != nil {
		t.Errorf("requeued again %d, %v", n, err)
	}
}

// TestAJobThatAlwaysCrashesFails: a job that crashes the process each time fails after the last attempt.
func TestAJobThatAlwaysCrashesFails(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.say(b.ID, "x", "y")
	for range chat.MaxJobAttempts {
		if _, found, err := f.ClaimJob(f.ctx, time.Hour); !found || err != nil {
			t.Fatal(found, err)
		}
		f.reopen()
	}
	if _, found, _ := f.ClaimJob(f.ctx, time.Hour); found {
		t.Error("it was retried")
	}
	if _, _, failed, _ := f.JobCounts(f.ctx); failed != 1 {
		t.Errorf("%d failed", failed)
	}
}

func TestRequeueMissing(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	one, two := f.say(b.ID, "1", "a"), f.say(b.ID, "2", "b")
	f.commitRun(b.ID, one.ID)
	f.ok(f.core.DB.Writer.Exec(`DELETE FROM jobs`).Error)
	if n, err := f.RequeueMissing(f.ctx); n != 2 || err != nil {
		t.Fatalf("requeued %d, %v", n, err)
	}
	for turn, kind := range map[chat.TurnID]chat.JobType{one.ID: chat.JobIndexTurn, two.ID: chat.JobSummarizeTurn} {
		if job, found, err := f.JobFor(f.ctx, turn, kind); !found || job.State != chat.JobQueued || err != nil {
			t.Errorf("%s of %s: %v %+v %v", kind, turn, found, job, err)
		}
	}
	if n, err := f.RequeueMissing(f.ctx); n != 0 || err != nil {
		t.Fatalf("requeued again %d, %v", n, err)
	}
}

// TestOldDoneJobsAreDeleted: the newest done jobs are kept, and so are all unfinished jobs and those of range
// summaries.
func TestOldDoneJobsAreDeleted(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	unfinished := f.say(b.ID, "one", "first answer")
	f.ok(f.core.DB.Writer.Exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
		INSERT INTO jobs (job_type, job_key, state, run_after, created_at, updated_at)
		SELECT kind.column1, kind.column1 || ':' || i, 'done', '', '', '' FROM n, (VALUES ('index_turn'), ('summarize_range')) kind`).Error)
	f.ok(f.core.Write(f.ctx, "test", func(t *core.Tx) error { return queue.PruneJobs(t) }))
	for kind, want := range map[string]int{"index_turn": queue.KeptJobs, "summarize_range": 300, "summarize_turn": 1} {
		n, err := sqlite.One[int](f.core.DB.Reader, kind, "", `SELECT count(*) FROM jobs WHERE job_type = ?`, kind)
		f.ok(err)
		if n != want {
			t.Errorf("%d %s jobs, want %d", n, kind, want)
		}
	}
	newest, err := sqlite.One[int](f.core.DB.Reader, "jobs", "", `SELECT count(*) FROM jobs WHERE job_key = 'index_turn:300'`)
	f.ok(err)
	if newest != 1 {
		t.Error("the newest job was deleted")
	}
	if job, ok, err := f.JobFor(f.ctx, unfinished.ID, chat.JobSummarizeTurn); err != nil || !ok || job.State != chat.JobQueued {
		t.Errorf("job %+v, %v", job, err)
	}
}
