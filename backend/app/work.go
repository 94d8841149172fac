package app

import (
	"context"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/turn"
)

// taskTime is the share of closeTimeout in which long work may end: running answers
// need the rest.
const taskTime = 3

// openTasks has the window carry out long work, and find what an earlier run of it left.
func (a *app) openTasks(ctx context.Context, hub *api.Hub) (err error) {
	a.tasks, err = tasks.New(ctx, tasks.Deps{Store: a.store, Publish: hub, Log: a.log})
	return err
}

// stopTasks ends long work where it is whole, while there is time.
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

// verbStore is the store for a verb that is carried out here: what it erases is not
// remembered by the long work of this program either, and not shown by its window.
type verbStore struct {
	*store.Store
	tasks  *tasks.Manager
	window turn.Publisher
}

// Erase implements cli.Store.
func (s verbStore) Erase(ctx context.Context, kind, id string) (chat.Receipt, error) {
	p, err := s.ErasePreview(ctx, kind, id)
	if err != nil {
		return chat.Receipt{}, err
	}
	session := chat.SessionID(p.Session)
	if s.tasks != nil && p.Reason == "" { // else it is refused, and nothing is cancelled for it
		if err := s.tasks.Forget(ctx, session, p.NamedIn); err != nil {
			return chat.Receipt{}, err
		}
	}
	receipt, err := s.Store.Erase(ctx, kind, id)
	if receipt.ID != "" {
		s.window.Change(chat.Change{Kind: chat.ChangeSessions})
		s.window.Change(chat.Change{Kind: chat.ChangeSession, Session: session})
		if kind == chat.EraseProject {
			s.window.Change(chat.Change{Kind: chat.ChangeProjects, ID: id})
		}
		if kind == chat.EraseTurn {
			s.window.Change(chat.Change{Kind: chat.ChangeTurn, Session: session, ID: id})
		}
	}
	return receipt, err
}

// What the dialogs offer to show.
var (
	exports  = desktop.Filter{Name: "Conversations and exports", Patterns: "*.cinf;*.json;*.jsonl;*.ndjson;*.zip"}
	anything = desktop.Filter{Name: "All files", Patterns: "*"}
)

func pickFiles() ([]string, error) {
	return desktop.PickFiles("Import conversations", exports, anything)
}

func pickTarget(suggested string) (string, error) {
	return desktop.PickTarget("Save as", suggested, anything)
}
