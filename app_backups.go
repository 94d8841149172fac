package main

import (
	"context"

	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/store"
)

// openCopies reaches the backups of a data directory, which no open store is
// needed for.
func openCopies(_ context.Context, o cli.OpenOptions) (cli.Copies, error) {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir})
	return store.NewArchive(store.ArchiveOptions{DataDir: cfg.Config().DataDir, Config: cfg.Path()}), nil
}
