package store

import (
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

func (f *fixture) claim(types ...chat.JobType) chat.Job {
	f.Helper()
	job, found, err := f.ClaimJob(f.ctx, time.Minute, types...)
	f.ok(err)
	if !found {
		f.Fatal("nothing to claim")
	}
	return job
}

// TestALostLeaseIsRejected: whatever happened to a job since a worker claimed it, the worker can no longer complete,
// fail, defer, renew or use it.
func TestALostLeaseIsRejected(t *testing.T) {
	losing := map[string]func(*fixture, chat.Job){
		"taken over": func(f *fixture, _ chat.Job) {
			f.clock.Advance(2 * time.Minute)
			f.claim()
		},
		"taken over, its tries forgotten": func(f *fixture, j chat.Job) { // the number of attempts is the same again
			f.clock.Advance(2 * time.Minute)
			f.ok(f.DismissJob(f.ctx, j.ID))
			f.ok(f.RetryJob(f.ctx, j.ID))
			if again := f.claim(); again.Attempts != j.Attempts {
				f.Fatalf("the tries are %d and %d, so the test proves nothing", j.Attempts, again.Attempts)
			}
		},
		"released": func(f *fixture, _ chat.Job) {
			f.clock.Advance(2 * time.Minute)
			_, err := f.RequeueMissing(f.ctx)
			f.ok(err)
		},
		"given up": func(f *fixture, j chat.Job) { f.ok(f.DismissJob(f.ctx, j.ID)) },
	}
	for name, lose := range losing {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			_, b := f.session("s")
			turn := f.say(b.ID, "x", "y")
			job := f.claim(chat.JobSummarizeTurn)
			lose(f, job)
			before, _, err := f.JobFor(f.ctx, turn.ID, chat.JobSummarizeTurn)
			f.ok(err)
			branch, err := f.Branch(f.ctx, b.ID)
			f.ok(err)
			_, err = f.Commit(f.ctx, chat.Commit{BranchID: b.ID, Epoch: branch.Epoch, Turns: []chat.TurnID{turn.ID}, Summary: "s", Origin: chat.StateFallback, Job: job.Lease()})
			if !chat.LeaseLost(err) {
				t.Errorf("commit: %v", err)
			}
			if err := f.RenewJob(f.ctx, job.Lease(), time.Minute); !chat.LeaseLost(err) {
				t.Errorf("renew: %v", err)
			}
			f.ok(f.FinishJob(f.ctx, job.Lease()))
			f.ok(f.PostponeJob(f.ctx, job.Lease(), time.Minute))
			after, err := f.FailJob(f.ctx, job.Lease(), chat.Quote("late"), time.Minute)
			f.ok(err)
			if after.State != before.State || after.Attempts != before.Attempts || after.Claim != before.Claim || after.LastError != before.LastError {
				t.Errorf("the job was %+v and is %+v", before, after)
			}
			if now, err := f.Branch(f.ctx, b.ID); err != nil || now.Epoch != branch.Epoch {
				t.Errorf("the head moved: %v", err)
			}
			f.verifyClean()
		})
	}
}

// TestIndexAndSummariesNeedTheLease: a worker without its lease can store neither.
func TestIndexAndSummariesNeedTheLease(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	turn := f.committed(b.ID, "zebra question", "zebra answer")
	job := f.claim(chat.JobIndexTurn)
	f.ok(f.DismissJob(f.ctx, job.ID))
	i := f.indexing(turn.ID, chat.IndexOK)
	i.Job = job.Lease()
	if err := f.Index(f.ctx, i); !chat.LeaseLost(err) {
		t.Errorf("index: %v", err)
	}
	n := summaryOf(b.ID, 1, 2)
	n.Job = job.Lease()
	if _, err := f.AddSummary(f.ctx, n); !chat.LeaseLost(err) {
		t.Errorf("summary: %v", err)
	}
	if st, err := f.Stats(f.ctx); err != nil || st.Chunks != 0 {
		t.Errorf("%d chunks, %v", st.Chunks, err)
	}
}

// TestRenew: a renewed lease keeps the job, even if it expired in between and nobody claimed the job.
func TestRenew(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.say(b.ID, "x", "y")
	job := f.claim()
	for range 5 {
		f.clock.Advance(50 * time.Second)
		f.ok(f.RenewJob(f.ctx, job.Lease(), time.Minute))
		if _, found, err := f.ClaimJob(f.ctx, time.Minute); found || err != nil {
			t.Fatal("claimed while it was held", err)
		}
	}
	f.clock.Advance(72 * time.Hour) // the clock jumped or the machine slept; nobody claimed the job
	f.ok(f.RenewJob(f.ctx, job.Lease(), time.Minute))
	f.ok(f.FinishJob(f.ctx, job.Lease()))
}

// TestAFailingJobBlocksOnlyLaterTurnsOfItsBranch: turns are committed in order, so later turns of the branch wait and
// report why. Other branches and other kinds of jobs continue.
func TestAFailingJobBlocksOnlyLaterTurnsOfItsBranch(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	_, other := f.session("other")
	done := f.committed(b.ID, "0", "a")
	f.say(b.ID, "1", "a")
	f.say(b.ID, "2", "b")
	free := f.say(other.ID, "3", "c")
	first := f.claim(chat.JobSummarizeTurn)
	_, err := f.FailJob(f.ctx, first.Lease(), chat.Quote("poison"), time.Minute)
	f.ok(err)
	if job := f.claim(chat.JobSummarizeTurn); job.TurnID != free.ID {
		t.Fatalf("claimed %+v", job)
	}
	if job := f.claim(); job.TurnID != done.ID || job.Type != chat.JobIndexTurn {
		t.Fatalf("claimed %+v", job)
	}
	if _, found, err := f.ClaimJob(f.ctx, time.Minute); found || err != nil {
		t.Fatal("a later turn was tried before the failed one", err)
	}
	list, err := f.Jobs(f.ctx, chat.JobQuery{State: chat.JobQueued})
	f.ok(err)
	for _, j := range list {
		if waits := j.ID != first.ID; (j.WaitsFor == first.ID) != waits {
			t.Errorf("job %d waits for %d", j.ID, j.WaitsFor)
		}
	}
	if wait, ok, err := f.NextJob(f.ctx, chat.JobSummarizeTurn); err != nil || !ok || wait <= 0 || wait > time.Minute {
		t.Errorf("the next is due in %v, %v, %v", wait, ok, err)
	}
	f.clock.Advance(time.Minute)
	f.ok(f.RetryJob(f.ctx, first.ID))
	f.commitAll(b.ID)
	list, err = f.Jobs(f.ctx, chat.JobQuery{})
	f.ok(err)
	for _, j := range list {
		if j.WaitsFor != 0 {
			t.Errorf("job %d still waits for %d", j.ID, j.WaitsFor)
		}
	}
}

// TestAFailedJobBlocksLaterTurns: the jobs of later turns are neither tried nor due.
func TestAFailedJobBlocksLaterTurns(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.say(b.ID, "1", "a")
	f.say(b.ID, "2", "b")
	first := f.claim()
	f.ok(f.DismissJob(f.ctx, first.ID))
	if _, found, err := f.ClaimJob(f.ctx, time.Minute); found || err != nil {
		t.Fatal("the head would skip a turn", err)
	}
	if wait, ok, err := f.NextJob(f.ctx); ok || err != nil {
		t.Errorf("due in %v, %v", wait, err)
	}
}

// TestTheClockIsSetBack: a deferred or leased job waits as long as intended, counted from the new time, and not for
// hours.
func TestTheClockIsSetBack(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	_, other := f.session("other")
	f.say(b.ID, "x", "y")
	f.say(other.ID, "x", "y")
	f.clock.Advance(10 * time.Hour)
	failed, leased := f.claim(), f.claim()
	_, err := f.FailJob(f.ctx, failed.Lease(), chat.Quote("again"), 40*time.Second)
	f.ok(err)
	f.clock.Advance(-9 * time.Hour)
	if _, found, err := f.ClaimJob(f.ctx, time.Minute); found || err != nil {
		t.Fatal("retried before its pause ended", err)
	}
	f.clock.Advance(40 * time.Second)
	if job := f.claim(); job.ID != failed.ID {
		t.Fatalf("claimed %+v", job)
	}
	f.clock.Advance(chat.MaxJobLease)
	if job := f.claim(); job.ID != leased.ID && job.ID != failed.ID {
		t.Fatalf("claimed %+v", job)
	}
	if job := f.claim(); job.ID != leased.ID && job.ID != failed.ID {
		t.Fatalf("claimed %+v", job)
	}
}

// TestTheClockIsSetForward: failed jobs that become due together are retried one at a time and do not delay new jobs.
func TestTheClockIsSetForward(t *testing.T) {
	f := newFixture(t)
	const many = 10
	for range many {
		_, b := f.session("s")
		f.say(b.ID, "x", "y")
	}
	for range many {
		_, err := f.FailJob(f.ctx, f.claim().Lease(), chat.Quote("again"), 5*time.Minute)
		f.ok(err)
	}
	f.clock.Advance(72 * time.Hour)
	_, fresh := f.session("fresh")
	turn := f.say(fresh.ID, "x", "y")
	if n, err := f.JitterJobs(f.ctx, 5*time.Minute); n != many || err != nil {
		t.Fatalf("spread %d, %v", n, err)
	}
	one, two := f.claim(), f.claim()
	if one.TurnID != turn.ID && two.TurnID != turn.ID {
		t.Error("a new job waits")
	}
	f.ok(f.FinishJob(f.ctx, one.Lease()))
	f.ok(f.FinishJob(f.ctx, two.Lease()))
	tried := 1
	for range 10 {
		at := 0
		for f.finishNextJob() {
			at++
		}
		if at > 1 {
			t.Errorf("%d at once", at)
		}
		tried += at
		f.clock.Advance(30 * time.Second)
	}
	if tried != many {
		t.Errorf("%d of %d were tried in the time", tried, many)
	}
}

func (f *fixture) finishNextJob() bool {
	job, found, err := f.ClaimJob(f.ctx, time.Minute)
	f.ok(err)
	f.ok(f.FinishJob(f.ctx, job.Lease()))
	return found
}

// TestNextJob returns how long to wait for the next job, including leases that expire, at most the longest pause.
func TestNextJob(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	next := func(want time.Duration, some bool, types ...chat.JobType) {
		t.Helper()
		if got, ok, err := f.NextJob(f.ctx, types...); got != want || ok != some || err != nil {
			t.Errorf("%v, %v, %v; want %v, %v", got, ok, err, want, some)
		}
	}
	next(0, false)
	f.say(b.ID, "x", "y")
	next(0, true)
	next(0, false, chat.JobIndexTurn)
	job := f.claim()
	next(time.Minute, true)
	_, err := f.FailJob(f.ctx, job.Lease(), chat.Quote(""), time.Hour)
	f.ok(err)
	next(chat.MaxJobPause, true)
	f.ok(f.DismissJob(f.ctx, job.ID))
	next(0, false)
}

// TestCheckpoints: the log is emptied if nothing reads, and reused if something does; no checkpoint waits for long.
func TestCheckpoints(t *testing.T) {
	f := newFixture(t)
	f.session("s")
	if f.LogBytes() == 0 {
		t.Fatal("there is no log, so the test proves nothing")
	}
	before, err := f.Changes(f.ctx)
	f.ok(err)
	f.ok(f.CheckpointSome(f.ctx))
	if f.LogBytes() == 0 {
		t.Error("a passive checkpoint emptied the log")
	}
	reading := f.core.DB.Reader.Begin()
	f.ok(reading.Error)
	_, err = sqlite.One[int](reading, "n", "", `SELECT count(*) FROM sessions`)
	f.ok(err)
	f.session("more")
	f.ok(f.CheckpointIdle(f.ctx)) // with a reader, as far as possible
	if f.LogBytes() == 0 {
		t.Error("the log was emptied under a reader")
	}
	f.ok(reading.Rollback().Error)
	f.ok(f.CheckpointIdle(f.ctx))
	if n := f.LogBytes(); n != 0 {
		t.Errorf("the log has %d bytes", n)
	}
	if patience, err := sqlite.One[int](f.core.DB.Writer, "pragma", "", `PRAGMA busy_timeout`); err != nil || patience != 5000 {
		t.Errorf("writers now wait %d ms, %v", patience, err)
	}
	after, err := f.Changes(f.ctx)
	f.ok(err)
	if before == after {
		t.Error("a new session is not a change")
	}
	if _, found, err := f.ClaimJob(f.ctx, time.Minute); found || err != nil {
		t.Fatal(err)
	}
	if again, err := f.Changes(f.ctx); err != nil || again != after {
		t.Errorf("reading caused a change: %d, %d, %v", after, again, err)
	}
}
