package app

import (
	"context"
	"encoding/json"
	"path/filepath"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/scrub"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/tools/builtin"
)

// newTools creates the registry of tools with the built-in tools.
func (a *app) newTools() *tools.Registry {
	r := tools.NewRegistry(a.Store, func() tools.Settings {
		return tools.Settings{Allow: a.Config.Config().Tools.Allow}
	})
	r.RedactArguments(func(raw json.RawMessage) json.RawMessage {
		return scrub.JSON(raw, a.outbound.text)
	})
	r.SetBuiltin(builtin.New(a.historyReader(), &builtin.Folders{
		Settings:  func() ([]string, bool) { t := a.Config.Config().Tools; return t.Folders, t.RunCommands },
		Protected: a.ownDirs, Commands: &builtin.Commands{Program: documentReader().Program},
	}))
	r.OnChange(func() { a.fanout.Change(chat.Change{Kind: chat.ChangeTools}) })
	a.Config.Subscribe(func(*config.Config) { r.Changed() })
	return r
}

// historyReader lets models read earlier conversations within the scope of their memory.
func (a *app) historyReader() *builtin.Memory {
	return &builtin.Memory{Store: a.Store, Search: a.Memory, Settings: a.Retrieves, Reach: func(ctx context.Context, id chat.SessionID) (builtin.Access, error) {
		scope, err := a.Turns.MemoryScope(ctx, id)
		if err != nil {
			return builtin.Access{}, err
		}
		r := builtin.Access{Scope: scope}
		r.Project, r.Files, err = a.Store.ProjectSessions(ctx, id)
		return r, err
	}}
}

// ownDirs returns the program's data and configuration directories, which no tool may change.
func (a *app) ownDirs() []string {
	return []string{a.Config.Config().DataDir, filepath.Dir(a.Config.Path())}
}

// resumeTools continues answers that were between two steps when an earlier run of the program ended.
func (a *app) resumeTools() {
	a.run(func(ctx context.Context) {
		if _, err := a.Turns.ResumeTools(ctx); err != nil && ctx.Err() == nil {
			a.Log.Warn("tool calls of an earlier run could not be resumed", "err", err)
		}
	})
}
