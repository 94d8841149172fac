package queue

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// RequeueMissing is the reconciler's part of SRD 6.4: a pending turn without a live summarize_turn job gets one, as
// does a committed turn without index_turn, and jobs with an expired lease are due again. Failed jobs stay failed. It
// returns how many it queued; calling it again queues none. Turns of other devices get their state summaries and index
// from there.
func (s *Queue) RequeueMissing(ctx context.Context) (int, error) {
	var n int
	err := s.Write(ctx, "job.requeue", func(t *core.Tx) error {
		if err := capJobs(t); err != nil {
			return err
		}
		released, err := releaseJobs(t, t.Stamp())
		if err != nil {
			return err
		}
		n = int(released)
		for _, q := range []struct {
			kind  chat.JobType
			where string
		}{
			{chat.JobSummarizeTurn, `t.phase = 'ResponseFinalized'`},
			{chat.JobIndexTurn, `t.phase = 'StateCommitted' AND t.index_status <> 'degraded'`},
		} {
			queued, err := requeue(t, q.kind, q.where)
			if err != nil {
				return err
			}
			n += queued
		}
		return nil
	})
	return n, err
}

func requeue(t *core.Tx, kind chat.JobType, where string) (int, error) {
	turns, err := sqlite.All[schema.TurnRow](t.DB, `SELECT t.id, t.session_id, t.branch_id FROM turns t
		LEFT JOIN jobs j ON j.job_key = ? || ':' || t.id
		WHERE `+where+` AND (j.id IS NULL OR j.state = 'done') AND `+core.MayFinish+` ORDER BY t.branch_id, t.turn_seq`,
		append([]any{kind}, t.Device.Finishing()...)...)
	if err != nil {
		return 0, err
	}
	for _, turn := range turns {
		if err := Enqueue(t, kind, turn); err != nil {
			return 0, err
		}
	}
	return len(turns), nil
}

// RequeueOlder queues index_turn for turns that were cut by an older version of the chunker, newest first, up to a
// limit, with a lower priority than all other work. It returns how many it queued.
func (s *Queue) RequeueOlder(ctx context.Context, version, limit int) (int, error) {
	var turns []schema.TurnRow
	err := s.Write(ctx, "job.requeue", func(t *core.Tx) (err error) {
		turns, err = sqlite.All[schema.TurnRow](t.DB, `SELECT t.id, t.session_id, t.branch_id FROM turns t
			LEFT JOIN jobs j ON j.job_key = ? || ':' || t.id
			WHERE t.phase = 'Done' AND (j.id IS NULL OR j.state = 'done') AND t.id IN (SELECT c.source_turn FROM chunks c
			  WHERE c.chunker_version < ? AND EXISTS (SELECT 1 FROM units u WHERE u.chunk_id = c.id))
			  AND `+core.MayFinish+`
			ORDER BY t.id DESC LIMIT ?`, append(append([]any{chat.JobIndexTurn, version}, t.Device.Finishing()...), limit)...)
		for _, turn := range turns {
			if err == nil {
				err = enqueueAt(t, priorityOlder, chat.JobIndexTurn, turn)
			}
		}
		return err
	})
	return len(turns), err
}

// interrupted is the last error of a job whose process ended while it ran.
const interrupted = "The program ended while this was running."

// releaseJobs releases leases that expired before a time.
func releaseJobs(t *core.Tx, before string) (int64, error) {
	return t.Exec(`UPDATE jobs SET state = CASE WHEN attempts >= ? THEN 'dead' ELSE 'queued' END, lease_until = NULL,
		last_error = ?, updated_at = ?
		WHERE state = 'running' AND lease_until <= ?`, chat.MaxJobAttempts, interrupted, t.Stamp(), before)
}

// ReleaseOrphanedJobs runs right after the writer's lock was taken: every running job and its lease belonged to a
// process that has ended.
func ReleaseOrphanedJobs(ctx context.Context, s *Queue) error {
	return s.Write(ctx, "store.open", func(t *core.Tx) error {
		retried, err := sqlite.All[int64](t.DB, `SELECT id FROM jobs WHERE state = 'running' AND attempts < ?`, chat.MaxJobAttempts)
		if err != nil {
			return err
		}
		s.orphaned.Store(int64(len(retried)))
		_, err = releaseJobs(t, core.EndOfTime)
		return err
	})
}

// Orphaned returns, once, how many jobs of a dead process were released at opening, for the start's report.
func (s *Queue) Orphaned() int {
	return int(s.orphaned.Swap(0))
}

// PendingIDs returns the final turns of all sessions that no state summary covers yet, without those that another device
// commits.
func (s *Queue) PendingIDs(ctx context.Context) ([]chat.TurnID, error) {
	return core.All[chat.TurnID](ctx, s, "turn.pending", `SELECT t.id FROM turns t
		WHERE t.phase = 'ResponseFinalized' AND `+core.MayFinish+` ORDER BY t.id`, s.Device().Finishing()...)
}
