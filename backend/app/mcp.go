package app

import (
	"context"
	"path/filepath"
	"sync/atomic"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/config"
	"contextinfinity/backend/desktop"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/mcpsetup"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/turn"
)

// servers are the MCP servers of an open data directory.
type servers struct {
	manager     *mcpclient.Manager
	setup       *mcpsetup.Setup
	questions   *mcpclient.Questions
	unsubscribe func() // cancels the subscription to the configuration
}

func (s setup) serverSetup() *mcpsetup.Setup {
	return &mcpsetup.Setup{Config: s.config, Secrets: mcpsetup.Secrets{Store: s.keys.Store}, Bundles: filepath.Join(s.config.Config().DataDir, "mcp")}
}

// newServers loads the configured servers without starting them. The registry is notified when their tools change.
func (a *app) newServers(publish turn.Publisher) *servers {
	s := &servers{setup: a.serverSetup()}
	s.setup.ForgetTools = func(name string) error { return a.store.ForgetToolSource(context.Background(), name) }
	notify := func(name string) { publish.Change(chat.Change{Kind: chat.ChangeServers, ID: name}) }
	s.questions = &mcpclient.Questions{Changed: notify, Open: showPage}
	s.manager = mcpclient.NewManager(mcpclient.Deps{
		Servers: func() []config.MCPServer { return a.config.Config().Servers },
		Secret:  s.setup.Secrets.Get, SetSecret: s.setup.Secrets.Set, Environ: secrets.Environ, Getenv: secrets.Getenv,
		Redact: a.keys.Redactor().Redact, Open: showPage, Elicit: s.questions, Version: version,
		Changed: func(name string) {
			if s.manager != nil {
				a.tools.SetServers(s.manager.Sources())
			}
			notify(name)
		},
	})
	if sources := s.manager.Sources(); len(sources) > 0 {
		a.tools.SetServers(sources)
	}
	a.tools.OnNeed(s.manager.Ensure) // a turn briefly waits for servers that are starting
	s.unsubscribe = a.config.Subscribe(func(*config.Config) { s.manager.Reload() })
	return s
}

func showPage(url string) error {
	desktop.OpenURL(url)
	return nil
}

// watch shows questions of servers in the window, while there is one.
func (s *servers) watch(hub *api.Hub) { s.questions.Attended = hub.Attached }

func (s *servers) stop() {
	s.unsubscribe()
	s.manager.Stop()
}

// warmServers starts the servers if models are offered tools, so that the first message does not wait for them, and the
// user sees the tools to accept.
func (a *app) warmServers() {
	if !a.readOnly && a.config.Config().Tools.Mode == toolsEnabled {
		a.background.Go(func() { a.servers.manager.Ensure(a.lifetime) })
	}
}

// warmWhenEnabled starts the servers when tools are switched on while the window is open.
func (a *app) warmWhenEnabled() {
	var lastMode atomic.Value
	lastMode.Store(a.config.Config().Tools.Mode)
	previous := a.servers.unsubscribe
	cancel := a.config.Subscribe(func(c *config.Config) {
		if lastMode.Swap(c.Tools.Mode) != c.Tools.Mode {
			a.warmServers()
		}
	})
	a.servers.unsubscribe = func() { cancel(); previous() }
}

// toolsEnabled is the value of tools.mode that allows tool calls.
const toolsEnabled = "enabled"

// serverPorts returns the dependencies of the window's service for MCP servers.
func (a *app) serverPorts() api.ServerPorts {
	return api.ServerPorts{Manager: a.servers.manager, Setup: a.servers.setup, Questions: a.servers.questions, KeyringOK: a.keys.KeyringOK, Warm: a.warmServers}
}

// verbServers returns the servers as the verbs use them.
func (a *app) verbServers() cli.Servers {
	return cli.Servers{Manager: a.servers.manager, Setup: a.servers.setup, Panel: a.tools.Panel}
}
