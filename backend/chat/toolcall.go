package chat

import (
	"encoding/json"
	"slices"
	"time"
)

// ToolBatchID identifies the calls of one step.
type ToolBatchID string

// ToolCallState is the state of a call in the tool journal (SPEC 10).
type ToolCallState string

const (
	CallProposed ToolCallState = "proposed" // waiting for a decision
	CallAllowed  ToolCallState = "allowed"  // may run, not started yet
	CallStarted  ToolCallState = "started"  // running, or was running when the program ended
	CallUnknown  ToolCallState = "unknown"  // started, with an unknown outcome: the user decides
	CallDone     ToolCallState = "done"     // has a result, even if it was denied
)

// Waits reports whether a call in this state needs a decision by the user.
func (s ToolCallState) Waits() bool { return s == CallProposed || s == CallUnknown }

// ToolDecision is the decision about a call, and how long it applies.
type ToolDecision string

const (
	DecisionNone    ToolDecision = ""
	DecisionOnce    ToolDecision = "once"    // run it this time
	DecisionSession ToolDecision = "session" // run it, and the same tool in this session without asking
	DecisionAlways  ToolDecision = "always"  // run it, and the same tool anywhere without asking
	DecisionDeny    ToolDecision = "deny"    // do not run it this time
	DecisionNever   ToolDecision = "never"   // do not run it, and do not offer the tool any more
	DecisionNotRun  ToolDecision = "not_run" // it cannot run, or its turn ended before it could
)

// Allows reports whether the decision lets a call run.
func (d ToolDecision) Allows() bool {
	return d == DecisionOnce || d == DecisionSession || d == DecisionAlways
}

// Lasts reports whether the decision also applies to later calls.
func (d ToolDecision) Lasts() bool {
	return d == DecisionSession || d == DecisionAlways || d == DecisionNever
}

// UnknownReason is why the outcome of a call is unknown.
type UnknownReason string

const (
	UnknownCancelled  UnknownReason = "cancelled"  // it was cancelled while running
	UnknownTimeout    UnknownReason = "timeout"    // it took longer than tools.call_timeout_s
	UnknownEnded      UnknownReason = "ended"      // the tool's server stopped or the connection to it was lost
	UnknownUnreadable UnknownReason = "unreadable" // its response was unreadable
	UnknownCrash      UnknownReason = "crash"      // the program ended while the call was running
)

// Resolution is what the user does about a call with an unknown outcome.
type Resolution string

const (
	ResolveEnter Resolution = "enter" // enter the result that the user determined
	ResolveRerun Resolution = "rerun" // run it again
	ResolveTell  Resolution = "tell"  // tell the model that the outcome is unknown
)

// ToolBatch is the calls of one step, in the model's order.
type ToolBatch struct {
	ID        ToolBatchID  `json:"batch_id"`
	SessionID SessionID    `json:"session_id"`
	BranchID  BranchID     `json:"branch_id"`
	TurnID    TurnID       `json:"turn_id"`
	StepID    StepID       `json:"step_id"`
	State     BatchState   `json:"state"`
	CreatedAt time.Time    `json:"created_at"`
	Calls     []CallRecord `json:"calls"`
}

// BatchState is whether a batch is still open.
type BatchState string

const (
	BatchOpen      BatchState = "open"
	BatchCommitted BatchState = "committed" // every call has its result
	BatchAbandoned BatchState = "abandoned" // its turn was discarded, or its step was repeated
)

// Waiting returns the calls that need a decision.
func (b ToolBatch) Waiting() []CallRecord {
	var out []CallRecord
	for _, c := range b.Calls {
		if c.State.Waits() {
			out = append(out, c)
		}
	}
	return out
}

// Finished reports whether every call has its result.
func (b ToolBatch) Finished() bool {
	return !slices.ContainsFunc(b.Calls, func(c CallRecord) bool { return c.State != CallDone })
}

// Results returns the existing results, in the order of the calls.
func (b ToolBatch) Results() Blocks {
	var out Blocks
	for _, c := range b.Calls {
		if c.Result != nil {
			out = append(out, *c.Result)
		}
	}
	return out
}

// CallRecord is a call in the tool journal.
type CallRecord struct {
	ID         ToolCallID      `json:"call_id"`
	BatchID    ToolBatchID     `json:"batch_id"`
	TurnID     TurnID          `json:"turn_id"`
	Ordinal    int             `json:"ordinal"`
	UseID      string          `json:"tool_use_id"` // from the provider
	Name       string          `json:"name"`        // as written by the model
	Source     string          `json:"source"`      // empty: no tool with that name was offered
	Tool       string          `json:"tool"`
	Definition string          `json:"definition_hash"`
	Effects    bool            `json:"effects"`
	Arguments  json.RawMessage `json:"arguments"`
	State      ToolCallState   `json:"state"`
	Decision   ToolDecision    `json:"decision,omitempty"`
	DecidedAt  *time.Time      `json:"decided_at,omitempty"`
	Runs       int             `json:"runs"` // how often the call was started
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	EndedAt    *time.Time      `json:"ended_at,omitempty"`
	Reason     UnknownReason   `json:"reason,omitempty"`
	Redactions []CallRedaction `json:"redactions,omitempty"` // secrets removed from the arguments
	Result     *ToolResult     `json:"result,omitempty"`
}

// CallRedaction says which kind of secret was removed from a call's arguments, but not the secret itself.
type CallRedaction struct {
	Rule  string `json:"rule"`
	Bytes int    `json:"bytes"`
}

// ProposedCall is a call requested by a model.
type ProposedCall struct {
	UseID      string
	Name       string
	Source     string
	Tool       string
	Definition string
	Effects    bool
	Arguments  json.RawMessage
}

// CallDecision is a decision about one call. A denial includes the call's result.
type CallDecision struct {
	Call ToolCallID
	// State is the call's state when the decision was made: if the call has another state by now, the decision is
	// refused. Empty: any state that allows a decision.
	State      ToolCallState
	Decision   ToolDecision
	Definition string // hash of the definition that was shown
	Result     *ToolResult
}

// CallEnd is the end of a call: a result, or an unknown outcome with a reason.
type CallEnd struct {
	Call   ToolCallID
	State  ToolCallState // as in CallDecision
	Result *ToolResult
	Reason UnknownReason
	// Recalled are the turns that the result quotes if the tool read memory, at most MaxRecalled. An entry without a
	// turn is a session that the result names.
	Recalled []ShownTurn
}

// MaxRecalled limits the turns and sessions that one result quotes.
const MaxRecalled = 128

// LookedUp is a turn that a model looked up with a tool during its own turn.
type LookedUp struct {
	Call    ToolCallID `json:"call_id"`
	Tool    string     `json:"tool"`
	Session SessionID  `json:"session_id"`
	Title   string     `json:"session"` // empty: the session does not exist here
	Turn    TurnID     `json:"turn_id"`
	TurnSeq int64      `json:"turn_seq"` // 0: the turn does not exist here
}

// WaitingCall is a call that waits for the user, with its place in the conversation.
type WaitingCall struct {
	CallRecord
	StepID    StepID    `json:"step_id"`
	AskedAt   time.Time `json:"asked_at"`
	SessionID SessionID `json:"session_id"`
	BranchID  BranchID  `json:"branch_id"`
	TurnSeq   int64     `json:"turn_seq"`
	Session   string    `json:"session"` // title
}

// ToolPermission is a decision about later calls of a tool, or of all tools of a source.
type ToolPermission struct {
	Source     string       `json:"source"`
	Tool       string       `json:"tool,omitempty"`    // empty: all tools of the source
	Session    SessionID    `json:"session,omitempty"` // empty: in all sessions
	Decision   ToolDecision `json:"decision"`          // session; always; or never, which may apply to a single session
	Definition string       `json:"definition_hash,omitempty"`
	CreatedAt  time.Time    `json:"created_at"`
}

// PinnedDefinition is a definition that the user accepted.
type PinnedDefinition struct {
	ToolDefinition
	Hash       string    `json:"hash"`
	AcceptedAt time.Time `json:"accepted_at"`
	// Current reports whether this is the definition that was accepted last for its tool.
	Current bool `json:"current"`
}

// ReadOnlyMark records that the user marked a tool as having no effects.
type ReadOnlyMark struct {
	Source string `json:"source"`
	Tool   string `json:"tool"`
}

// RecoveredToolBatch is an open batch with the model's text before the calls (FCRATE's tool journal).
type RecoveredToolBatch struct {
	BatchID       ToolBatchID  `json:"batch_id"`
	SessionID     SessionID    `json:"session_id"`
	TurnID        TurnID       `json:"turn_id"`
	ModelName     string       `json:"model_name"`
	AssistantText string       `json:"assistant_text"`
	Calls         []CallRecord `json:"calls"`
	Results       Blocks       `json:"results"`
}
