package app

import (
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/updates"
)

// updates returns the checker for newer versions, with the configured address and interval.
func (s setup) updates() *updates.Checker {
	return &updates.Checker{
		Feed:    func() string { return s.config.Config().Updates.URL },
		Daily:   func() bool { return s.config.Config().Updates.Daily },
		Running: version, Client: updates.NewClient(), Now: time.Now,
	}
}

// watchUpdates checks for newer versions once a day if that is enabled.
func (a *app) watchUpdates(core *api.Core) {
	wake := make(chan struct{}, 1)
	cancel := a.config.Subscribe(func(*config.Config) {
		select {
		case wake <- struct{}{}:
		default: // a check is already pending
		}
	})
	a.background.Go(func() {
		defer cancel()
		core.Updates.Run(a.lifetime, wake, func() { core.Hub.Change(chat.Change{Kind: chat.ChangeSettings}) })
	})
}
