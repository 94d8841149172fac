package app

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
)

// wanted is set when the program should restart after it has ended.
var wanted atomic.Bool

// donePending is the result of a pending operation.
type donePending struct {
	store.PendingOperation
	err error
}

// runPending runs the operation that the window saved before it ended; nil: there was none. It runs before anything
// is opened.
func runPending(ctx context.Context, o cli.OpenOptions) *donePending {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
	archive := store.NewArchive(store.ArchiveOptions{DataDir: cfg.Config().DataDir, Config: cfg.Path()})
	e, ok, err := archive.TakePending()
	if !ok && err == nil {
		return nil
	}
	done := &donePending{PendingOperation: e, err: err}
	if err != nil {
		return done
	}
	if e.Do == store.PendingMove {
		done.err = archive.Move(ctx, e.Path, func() (bool, error) {
			err := cfg.Set("general.data_dir", e.Path)
			return err == nil || mayName(o.ConfigPath, e.Path), err
		})
	} else {
		_, done.err = archive.Restore(ctx, e.Path, func(chat.Restoration) error { return nil })
	}
	return done
}

// mayName reports that a configuration names a folder for the data, or that this is unknown: a file may have been
// replaced although that returned an error.
func mayName(path, dir string) bool {
	cfg, err := config.Open(config.Options{Path: path})
	return err != nil || cfg.Config().General.DataDir == dir
}

// show makes the window show the result until it is dismissed.
func (d *donePending) show(a *app) {
	if d == nil {
		return
	}
	for _, t := range a.tasks.List() { // the task of the move, which is announced below
		if t.Kind == tasks.Move && t.State == tasks.Interrupted {
			_ = a.tasks.Dismiss(t.ID)
		}
	}
	spec := tasks.Spec{Kind: tasks.Restore, Title: "Restore " + filepath.Base(d.Path)}
	if d.Do == store.PendingMove {
		spec = tasks.Spec{Kind: tasks.Move, Title: "Move everything to " + d.Path}
	}
	_, err := a.tasks.Start(spec, func(context.Context, *tasks.Progress) (tasks.Result, error) {
		return tasks.Result{Path: d.Path}, d.err
	})
	if err != nil || d.err != nil {
		a.log.Warn("the operation requested for this start", "do", d.Do, "err", d.err, "shown", err)
	}
}
