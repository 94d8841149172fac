package app

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/mcpsetup"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/services"
)

// openServers loads the configured MCP servers without starting them. The registry is notified when their tools change.
func (a *app) openServers() {
	setup := &mcpsetup.Setup{
		Config:  a.Config,
		Secrets: mcpsetup.Secrets{Store: a.Keys.Store},
		Bundles: filepath.Join(a.Config.Config().DataDir, "mcp"),
		ForgetTools: func(name string) error {
			return a.Store.ForgetToolSource(context.Background(), name)
		},
	}
	notify := func(name string) { a.fanout.Change(chat.Change{Kind: chat.ChangeServers, ID: name}) }
	questions := &mcpclient.Questions{Changed: notify, Open: showPage}
	var manager *mcpclient.Manager
	manager = mcpclient.NewManager(mcpclient.Deps{
		Servers:   func() []config.MCPServer { return a.Config.Config().Servers },
		Secret:    setup.Secrets.Get,
		SetSecret: setup.Secrets.Set,
		Environ:   secrets.Environ,
		Getenv:    secrets.Getenv,
		Redact:    a.Keys.Redactor().Redact,
		Open:      showPage,
		Elicit:    questions,
		Version:   version,
		Changed: func(name string) {
			if manager != nil {
				a.Tools.SetServers(manager.Sources())
			}
			notify(name)
		},
	})
	if sources := manager.Sources(); len(sources) > 0 {
		a.Tools.SetServers(sources)
	}
	a.Tools.OnNeed(manager.Ensure) // a turn briefly waits for servers that are starting
	unsubscribe := a.Config.Subscribe(func(*config.Config) { manager.Reload() })
	a.onClose(func(context.Context) error { unsubscribe(); manager.Stop(); return nil })
	a.Servers = services.Servers{Manager: manager, Setup: setup, Questions: questions}
}

func showPage(url string) error {
	desktop.OpenURL(url)
	return nil
}

// warmServers starts the servers if models are offered tools, so that the first message does not wait for them, and the
// user sees the tools to accept.
func (a *app) warmServers() {
	if !a.readOnly && a.Config.Config().Tools.Mode == string(llm.ToolsEnabled) {
		a.run(a.Servers.Manager.Ensure)
	}
}

// warmWhenEnabled starts the servers when tools are switched on while the window is open.
func (a *app) warmWhenEnabled() {
	var lastMode atomic.Value
	lastMode.Store(a.Config.Config().Tools.Mode)
	unsubscribe := a.Config.Subscribe(func(c *config.Config) {
		if lastMode.Swap(c.Tools.Mode) != c.Tools.Mode {
			a.warmServers()
		}
	})
	a.onClose(func(context.Context) error { unsubscribe(); return nil })
}
