package app

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/turn"
)

// newProjects returns the service that manages projects and their files. New files are indexed in the background.
func (a *app) newProjects(publish turn.Publisher) *projects.Service {
	return projects.New(projects.Deps{
		Store: a.store, Documents: documentReader(), Count: func(text string) int { return counter{}.Count("", text) }, Protected: a.ownDirs, Log: a.log,
		Changed: func() {
			publish.Change(chat.Change{Kind: chat.ChangeProjects})
			publish.Change(chat.Change{Kind: chat.ChangeJobs})
			a.jobs.Wake()
		},
	})
}

// watchProjects scans watched folders while the window is open.
func (a *app) watchProjects() {
	a.background.Go(func() { a.projects.Run(a.lifetime, projects.Every) })
}
