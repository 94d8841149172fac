package app

import (
	"context"

	"contextinfinity/backend/deletion"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/tasks"
)

// taskShare divides closeTimeout: tasks get this fraction of it to end, and running answers need the rest.
const taskShare = 3

// openTasks lets the window run tasks, and loads those of an earlier run. A permanent deletion then also removes the
// tasks about the deleted session.
func (a *app) openTasks(ctx context.Context) (err error) {
	if a.Tasks, err = tasks.New(ctx, tasks.Deps{Store: a.Store, Publish: a.fanout, Log: a.Log}); err != nil {
		return err
	}
	a.Deletion = deletion.New(deletion.Deps{Store: a.Store, Publish: a.fanout.Change, Forget: a.Tasks.Forget})
	a.onClose(func(ctx context.Context) error { // stops tasks at a safe point
		ctx, cancel := context.WithTimeout(ctx, closeTimeout/taskShare)
		defer cancel()
		if err := a.Tasks.Close(ctx); err != nil {
			a.Log.Warn("tasks did not end in time", "err", err)
		}
		return nil
	})
	return nil
}

// Filters of the file dialogs.
var (
	sessionFiles = desktop.Filter{Name: "Sessions and exports", Patterns: "*.cinf;*.json;*.jsonl;*.ndjson;*.zip"}
	allFiles     = desktop.Filter{Name: "All files", Patterns: "*"}
)

func pickFiles() ([]string, error) {
	return desktop.PickFiles("Import sessions", sessionFiles, allFiles)
}

func pickTarget(suggested string) (string, error) {
	return desktop.PickTarget("Save as", suggested, allFiles)
}
