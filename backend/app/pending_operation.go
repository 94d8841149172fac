package app

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
)

// restartRequested is set when the program should start again after its window has closed, with what the next process
// gets.
var restartRequested atomic.Pointer[handover]

// pendingResult is what was done before the data was opened, as a task that has ended.
type pendingResult struct {
	tasks.Spec
	path string
	err  error
}

// runPending runs the operation that the window saved before it closed, or a change of the seal; nil if there is none. It
// must be called before the data is opened.
func runPending(ctx context.Context, o cli.OpenOptions, change *reseal, keys *secrets.Store) *pendingResult {
	cfg, _ := config.Open(config.Options{Path: o.ConfigPath, DataDir: o.DataDir, Set: o.Set})
	if err := unlock(cfg.Config().DataDir, o, keys); err != nil {
		return nil // opening the data says so, and the operation is kept
	}
	if change != nil {
		return change.run(ctx, openSetup(o, keys).Setup)
	}
	archive := store.NewArchive(store.ArchiveOptions{DataDir: cfg.Config().DataDir, Config: cfg.Path()})
	op, ok, err := archive.TakePending()
	if !ok && err == nil {
		return nil
	}
	done := &pendingResult{path: op.Path, err: err}
	done.Spec = tasks.Spec{Kind: tasks.Restore, Title: chat.Say("Restore %s", filepath.Base(op.Path))}
	if op.Do == store.PendingMove {
		done.Spec = tasks.Spec{Kind: tasks.Move, Title: chat.Say("Move everything to %s", op.Path)}
	}
	if err != nil {
		return done
	}
	if op.Do == store.PendingMove {
		done.err = archive.Move(ctx, op.Path, func() (bool, error) {
			err := cfg.Set("general.data_dir", op.Path)
			return err == nil || mayName(o.ConfigPath, op.Path), err
		})
	} else {
		_, done.err = archive.Restore(ctx, op.Path, func(chat.Restoration) error { return nil })
	}
	return done
}

// mayName reports whether a configuration file names dir as the data directory, or cannot be read. It is used after a
// failed write, which may have replaced the file nevertheless.
func mayName(path, dir string) bool {
	cfg, err := config.Open(config.Options{Path: path})
	return err != nil || cfg.Config().General.DataDir == dir
}

// show makes the window show the result until it is dismissed.
func (d *pendingResult) show(a *app) {
	if d == nil {
		return
	}
	for _, t := range a.Tasks.List() { // a move interrupted by the restart is reported by the task below
		if t.Kind == tasks.Move && t.State == tasks.Interrupted {
			_ = a.Tasks.Dismiss(t.ID)
		}
	}
	d.Firm = true // so the page says once that it is done
	_, err := a.Tasks.Start(d.Spec, func(context.Context, *tasks.Progress) (tasks.Result, error) {
		return tasks.Result{Path: d.path}, d.err
	})
	if err != nil || d.err != nil {
		a.Log.Warn("the pending operation failed or could not be shown", "kind", d.Kind, "err", d.err, "shown", err)
	}
}
