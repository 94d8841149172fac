package config

import (
	"slices"
	"time"
)

// Groups of the settings window, in its order.
const (
	groupGeneral    = "General"
	groupBudget     = "Context budget"
	groupStream     = "Streaming"
	groupLibrarian  = "Librarian"
	groupRetrieval  = "Memory and search"
	groupTools      = "Tools"
	groupPrograms   = "Other programs"
	groupProviders  = "Providers"
	groupPrivacy    = "Privacy and redaction"
	groupStorage    = "Storage and backup"
	groupSync       = "Several computers"
	groupExport     = "Export"
	groupCost       = "Cost"
	groupAppearance = "Appearance"
	groupKeyboard   = "Keyboard"
)

const (
	maxTokens = 100_000_000
	maxBytes  = 1 << 30
)

// General is [general].
type General struct {
	DefaultModel string
	Instructions string
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

	ChunkSummaries            bool // summarize long passages of memory
	ChunkSummariesDailyTokens int
}

// AfterSend returns how long a send on the command line may work after its answer.
func (l Librarian) AfterSend() time.Duration { return time.Duration(l.AfterSendS) * time.Second }

// Timeout returns the time limit of one librarian call.
func (l Librarian) Timeout() time.Duration { return time.Duration(l.TimeoutS) * time.Second }

// UI is [ui].
type UI struct {
	Language string // of the window: "system", "en", "de", "zh-CN"
	SendKey  string // "Enter" or "Ctrl+Enter"
}

// table has every key of config.toml outside [models], in the order of the settings window.
var table = slices.Concat(coreTable, memoryTable)

// coreTable is the first half of the table of keys. Defaults are from SRD 18 and 8.2 and SPEC 16 unless the line says
// otherwise.
var coreTable = []key{
	{spec{
		name: "general.default_model", group: groupGeneral, label: "Default model", def: "",
		help: "The model a new session starts with. Empty: the first usable one, or recall if there is none. " +
			"Its window sets the token budget.",
	}, func(c *Config) any { return &c.General.DefaultModel }},
	{spec{
		name: "general.instructions", group: groupGeneral, label: "Instructions for all chats", def: "", lines: true, check: checkInstructions,
		help: "What every model should know about you, and how it should answer: custom instructions (system prompt), sent " +
			"before those of each session, from the next message on.",
	}, func(c *Config) any { return &c.General.Instructions }},
	{spec{
		name: "general.favourite_models", group: groupGeneral, label: "Favourite models", def: []string{},
		help: "The names of the models that are listed first in every model list.",
	}, func(c *Config) any { return &c.General.Favourites }},
	{spec{
		name: "general.data_dir", group: groupGeneral, label: "Data directory", def: "", check: checkDataDir,
		help: "Where sessions, journals and backups are kept. Empty: the system's folder for application data. " +
			"Takes effect at the next start. No data is moved.",
	}, func(c *Config) any { return &c.General.DataDir }},
	{spec{
		name: "ui.language", group: groupGeneral, label: "Language", def: "system",
		choices: []string{"system", "en", "de", "zh-CN"},
		help: "The language of the window. system: the first of the system's languages that the window supports, or English. " +
			"The command line and the log are in English.",
	}, func(c *Config) any { return &c.UI.Language }},
	{spec{
		name: "ui.send_key", group: groupGeneral, label: "Key that sends", def: "Enter",
		choices: []string{"Enter", "Ctrl+Enter"},
		help:    "With Ctrl+Enter, Enter begins a new line of the message.",
	}, func(c *Config) any { return &c.UI.SendKey }},

	{spec{
		name: "context.infinity", group: groupBudget, label: "Unlimited history", def: true,
		help: "Off: plain chat. It is still saved, but nothing is summarized or remembered, and a session " +
			"that outgrows the model's window is an error. CONTEXTINFINITY=0 or 1 in the environment overrides the file.",
	}, func(c *Config) any { return &c.Context.Infinity }},
	{spec{
		name: "context.history", group: groupBudget, label: "History in the context", def: "elastic",
		choices: []string{"elastic", "srd"},
		help: "elastic: sends as many original turns as fit. srd: sends no committed originals, only the summary, " +
			"pending turns and retrieved memory: the smallest context.",
	}, func(c *Config) any { return &c.Context.History }},

	{spec{
		name: "budget.working_set_tokens", group: groupBudget, label: "Working set", unit: "tokens",
		def: 50000, min: 1000, max: maxTokens,
		help: "The most tokens a request may contain, whatever the model's window. A larger value sends more of the history word for word and costs more per turn.",
	}, func(c *Config) any { return &c.Budget.WorkingSetTokens }},
	{spec{
		name: "budget.response_reserve_tokens", group: groupBudget, label: "Reply reserve", unit: "tokens",
		def: 4000, min: 1, max: maxTokens,
		help: "Kept free in the window for the answer. The default is limited to an eighth of the window; a value you set is used exactly. Subtracted from the input budget.",
	}, func(c *Config) any { return &c.Budget.ResponseReserveTokens }},
	{spec{
		name: "budget.reserve_max_output", group: groupBudget, label: "Reserve space for the longest answer", def: false,
		help: "Keeps the model's whole output limit free for the answer, instead of the reply reserve. Subtracted from the input budget.",
	}, func(c *Config) any { return &c.Budget.ReserveMaxOutput }},
	{spec{
		name: "budget.safety_margin_tokens", group: groupBudget, label: "Safety margin", unit: "tokens",
		def: 1500, min: 0, max: maxTokens,
		help: "Kept free because token counts are estimates. The default is at most 1/32 of the window, and at least 5 % of the window without the reply reserve; a value you set is used exactly. Subtracted from the input budget.",
	}, func(c *Config) any { return &c.Budget.SafetyMarginTokens }},
	{spec{
		name: "budget.max_retrieval_tokens", group: groupBudget, label: "Retrieved memory", unit: "tokens",
		def: 6000, min: 0, max: maxTokens,
		help: "The most tokens of the working set that retrieved memory may use. 0 turns retrieval off.",
	}, func(c *Config) any { return &c.Budget.MaxRetrievalTokens }},
	{spec{
		name: "budget.pending_window_tokens", group: groupBudget, label: "Pending window", unit: "tokens",
		def: 8000, min: 100, max: maxTokens,
		help: "With lazy commit, turns stay pending, and are sent in full, until together they exceed this, or what a small model has room for.",
	}, func(c *Config) any { return &c.Budget.PendingWindowTokens }},
	{spec{
		name: "budget.compact_at", group: groupBudget, label: "Compact at", unit: "share",
		def: 0.85, min: 0.1, max: 1,
		help: "When original turns fill this share of the history allowance, the oldest are replaced by summaries. A higher value keeps more originals, closer to the limit.",
	}, func(c *Config) any { return &c.Budget.CompactAt }},
	{spec{
		name: "budget.compact_to", group: groupBudget, label: "Compact to", unit: "share",
		def: 0.50, min: 0.05, max: 0.95,
		help: "The share of the history allowance that originals use after a compaction. A lower value compacts less often, so a provider's prompt cache stays valid longer.",
	}, func(c *Config) any { return &c.Budget.CompactTo }},
	{spec{
		name: "budget.summaries_share", group: groupBudget, label: "Share for summaries", unit: "share",
		def: 0.15, min: 0.01, max: 1,
		help: "Size of the range summaries relative to the history allowance. Counted against the same ceiling as originals.",
	}, func(c *Config) any { return &c.Budget.SummariesShare }},
	{spec{
		name: "budget.fallback_context_limit", group: groupBudget, label: "Unknown window", unit: "tokens",
		def: 8192, min: 1024, max: maxTokens, // FCRATE: unknown models
		help: "The window assumed for a model whose window is neither configured nor in the built-in table. If it is too large, a local server may cut the prompt silently.",
	}, func(c *Config) any { return &c.Budget.FallbackContextLimit }},
	{spec{
		name: "budget.fallback_max_output", group: groupBudget, label: "Unknown output limit", unit: "tokens",
		def: 4096, min: 64, max: maxTokens, // FCRATE: unknown models
		help: "The longest answer requested from a model whose limit is unknown.",
	}, func(c *Config) any { return &c.Budget.FallbackMaxOutput }},

	{spec{
		name: "stream.durability", group: groupStream, label: "Durability", def: "buffered",
		choices: []string{"buffered", "write_ahead"},
		help: "buffered: shows text at once, and how much of it is not yet safe from a power cut. write_ahead: shows " +
			"only text that is already safe, up to 50 ms later. In both modes, a crash of this program loses nothing.",
	}, func(c *Config) any { return &c.Stream.Durability }},
	{spec{
		name: "stream.fsync_ms", group: groupStream, label: "Flush to disk every", unit: "ms",
		def: 2000, min: 10, max: 60000,
		help: "How often streamed text is flushed to disk, which makes it safe from a power cut.",
	}, func(c *Config) any { return &c.Stream.FsyncMs }},
	{spec{
		name: "stream.flush_ms", group: groupStream, label: "Longest batch", unit: "ms",
		def: 250, min: 1, max: 10000,
		help: "How long text may wait for a slow disk before it is written.",
	}, func(c *Config) any { return &c.Stream.FlushMs }},
	{spec{
		name: "stream.flush_bytes", group: groupStream, label: "Largest batch", unit: "bytes",
		def: 8192, min: 256, max: 16 << 20,
		help: "How much text may wait for a slow disk before it is written.",
	}, func(c *Config) any { return &c.Stream.FlushBytes }},
	{spec{
		name: "stream.idle_timeout_s", group: groupStream, label: "Stream idle timeout", unit: "s",
		def: 120, min: 1, max: 3600,
		help: "A stream that sends nothing for this long ends with an error; its text is kept. Slow local models may need more time.",
	}, func(c *Config) any { return &c.Stream.IdleTimeoutS }},
	{spec{
		name: "stream.max_answer_bytes", group: groupStream, label: "Longest answer", unit: "bytes",
		def: 16 << 20, min: 1024, max: 256 << 20,
		help: "A longer answer is stopped and kept as incomplete. Text, reasoning and tool arguments are counted together. " +
			"No model answers at such length, but a faulty server may never stop.",
	}, func(c *Config) any { return &c.Stream.MaxAnswerBytes }},
	{spec{
		name: "stream.max_answer_tokens", group: groupStream, label: "Longest answer in tokens", unit: "tokens",
		def: 2_000_000, min: 256, max: maxTokens,
		help: "The same limit in tokens. The limit that is reached first ends the answer.",
	}, func(c *Config) any { return &c.Stream.MaxAnswerTokens }},

	{spec{
		name: "librarian.commit", group: groupLibrarian, label: "Summarize turns", def: "eager",
		choices: []string{"eager", "lazy"},
		help: "eager: adds each finished turn to the state at once. lazy: waits until the pending window is full, with fewer " +
			"librarian calls and more recent turns word for word.",
	}, func(c *Config) any { return &c.Librarian.Commit }},
	{spec{
		name: "librarian.model", group: groupLibrarian, label: "Model", def: AutoModel,
		help: "The model that writes state summaries. auto: the cheap model of the turn's provider. Without a model, only the built-in summary is made.",
	}, func(c *Config) any { return &c.Librarian.Model }},
	{spec{
		name: "librarian.target_tokens", group: groupLibrarian, label: "Size of the state summary", unit: "tokens",
		def: 1200, min: 64, max: 32768,
		help: "How long the state summary may grow. It is part of every request.",
	}, func(c *Config) any { return &c.Librarian.TargetTokens }},
	{spec{
		name: "librarian.timeout_s", group: groupLibrarian, label: "Timeout", unit: "s",
		def: 30, min: 1, max: 600,
		help: "If a model takes longer, the built-in summary is used instead. A session never waits for it.",
	}, func(c *Config) any { return &c.Librarian.TimeoutS }},
	{spec{
		name: "librarian.min_turns", group: groupLibrarian, label: "Turns per call", unit: "turns",
		def: 1, min: 1, max: 100,
		help: "The minimum number of turns per librarian call.",
	}, func(c *Config) any { return &c.Librarian.MinTurns }},
	{spec{
		name: "librarian.after_send_s", group: groupLibrarian, label: "Background work after “send”", unit: "s",
		def: 2, min: 0, max: 600,
		help: "How long the command “contextinfinity send” may keep working after it printed the answer, so that turns are summarized and indexed without the window. " +
			"A librarian model that was asked is awaited longer (librarian.timeout_s). 0: the rest is left to the window, to “send --wait” or to “contextinfinity reconcile”.",
	}, func(c *Config) any { return &c.Librarian.AfterSendS }},
	{spec{
		name: "librarian.chunk_summaries", group: groupLibrarian, label: "Summarize long passages", def: false,
		help: "The librarian's model summarizes each long passage of your conversations once, newest first, in the background. Where memory " +
			"has no room for a passage, this summary is sent instead of its first sentences. With the model auto, a passage is only " +
			"sent to the provider of its own turn. Imported conversations and files of projects are not sent.",
	}, func(c *Config) any { return &c.Librarian.ChunkSummaries }},
	{spec{
		name: "librarian.chunk_summaries_daily_tokens", group: groupLibrarian, label: "Limit for long passages", unit: "tokens",
		def: 50_000, min: 6000, max: maxTokens,
		help: "How many tokens the summaries of long passages may use per day, sent and received. The rest waits for the next day.",
	}, func(c *Config) any { return &c.Librarian.ChunkSummariesDailyTokens }},

	{spec{
		name: "summary.target_ratio", group: groupBudget, label: "Range summary ratio", unit: "share",
		def: 0.15, min: 0.01, max: 0.9,
		help: "Length of a range summary relative to what it replaces.",
	}, func(c *Config) any { return &c.Summary.TargetRatio }},
	{spec{
		name: "summary.min", group: groupBudget, label: "Range summary, shortest", unit: "tokens",
		def: 64, min: 16, max: 32768,
		help: "The minimum target length of a range summary.",
	}, func(c *Config) any { return &c.Summary.Min }},
	{spec{
		name: "summary.max", group: groupBudget, label: "Range summary, longest", unit: "tokens",
		def: 2048, min: 16, max: 32768,
		help: "The maximum target length of a range summary.",
	}, func(c *Config) any { return &c.Summary.Max }},
	{spec{
		name: "summary.preserve_recent", group: groupBudget, label: "Always original", unit: "messages",
		def: 4, min: 0, max: 1000,
		help: "The newest messages, sent word for word. Only a message that is too long to fit is shortened.",
	}, func(c *Config) any { return &c.Summary.PreserveRecent }},
	{spec{
		name: "summary.style", group: groupBudget, label: "Range summary style", def: "sections",
		choices: []string{"sections", "narrative"},
		help: "How a model writes the summary of older turns: sections with lists of decisions, constraints and facts, or one " +
			"continuous narrative. Existing summaries are kept.",
	}, func(c *Config) any { return &c.Summary.Style }},
}
