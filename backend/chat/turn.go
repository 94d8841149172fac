package chat

import (
	"cmp"
	"encoding/json"
	"iter"
	"slices"
	"time"
)

// Phase is the progress of a turn (SRD 5.6, 6.1).
type Phase string

const (
	PhaseAccepted          Phase = "Accepted"
	PhaseContextPrepared   Phase = "ContextPrepared"
	PhaseResponding        Phase = "Responding"
	PhaseResponseFinalized Phase = "ResponseFinalized"
	PhaseStateCommitted    Phase = "StateCommitted"
	PhaseIndexed           Phase = "Indexed"
	PhaseDone              Phase = "Done"
	PhaseFailed            Phase = "Failed"
)

// phaseMoves are the allowed transitions (SPEC 4): phases only go forward, and Failed is possible only before the
// answer is final (before TX-A).
var phaseMoves = map[Phase][]Phase{
	PhaseAccepted:          {PhaseContextPrepared, PhaseFailed},
	PhaseContextPrepared:   {PhaseResponding, PhaseFailed},
	PhaseResponding:        {PhaseResponseFinalized, PhaseFailed},
	PhaseResponseFinalized: {PhaseStateCommitted},
	PhaseStateCommitted:    {PhaseIndexed},
	PhaseIndexed:           {PhaseDone},
}

// CanMove reports whether a transition between phases is allowed.
func CanMove(from, to Phase) bool {
	return slices.Contains(phaseMoves[from], to)
}

// Finalized reports whether the answer is final: the phase is ResponseFinalized or later.
func (p Phase) Finalized() bool {
	switch p {
	case PhaseResponseFinalized, PhaseStateCommitted, PhaseIndexed, PhaseDone:
		return true
	}
	return false
}

// Outcome is how an answer ended. It is empty while the turn runs.
type Outcome string

const (
	OutcomeNone       Outcome = ""
	OutcomeCompleted  Outcome = "completed"  // the provider completed it
	OutcomeTruncated  Outcome = "truncated"  // final, but cut by the provider (output limit, filter)
	OutcomeRefused    Outcome = "refused"    // final: the provider declined
	OutcomeStopped    Outcome = "stopped"    // final: stopped by the user
	OutcomeKept       Outcome = "kept"       // final: an incomplete answer the user kept
	OutcomePaused     Outcome = "paused"     // final: ends in tool calls that were shown, not run
	OutcomeIncomplete Outcome = "incomplete" // Responding, but the stream has ended; the user decides
	OutcomeFailed     Outcome = "failed"     // phase Failed
	OutcomeDiscarded  Outcome = "discarded"  // phase Failed, by the user's Discard
)

// IndexStatus is the index state of a committed turn (SPEC 8).
type IndexStatus string

const (
	IndexNone     IndexStatus = ""         // not yet
	IndexOK       IndexStatus = "ok"       // chunks and units are stored
	IndexDegraded IndexStatus = "degraded" // keeps failing; retried by hand
	IndexSkipped  IndexStatus = "skipped"  // nothing to index (recall's own quotations)
)

// UnansweredImport is the failure of an imported message that had no answer where it came from. Nothing failed: the
// turn only needs a final phase. The text is stored.
const UnansweredImport = "No answer was given to this message before it was exported."

// Unanswered reports whether a turn was imported without an answer.
func (f *Failure) Unanswered() bool { return f != nil && f.Message == UnansweredImport }

// Failure is why a turn or step failed, as stored in error_json.
type Failure struct {
	Code     Code   `json:"code"`
	Message  string `json:"message"`          // in English
	Hint     string `json:"hint,omitempty"`   // in English
	Status   int    `json:"status,omitempty"` // HTTP
	Attempts int    `json:"attempts,omitempty"`
	// Words and Advice are Message and Hint with their values apart, for other languages; zero if they have none.
	Words  Phrase `json:"words,omitzero"`
	Advice Phrase `json:"advice,omitzero"`
}

// NewFailure returns a failure with a message and a hint.
func NewFailure(code Code, said, advised Phrase) *Failure {
	f := &Failure{Code: code}
	f.Message, f.Words = said.Split()
	f.Hint, f.Advice = advised.Split()
	return f
}

// Forget replaces everything that may quote the conversation by mark.
func (f *Failure) Forget(mark string) {
	f.Message, f.Hint, f.Words, f.Advice = mark, "", Phrase{}, Phrase{}
}

// Said returns the message with its values.
func (f *Failure) Said() Phrase { return f.Words.As(f.Message) }

// Advised returns the hint with its values.
func (f *Failure) Advised() Phrase { return f.Advice.As(f.Hint) }

// Usage is the usage reported by the provider, in tokens; zero if not reported.
type Usage struct {
	InputTokens       int `json:"input_tokens"`
	OutputTokens      int `json:"output_tokens"`
	CachedInputTokens int `json:"cached_input_tokens,omitempty"`
	CacheWriteTokens  int `json:"cache_write_tokens,omitempty"`
	ReasoningTokens   int `json:"reasoning_tokens,omitempty"`
	// DroppedBecause says why reported numbers were dropped.
	DroppedBecause string `json:"not_believed,omitempty"`
	// DroppedWords is DroppedBecause with its values; zero if it has none.
	DroppedWords Phrase `json:"not_believed_words,omitzero"`
	// Cost is by the price at the time of the answer. A later price does not change it.
	Cost Cost `json:"cost,omitzero"`
}

// Cost is the cost of tokens in US dollars. Source is the source of the price; empty: no price was known.
type Cost struct {
	USD    float64 `json:"usd"`
	Source string  `json:"source"`
}

// PriceConfigured is the source of a price that the user gave. Costs by any other price are estimates.
const PriceConfigured = "configured"

// Known reports whether the price was known.
func (c Cost) Known() bool { return c.Source != "" }

// Estimate reports whether the price was not a configured one.
func (c Cost) Estimate() bool { return c.Known() && c.Source != PriceConfigured }

// plus returns the sum of two known costs. It is an estimate if one of them is.
func (c Cost) plus(d Cost) Cost {
	sum := Cost{USD: c.USD + d.USD, Source: c.Source}
	if d.Estimate() {
		sum.Source = d.Source
	}
	return sum
}

// maxPlausible is more tokens than any call can have.
const maxPlausible = 100_000_000

// NoCount stands for an invalid number of tokens in a provider's report. Checked reports it.
const NoCount = -1 << 40

// Checked drops impossible numbers: negative ones, more cached than input tokens, and numbers over limit, the largest
// possible input or output of the call in tokens; 0: unknown. If one number is impossible, all are dropped, and
// DroppedBecause has the reason.
func (u *Usage) Checked(limit int) *Usage {
	if u == nil {
		return nil
	}
	if limit <= 0 || limit > maxPlausible {
		limit = maxPlausible
	}
	for _, n := range []struct {
		name   string
		tokens int
	}{
		{"input_tokens", u.InputTokens}, {"output_tokens", u.OutputTokens}, {"cached_input_tokens", u.CachedInputTokens},
		{"cache_write_tokens", u.CacheWriteTokens}, {"reasoning_tokens", u.ReasoningTokens},
	} {
		switch {
		case n.tokens <= NoCount/2: // alone or in a sum
			return droppedUsage("the server reported %s, which is not a number of tokens", n.name)
		case n.tokens < 0:
			return droppedUsage("the server reported %s = %d, which is negative", n.name, n.tokens)
		case n.tokens > limit:
			return droppedUsage("the server reported %s = %d, more than the %d that are possible", n.name, n.tokens, limit)
		}
	}
	if u.CachedInputTokens > u.InputTokens {
		return droppedUsage("the server reported cached_input_tokens = %d, more than the input_tokens = %d they are part of", u.CachedInputTokens, u.InputTokens)
	}
	return u
}

func droppedUsage(format string, args ...any) *Usage {
	u := &Usage{}
	u.DroppedBecause, u.DroppedWords = Say(format, args...).Split()
	return u
}

// WhyDropped returns DroppedBecause with its values.
func (u Usage) WhyDropped() Phrase { return u.DroppedWords.As(u.DroppedBecause) }

// sumOfCosts returns the cost of two usages. It is unknown if the cost of a usage with tokens is unknown.
func sumOfCosts(u, v Usage) Cost {
	switch {
	case !u.hasTokens():
		return v.Cost
	case !v.hasTokens():
		return u.Cost
	case u.Cost.Known() && v.Cost.Known():
		return u.Cost.plus(v.Cost)
	}
	return Cost{}
}

func (u Usage) hasTokens() bool { return u.InputTokens != 0 || u.OutputTokens != 0 }

// Add returns the sum of two usages, for a turn of several steps.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens: u.InputTokens + v.InputTokens, OutputTokens: u.OutputTokens + v.OutputTokens,
		CachedInputTokens: u.CachedInputTokens + v.CachedInputTokens,
		CacheWriteTokens:  u.CacheWriteTokens + v.CacheWriteTokens,
		ReasoningTokens:   u.ReasoningTokens + v.ReasoningTokens,
		DroppedBecause:    cmp.Or(u.DroppedBecause, v.DroppedBecause),
		DroppedWords:      cmp.Or(u.DroppedWords, v.DroppedWords),
		Cost:              sumOfCosts(u, v),
	}
}

// Sources of a session; any other one names an importer.
const (
	SourceNative    = "native"
	SourceDuplicate = "duplicate" // its first turns are copies
)

// Session is a persistent conversation of one or more branches.
type Session struct {
	ID           SessionID `json:"session_id"`
	Title        string    `json:"title"`
	ActiveBranch BranchID  `json:"active_branch"`
	SystemPrompt string    `json:"system_prompt,omitempty"`
	Model        string    `json:"model,omitempty"` // chosen by the user; empty: the default
	Temperature  *float64  `json:"temperature,omitempty"`
	Effort       string    `json:"effort,omitempty"`
	ToolsMode    string    `json:"tools_mode,omitempty"`   // empty: tools.mode
	MemoryScope  Scope     `json:"memory_scope,omitempty"` // empty: the project's, else retrieval.scope
	// Assistant is the last one applied to the session, with its name at that time.
	Assistant     AssistantID `json:"assistant,omitempty"`
	AssistantName string      `json:"assistant_name,omitempty"`
	Source        string      `json:"source"` // SourceNative, SourceDuplicate or the importer's name
	Pinned        bool        `json:"pinned,omitempty"`
	Folder        string      `json:"folder,omitempty"`
	CreatedAt     time.Time   `json:"created_at"`
	UpdatedAt     time.Time   `json:"updated_at"`
	ArchivedAt    *time.Time  `json:"archived_at,omitempty"`
}

// Settings returns the session's own settings.
func (s Session) Settings() SessionSettings {
	return SessionSettings{SystemPrompt: s.SystemPrompt, Temperature: s.Temperature, Effort: s.Effort, ToolsMode: s.ToolsMode, MemoryScope: s.MemoryScope,
		Assistant: s.Assistant, AssistantName: s.AssistantName}
}

// Branch is a line of turns. Its lineage is its own turns and its ancestors' up to each fork point.
type Branch struct {
	ID           BranchID   `json:"branch_id"`
	SessionID    SessionID  `json:"session_id"`
	Label        string     `json:"label"`
	ParentBranch BranchID   `json:"parent_branch,omitempty"`
	ForkTurn     TurnID     `json:"fork_turn,omitempty"` // last turn shared with the parent; empty: forked before its first
	BaseState    StateID    `json:"base_state"`
	HeadState    StateID    `json:"head_state"`
	HeadSeq      int64      `json:"head_seq"` // state_seq of HeadState
	Epoch        int64      `json:"epoch"`    // compare-and-swap guard of the head
	CreatedAt    time.Time  `json:"created_at"`
	ArchivedAt   *time.Time `json:"archived_at,omitempty"`
	// Machine is where the branch began, and Continues the branch of another device that it continues; empty: it
	// began on the device of the session, or it continues none.
	Machine   string   `json:"machine,omitempty"`
	Continues BranchID `json:"continues,omitempty"`
	Elsewhere bool     `json:"elsewhere,omitempty"` // it is another device's: nothing is written to it here
}

// StateOrigin is how a state summary was made.
type StateOrigin string

const (
	StateRoot      StateOrigin = "root"
	StateLibrarian StateOrigin = "librarian"
	StateFallback  StateOrigin = "fallback"
	StatePins      StateOrigin = "pins"
)

// State is a bounded, provider-neutral summary of a branch at a sequence.
type State struct {
	ID            StateID         `json:"state_id"`
	SessionID     SessionID       `json:"session_id"`
	BranchID      BranchID        `json:"branch_id"`
	Seq           int64           `json:"state_seq"`
	ParentID      StateID         `json:"parent_id,omitempty"`
	Summary       string          `json:"summary"`
	PinnedFacts   string          `json:"pinned_facts"`
	TokenCount    int             `json:"token_count_est"`
	Origin        StateOrigin     `json:"origin"`
	Model         string          `json:"model,omitempty"`
	Validation    json.RawMessage `json:"validation,omitempty"`
	SchemaVersion int             `json:"schema_version"`
	CreatedAt     time.Time       `json:"created_at"`
}

// Turn is the user's message and its final answer; it may take several steps.
type Turn struct {
	ID          TurnID      `json:"turn_id"`
	SessionID   SessionID   `json:"session_id"`
	BranchID    BranchID    `json:"branch_id"`
	Seq         int64       `json:"turn_seq"`
	StateBefore StateID     `json:"state_before"`
	StateAfter  StateID     `json:"state_after,omitempty"`
	Phase       Phase       `json:"phase"`
	Outcome     Outcome     `json:"outcome"`
	User        Message     `json:"user_message"`
	Assistant   *Message    `json:"assistant_message,omitempty"`
	Provider    string      `json:"provider"`
	Model       string      `json:"model"` // the configured name
	RetryOf     TurnID      `json:"retry_of,omitempty"`
	Failure     *Failure    `json:"error,omitempty"`
	Usage       *Usage      `json:"usage,omitempty"`
	IndexStatus IndexStatus `json:"index_status,omitempty"`
	CreatedAt   time.Time   `json:"created_at"`
	UpdatedAt   time.Time   `json:"updated_at"`
}

// ProviderModel is a provider and the configured name of a model.
type ProviderModel struct{ Provider, Model string }

// Pending reports whether the answer is final but not yet in the branch's state.
func (t Turn) Pending() bool { return t.Phase.Finalized() && t.StateAfter == "" }

// Incomplete reports whether the turn's stream ended early and the turn waits for a decision of the user.
func (t Turn) Incomplete() bool { return t.Phase == PhaseResponding && t.Outcome == OutcomeIncomplete }

// Unsent reports whether the turn was accepted but its request was not sent. After a crash it waits for a decision of the
// user.
func (t Turn) Unsent() bool {
	return t.Phase == PhaseAccepted || t.Phase == PhaseContextPrepared
}

// StepStatus is a step's outcome (SRD 5.7); StepRunning while it streams.
type StepStatus string

const (
	StepRunning    StepStatus = "running"
	StepCompleted  StepStatus = "completed"
	StepIncomplete StepStatus = "incomplete"
	StepPaused     StepStatus = "paused"
	StepFailed     StepStatus = "failed"
	StepCancelled  StepStatus = "cancelled"
)

// StepOutcome is the stored form of SRD 5.7's sum.
type StepOutcome struct {
	Status  StepStatus `json:"status"`
	Reason  string     `json:"reason,omitempty"`  // incomplete, paused
	Code    Code       `json:"code,omitempty"`    // failed
	Message string     `json:"message,omitempty"` // failed
	Words   Phrase     `json:"words,omitzero"`    // the message with its values; zero if it has none
}

// Said returns the message with its values.
func (o StepOutcome) Said() Phrase { return o.Words.As(o.Message) }

// Step is one provider call: one attempt of one step of a turn, with its own journal.
type Step struct {
	ID             StepID      `json:"step_id"`
	TurnID         TurnID      `json:"turn_id"`
	Index          int         `json:"step_index"`
	Attempt        int         `json:"attempt"` // from 1
	Provider       string      `json:"provider"`
	ModelID        string      `json:"model_id"`
	Items          Items       `json:"normalized_items"`
	Outcome        StepOutcome `json:"outcome"`
	ToolsMode      string      `json:"tools_mode,omitempty"`  // during the step; empty: recorded by an older version
	StreamPath     string      `json:"stream_path,omitempty"` // relative to the data directory
	DisplayedBytes int64       `json:"stream_displayed_bytes"`
	DurableBytes   int64       `json:"stream_durable_bytes"`
	Usage          *Usage      `json:"usage,omitempty"`
	StartedAt      time.Time   `json:"started_at"`
	EndedAt        *time.Time  `json:"ended_at,omitempty"`
}

// StepPayload is the large part of a step, stored compressed and read on demand.
type StepPayload struct {
	Request  []byte     `json:"request"`  // the exact body that was sent
	Response []byte     `json:"response"` // the exact body received, when it was not a stream
	Events   []RawEvent `json:"events"`   // the exact stream
}

// RawEvent is one event of a provider's stream, byte for byte.
type RawEvent struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// EventSeq is a stream of raw events that can be read repeatedly without being held in memory; it ends at its first
// error. nil is not a stream.
type EventSeq iter.Seq2[RawEvent, error]

// EventPack encodes a long stream for the store while it arrives, so that no work remains at its end. After an error it
// must not be used.
type EventPack interface{ Add(RawEvent) error }

// EventsOf returns a stream of events in memory; nil for nil.
func EventsOf(events []RawEvent) EventSeq {
	if events == nil {
		return nil
	}
	return func(yield func(RawEvent, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// PinSuggestion is a standing instruction recognized in a user's message that could be pinned.
type PinSuggestion struct {
	ID        SuggestionID `json:"id"`
	SessionID SessionID    `json:"session_id"`
	TurnID    TurnID       `json:"turn_id"`
	TurnSeq   int64        `json:"turn_seq"`
	Text      string       `json:"text"`
}

// Pin is a pinned fact: the user's own words, sent verbatim, versioned. Editing creates a new version that names the
// one it replaces.
type Pin struct {
	ID        PinID      `json:"pin_id"`
	SessionID SessionID  `json:"session_id"`
	BranchID  BranchID   `json:"branch_id"`
	AfterTurn int64      `json:"after_turn_seq"` // turn_seq of the branch when it was pinned
	Text      string     `json:"text"`
	Position  int        `json:"position"`
	Replaces  PinID      `json:"replaces,omitempty"`
	Version   int        `json:"version"` // from 1
	Tokens    int        `json:"tokens"`
	CreatedAt time.Time  `json:"created_at"`
	RemovedAt *time.Time `json:"removed_at,omitempty"`
}
