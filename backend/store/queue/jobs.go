// Package queue is the durable job queue: jobs, the leases of their workers, and what is queued again.
package queue

import (
	"context"
	"sync/atomic"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Queue is the durable job queue.
type Queue struct {
	*core.Core
	// orphaned is how many jobs of a dead process were released when the data was opened.
	orphaned atomic.Int64
}

// priorities order due jobs: a turn is committed before one is indexed. A range is needed only once the cut reaches
// it; until then an extract is used.
var priorities = map[chat.JobType]int{
	chat.JobSummarizeTurn: 10, chat.JobIndexTurn: 0, chat.JobSummarizeRange: -10,
	chat.JobSummarizeChunks: -30,
}

// priorityOlder is for turns that are already searchable but could be found better.
const priorityOlder = -20

// PriorityImported is for imported turns: those written here come first.
const PriorityImported = -5

// MaxLastError limits a job's stored error.
const MaxLastError = 2000

// JobKey is unique: there is one job of each type per turn.
func JobKey(kind chat.JobType, turn string) string { return string(kind) + ":" + turn }

// Enqueue queues a turn's job now. An existing one is left alone, unless it is done: then the turn needs it again.
func Enqueue(t *core.Tx, kind chat.JobType, turn schema.TurnRow) error {
	return enqueueAt(t, priorities[kind], kind, turn)
}

func enqueueAt(t *core.Tx, priority int, kind chat.JobType, turn schema.TurnRow) error {
	now := t.Stamp()
	return t.Run(`
		INSERT INTO jobs (job_type, job_key, session_id, branch_id, turn_id, state, priority, run_after, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)
		ON CONFLICT (job_key) DO UPDATE SET state = 'queued', attempts = 0, last_error = '', run_after = excluded.run_after, priority = excluded.priority,
		  updated_at = excluded.updated_at WHERE state = 'done'`,
		kind, JobKey(kind, turn.ID), turn.SessionID, turn.BranchID, turn.ID, priority, now, now, now)
}

// EnqueueRange queues the summary of a range of a branch's lineage: from a turn_seq to the last turn, inclusive.
// There is only ever one such job: it returns false if the job exists, in whatever state, or the range has a live
// summary.
//
// The job belongs to the branch that owns the last turn, as its summary will.
func (s *Queue) EnqueueRange(ctx context.Context, branch chat.BranchID, from int64, lastTurn chat.TurnID) (bool, error) {
	var queued bool
	err := s.Write(ctx, "job.enqueue", func(t *core.Tx) (err error) {
		queued, err = enqueueRange(t, branch, from, lastTurn)
		return err
	})
	return queued, err
}

func enqueueRange(t *core.Tx, branch chat.BranchID, from int64, last chat.TurnID) (bool, error) {
	segs, err := core.Segments(t.DB, branch)
	if err != nil {
		return false, err
	}
	turn, err := schema.TurnHead(t.DB, last)
	if err != nil {
		return false, err
	}
	if !core.Shows(segs, turn) {
		return false, sqlite.Invalid("Turn %s is not in the history of this branch.", last)
	}
	if from < 1 || from > turn.TurnSeq {
		return false, sqlite.Invalid("Turns %d to %d are not a range.", from, turn.TurnSeq)
	}
	now := t.Stamp()
	n, err := t.Exec(`
		INSERT INTO jobs (job_type, job_key, session_id, branch_id, turn_id, state, priority, run_after, created_at, updated_at, from_seq)
		SELECT ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?
		WHERE NOT EXISTS (SELECT 1 FROM summaries WHERE branch_id = ? AND from_seq = ? AND to_seq = ? AND superseded_by IS NULL)
		ON CONFLICT (job_key) DO NOTHING`,
		chat.JobSummarizeRange, JobKey(chat.JobSummarizeRange, turn.ID)+":"+sqlite.Itoa(from), turn.SessionID, turn.BranchID, turn.ID,
		priorities[chat.JobSummarizeRange], now, now, now, from, turn.BranchID, from, turn.TurnSeq+1)
	return n > 0, err
}

// EndJob ends a turn's job whose purpose was achieved in another way.
func EndJob(t *core.Tx, kind chat.JobType, turn string) error {
	err := t.Run(`UPDATE jobs SET state = 'done', lease_until = NULL, last_error = '', updated_at = ?
		WHERE job_key = ? AND state <> 'done'`, t.Stamp(), JobKey(kind, turn))
	if err != nil {
		return err
	}
	return PruneJobs(t)
}

// KeptJobs is how many done jobs of a type are kept for inspection.
const KeptJobs = 200

// PruneJobs deletes the done jobs of turns except the newest: the phase of their turn shows the result. The job of a
// range stays, because it is queued only once.
func PruneJobs(t *core.Tx) error {
	for _, kind := range []chat.JobType{chat.JobSummarizeTurn, chat.JobIndexTurn, chat.JobSummarizeChunks} {
		if err := t.Run(`DELETE FROM jobs WHERE state = 'done' AND job_type = ? AND id <=
			(SELECT id FROM jobs WHERE state = 'done' AND job_type = ? ORDER BY id DESC LIMIT 1 OFFSET ?)`, kind, kind, KeptJobs); err != nil {
			return err
		}
	}
	return nil
}

// Cut shortens s to at most n bytes.
func Cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}

func jobByID(db *gorm.DB, id int64) (schema.JobRow, error) {
	return sqlite.One[schema.JobRow](db, "job", id, `SELECT * FROM jobs WHERE id = ?`, id)
}

// RetryJob makes a failed or waiting job due now and resets its tries.
func (s *Queue) RetryJob(ctx context.Context, id int64) error {
	return s.setJob(ctx, "job.retry", id, `UPDATE jobs SET state = 'queued', attempts = 0, run_after = ?, updated_at = ?
		WHERE id = ? AND state IN ('queued', 'dead')`, "running or done")
}

// DismissJob marks a job as failed: it is not tried again until RetryJob.
func (s *Queue) DismissJob(ctx context.Context, id int64) error {
	return s.setJob(ctx, "job.kill", id, `UPDATE jobs SET state = 'dead', lease_until = NULL, run_after = ?, updated_at = ?
		WHERE id = ? AND state IN ('queued', 'running', 'dead')`, "done")
}

func (s *Queue) setJob(ctx context.Context, op string, id int64, update, otherwise string) error {
	return s.Write(ctx, op, func(t *core.Tx) error {
		if _, err := jobByID(t.DB, id); err != nil {
			return err
		}
		n, err := t.Exec(update, t.Stamp(), t.Stamp(), id)
		if err == nil && n == 0 {
			err = sqlite.Conflict("Job %d is %s.", id, otherwise)
		}
		return err
	})
}

// Jobs lists jobs, newest first.
func (s *Queue) Jobs(ctx context.Context, q chat.JobQuery) ([]chat.Job, error) {
	limit := q.Limit
	if limit <= 0 {
		limit = -1
	}
	rows, err := core.All[schema.JobRow](ctx, s, "job.list", `SELECT jobs.*, CASE WHEN state = 'queued' THEN (`+firstFailed+` ORDER BY bt.turn_seq LIMIT 1) END AS waits_for
			FROM jobs WHERE (? = '' OR state = ?) AND (? = '' OR job_type = ?) AND (? = '' OR session_id = ?)
			ORDER BY id DESC LIMIT ?`, q.State, q.State, q.Type, q.Type, q.Session, q.Session, limit)
	return lists.Map(rows, schema.JobRow.Job), err
}

// JobCounts counts the jobs that are not done.
func (s *Queue) JobCounts(ctx context.Context) (queued, running, failed int, err error) {
	var c struct{ Queued, Running, Dead int }
	err = s.Read(ctx, "job.count", func(db *gorm.DB) error {
		return db.Raw(`SELECT coalesce(sum(state = 'queued'), 0) AS queued, coalesce(sum(state = 'running'), 0) AS running,
			coalesce(sum(state = 'dead'), 0) AS dead FROM jobs WHERE state IN ('queued', 'running', 'dead')`).Scan(&c).Error
	})
	return c.Queued, c.Running, c.Dead, err
}

// Unindexed counts the turns not yet indexed, by words and by vectors; an empty session means all.
func (s *Queue) Unindexed(ctx context.Context, session chat.SessionID) (int, error) {
	var n int
	err := s.Read(ctx, "job.unindexed", func(db *gorm.DB) error {
		return db.Raw(`SELECT count(DISTINCT turn_id) FROM jobs WHERE state IN ('queued', 'running') AND job_type IN (?, ?)
			AND (? = '' OR session_id = ?)`, chat.JobSummarizeTurn, chat.JobIndexTurn, session, session).Scan(&n).Error
	})
	return n, err
}

// JobFor finds a turn's job of a type.
func (s *Queue) JobFor(ctx context.Context, turn chat.TurnID, kind chat.JobType) (chat.Job, bool, error) {
	rows, err := core.All[schema.JobRow](ctx, s, "job.read", `SELECT * FROM jobs WHERE job_key = ?`, JobKey(kind, string(turn)))
	if err != nil || len(rows) == 0 {
		return chat.Job{}, false, err
	}
	return rows[0].Job(), true, nil
}
