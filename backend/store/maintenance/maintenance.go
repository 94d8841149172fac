// Package maintenance keeps the database small and fast, and reports its size.
package maintenance

import (
	"context"
	"os"

	"gorm.io/gorm"

	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// Maintenance keeps the database small and fast, and reports its size.
type Maintenance struct {
	*core.Core
	FinalSizes sizeCache
}

// New returns the maintenance of an open database.
func New(c *core.Core) *Maintenance {
	u := &Maintenance{Core: c}
	c.OnForget = append(c.OnForget, u.FinalSizes.Clear)
	return u
}

// Setting reads a piece of small application state.
func (s *Maintenance) Setting(ctx context.Context, key string) (string, bool, error) {
	rows, err := core.All[string](ctx, s, "setting.read", `SELECT value FROM settings WHERE key = ?`, key)
	if err != nil || len(rows) == 0 {
		return "", false, err
	}
	return rows[0], true, nil
}

// PutSetting stores a piece of small application state, such as the last session.
func (s *Maintenance) PutSetting(ctx context.Context, key, value string) error {
	return s.Write(ctx, "setting.write", func(t *core.Tx) error {
		return t.Run(`INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
			schema.Clean(key), schema.Clean(value), t.Stamp())
	})
}

// Stats are counts of the stored data, and its size.
type Stats struct {
	Sessions   int   `json:"sessions"`
	Branches   int   `json:"branches"`
	Turns      int   `json:"turns"`
	Pending    int   `json:"pending"`
	Steps      int   `json:"steps"`
	States     int   `json:"states"`
	Pins       int   `json:"pins"` // every version, in effect or not
	Chunks     int   `json:"chunks"`
	Units      int   `json:"units"`
	Vectors    int   `json:"vectors"` // of all namespaces
	Spaces     int   `json:"namespaces"`
	Events     int   `json:"events"`
	Jobs       int   `json:"jobs"`      // not done
	FailedJobs int   `json:"dead_jobs"` // the failed ones of them
	Schema     int64 `json:"schema"`
	Bytes      int64 `json:"bytes"` // database and its log on disk
}

// Stats counts the stored data.
func (s *Maintenance) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	err := s.Read(ctx, "store.stats", func(db *gorm.DB) error {
		return db.Raw(`SELECT
			(SELECT count(*) FROM sessions s WHERE ` + schema.Conversations + `) AS sessions,
			(SELECT count(*) FROM branches) - (SELECT count(*) FROM sessions WHERE source = 'files') AS branches,
			(SELECT count(*) FROM turns) - (SELECT count(*) FROM sessions WHERE source = 'files') AS turns,
			(SELECT count(*) FROM turns WHERE phase = 'ResponseFinalized') AS pending,
			(SELECT count(*) FROM steps) AS steps, (SELECT count(*) FROM states) AS states,
			(SELECT count(*) FROM pins) AS pins, (SELECT count(*) FROM chunks) AS chunks,
			(SELECT count(*) FROM units) AS units, (SELECT count(*) FROM unit_embeddings) AS vectors,
			(SELECT count(*) FROM namespaces WHERE state <> 'retired') AS spaces, (SELECT count(*) FROM events) AS events,
			(SELECT count(*) FROM jobs WHERE state IN ('queued', 'running', 'dead')) AS jobs,
			(SELECT count(*) FROM jobs WHERE state = 'dead') AS dead_jobs,
			(SELECT max(version_id) FROM ` + schema.VersionTable + `) AS schema`).Scan(&st).Error
	})
	for _, name := range []string{s.Path(), s.Path() + "-wal"} {
		if info, statErr := os.Stat(name); statErr == nil {
			st.Bytes += info.Size()
		}
	}
	return st, err
}
