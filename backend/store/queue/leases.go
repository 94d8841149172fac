package queue

import (
	"context"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// firstFailed selects the job that a job of the outer query waits for: turns are committed in order, so the job of a
// turn does not run while that of an earlier turn of its branch has failed or waits for a retry. Nothing else waits
// for a failed job.
const firstFailed = `SELECT b.id FROM jobs b JOIN turns bt ON bt.id = b.turn_id JOIN turns jt ON jt.id = jobs.turn_id
	WHERE jobs.job_type = 'summarize_turn' AND b.job_type = 'summarize_turn' AND b.state IN ('queued', 'dead') AND b.attempts > 0
	  AND b.branch_id = jobs.branch_id AND bt.phase = 'ResponseFinalized' AND bt.turn_seq < jt.turn_seq`

// ClaimJob leases the next due job of these types (none given: any). The try is counted before it starts, so that a
// job that kills its process eventually counts as failed. A job that waits for another is not claimed.
func (s *Queue) ClaimJob(ctx context.Context, lease time.Duration, types ...chat.JobType) (chat.Job, bool, error) {
	return s.claim(ctx, lease, "", types)
}

// ClaimTurnJobs is ClaimJob for the jobs of one turn, due or not. A person waits for them, so a blocking job is
// detected by trying.
func (s *Queue) ClaimTurnJobs(ctx context.Context, lease time.Duration, turn chat.TurnID, types ...chat.JobType) (chat.Job, bool, error) {
	if turn == "" {
		return chat.Job{}, false, chat.Errorf(chat.CodeInvalid, "job.claim", "No turn was named.")
	}
	return s.claim(ctx, lease, turn, types)
}

func anyType(types []chat.JobType) []chat.JobType {
	if len(types) > 0 {
		return types
	}
	return []chat.JobType{chat.JobSummarizeTurn, chat.JobIndexTurn, chat.JobSummarizeRange, chat.JobSummarizeChunks}
}

func (s *Queue) claim(ctx context.Context, lease time.Duration, turn chat.TurnID, types []chat.JobType) (chat.Job, bool, error) {
	var rows []schema.JobRow
	err := s.Write(ctx, "job.claim", func(t *core.Tx) (err error) {
		if err := capJobs(t); err != nil {
			return err
		}
		now := t.Stamp()
		rows, err = sqlite.All[schema.JobRow](t.DB, `
			UPDATE jobs SET state = 'running', attempts = attempts + 1, claim = claim + 1, lease_until = ?, updated_at = ?
			WHERE id = (SELECT id FROM jobs WHERE state IN ('queued', 'running')
			  AND (state = 'queued' AND (run_after <= ? OR turn_id = ?) OR state = 'running' AND lease_until <= ?)
			  AND attempts < ? AND job_type IN ? AND (? = '' OR turn_id = ?) AND (? <> '' OR NOT EXISTS (`+firstFailed+`))
			  ORDER BY priority DESC, run_after, id LIMIT 1)
			RETURNING *`,
			chat.FormatTime(t.Now.Add(min(lease, chat.MaxJobLease))), now, now, turn, now, chat.MaxJobAttempts, anyType(types), turn, turn, turn)
		return err
	})
	if err != nil || len(rows) == 0 {
		return chat.Job{}, false, err
	}
	return rows[0].Job(), true, nil
}

// NextJob returns the time until a job of these types can be claimed, 0 if one can be now; false: none is waiting,
// except for another job.
func (s *Queue) NextJob(ctx context.Context, types ...chat.JobType) (time.Duration, bool, error) {
	var due []string
	now := s.Clock.Now()
	err := s.Read(ctx, "job.next", func(db *gorm.DB) (err error) {
		due, err = sqlite.All[string](db, `SELECT CASE state WHEN 'queued' THEN run_after ELSE lease_until END AS due FROM jobs
			WHERE state IN ('queued', 'running') AND attempts < ? AND job_type IN ? AND NOT EXISTS (`+firstFailed+`)
			ORDER BY due LIMIT 1`, chat.MaxJobAttempts, anyType(types))
		return err
	})
	if err != nil || len(due) == 0 {
		return 0, false, err
	}
	return min(max(0, schema.ParseTime(due[0]).Sub(now)), chat.MaxJobPause), true, nil
}

// RenewJob extends a job's lease while it is worked on. A lost lease is an error for which chat.LeaseLost is true. A
// lease that expired but was not taken over is renewed: the clock may have jumped.
func (s *Queue) RenewJob(ctx context.Context, h chat.Lease, lease time.Duration) error {
	return s.Write(ctx, "job.renew", func(t *core.Tx) error {
		n, err := t.Exec(`UPDATE jobs SET lease_until = ? WHERE id = ? AND claim = ? AND state = 'running'`,
			chat.FormatTime(t.Now.Add(min(lease, chat.MaxJobLease))), h.Job, h.Claim)
		if err == nil && n == 0 {
			err = chat.LeaseLostError(h.Job)
		}
		return err
	})
}

// CheckLease refuses a worker whose try of a job is no longer the running one: the check before every effect (SRD
// 6.5). The zero Lease is for callers that are not workers: nothing is checked.
func CheckLease(t *core.Tx, h chat.Lease) error {
	if h.Job == 0 {
		return nil
	}
	running, err := sqlite.All[int64](t.DB, `SELECT id FROM jobs WHERE id = ? AND claim = ? AND state = 'running'`, h.Job, h.Claim)
	if err == nil && len(running) == 0 {
		err = chat.LeaseLostError(h.Job)
	}
	return err
}

// FinishJob ends a job after CheckLease passed; the same transaction may have ended it already.
func FinishJob(t *core.Tx, h chat.Lease) error {
	if h.Job == 0 {
		return nil
	}
	err := t.Run(`UPDATE jobs SET state = 'done', lease_until = NULL, last_error = '', updated_at = ?
		WHERE id = ? AND claim = ? AND state = 'running'`, t.Stamp(), h.Job, h.Claim)
	if err != nil {
		return err
	}
	return PruneJobs(t)
}

// FinishJob marks a job as done whose effect needed no transaction. A job that is already done or deleted is not an
// error: another worker may have done it.
func (s *Queue) FinishJob(ctx context.Context, h chat.Lease) error {
	return s.Write(ctx, "job.finish", func(t *core.Tx) error { return FinishJob(t, h) })
}

// FailJob records a failed try: the job is retried after retryAfter, or fails permanently once all tries are used up.
// It returns the job as it now is; a try that had lost its lease changes nothing. why must not contain a key or
// a prompt.
func (s *Queue) FailJob(ctx context.Context, h chat.Lease, why chat.Phrase, retryAfter time.Duration) (chat.Job, error) {
	var row schema.JobRow
	err := s.Write(ctx, "job.fail", func(t *core.Tx) error {
		if err := t.Run(`UPDATE jobs SET state = CASE WHEN attempts >= ? THEN 'dead' ELSE 'queued' END,
			lease_until = NULL, last_error = ?, run_after = ?, updated_at = ? WHERE id = ? AND claim = ? AND state = 'running'`,
			chat.MaxJobAttempts, lastError(why), chat.FormatTime(t.Now.Add(min(retryAfter, chat.MaxJobPause))), t.Stamp(),
			h.Job, h.Claim); err != nil {
			return err
		}
		var err error
		row, err = jobByID(t.DB, h.Job)
		return err
	})
	return row.Job(), err
}

// PostponeJob puts a claimed job back for later because there is nothing to do yet; the try is not counted.
func (s *Queue) PostponeJob(ctx context.Context, h chat.Lease, pause time.Duration) error {
	return s.Write(ctx, "job.postpone", func(t *core.Tx) error {
		return t.Run(`UPDATE jobs SET state = 'queued', attempts = max(attempts - 1, 0), lease_until = NULL, run_after = ?, updated_at = ?
			WHERE id = ? AND claim = ? AND state = 'running'`, chat.FormatTime(t.Now.Add(min(pause, chat.MaxJobPause))), t.Stamp(), h.Job, h.Claim)
	})
}

// capJobs shortens due times and leases that lie further in the future than possible: the clock was set back. A job
// then waits its original pause, from now.
func capJobs(t *core.Tx) error {
	far := chat.FormatTime(t.Now.Add(chat.MaxJobPause))
	late, err := sqlite.All[schema.JobRow](t.DB, `SELECT * FROM jobs WHERE state IN ('queued', 'running') AND (run_after > ? AND state = 'queued' OR lease_until > ?)`,
		far, chat.FormatTime(t.Now.Add(chat.MaxJobLease)))
	if err != nil {
		return err
	}
	for _, r := range late {
		pause := min(max(0, schema.ParseTime(r.RunAfter).Sub(schema.ParseTime(r.UpdatedAt))), chat.MaxJobPause)
		err := t.Run(`UPDATE jobs SET run_after = CASE state WHEN 'queued' THEN ? ELSE run_after END,
			lease_until = CASE state WHEN 'running' THEN ? END, updated_at = ? WHERE id = ?`,
			chat.FormatTime(t.Now.Add(pause)), chat.FormatTime(t.Now.Add(chat.MaxJobLease)), t.Stamp(), r.ID)
		if err != nil {
			return err
		}
	}
	return nil
}

// JitterJobs spreads the retries of failed jobs that are due over a period: after a jump of the clock or a sleep of
// the machine they would all run at once. It returns how many it postponed.
func (s *Queue) JitterJobs(ctx context.Context, within time.Duration) (int, error) {
	var ids []int64
	err := s.Write(ctx, "job.spread", func(t *core.Tx) (err error) {
		if err := capJobs(t); err != nil {
			return err
		}
		ids, err = sqlite.All[int64](t.DB, `SELECT id FROM jobs WHERE state = 'queued' AND attempts > 0 AND run_after <= ? ORDER BY run_after, id`, t.Stamp())
		for i, id := range ids {
			if err == nil {
				at := t.Now.Add(within * time.Duration(i) / time.Duration(len(ids)))
				err = t.Run(`UPDATE jobs SET run_after = ?, updated_at = ? WHERE id = ?`, chat.FormatTime(at), t.Stamp(), id)
			}
		}
		return err
	})
	return len(ids), err
}

// lastError returns the stored form of an error. One that is too long loses its translation.
func lastError(why chat.Phrase) string {
	if packed := why.Packed(); len(packed) <= MaxLastError {
		return schema.Clean(packed)
	}
	return schema.Clean(Cut(why.String(), MaxLastError))
}
