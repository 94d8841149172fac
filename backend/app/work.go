package app

import (
	"context"

	"contextinfinity/backend/api"
	"contextinfinity/backend/deletion"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/tasks"
)

// taskShare divides closeTimeout: tasks get this fraction of it to end, and running answers need the rest.
const taskShare = 3

// openTasks lets the window run tasks, and loads those of an earlier run.
func (a *app) openTasks(ctx context.Context, hub *api.Hub) (err error) {
	a.tasks, err = tasks.New(ctx, tasks.Deps{Store: a.store, Publish: hub, Log: a.log})
	return err
}

// stopTasks stops tasks at a safe point, within a time limit.
func (a *app) stopTasks(ctx context.Context) {
	if a.tasks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout/taskShare)
	defer cancel()
	if err := a.tasks.Close(ctx); err != nil {
		a.log.Warn("tasks did not end in time", "err", err)
	}
}

func (a *app) jobList() *jobs.List { return jobs.NewList(a.store, a.jobs, a.fanout) }

// deletion returns the service that deletes permanently. If the program has tasks, it also removes those about the
// deleted session.
func (a *app) deletion() *deletion.Service {
	d := deletion.Deps{Store: a.store, Publish: a.fanout.Change}
	if a.tasks != nil {
		d.Forget = a.tasks.Forget
	}
	return deletion.New(d)
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
