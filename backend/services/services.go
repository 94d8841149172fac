// Package services is the list of the program's services. The window (api) and the command line (cli) work on the same
// list, which is filled once, by the composition root.
package services

import (
	"context"
	"log/slog"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/branches"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/deletion"
	"contextinfinity/backend/embedding"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/library"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/mcpserver"
	"contextinfinity/backend/mcpsetup"
	"contextinfinity/backend/models"
	"contextinfinity/backend/pins"
	"contextinfinity/backend/projects"
	"contextinfinity/backend/retrieval"
	"contextinfinity/backend/sessions"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/updates"
	"contextinfinity/backend/vault"
)

// Setup is what works without a database.
type Setup struct {
	Config  *config.Store
	Keys    models.Keyring
	Models  *models.Catalog
	Updates *updates.Checker
	Log     *slog.Logger
	// FindVault reports whether there is a vault in a place.
	FindVault func(context.Context, vault.Target) (bool, error)
}

// Set is the services of an open data directory.
type Set struct {
	Setup
	// Store is for reading only: changes go through the services, which apply the rules and notify the window.
	Store *store.Store

	Sessions   *sessions.Service
	Branches   *branches.Service
	Turns      *turn.Engine
	Answers    *answers.Service
	Pins       *pins.Service
	Deletion   *deletion.Service
	Inspecting *inspecting.Service
	Library    *library.Library
	Projects   *projects.Service
	Imports    *importing.Service
	Exports    *exporting.Exporter
	Vault      *vault.Vault
	// VaultSchedule exchanges with it in the process that does the background work.
	VaultSchedule *vault.Schedule

	Jobs       *jobs.Runner
	Queue      *jobs.List
	Reconciler *jobs.Reconciler
	Tasks      *tasks.Manager // nil without a window

	Memory  *retrieval.Engine
	Vectors *embedding.Manager
	// Embedder connects to an embedder that may not be configured yet.
	Embedder func(context.Context, config.Embedding) (embedding.Embedder, error)
	Counter  turn.Counter

	// Tools are the tools that models may call, Servers the MCP servers that offer some of them.
	Tools   *tools.Registry
	Servers Servers
	// Programs are the other programs that may use this memory.
	Programs *mcpserver.Gateway
}

// Servers are the MCP servers whose tools models may call.
type Servers struct {
	Manager   *mcpclient.Manager
	Setup     *mcpsetup.Setup
	Questions *mcpclient.Questions
}

// Types of the store that callers of Archive use.
type (
	Archive  = store.Archive
	MovePlan = store.MovePlan // what moving the data directory would do
	Sealing  = store.Sealing  // what sealing it did
)

// Archive returns the backups of the data directory. They need no open data, so they are available when it cannot be
// opened.
func (s Setup) Archive() *store.Archive {
	return store.NewArchive(store.ArchiveOptions{
		DataDir: s.Config.Config().DataDir,
		Config:  s.Config.Path(),
		Keyring: s.Keys,
		Logger:  s.Log,
	})
}

// Retrieves reports whether turns get retrieved memory, and its scope.
func (s Setup) Retrieves() (on bool, scope chat.Scope) {
	c := s.Config.Config()
	return c.Context.Infinity && c.Budget.MaxRetrievalTokens > 0, chat.Scope(c.Retrieval.Scope)
}

// StoreKey stores a key of a provider, and reports whether it is kept after this run.
func (s Setup) StoreKey(provider, key string) (persistent bool, err error) {
	if persistent, err = s.Keys.SetKey(provider, key); err != nil {
		return false, err
	}
	return persistent, s.Models.RequireKey(s.Config, provider, true)
}

// RemoveKey removes a stored key of a provider.
func (s Setup) RemoveKey(provider string) error {
	if err := s.Keys.Remove(provider); err != nil {
		return err
	}
	return s.Models.RequireKey(s.Config, provider, false)
}
