package app

import (
	"context"
	"errors"
	"os"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/store"
)

// openBench opens a temporary store with everything that recall needs in the product, and the configured embedder.
// The data directory is not touched.
func openBench(ctx context.Context, o cli.OpenOptions, keys *secrets.Store) (*evaluation.Bench, error) {
	s := openSetup(o, keys)
	if err := s.Config.Err(); err != nil {
		return nil, err // with the defaults, the measurement would not match the configuration file
	}
	folder, err := atrest.MakeFolder(os.TempDir(), atrest.EvalPrefix)
	if err != nil {
		return nil, err
	}
	calendar := &evaluation.Calendar{}
	db, err := store.Open(ctx, store.Options{DataDir: folder.Path, Scratch: true, Clock: calendar.Now, Logger: s.Log})
	if err != nil {
		return nil, errors.Join(err, folder.Remove())
	}
	r := newMemoryParts(memoryDeps{store: db, setup: s.Setup, redact: s.outbound.text})
	runner := jobs.NewRunner(jobs.Deps{
		Queue: db, Store: db, Publish: o.Publish, Counter: counter{}, Log: s.Log, Vectors: r.vectors,
		TargetTokens: func() int { return s.Config.Config().Librarian.TargetTokens },
	})
	return &evaluation.Bench{
		Store: db, Jobs: runner, Calendar: calendar,
		Memory: func(weight float64) evaluation.Memory {
			deps := r.engine.Deps
			deps.Settings = func() retrieval.Settings {
				settings := searchSettings(s.Config.Config())
				if weight >= 0 {
					settings.VectorWeight, settings.KeywordWeight = weight, 1-weight
				}
				return settings
			}
			return retrieval.New(deps)
		},
		Degraded: func(ctx context.Context) (int, error) {
			queued, _, failed, err := db.JobCounts(ctx)
			return queued + failed, err
		},
		Close: func() error {
			r.index.Close()
			return errors.Join(db.Close(), folder.Remove())
		},
	}, nil
}
