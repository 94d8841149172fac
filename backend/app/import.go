package app

import (
	"context"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/turn"
)

// newImporting returns the service that imports histories. Imported turns are indexed in the background.
func (a *app) newImporting(publish turn.Publisher) *importing.Service {
	return importing.New(importing.Deps{
		Store: a.store, Target: func() int { return a.config.Config().Librarian.TargetTokens },
		Count: func(text string) int { return counter{}.Count("", text) }, Model: a.modelOf,
		Caps: func(ctx context.Context, id chat.SessionID) error { return a.turns.CheckCaps(ctx, id) },
		Changed: func() {
			publish.Change(chat.Change{Kind: chat.ChangeSessions})
			publish.Change(chat.Change{Kind: chat.ChangeJobs})
			a.jobs.Wake()
		},
	})
}

// modelOf returns the name of a usable configured model that matches the model of an imported history.
func (a *app) modelOf(_, model string) string {
	for _, m := range a.catalog.List() {
		if m.Usable && strings.EqualFold(m.ModelID, model) {
			return m.Name
		}
	}
	return ""
}
