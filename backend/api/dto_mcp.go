package api

import "contextinfinity/backend/mcpclient"

// ServersPanel is the page about MCP servers.
type ServersPanel struct {
	Rev     int64        `json:"rev"`
	Mode    string       `json:"mode"` // tools.mode: servers are started for conversations only where it is "enabled"
	Servers []ServerView `json:"servers"`
	// KeyringOK: secrets are kept in the system's keyring; otherwise in this run alone.
	KeyringOK bool `json:"keyringOK"`
}

// ServerView is a configured MCP server and how it is.
type ServerView struct {
	Name      string          `json:"name"`
	Kind      string          `json:"kind"` // "stdio": a program on this machine; "http": an address
	Enabled   bool            `json:"enabled"`
	State     mcpclient.State `json:"state"`
	Words     string          `json:"words"`     // the state in a sentence
	LastError string          `json:"lastError"` // why it failed last; empty since it is ready
	RetryAt   int64           `json:"retryAt"`
	StartedAt int64           `json:"startedAt"`
	// What the server says of itself; text of others.
	Title        string `json:"title"`
	Version      string `json:"version"`
	Protocol     string `json:"protocol"`
	Instructions string `json:"instructions"`
	Tools        int    `json:"tools"`
	Prompts      int    `json:"prompts"`   // as many as it offered when it started
	Resources    int    `json:"resources"` // likewise, with templates
	// Problems are what it offers and cannot be used, each in a sentence.
	Problems []ServerProblemView `json:"problems"`
	SignedIn bool                `json:"signedIn"` // tokens of it are kept
	Settings ServerSettings      `json:"settings"`
	// Secrets are those that its settings name, and where each is kept.
	Secrets []ServerSecretView `json:"secrets"`
}

// ServerProblemView is something of a server that cannot be used, and why.
type ServerProblemView struct {
	Subject string `json:"subject"` // the name of a tool, or empty
	Message string `json:"message"`
}

// ServerSecretView is a secret of a server: never what it is.
type ServerSecretView struct {
	Name string `json:"name"`
	Kept string `json:"kept"` // "keyring", "this run", or "": it has no value yet
}

// ServerSettings are [mcp.servers.NAME] of config.toml. Values may hold ${secret:NAME}, which is
// taken from the keyring, and ${env:NAME}, from the environment of the program.
type ServerSettings struct {
	Name     string        `json:"name"`
	Enabled  bool          `json:"enabled"`
	Command  string        `json:"command"` // of a program; empty with an address
	Args     []string      `json:"args"`
	Cwd      string        `json:"cwd"` // empty: the home directory
	URL      string        `json:"url"`
	TimeoutS int           `json:"timeoutS"` // of a call; 0: tools.call_timeout_s
	Env      []ServerValue `json:"env"`
	Headers  []ServerValue `json:"headers"`
	// OAuthClientID is for servers with which programs are registered by hand, OAuthPort the port of
	// the address to return to that was registered (0: any). Their secret is oauth_client_secret.
	OAuthClientID string `json:"oauthClientId"`
	OAuthPort     int    `json:"oauthPort"`
}

// ServerValue is a variable of the environment, a header, or an answer. Where it is Secret, Value
// goes to the keyring and never comes back: an empty one leaves what is kept.
type ServerValue struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Secret bool   `json:"secret"`
}

// ServerLog is what a server wrote last, the oldest first.
type ServerLog struct {
	Name    string          `json:"name"`
	Lines   []ServerLogLine `json:"lines"`
	Dropped int             `json:"dropped"` // lines before these that are not kept any more
}

// ServerLogLine is a line of a server's log. From is "stderr", "stdout" (a line that is not a message
// of the protocol), "server" (a log message of the protocol) or "program" (the outcome of it).
type ServerLogLine struct {
	At   int64  `json:"at"`
	From string `json:"from"`
	Text string `json:"text"`
}

// ServerImport is what was found in a configuration of another program, or in a bundle. Nothing
// is added before ApplyImport.
type ServerImport struct {
	ID       string           `json:"id"`
	From     string           `json:"from"` // what it is, in words: "a bundle", "mcpServers JSON"
	Servers  []ImportedServer `json:"servers"`
	Problems []string         `json:"problems"` // entries that cannot be used, each in a sentence
}

// ImportedServer is a server that could be added.
type ImportedServer struct {
	Settings ServerSettings   `json:"settings"` // its name is one that can be used here
	Original string           `json:"original"` // its name there
	Exists   bool             `json:"exists"`   // a server of this name is configured: adding replaces it
	About    string           `json:"about"`    // of a bundle: what it says of itself
	Notes    []string         `json:"notes"`    // what a person should know before adding it
	Asks     []ServerQuestion `json:"asks"`     // what it needs to be told
}

// ServerQuestion is something that a server needs to be told before it can start.
type ServerQuestion struct {
	Key         string `json:"key"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Type        string `json:"type"` // "string", "number", "boolean", "directory", "file"
	Required    bool   `json:"required"`
	Secret      bool   `json:"secret"`
	Multiple    bool   `json:"multiple"` // several values, one in a line
	Default     string `json:"default"`
	// Known: what was imported has a value, which is taken if the answer is empty. A secret one is not
	// shown.
	Known   bool     `json:"known"`
	Choices []string `json:"choices"`
}

// ServerImportChoice adds servers of an import: those that are named, under the names given.
type ServerImportChoice struct {
	ID      string               `json:"id"`
	Servers []ServerImportedName `json:"servers"`
}

// ServerImportedName says how a server of an import is added.
type ServerImportedName struct {
	Original string        `json:"original"`
	Name     string        `json:"name"`
	Enabled  bool          `json:"enabled"`
	Replace  bool          `json:"replace"` // where a server of this name is configured
	Answers  []ServerValue `json:"answers"` // by ServerQuestion.Key
}

// ServerPrompts are the prompts that servers offer now, for the composer.
type ServerPrompts struct {
	Rev     int64              `json:"rev"`
	Prompts []ServerPromptView `json:"prompts"`
}

// ServerPromptView is a prompt of a server.
type ServerPromptView struct {
	Server      string               `json:"server"`
	Name        string               `json:"name"`
	Title       string               `json:"title"`
	Description string               `json:"description"`
	Arguments   []PromptArgumentView `json:"arguments"`
}

// PromptArgumentView is something that a prompt wants to be told.
type PromptArgumentView struct {
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
}

// PromptText is a prompt with its arguments filled in: text of others, to be looked at before it is sent.
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

// ServerResourceView is a resource of a server. Template: its URI has places in braces to be filled in.
type ServerResourceView struct {
	Server      string `json:"server"`
	URI         string `json:"uri"`
	Name        string `json:"name"`
	Title       string `json:"title"`
	Description string `json:"description"`
	MediaType   string `json:"mediaType"`
	Bytes       int64  `json:"bytes"` // 0: it does not say
	Template    bool   `json:"template"`
}

// ResourceText is what a resource holds: texts and images.
type ResourceText struct {
	Server string      `json:"server"`
	URI    string      `json:"uri"`
	Name   string      `json:"name"`
	Blocks []BlockView `json:"blocks"`
}

// Elicitations are the questions of servers that wait for an answer, the oldest first.
type Elicitations struct {
	Rev   int64             `json:"rev"`
	Asked []ElicitationView `json:"asked"`
}

// ElicitationView is a question of a server. Mode "form" asks for Fields; mode "url" asks that a
// page be opened: the whole address is shown, and it is opened only when it is accepted.
type ElicitationView struct {
	ID      string             `json:"id"`
	Server  string             `json:"server"`
	Mode    string             `json:"mode"`
	Message string             `json:"message"`
	URL     string             `json:"url"`
	Host    string             `json:"host"` // of URL
	Fields  []ElicitationField `json:"fields"`
	AskedAt int64              `json:"askedAt"`
}

// ElicitationField is one field of a form.
type ElicitationField struct {
	Name        string              `json:"name"`
	Title       string              `json:"title"`
	Description string              `json:"description"`
	Type        string              `json:"type"`   // "string", "number", "integer", "boolean", "choice", "choices"
	Format      string              `json:"format"` // of a string: "email", "uri", "date", "date-time" or ""
	Required    bool                `json:"required"`
	Default     []string            `json:"default"`
	Choices     []ElicitationChoice `json:"choices"`
	// Bounds as the server wrote them, empty where there are none: of the number, the length of the
	// text, or how many are chosen.
	Min string `json:"min"`
	Max string `json:"max"`
}

// ElicitationChoice is a value that may be chosen.
type ElicitationChoice struct {
	Value string `json:"value"`
	Title string `json:"title"`
}

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
