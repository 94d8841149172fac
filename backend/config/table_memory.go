package config

// Programs is [mcp.server]: other programs that use this memory over HTTP.
type Programs struct {
	HTTP bool
	Port int
}

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

// Sync is [sync]: the vault that several computers share.
type Sync struct {
	Automatic bool // exchanges happen without being asked for
}

// Storage is [storage] (SPEC 12).
type Storage struct {
	Encryption bool
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

// Desktop is [desktop]: the integration with the desktop (UX, Around it).
type Desktop struct {
	CloseToTray         bool
	LockMinutes         int
	Notifications       bool
	NotificationPreview bool
	QuickAskKeys        string // the combination that opens quick ask from any window; empty: none
}

// Updates is [updates]: checking for newer versions.
type Updates struct {
	URL   string // the release feed; empty: never checked
	Daily bool   // check once a day, not only on request
}

// Providers is [providers]: connections to all of them.
type Providers struct {
	CAFile string // certificate authorities in PEM form, in addition to the system's; empty: none
}

// memoryTable is the second half: retrieval, tools, providers and the rest.
var memoryTable = []key{
	{spec{
		name: "retrieval.profile", group: groupRetrieval, label: "Profile", def: "measured",
		choices: []string{"measured", ProfileSRD},
		help:    "measured: ranks with the values below, which were the best in a benchmark. srd: ranks with the plain values of the specification.",
	}, func(c *Config) any { return &c.Retrieval.Profile }},
	{spec{
		name: "retrieval.scope", group: groupRetrieval, label: "Scope", def: "lineage",
		choices: []string{"lineage", "session", "project", "all"},
		help: "Where memory is searched. lineage: the history of this branch. project: without a project, this branch. " +
			"project and all can send text of one session to the provider of another. " +
			"A session in a project searches the project, unless all sessions are searched. Each session can have its own scope. " +
			"Until you choose, recall, which sends nothing, searches all sessions outside of projects.",
	}, func(c *Config) any { return &c.Retrieval.Scope }},
	{spec{
		name: "retrieval.embedder", group: groupRetrieval, label: "Embedder", def: EmbedderLocal,
		choices: []string{EmbedderLocal, EmbedderWords, EmbedderOpenAI, EmbedderOllama},
		help: "What turns text into vectors. local: a small language model in the program, which finds other words for the same thing, in English. " +
			"words: compares parts of words, in any language. Neither needs a network. " +
			"openai: a model of OpenAI, or of a server with its protocol. ollama: a model of Ollama. " +
			"A server gets all your history, redacted. Changing this reindexes in the background.",
	}, func(c *Config) any { return &c.Retrieval.Embedder }},
	{spec{
		name: "retrieval.embedding_model", group: groupRetrieval, label: "Embedding model",
		def:  DefaultEmbeddingModel,
		help: "The model that OpenAI or Ollama uses for vectors. Unless you name one, Ollama uses " + ollamaEmbeddingModel + ".",
	}, func(c *Config) any { return &c.Retrieval.EmbeddingModel }},
	{spec{
		name: "retrieval.embedding_base_url", group: groupRetrieval, label: "Embedding server", def: "", check: checkBaseURL,
		help: "Address of the embedder's server. Empty: OpenAI's own address, or Ollama on this computer.",
	}, func(c *Config) any { return &c.Retrieval.EmbeddingBaseURL }},
	{spec{
		name: "retrieval.embedding_api_key_env", group: groupRetrieval, label: "Embedding key variable", def: "", check: checkEnvName,
		help: "The environment variable that contains the embedding server's key. Empty: the same key as for a model of that server.",
	}, func(c *Config) any { return &c.Retrieval.EmbeddingAPIKeyEnv }},
	{spec{
		name: "retrieval.embedding_dimension", group: groupRetrieval, label: "Embedding dimension", unit: "numbers",
		def: 0, min: 0, max: 4096,
		help: "Length of the vectors, for models that can shorten them. 0: the model's default. Changing it reindexes.",
	}, func(c *Config) any { return &c.Retrieval.EmbeddingDimension }},
	{spec{
		name: "retrieval.reranker_base_url", group: groupRetrieval, label: "Reranker server", def: "", check: checkBaseURL,
		help: "Address of a server with a /rerank endpoint, such as llama.cpp, vLLM, Jina or Cohere. It receives your question and the best " +
			"passages, redacted, in each search. Empty: no reranker.",
	}, func(c *Config) any { return &c.Retrieval.RerankerBaseURL }},
	{spec{
		name: "retrieval.reranker_model", group: groupRetrieval, label: "Reranker model", def: "",
		help: "The reranker server's model. Empty if it has only one.",
	}, func(c *Config) any { return &c.Retrieval.RerankerModel }},
	{spec{
		name: "retrieval.reranker_api_key_env", group: groupRetrieval, label: "Reranker key variable", def: "", check: checkEnvName,
		help: "The environment variable that contains the reranker server's key. Empty: the key stored for its host, if any.",
	}, func(c *Config) any { return &c.Retrieval.RerankerAPIKeyEnv }},
	{spec{
		name: "retrieval.allow_plain_http", group: groupRetrieval, label: "Keys over plain http", def: false,
		help: "Send the keys of the embedding and reranker servers to other computers over plain http, where others can read them. For networks that you trust.",
	}, func(c *Config) any { return &c.Retrieval.AllowPlainHTTP }},
	{spec{
		name: "retrieval.top_k", group: groupRetrieval, label: "Artifacts", unit: "artifacts",
		def: 6, min: 1, max: 100,
		help: "Number of results that are shown as cards. If set, also how many passages are packed into a request at most; otherwise only tokens limit that.",
	}, func(c *Config) any { return &c.Retrieval.TopK }},
	{spec{
		name: "retrieval.overfetch_k", group: groupRetrieval, label: "Candidates", unit: "candidates",
		def: 16, min: 1, max: 10000,
		help: "Number of candidates before filtering, with the profile srd. If set, also how many the profile measured may pack.",
	}, func(c *Config) any { return &c.Retrieval.OverfetchK }},
	{spec{
		name: "retrieval.min_keep", group: groupRetrieval, label: "Kept when shrinking", unit: "artifacts",
		def: 2, min: 0, max: 100,
		help: "Number of artifacts that are kept when a context is too large and has to be shortened.",
	}, func(c *Config) any { return &c.Retrieval.MinKeep }},
	{spec{
		name: "retrieval.similarity_threshold", group: groupRetrieval, label: "Similarity threshold", unit: "share",
		def: 0.72, min: 0, max: 1,
		help: "The minimum similarity of a match by vectors: the share of all passages that are less similar to the query. If set, nothing below it is packed unless it shares a word with the query.",
	}, func(c *Config) any { return &c.Retrieval.SimilarityThreshold }},
	{spec{
		name: "retrieval.vector_weight", group: groupRetrieval, label: "Weight of vectors", unit: "share",
		def: 0.5, min: 0, max: 1, // measured; OXY's 0.7 finds less
		help: "Weight of the similarity of vectors in a score, relative to the weight of words.",
	}, func(c *Config) any { return &c.Retrieval.VectorWeight }},
	{spec{
		name: "retrieval.keyword_weight", group: groupRetrieval, label: "Weight of words", unit: "share",
		def: 0.5, min: 0, max: 1,
		help: "Weight of the words of the query in a score, relative to the weight of vectors.",
	}, func(c *Config) any { return &c.Retrieval.KeywordWeight }},
	{spec{
		name: "retrieval.recency_boost", group: groupRetrieval, label: "Recency boost", unit: "share",
		def: 0.0, min: 0, max: 1, // measured: any is worse
		help: "Added to the score of the newest match, decreasing to nothing for the oldest; the best match has the score 1. With the profile srd the default is 0.1.",
	}, func(c *Config) any { return &c.Retrieval.RecencyBoost }},
	{spec{
		name: "retrieval.decision_weight", group: groupRetrieval, label: "Weight of decisions", unit: "factor",
		def: 1.0, min: 0.1, max: 10, // 1 changes nothing
		help: "Factor for decisions and open tasks.",
	}, func(c *Config) any { return &c.Retrieval.DecisionWeight }},
	{spec{
		name: "retrieval.enable_mmr", group: groupRetrieval, label: "Prefer variety", def: false, // measured: no gain
		help: "Ranks matches lower if they repeat the words of better ones. Identical passages are never packed twice. With the profile srd it is on by default.",
	}, func(c *Config) any { return &c.Retrieval.EnableMMR }},

	{spec{
		name: "tools.mode", group: groupTools, label: "Tools", def: "disabled",
		choices: []string{"disabled", "parse_only", "enabled"},
		help: "disabled: offers no tools and treats a call as an error. parse_only: offers models the tools that you accepted, shows their calls but does not run them. enabled: also " +
			"runs them, and asks you before one runs. Tool definitions count towards the request.",
	}, func(c *Config) any { return &c.Tools.Mode }},
	{spec{
		name: "tools.allow_parallel", group: groupTools, label: "Parallel calls", def: false,
		help: "Models may call several tools at once, unless a provider's own setting says otherwise; those without effects run in parallel.",
	}, func(c *Config) any { return &c.Tools.AllowParallel }},
	{spec{
		name: "tools.max_steps", group: groupTools, label: "Steps per turn", unit: "steps",
		def: 16, min: 1, max: 1000,
		help: "After this many steps with tool calls the model is asked to answer with what it has.",
	}, func(c *Config) any { return &c.Tools.MaxSteps }},
	{spec{
		name: "tools.result_max_bytes", group: groupTools, label: "Result size", unit: "bytes",
		def: 65536, min: 256, max: maxBytes,
		help: "How much of a tool's result is sent to the model; the whole result is kept.",
	}, func(c *Config) any { return &c.Tools.ResultMaxBytes }},
	{spec{
		name: "tools.call_timeout_s", group: groupTools, label: "Timeout", unit: "s",
		def: 60, min: 1, max: 3600,
		help: "How long one tool call may take; a command can set a longer limit for itself. If the call can have effects, its outcome is then unknown, and you decide.",
	}, func(c *Config) any { return &c.Tools.CallTimeoutS }},
	{spec{
		name: "tools.allow", group: groupTools, label: "Allowed without asking", def: []string{},
		help: "Tools that run without asking, as server__tool, or all tools of a server by its name.",
	}, func(c *Config) any { return &c.Tools.Allow }},
	{spec{
		name: "tools.folders", group: groupTools, label: "Folders for files", def: []string{}, check: checkFolder,
		help: "Full paths of folders in which models may list, read, search and write files, if you allow it. If empty, there are no such tools.",
	}, func(c *Config) any { return &c.Tools.Folders }},
	{spec{
		name: "tools.run_commands", group: groupTools, label: "Run commands", def: false,
		help: "Lets models run commands in those folders. Commands are confined if the system supports it; otherwise each call needs your approval.",
	}, func(c *Config) any { return &c.Tools.RunCommands }},
	{spec{
		name: "tools.provider_continuity", group: groupTools, label: "Continue at the provider", def: false,
		help: "Between the steps of a turn, only new content is sent to OpenAI, which stores the previous responses. Has no effect if “OpenAI: keep responses” is set to off.",
	}, func(c *Config) any { return &c.Tools.ProviderContinuity }},

	{spec{
		name: "mcp.server.http", group: groupPrograms, label: "Serve other programs over HTTP", def: false,
		help: "Lets programs on this computer that have a token read this memory over HTTP while the window is open. " +
			"It listens on this computer only. Programs that start contextinfinity mcp do not need it.",
	}, func(c *Config) any { return &c.Programs.HTTP }},
	{spec{
		name: "mcp.server.port", group: groupPrograms, label: "Port", def: 7468, min: 1024, max: 65535,
		help: "The port of the HTTP server. Other programs have it in their configuration.",
	}, func(c *Config) any { return &c.Programs.Port }},

	{spec{
		name: "providers.ca_file", group: groupProviders, label: "Certificate authorities", def: "",
		help: "A PEM file with certificate authorities to trust in addition to the system's, for a company's proxy or a server of your own.",
	}, func(c *Config) any { return &c.Providers.CAFile }},
	{spec{
		name: "openai.truncation", group: groupProviders, label: "OpenAI: truncation", def: "disabled",
		choices: []string{"disabled", "auto"},
		help:    "disabled: a request that is too large is an error. auto: the provider drops turns silently.",
	}, func(c *Config) any { return &c.OpenAI.Truncation }},
	{spec{
		name: "openai.store", group: groupProviders, label: "OpenAI: keep responses", def: false,
		help: "Whether OpenAI may store responses on its side.",
	}, func(c *Config) any { return &c.OpenAI.Store }},
	{spec{
		name: "openai.parallel_tool_calls", group: groupProviders, label: "OpenAI: parallel tool calls", def: false,
		help: "OpenAI models may call several tools at once. If set, it takes precedence over “Parallel calls” under Tools.",
	}, func(c *Config) any { return &c.OpenAI.ParallelToolCalls }},
	{spec{
		name: "anthropic.disable_parallel_tool_use", group: groupProviders, label: "Anthropic: one tool at a time", def: true,
		help: "Anthropic models call one tool at a time. If set, it takes precedence over “Parallel calls” under Tools.",
	}, func(c *Config) any { return &c.Anthropic.DisableParallelToolUse }},

	{spec{
		name: "redaction.outbound", group: groupPrivacy, label: "Redact secrets before sending", def: true,
		help: "Replaces text that looks like a secret in prompts before they are sent, and shows what was replaced.",
	}, func(c *Config) any { return &c.Redaction.Outbound }},
	{spec{
		name: "redaction.patterns", group: groupPrivacy, label: "Your own patterns", def: []string{}, check: checkPattern,
		help: "Regular expressions (RE2) for text that must not be sent in a prompt or appear in logs and errors.",
	}, func(c *Config) any { return &c.Redaction.Patterns }},

	{spec{
		name: "backup.daily", group: groupStorage, label: "Daily backup", def: true,
		help: "A verified copy of everything, kept in the data directory: made once a day if anything was written since, and if " +
			"twice its size is free.",
	}, func(c *Config) any { return &c.Backup.Daily }},
	{spec{
		name: "backup.keep_daily", group: groupStorage, label: "Daily backups kept", unit: "backups",
		def: 7, min: 1, max: 365,
		help: "How many of the newest daily backups to keep. Older ones are removed, except one per week. No other file is removed.",
	}, func(c *Config) any { return &c.Backup.KeepDaily }},
	{spec{
		name: "backup.keep_weekly", group: groupStorage, label: "Weekly backups kept", unit: "backups",
		def: 4, min: 0, max: 520,
		help: "Weekly backups to keep: the newest of each week before the daily ones.",
	}, func(c *Config) any { return &c.Backup.KeepWeekly }},
	{spec{
		name: "storage.encryption", group: groupStorage, label: "Encrypt at rest", def: false, reserved: true,
		unavailable: "is not available in this version: data would be stored unencrypted",
		help:        "Encrypts the database, journals and backups with a key in the system keyring.",
	}, func(c *Config) any { return &c.Storage.Encryption }},

	{spec{
		name: "sync.automatic", group: groupSync, label: "Exchange automatically", def: true,
		help: "While the window is open: soon after something was written, once a minute while you use it, otherwise every quarter of an hour. Off, only when you ask for it.",
	}, func(c *Config) any { return &c.Sync.Automatic }},

	{spec{
		name: "export.format", group: groupExport, label: "Format", def: "bundle",
		choices: []string{"bundle", "md", "json", "html"},
		help:    "The format of exports, and of a session that is dragged out of the window. A branch or a turn is exported as Markdown instead of a bundle.",
	}, func(c *Config) any { return &c.Export.Format }},

	{spec{
		name: "cost.estimate", group: groupCost, label: "Estimate costs", def: true,
		help: "Uses the shipped price list, in US dollars, for models without configured prices. It is an estimate, because prices change.",
	}, func(c *Config) any { return &c.Cost.Estimate }},
	{spec{
		name: "cost.monthly_budget", group: groupCost, label: "Monthly budget",
		def: 0.0, min: 0, max: 1e6,
		help: "What a calendar month may cost, background work included, in the currency of your prices: US dollars with the shipped list. A warning appears before it is used up; messages can still be sent. 0: no budget.",
	}, func(c *Config) any { return &c.Cost.Budget }},
	{spec{
		name: "cost.warn_at", group: groupCost, label: "Warn at", unit: "share of the budget",
		def: 0.8, min: 0.1, max: 1,
		help: "The share of the monthly budget at which the warning appears.",
	}, func(c *Config) any { return &c.Cost.WarnAt }},

	{spec{
		name: "appearance.theme", group: groupAppearance, label: "Theme", def: "system",
		choices: []string{"system", "light", "dark", "contrast"},
		help:    "system: follows the desktop.",
	}, func(c *Config) any { return &c.Appearance.Theme }},
	{spec{
		name: "appearance.text_zoom", group: groupAppearance, label: "Text size", unit: "%",
		def: 100, min: 80, max: 200,
		help: "Size of all text (zoom).",
	}, func(c *Config) any { return &c.Appearance.TextZoom }},
	{spec{
		name: "appearance.code_size", group: groupAppearance, label: "Code size", unit: "%",
		def: 100, min: 75, max: 175,
		help: "Size of code, relative to the text size.",
	}, func(c *Config) any { return &c.Appearance.CodeSize }},
	{spec{
		name: "appearance.code_wrap", group: groupAppearance, label: "Wrap long lines of code", def: false,
		help: "If off, code scrolls sideways. Each code block has its own switch.",
	}, func(c *Config) any { return &c.Appearance.CodeWrap }},
	{spec{
		name: "appearance.code_numbers", group: groupAppearance, label: "Line numbers in code", def: false,
		help: "They are not copied with the code.",
	}, func(c *Config) any { return &c.Appearance.CodeNums }},
	{spec{
		name: "appearance.previews", group: groupAppearance, label: "Preview diagrams, SVG and HTML", def: true,
		help: "Diagrams in Mermaid are drawn when they are complete; SVG and HTML get a Preview button. None of it runs a script or opens a connection.",
	}, func(c *Config) any { return &c.Appearance.Previews }},
	{spec{
		name: "appearance.message_width", group: groupAppearance, label: "Message width", def: "normal",
		choices: []string{"narrow", "normal", "wide", "full"},
		help:    "Maximum line width of the conversation.",
	}, func(c *Config) any { return &c.Appearance.Width }},
	{spec{
		name: "appearance.motion", group: groupAppearance, label: "Motion", def: "system",
		choices: []string{"system", "reduced"},
		help:    "reduced: disables animation, whatever the desktop setting.",
	}, func(c *Config) any { return &c.Appearance.Motion }},

	{spec{
		name: "keys.shortcuts", group: groupKeyboard, label: "Shortcuts", def: []string{}, check: checkShortcut,
		help: "Your own keys for the window's commands, each as “command=keys”, such as “new=Ctrl+Shift+M”. With nothing after the equals sign, the command has no keys.",
	}, func(c *Config) any { return &c.Keys.Shortcuts }},

	{spec{
		name: "desktop.close_to_tray", group: groupGeneral, label: "Keep running in the tray when the window is closed", def: true,
		help: "Background work continues behind the tray icon until you quit from its menu. Without a tray, closing always quits.",
	}, func(c *Config) any { return &c.Desktop.CloseToTray }},
	{spec{
		name: "desktop.lock_minutes", group: groupStorage, label: "Lock after minutes without use", unit: "minutes",
		def: 0, min: 0, max: 1440,
		help: "Sealed data is locked, and the window asks for the passphrase again; not if it opens with your sign-in. It waits for answers that are arriving. 0: never.",
	}, func(c *Config) any { return &c.Desktop.LockMinutes }},
	{spec{
		name: "desktop.notifications", group: groupGeneral, label: "Notify when an answer ends", def: true,
		help: "A notification when an answer is done while the window is hidden, or a long one while you are in another window. It names the session.",
	}, func(c *Config) any { return &c.Desktop.Notifications }},
	{spec{
		name: "desktop.notification_preview", group: groupGeneral, label: "Quote the answer in notifications", def: false,
		help: "If off, a notification names the session but never quotes it, because others may see your screen.",
	}, func(c *Config) any { return &c.Desktop.NotificationPreview }},
	{spec{
		name: "desktop.quick_ask_keys", group: groupGeneral, label: "Quick ask from anywhere", def: "", check: checkGlobalKeys,
		help: "Keys that open the small window from any program, such as Ctrl+Alt+Space. If empty, no keys are used. " +
			"Needs a desktop with a portal for global shortcuts, or X11.",
	}, func(c *Config) any { return &c.Desktop.QuickAskKeys }},
	{spec{
		name: "updates.url", group: groupGeneral, label: "Release feed", def: "", check: checkFeed,
		help: "The https address that is checked for new versions (http is allowed on this computer): a project's list of releases on GitHub or Gitea, or a JSON file with version and page. " +
			"This copy of the program comes with none. Empty: nothing is checked.",
	}, func(c *Config) any { return &c.Updates.URL }},
	{spec{
		name: "updates.daily", group: groupGeneral, label: "Check for a new version every day", def: false,
		help: "If off, the feed is only requested when you check manually. Only the request is sent; nothing is downloaded or installed.",
	}, func(c *Config) any { return &c.Updates.Daily }},
}
