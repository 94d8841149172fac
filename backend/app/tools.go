package app

import (
	"context"
	"encoding/json"
	"path/filepath"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/scrub"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/tools/builtin"
	"contextinfinity/backend/turn"
)

// newTools creates the registry of tools with the built-in tools.
func (a *app) newTools(publish turn.Publisher) *tools.Registry {
	r := tools.NewRegistry(a.store, func() tools.Settings {
		return tools.Settings{Allow: a.config.Config().Tools.Allow}
	})
	r.RedactArguments(func(raw json.RawMessage) json.RawMessage {
		return scrub.JSON(raw, func(text string) string {
			clean, _ := a.redact(text)
			return clean
		})
	})
	r.SetBuiltin(builtin.New(a.historyReader(), &builtin.Folders{
		Settings:  func() ([]string, bool) { t := a.config.Config().Tools; return t.Folders, t.RunCommands },
		Protected: a.ownDirs, Commands: &builtin.Commands{Program: documentReader().Program},
	}))
	r.OnChange(func() { publish.Change(chat.Change{Kind: chat.ChangeTools}) })
	a.config.Subscribe(func(*config.Config) { r.Changed() })
	return r
}

// historyReader lets models read earlier conversations within the scope of their memory.
func (a *app) historyReader() *builtin.Memory {
	return &builtin.Memory{Store: a.store, Search: a.engine, Settings: a.retrieves, Reach: func(ctx context.Context, id chat.SessionID) (builtin.Access, error) {
		scope, err := a.turns.MemoryScope(ctx, id)
		if err != nil {
			return builtin.Access{}, err
		}
		r := builtin.Access{Scope: scope}
		r.Project, r.Files, err = a.store.ProjectSessions(ctx, id)
		return r, err
	}}
}

// ownDirs returns the program's data and configuration directories, which no tool may change.
func (a *app) ownDirs() []string {
	return []string{a.config.Config().DataDir, filepath.Dir(a.config.Path())}
}

// resumeTools continues answers that were between two steps when an earlier run of the program ended.
func (a *app) resumeTools() {
	a.background.Go(func() {
		if _, err := a.turns.ResumeTools(a.lifetime); err != nil && a.lifetime.Err() == nil {
			a.log.Warn("tool calls of an earlier run could not be resumed", "err", err)
		}
	})
}

// toolPorts returns the dependencies of the window's service for tools.
func (a *app) toolPorts() api.ToolPorts {
	return api.ToolPorts{Registry: a.tools, Mode: func() string { return a.config.Config().Tools.Mode }}
}
