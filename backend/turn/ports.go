package turn

import (
	"context"
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/tools"
)

// TurnStore stores the phases of turns. Each method that changes a turn is one transaction.
type TurnStore interface {
	Accept(context.Context, chat.Acceptance) (chat.Turn, error)
	Prepare(context.Context, chat.Preparation) error
	BeginStep(context.Context, chat.StepStart) (chat.Step, error)
	StepProgress(ctx context.Context, step chat.StepID, displayed, durable int64) error
	EndStep(context.Context, chat.StepEnd) error
	// NewEventPack encodes a long stream for a StepEnd while it arrives.
	NewEventPack() chat.EventPack
	Finalize(context.Context, chat.Finalization) (chat.Turn, error)
	Interrupt(context.Context, chat.Interruption) (chat.Turn, error)
	Resume(context.Context, chat.TurnID) error
	FailTurn(context.Context, chat.TurnFailure) (chat.Turn, error)
	// OpenTurns are the turns without a final answer, without those that are left to another device.
	OpenTurns(context.Context) ([]chat.Turn, error)
	FinishedElsewhere(context.Context, chat.TurnID) (bool, error)
	WasRestored(context.Context, chat.StepID) (bool, error)
}

// HistoryStore reads sessions, branches, turns and files.
type HistoryStore interface {
	Session(context.Context, chat.SessionID) (chat.Session, error)
	// Deletions counts permanent deletions; cached texts are valid for one count.
	Deletions() int64
	Branch(context.Context, chat.BranchID) (chat.Branch, error)
	Turn(context.Context, chat.TurnID) (chat.Turn, error)
	Lineage(context.Context, chat.LineageQuery) ([]chat.Turn, error)
	LastTurn(context.Context, chat.BranchID) (chat.Turn, bool, error)
	Steps(context.Context, chat.TurnID) ([]chat.Step, error)
	StepByID(context.Context, chat.StepID) (chat.Step, error)
	// StepEvents yields the stored stream of a step, one event at a time.
	StepEvents(ctx context.Context, step chat.StepID, yield func(chat.RawEvent) error) error
	// ProjectIn is the project of the named folder; false: there is none.
	ProjectIn(ctx context.Context, folder string) (chat.Project, bool, error)
	File(context.Context, chat.FileID) (chat.File, error)
	FileText(context.Context, chat.FileID) (string, error)
}

// ContextStore stores the inputs of contexts, and their manifests.
type ContextStore interface {
	State(context.Context, chat.StateID) (chat.State, error)
	Pins(context.Context, chat.BranchID) ([]chat.Pin, error)
	PinsAt(ctx context.Context, branch chat.BranchID, seq int64) ([]chat.Pin, error)
	Sizes(ctx context.Context, branch chat.BranchID, encoding string) ([]chat.TurnSize, error)
	PutSizes(ctx context.Context, encoding string, sizes []chat.TurnSize) error
	UsableSummaries(context.Context, chat.BranchID) ([]chat.RangeSummary, error)
	PreviousManifest(ctx context.Context, branch chat.BranchID, beforeSeq int64) (json.RawMessage, chat.TurnID, error)
	Manifest(context.Context, chat.TurnID) (json.RawMessage, error)
	// ChunkTexts returns chunks with their text; missing ones are left out.
	ChunkTexts(context.Context, []chat.ChunkID) ([]chat.ChunkText, error)
	AllSummaries(context.Context, chat.SessionID) ([]chat.RangeSummary, error)
	PinsByID(context.Context, []chat.PinID) ([]chat.Pin, error)
	PreparedTurns(context.Context) ([]chat.TurnID, error)
	EnqueueRange(ctx context.Context, branch chat.BranchID, from int64, last chat.TurnID) (bool, error)
	Calibration(ctx context.Context, provider, modelID string) (chat.Calibration, error)
	ObserveCalibration(ctx context.Context, provider, modelID string, estimated, reported int) error
}

// DraftStore stores unsent messages: queued ones, and the draft that a queued message becomes when it is edited.
type DraftStore interface {
	Queue(context.Context, chat.BranchID) ([]chat.QueuedMessage, error)
	Enqueue(ctx context.Context, branch chat.BranchID, m chat.Message, at int, clearDraft bool) (chat.QueuedMessage, error)
	MoveQueued(ctx context.Context, id chat.QueuedID, to int) (chat.BranchID, error)
	RemoveQueued(context.Context, chat.QueuedID) (chat.QueuedMessage, error)
	EditQueued(context.Context, chat.QueuedID) (chat.QueuedMessage, error)
}

// CallStore stores tool calls (SPEC 10).
type CallStore interface {
	ProposeCalls(context.Context, chat.TurnID, chat.StepEnd, []chat.ProposedCall) (chat.ToolBatch, error)
	DecideCall(context.Context, chat.CallDecision) error
	StartCall(context.Context, chat.ToolCallID, []chat.CallRedaction) error
	EndCall(context.Context, chat.CallEnd) error
	CommitBatch(context.Context, chat.ToolBatchID) error
	AbandonBatches(context.Context, chat.TurnID) error
	ToolBatches(context.Context, []chat.TurnID) (map[chat.TurnID][]chat.ToolBatch, error)
	CallBatch(context.Context, chat.ToolCallID) (chat.ToolBatch, error)
}

// Model is a configured model, ready to be called.
type Model struct {
	Endpoint llm.Endpoint
	Provider llm.Provider
	Limits   prompt.Limits
	// NoTools: according to the user or its server it cannot call tools, so none are offered.
	NoTools bool
	// Refuses records a part of requests that the model's server does not accept (llm.Error.Refused); nil: it is not
	// remembered.
	Refuses func(part string)
	// CalledTools records that the model called tools, which proves that it can, and returns true if this was not known
	// before. nil: it is not recorded.
	CalledTools func() bool
	// Cost is what a usage costs at the model's current price; the zero Cost if no price is known. nil: never known.
	Cost func(chat.Usage) chat.Cost
}

// Models resolves configured names. It is called for every request, so a changed key or limit applies at once. An
// empty name is the default model.
type Models interface {
	Resolve(ctx context.Context, name string) (Model, error)
	// Provider returns an adapter by name, for decoding its stored events.
	Provider(name string) (llm.Provider, bool)
}

// Tools are the tools of turns, and the decisions about their calls (SPEC 10).
type Tools interface {
	// Offer returns the definitions that may be offered in a session now, in a stable order: accepted and not
	// forbidden.
	Offer(context.Context, chat.SessionID) ([]chat.ToolDefinition, error)
	// Decision is the decision for a call of a tool: DecisionNone asks the user.
	Decision(context.Context, chat.SessionID, chat.ToolDefinition) (chat.ToolDecision, error)
	// Permit stores a decision for later calls.
	Permit(context.Context, chat.ToolPermission) error
	// Source is a source by name, running or not.
	Source(name string) (tools.Source, bool)
}

// Publisher is notified of what the window should show. Its methods must not block.
type Publisher interface {
	Frame(chat.Frame)
	Change(chat.Change)
}

// Counter counts tokens like the given model.
type Counter interface {
	Count(modelID, text string) int
	// Encoding names the way in which a model's tokens are counted; stored sizes are filed under it.
	Encoding(modelID string) string
}

// Settings are the settings of a turn.
type Settings struct {
	IdleTimeout time.Duration // stream.idle_timeout_s
	FrameEvery  time.Duration // 16 ms; tests choose another
	// Backoff is the pause before attempt n (from 2) if the provider requests none.
	Backoff func(attempt int) time.Duration
	// Instructions precede those of each session: general.instructions.
	Instructions string
	// RedactionRules identifies the rules of Redact.
	RedactionRules string
	// Policy is how history is represented (SPEC 6).
	Policy prompt.Policy
	// Scope is the chosen scope of memory: retrieval.scope. Empty: the user has not chosen one.
	Scope chat.Scope
	// ProgressEvery is how often a stream's byte counters are stored; 0: every second.
	ProgressEvery time.Duration
	// RecallTimeout is how long a turn waits for its memory; 0: five seconds.
	RecallTimeout time.Duration
	// EmbedsRemotely: a search sends the question to a server. Previews, which follow typing, then do not search.
	EmbedsRemotely bool
	// MaxAnswerBytes and MaxAnswerTokens bound one answer (stream.max_answer_bytes and
	// _tokens); 0: llm's defaults.
	MaxAnswerBytes, MaxAnswerTokens int
	// ToolsMode is tools.mode (SRD 12.1).
	ToolsMode llm.ToolsMode
	// MaxSteps is tools.max_steps, CallTimeout tools.call_timeout_s, ResultMaxBytes
	// tools.result_max_bytes; 0: the defaults.
	MaxSteps       int
	CallTimeout    time.Duration
	ResultMaxBytes int
	// AllowParallel runs calls without effects in parallel (tools.allow_parallel).
	AllowParallel bool
	// Continuity lets a provider use what it has stored of the turn (tools.provider_continuity).
	Continuity bool
	// StoreRefused: openai.store = false is configured, which takes precedence over Continuity.
	StoreRefused bool
}

// MaxAttempts is how often a call is tried while nothing has arrived (SPEC 4).
const MaxAttempts = 4

// MaxRetryAfter is the longest pause that a provider may request before the user decides instead.
const MaxRetryAfter = time.Minute

// DefaultBackoff doubles from half a second.
func DefaultBackoff(attempt int) time.Duration {
	return 500 * time.Millisecond << max(0, attempt-2)
}
