package config

import "time"

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
	Storage    Storage
	Export     Export
	Cost       Cost
	Appearance Appearance
	Keys       Keys
	UI         UI
	Desktop    Desktop
	Updates    Updates

	// Configured are the [models.NAME] tables in file order, without the built-in models; Models adds those.
	Configured []Model

	// Servers are the [mcp.servers.NAME] tables, by name.
	Servers []MCPServer

	// Retired names keys in the file that are no longer settings and have no effect, each with its position.
	Retired []string

	// DataDir is the data directory: from the flag, otherwise general.data_dir, otherwise the XDG location. Absolute,
	// and not necessarily existing.
	DataDir string

	origin map[string]string // key -> OriginFile, OriginEnvironment; missing means the default
}

// Programs is [mcp.server]: other programs that use this memory over HTTP.
type Programs struct {
	HTTP bool
	Port int
}

// General is [general].
type General struct {
	DefaultModel string
	Favourites   []string // names of models
	DataDir      string
}

// Context is [context].
type Context struct {
	Infinity bool
	History  string // "elastic" or "srd"
}

// Budget is [budget]; lengths in tokens, ratios from 0 to 1.
type Budget struct {
	ResponseReserveTokens int
	SafetyMarginTokens    int
	ReserveMaxOutput      bool
	MaxRetrievalTokens    int
	WorkingSetTokens      int
	CompactAt             float64
	CompactTo             float64
	PendingWindowTokens   int
	SummariesShare        float64
	FallbackContextLimit  int
	FallbackMaxOutput     int
}

// Stream is [stream].
type Stream struct {
	FlushMs      int
	FlushBytes   int
	FsyncMs      int
	Durability   string // "buffered" or "write_ahead"
	IdleTimeoutS int
	// Limits of one answer: text, reasoning and tool arguments together.
	MaxAnswerBytes  int
	MaxAnswerTokens int
}

// IdleTimeout returns the setting as a duration.
func (s Stream) IdleTimeout() time.Duration { return time.Duration(s.IdleTimeoutS) * time.Second }

// Summary is [summary]: range summaries (SPEC 6).
type Summary struct {
	TargetRatio    float64
	Min, Max       int
	PreserveRecent int    // messages
	Style          string // "sections" or "narrative"
}

// Librarian is [librarian].
type Librarian struct {
	Commit       string // "eager" or "lazy"
	Model        string // a model's name, "auto", or "" for none
	TargetTokens int
	TimeoutS     int
	MinTurns     int
	AfterSendS   int // seconds of background work after a send on the command line
}

// AfterSend returns how long a send on the command line may work after its answer.
func (l Librarian) AfterSend() time.Duration { return time.Duration(l.AfterSendS) * time.Second }

// Timeout returns the time limit of one librarian call.
func (l Librarian) Timeout() time.Duration { return time.Duration(l.TimeoutS) * time.Second }

// Retrieval is [retrieval] (SPEC 8).
type Retrieval struct {
	Profile             string
	Scope               string
	Embedder            string
	EmbeddingModel      string
	EmbeddingBaseURL    string // empty: the embedder's own
	EmbeddingAPIKeyEnv  string // empty: as for a model of that server
	EmbeddingDimension  int    // 0: the model's default
	RerankerBaseURL     string // empty: no reranker
	RerankerModel       string // empty: the server's only one
	RerankerAPIKeyEnv   string // empty: the key stored for its host, if any
	AllowPlainHTTP      bool   // for the keys of both servers
	TopK                int
	OverfetchK          int
	MinKeep             int
	SimilarityThreshold float64
	VectorWeight        float64
	KeywordWeight       float64
	RecencyBoost        float64
	DecisionWeight      float64
	EnableMMR           bool
}

// Tools is [tools] (SPEC 10).
type Tools struct {
	Mode           string // "disabled", "parse_only", "enabled"
	AllowParallel  bool
	MaxSteps       int
	ResultMaxBytes int
	CallTimeoutS   int
	Allow          []string
	Folders        []string // full paths, in which models may use files
	RunCommands    bool     // in those folders
	// ProviderContinuity lets OpenAI store the context shared by the steps of one turn (SRD 1.2.5).
	ProviderContinuity bool
}

// OpenAI is [openai] (SRD 11.2).
type OpenAI struct {
	Truncation        string // "disabled" or "auto"
	Store             bool
	ParallelToolCalls bool
}

// Anthropic is [anthropic] (SRD 11.3).
type Anthropic struct {
	DisableParallelToolUse bool
}

// Redaction is [redaction] (SPEC 13).
type Redaction struct {
	Outbound bool
	Patterns []string // RE2
}

// Backup is [backup] (SPEC 12).
type Backup struct {
	Daily      bool
	KeepDaily  int
	KeepWeekly int
}

// Storage is [storage] (SPEC 12, 17).
type Storage struct {
	Encryption bool
	DSN        string
}

// Export is [export].
type Export struct {
	Format string // "bundle", "md", "json", "html"
}

// Cost is [cost]: prices and budget of calls.
type Cost struct {
	Estimate bool    // use the shipped price list for models without configured prices
	Budget   float64 // per month, in the currency of the prices; 0: none
	WarnAt   float64 // share of the budget
}

// Appearance is [appearance].
type Appearance struct {
	Theme    string // "system", "light", "dark", "contrast"
	TextZoom int    // percent
	Motion   string // "system", "reduced"
	CodeSize int    // percent of the default size of code
	Width    string // of messages: "narrow", "normal", "wide", "full"
	CodeWrap bool   // long lines of code are wrapped
	CodeNums bool   // lines of code are numbered
	Previews bool   // diagrams, pictures and HTML in answers can be rendered
}

// Keys is [keys].
type Keys struct {
	Shortcuts []string // "command=keys"
}

// UI is [ui].
type UI struct {
	Language string // of the window: "system", "en", "de", "zh-CN"
}

// Desktop is [desktop]: the integration with the desktop (UX, Around it).
type Desktop struct {
	CloseToTray         bool
	Notifications       bool
	NotificationPreview bool
	QuickAskKeys        string // the combination that opens quick ask from any window; empty: none
}

// Updates is [updates]: checking for newer versions.
type Updates struct {
	URL   string // the release feed; empty: never checked
	Daily bool   // check once a day, not only on request
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
	for i := range table {
		table[i].assign(table[i].field(c), table[i].def)
	}
	return c
}
