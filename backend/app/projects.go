package app

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/turn"
)

// newProjects manages projects and their files. New files are indexed concurrently.
func (a *app) newProjects(publish turn.Publisher) *projects.Service {
	return projects.New(projects.Deps{
		Store: a.store, Documents: documentReader(), Count: func(text string) int { return counter{}.Count("", text) }, Protected: a.ownPlaces, Log: a.log,
		Changed: func() {
			publish.Change(chat.Change{Kind: chat.ChangeProjects})
			publish.Change(chat.Change{Kind: chat.ChangeJobs})
			a.jobs.Wake()
		},
	})
}

// watchProjects scans watched folders while the window is open.
func (a *app) watchProjects() {
	a.behind.Go(func() { a.projects.Run(a.life, projects.Every) })
}
