package app

import (
	"time"

	"contextinfinity/backend/chat"
)

// configInterval is how often a running program checks whether its configuration file has changed.
const configInterval = time.Second

// watchConfig applies changes that an editor, or `config set` in a terminal, makes while the program runs.
func (a *app) watchConfig() {
	a.background.Go(func() {
		a.config.Watch(a.lifetime, configInterval, func() { a.fanout.Change(chat.Change{Kind: chat.ChangeSettings}) })
	})
}
