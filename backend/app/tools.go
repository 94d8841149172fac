package app

import (
	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

// newTools makes the registry of the tools that models may call.
func (a *app) newTools(publish turn.Publisher) *tools.Registry {
	r := tools.NewRegistry(a.store, func() tools.Settings {
		return tools.Settings{Allow: a.config.Config().Tools.Allow}
	})
	r.OnChange(func() { publish.Change(chat.Change{Kind: chat.ChangeTools}) })
	return r
}

// toolPorts are what the window's service works with.
func (a *app) toolPorts() api.ToolPorts {
	turns, _ := any(a.turns).(api.ToolTurns)
	return api.ToolPorts{Registry: a.tools, Turns: turns, Mode: func() string { return a.config.Config().Tools.Mode }}
}
