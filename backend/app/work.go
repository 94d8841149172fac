package app

import (
	"context"

	"contextinfinity/backend/api"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/erasing"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/tasks"
)

// taskTime is the share of closeTimeout for ending tasks: running answers need the rest.
const taskTime = 3

// openTasks lets the window run tasks, and find those left by an earlier run.
func (a *app) openTasks(ctx context.Context, hub *api.Hub) (err error) {
	a.tasks, err = tasks.New(ctx, tasks.Deps{Store: a.store, Publish: hub, Log: a.log})
	return err
}

// stopTasks stops tasks at a safe point, within the time limit.
func (a *app) stopTasks(ctx context.Context) {
	if a.tasks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeTimeout/taskTime)
	defer cancel()
	if err := a.tasks.Close(ctx); err != nil {
		a.log.Warn("tasks did not end in time", "err", err)
	}
}

func (a *app) jobList() *jobs.List { return jobs.NewList(a.store, a.jobs, a.fanout) }

// erasing deletes permanently. In a program that has tasks, those about the deleted session are removed too.
func (a *app) erasing() *erasing.Service {
	d := erasing.Deps{Store: a.store, Publish: a.fanout.Change}
	if a.tasks != nil {
		d.Forget = a.tasks.Forget
	}
	return erasing.New(d)
}

// Actions offered by the dialogs.
var (
	exports  = desktop.Filter{Name: "Sessions and exports", Patterns: "*.cinf;*.json;*.jsonl;*.ndjson;*.zip"}
	anything = desktop.Filter{Name: "All files", Patterns: "*"}
)

func pickFiles() ([]string, error) {
	return desktop.PickFiles("Import sessions", exports, anything)
}

func pickTarget(suggested string) (string, error) {
	return desktop.PickTarget("Save as", suggested, anything)
}
