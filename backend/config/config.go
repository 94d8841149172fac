package config

// Config is one valid configuration. It is shared and must not be changed.
type Config struct {
	General    General
	Context    Context
	Budget     Budget
	Stream     Stream
	Summary    Summary
	Librarian  Librarian
	Retrieval  Retrieval
	Tools      Tools
	Programs   Programs
	OpenAI     OpenAI
	Anthropic  Anthropic
	Redaction  Redaction
	Backup     Backup
	Sync       Sync
	Storage    Storage
	Export     Export
	Cost       Cost
	Appearance Appearance
	Keys       Keys
	UI         UI
	Desktop    Desktop
	Updates    Updates
	Providers  Providers

	// Configured are the [models.NAME] tables in file order, without the built-in models; Models adds those.
	Configured []Model

	// Servers are the [mcp.servers.NAME] tables, by name.
	Servers []MCPServer

	// Faults are what is wrong with single models, MCP servers, the embedder's server and the reranker; each makes only
	// that one unusable.
	Faults Problems

	// Retired names keys in the file that are no longer settings and have no effect, each with its position.
	Retired []string

	// DataDir is the data directory: from the flag, otherwise general.data_dir, otherwise the XDG location. Absolute,
	// and not necessarily existing.
	DataDir string

	origin map[string]string // key -> OriginFile, OriginEnvironment; missing means the default
}

// Origins of a value.
const (
	OriginDefault     = "default"
	OriginFile        = "file"
	OriginEnvironment = "environment"
	OriginCommandLine = "command line" // --set
)

// Origin returns where the value of a key comes from.
func (c *Config) Origin(key string) string {
	if o, ok := c.origin[key]; ok {
		return o
	}
	return OriginDefault
}

// Default returns the configuration of an empty file.
func Default() *Config {
	c := &Config{origin: map[string]string{}}
	fillDefaults(table, c)
	return c
}
