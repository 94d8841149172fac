package api

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
)

// Servers are the MCP servers: what is configured, how each is, and what they offer beside
// tools. Every change of theirs is published as chat.ChangeServers, questions of servers included.
type Servers struct {
	c      *Core
	config *config.Store
}

// NewServers returns the service.
func NewServers(c *Core, cfg *config.Store) *Servers { return &Servers{c: c, config: cfg} }

// noServers is said where the program has no MCP client.
func noServers() error {
	return chat.Errorf(chat.CodeUnavailable, "servers", "MCP servers are not available in this window.")
}

// Servers is the page about them.
func (s *Servers) Servers() (ServersPanel, error) {
	return ServersPanel{Rev: s.c.Hub.Rev(), Mode: s.config.Config().Tools.Mode, Servers: []ServerView{}}, s.c.ready()
}

// AddServer configures a server; a name that is taken is refused.
func (s *Servers) AddServer(_ ServerSettings) (ServersPanel, error) {
	return ServersPanel{}, noServers()
}

// UpdateServer changes the server of that name, which may get another one.
func (s *Servers) UpdateServer(_ string, _ ServerSettings) (ServersPanel, error) {
	return ServersPanel{}, noServers()
}

// RemoveServer stops a server and takes it out of the configuration, with its secrets.
func (s *Servers) RemoveServer(_ string) (ServersPanel, error) { return ServersPanel{}, noServers() }

// EnableServer switches a server on or off.
func (s *Servers) EnableServer(_ string, _ bool) (ServersPanel, error) {
	return ServersPanel{}, noServers()
}

// Restart starts a server anew, at once. Calls that run in it have an unknown outcome then.
func (s *Servers) Restart(_ string) (ServersPanel, error) { return ServersPanel{}, noServers() }

// Logs are the last lines that a server wrote.
func (s *Servers) Logs(_ string) (ServerLog, error) { return ServerLog{}, noServers() }

// Import reads a configuration of another program that was pasted.
func (s *Servers) Import(_ string) (ServerImport, error) { return ServerImport{}, noServers() }

// ImportFile reads such a configuration, or a bundle (.mcpb), from a file that was chosen or dropped.
func (s *Servers) ImportFile(_ string) (ServerImport, error) { return ServerImport{}, noServers() }

// ApplyImport adds servers of an import.
func (s *Servers) ApplyImport(_ ServerImportChoice) (ServersPanel, error) {
	return ServersPanel{}, noServers()
}

// SetSecret keeps a secret that a server's settings name; an empty value forgets it.
func (s *Servers) SetSecret(_, _, _ string) (ServersPanel, error) { return ServersPanel{}, noServers() }

// SignIn opens the page on which a person signs in to a server, and waits until that is done.
func (s *Servers) SignIn(_ string) (ServersPanel, error) { return ServersPanel{}, noServers() }

// SignOut forgets the tokens of a server.
func (s *Servers) SignOut(_ string) (ServersPanel, error) { return ServersPanel{}, noServers() }

// Prompts are what servers offer as prompts. Servers that are enabled are started for it.
func (s *Servers) Prompts() (ServerPrompts, error) {
	return ServerPrompts{Rev: s.c.Hub.Rev(), Prompts: []ServerPromptView{}}, s.c.ready()
}

// GetPrompt is a prompt with its arguments filled in.
func (s *Servers) GetPrompt(_, _ string, _ []ServerValue) (PromptText, error) {
	return PromptText{}, noServers()
}

// Resources are what servers offer as resources. Servers that are enabled are started for it.
func (s *Servers) Resources() (ServerResources, error) {
	return ServerResources{Rev: s.c.Hub.Rev(), Resources: []ServerResourceView{}}, s.c.ready()
}

// ReadResource is what a resource holds now.
func (s *Servers) ReadResource(_, _ string) (ResourceText, error) { return ResourceText{}, noServers() }

// Elicitations are the questions of servers that wait.
func (s *Servers) Elicitations() (Elicitations, error) {
	return Elicitations{Rev: s.c.Hub.Rev(), Asked: []ElicitationView{}}, s.c.ready()
}

// AnswerElicitation answers a question.
func (s *Servers) AnswerElicitation(_ ElicitationAnswer) (Elicitations, error) {
	return Elicitations{}, noServers()
}
