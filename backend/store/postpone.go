package store

import (
	"context"
	"time"

	"contextinfinity/backend/chat"
)

// PostponeJob puts a claimed job back for later because there is nothing to do
// yet: the try is not counted.
func (s *Store) PostponeJob(ctx context.Context, id int64, pause time.Duration) error {
	return s.write(ctx, "job.postpone", func(t *tx) error {
		_, err := t.exec(`UPDATE jobs SET state = 'queued', attempts = max(attempts - 1, 0), lease_until = NULL, run_after = ?, updated_at = ?
			WHERE id = ? AND state = 'running'`, chat.FormatTime(t.now.Add(pause)), t.stamp(), id)
		return err
	})
}
