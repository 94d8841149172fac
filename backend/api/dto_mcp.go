package api

import (
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/mcpsetup"

	"contextinfinity/backend/chat"
)

// ServersPanel is the page about MCP servers.
type ServersPanel struct {
	Rev     int64        `json:"rev"`
	Mode    string       `json:"mode"` // tools.mode: servers are started for conversations only where it is "enabled"
	Servers []ServerView `json:"servers"`
	// KeyringOK: secrets are stored in the system's keyring; otherwise only for this run.
	KeyringOK bool `json:"keyringOK"`
}

// ServerView is a configured MCP server and its state.
type ServerView struct {
	Name      string          `json:"name"`
	Kind      string          `json:"kind"` // "stdio": a program on this machine; "http": an address
	Enabled   bool            `json:"enabled"`
	State     mcpclient.State `json:"state"`
	StateText chat.Phrase     `json:"stateText"` // the state as a sentence
	LastError chat.Phrase     `json:"lastError"` // the last error; empty once it is ready
	RetryAt   int64           `json:"retryAt"`
	StartedAt int64           `json:"startedAt"`
	// The server's description of itself; untrusted.
	Title        string `json:"title"`
	Version      string `json:"version"`
	Protocol     string `json:"protocol"`
	Instructions string `json:"instructions"`
	Tools        int    `json:"tools"`
	Prompts      int    `json:"prompts"`   // counted at its start
	Resources    int    `json:"resources"` // counted at its start, with templates
	// Problems are its unusable tools and other items, each as a sentence.
	Problems []ServerProblemView `json:"problems"`
	SignedIn bool                `json:"signedIn"` // its tokens are stored
	Settings ServerSettings      `json:"settings"`
	// Secrets are the secrets named in its settings, and where each is stored.
	Secrets []ServerSecretView `json:"secrets"`
}

// ServerProblemView is an unusable item of a server, and why.
type ServerProblemView struct {
	Subject string `json:"subject"` // the name of a tool, or empty
	Message string `json:"message"`
}

// ServerSecretView is a secret of a server, without its value.
type ServerSecretView struct {
	Name     string `json:"name"`
	StoredIn string `json:"storedIn"` // "keyring", "this run", or "": it has no value yet
}

// ServerSettings are [mcp.servers.NAME] of config.toml. Values may contain ${secret:NAME}, from the keyring, and
// ${env:NAME}, from the program's environment.
type ServerSettings = mcpsetup.Settings

// ServerValue is an environment variable, a header, or an answer. With Secret, Value is stored in the keyring and
// never returned: an empty one keeps the stored value.
type ServerValue = mcpsetup.Value

// ServerLog is the end of a server's log, oldest line first.
type ServerLog struct {
	Name    string          `json:"name"`
	Lines   []ServerLogLine `json:"lines"`
	Dropped int             `json:"dropped"` // number of earlier lines that were dropped
}

// ServerLogLine is a line of a server's log. From is "stderr", "stdout" (a line that is not a protocol message),
// "server" (a log message of the protocol) or "program" (a message of this program, such as how the server ended).
type ServerLogLine = mcpclient.Line

// ServerImport has the servers found in another program's configuration, or in a bundle. Nothing is added before
// ApplyImport.
type ServerImport struct {
	ID       string           `json:"id"`
	From     string           `json:"from"` // a description: "a bundle", "mcpServers JSON"
	Servers  []ImportedServer `json:"servers"`
	Problems []string         `json:"problems"` // unusable entries, each as a sentence
}

// ImportedServer is a server that could be added.
type ImportedServer struct {
	Settings  ServerSettings   `json:"settings"`  // its name is usable here
	Original  string           `json:"original"`  // its name there
	Exists    bool             `json:"exists"`    // a server with this name exists: adding replaces it
	About     string           `json:"about"`     // of a bundle: its description of itself
	Notes     []string         `json:"notes"`     // what the user should know before adding it
	Questions []ServerQuestion `json:"questions"` // values it needs
	// Exposures are what the user must agree to. They are those of the default answers.
	Exposures []ServerExposure `json:"exposures"`
}

// ServerExposure is a variable of the user's environment that a server would get, or one that it sets and that can
// decide which program is run.
type ServerExposure = mcpsetup.Exposure

// ServerQuestion is a value that a server needs before it can start.
type ServerQuestion struct {
	Key         string `json:"key"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Type        string `json:"type"` // "string", "number", "boolean", "directory", "file"
	Required    bool   `json:"required"`
	Secret      bool   `json:"secret"`
	Multiple    bool   `json:"multiple"` // several values, one per line
	Default     string `json:"default"`
	// Known: the import contains a value, which is used if the answer is empty. A secret one is not shown.
	Known   bool     `json:"known"`
	Choices []string `json:"choices"`
}

// ServerImportChoice adds the named servers of an import, under the given names.
type ServerImportChoice struct {
	ID      string               `json:"id"`
	Servers []ServerImportedName `json:"servers"`
}

// ServerImportedName says how a server of an import is added.
type ServerImportedName struct {
	Original string        `json:"original"`
	Name     string        `json:"name"`
	Enabled  bool          `json:"enabled"`
	Replace  bool          `json:"replace"` // if a server with this name exists
	Answers  []ServerValue `json:"answers"` // by ServerQuestion.Key
	// Accepted are the names of the exposures that the user agrees to; Keys are those of kind "key" agreed to again.
	Accepted []string `json:"accepted"`
	Keys     []string `json:"keys"`
}

// ServerPrompts are the prompts that servers offer, for the composer.
type ServerPrompts struct {
	Rev     int64              `json:"rev"`
	Prompts []ServerPromptView `json:"prompts"`
}

// ServerPromptView is a prompt of a server.
type ServerPromptView = mcpclient.Prompt

// PromptArgumentView is an argument of a prompt.
type PromptArgumentView = mcpclient.Argument

// PromptText is a prompt with its arguments filled in: untrusted text, shown before it is sent.
type PromptText struct {
	Server      string              `json:"server"`
	Name        string              `json:"name"`
	Description string              `json:"description"`
	Messages    []PromptMessageView `json:"messages"`
}

// PromptMessageView is a message of a prompt.
type PromptMessageView struct {
	Role   string      `json:"role"` // "user", "assistant"
	Blocks []BlockView `json:"blocks"`
}

// ServerResources are the resources that servers offer now.
type ServerResources struct {
	Rev       int64                `json:"rev"`
	Resources []ServerResourceView `json:"resources"`
}

// ServerResourceView is a resource of a server. Template: its URI has placeholders in braces.
type ServerResourceView = mcpclient.Resource

// ResourceText is the content of a resource: texts and images.
type ResourceText struct {
	Server string      `json:"server"`
	URI    string      `json:"uri"`
	Name   string      `json:"name"`
	Blocks []BlockView `json:"blocks"`
}

// Elicitations are the questions of servers that wait for an answer, the oldest first.
type Elicitations struct {
	Rev     int64             `json:"rev"`
	Pending []ElicitationView `json:"pending"`
}

// ElicitationView is a question of a server. Mode "form" asks for Fields; mode "url" asks to open a page: the
// complete address is shown, and it is opened only when accepted.
type ElicitationView = mcpclient.Question

// ElicitationField is one field of a form.
type ElicitationField = mcpclient.Field

// ElicitationChoice is a value that may be chosen.
type ElicitationChoice = mcpclient.Choice

// ElicitationAnswer answers a question: "accept" (with Values of a form), "decline", "cancel".
type ElicitationAnswer struct {
	ID     string             `json:"id"`
	Action string             `json:"action"`
	Values []ElicitationValue `json:"values"`
}

// ElicitationValue is the value of a field; several for "choices", "true" or "false" for "boolean".
type ElicitationValue struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}
