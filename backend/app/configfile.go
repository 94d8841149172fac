package app

import (
	"time"

	"contextinfinity/backend/chat"
)

// configInterval is how often a running program looks whether its configuration file was changed.
const configInterval = time.Second

// watchConfig applies what an editor, or `config set` in a terminal, writes while the program runs.
func (a *app) watchConfig() {
	a.behind.Go(func() {
		a.config.Watch(a.life, configInterval, func() { a.fanout.Change(chat.Change{Kind: chat.ChangeSettings}) })
	})
}
