package queue

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// RequeueMissing is the reconciler's part of SRD 6.4: a pending turn without a
// live summarize_turn job gets one, a committed one without index_turn too, and
// jobs whose lease ran out are due again. Dead jobs stay dead. It answers how many
// it made due; running it again makes none.
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
			made, err := requeue(t, q.kind, q.where)
			if err != nil {
				return err
			}
			n += made
		}
		return nil
	})
	return n, err
}

func requeue(t *core.Tx, kind chat.JobType, where string) (int, error) {
	turns, err := sqlite.All[schema.TurnRow](t.DB, `SELECT t.id, t.session_id, t.branch_id FROM turns t
		LEFT JOIN jobs j ON j.job_key = ? || ':' || t.id
		WHERE `+where+` AND (j.id IS NULL OR j.state = 'done') ORDER BY t.branch_id, t.turn_seq`, kind)
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

// RequeueOlder makes index_turn due again for turns that are found by what an
// earlier chunker than this version cut, the newest first, up to a limit, after all
// other work. It answers how many it made due.
func (s *Queue) RequeueOlder(ctx context.Context, version, limit int) (int, error) {
	var turns []schema.TurnRow
	err := s.Write(ctx, "job.requeue", func(t *core.Tx) (err error) {
		turns, err = sqlite.All[schema.TurnRow](t.DB, `SELECT t.id, t.session_id, t.branch_id FROM turns t
			LEFT JOIN jobs j ON j.job_key = ? || ':' || t.id
			WHERE t.phase = 'Done' AND (j.id IS NULL OR j.state = 'done') AND t.id IN (SELECT c.source_turn FROM chunks c
			  WHERE c.chunker_version < ? AND EXISTS (SELECT 1 FROM units u WHERE u.chunk_id = c.id))
			ORDER BY t.id DESC LIMIT ?`, chat.JobIndexTurn, version, limit)
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

// releaseJobs ends leases that ran out before a moment.
func releaseJobs(t *core.Tx, before string) (int64, error) {
	return t.Exec(`UPDATE jobs SET state = CASE WHEN attempts >= ? THEN 'dead' ELSE 'queued' END, lease_until = NULL,
		last_error = ?, updated_at = ?
		WHERE state = 'running' AND lease_until <= ?`, chat.MaxJobAttempts, interrupted, t.Stamp(), before)
}

// ReleaseOrphanedJobs runs when the writer's lock was just taken: whatever was
// running belonged to a process that is gone, its lease along with it.
func ReleaseOrphanedJobs(ctx context.Context, s *Queue) error {
	return s.Write(ctx, "store.open", func(t *core.Tx) error {
		again, err := sqlite.All[int64](t.DB, `SELECT id FROM jobs WHERE state = 'running' AND attempts < ?`, chat.MaxJobAttempts)
		if err != nil {
			return err
		}
		s.orphaned.Store(int64(len(again)))
		_, err = releaseJobs(t, core.EndOfTime)
		return err
	})
}

// Orphaned is how many jobs opening took from a process that is gone. It answers it
// once: the report of the start is where it belongs.
func (s *Queue) Orphaned() int {
	return int(s.orphaned.Swap(0))
}

// PendingIDs are the turns of all sessions that are final and in no state yet.
func (s *Queue) PendingIDs(ctx context.Context) ([]chat.TurnID, error) {
	return core.All[chat.TurnID](ctx, s, "turn.pending", `SELECT id FROM turns WHERE phase = 'ResponseFinalized' ORDER BY id`)
}
