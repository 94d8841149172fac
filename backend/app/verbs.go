package app

import (
	"context"
	"log/slog"
	"os"

	"contextinfinity/backend/cli"
	"contextinfinity/backend/evaluation"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/services"
	"contextinfinity/backend/store"
)

// commandLine returns the dependencies of the command line.
func commandLine() cli.App {
	keys := secrets.New()
	return cli.App{
		Version:     version,
		Commit:      commit,
		In:          os.Stdin,
		Out:         os.Stdout,
		Err:         os.Stderr,
		Redact:      keys.Redactor().Redact,
		MemoryTools: memoryTools(),
		Documents:   documentReader(),
		HandOver:    handOver,
		Open: func(ctx context.Context, o cli.OpenOptions) (*cli.Services, error) {
			return openForVerb(ctx, o, keys)
		},
		OpenBench: func(ctx context.Context, o cli.OpenOptions) (*evaluation.Bench, error) {
			return openBench(ctx, o, keys)
		},
		OpenSetup: func(_ context.Context, o cli.OpenOptions) (*services.Setup, error) {
			s := openSetup(o, keys)
			return &s.Setup, unlock(s.Config.Config().DataDir, o, keys)
		},
	}
}

func openForVerb(ctx context.Context, o cli.OpenOptions, keys *secrets.Store) (*cli.Services, error) {
	a, err := openApp(ctx, o, keys)
	if err != nil {
		return nil, err
	}
	if o.Serve {
		a.serve(nil, nil)
		a.watchConfig()
	}
	return &cli.Services{
		Set:      &a.Set,
		Recovery: a.Reconciler.Report(),
		Close:    func() error { return a.closeVerb(o) },
	}, nil
}

// modelMemory stores what servers report about their models as a setting.
type modelMemory struct {
	store *store.Store
	log   *slog.Logger
}

// learnedModels is the key of the setting for modelMemory.
const learnedModels = "models.learned"

// Load implements models.Memory.
func (m modelMemory) Load() []byte {
	text, _, err := m.store.Setting(context.Background(), learnedModels)
	if err != nil {
		m.log.Warn("the model information reported by servers could not be read", "err", err)
	}
	return []byte(text)
}

// Save implements models.Memory. An error is only logged, because the servers can be asked again.
func (m modelMemory) Save(raw []byte) {
	if err := m.store.PutSetting(context.Background(), learnedModels, string(raw)); err != nil {
		m.log.Warn("the model information reported by servers could not be stored", "err", err)
	}
}
