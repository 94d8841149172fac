package chat

import (
	"encoding/json"
	"time"
)

// ToolBatchID names the calls of one step.
type ToolBatchID string

// ToolCallState is how far a call of the tool journal has come (SPEC 10).
type ToolCallState string

const (
	CallProposed ToolCallState = "proposed" // waits for a decision
	CallAllowed  ToolCallState = "allowed"  // may run, has not begun
	CallStarted  ToolCallState = "started"  // runs, or ran when the program ended
	CallUnknown  ToolCallState = "unknown"  // began, and nobody knows how it ended: a person decides
	CallDone     ToolCallState = "done"     // has a result; one that was denied has too
)

// Waits reports a call that continues only after a decision of a person.
func (s ToolCallState) Waits() bool { return s == CallProposed || s == CallUnknown }

// ToolDecision is what was decided about a call, and for how long.
type ToolDecision string

const (
	DecisionNone    ToolDecision = ""
	DecisionOnce    ToolDecision = "once"    // run it this time
	DecisionSession ToolDecision = "session" // run it, and the same tool in this session without asking
	DecisionAlways  ToolDecision = "always"  // run it, and the same tool anywhere without asking
	DecisionDeny    ToolDecision = "deny"    // do not run it this time
	DecisionNever   ToolDecision = "never"   // do not run it, and do not offer the tool any more
	DecisionNotRun  ToolDecision = "not_run" // it cannot run, or its turn was ended before it did
)

// Allows reports a decision by which a call may run.
func (d ToolDecision) Allows() bool {
	return d == DecisionOnce || d == DecisionSession || d == DecisionAlways
}

// Lasts reports a decision that holds for later calls too.
func (d ToolDecision) Lasts() bool {
	return d == DecisionSession || d == DecisionAlways || d == DecisionNever
}

// UnknownReason is why nobody knows how a call ended.
type UnknownReason string

const (
	UnknownCancelled  UnknownReason = "cancelled"  // it was cancelled while it ran
	UnknownTimeout    UnknownReason = "timeout"    // it took longer than tools.call_timeout_s
	UnknownEnded      UnknownReason = "ended"      // the tool's server ended, or the connection to it
	UnknownUnreadable UnknownReason = "unreadable" // it answered what cannot be read
	UnknownCrash      UnknownReason = "crash"      // the program ended while it ran
)

// Resolution is what a person does about a call whose outcome is unknown.
type Resolution string

const (
	ResolveEnter Resolution = "enter" // enter the result as the person found it
	ResolveRerun Resolution = "rerun" // run it again
	ResolveTell  Resolution = "tell"  // tell the model that it is unknown
)

// ToolBatch are the calls of one step, in the model's order.
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

// BatchState is whether a batch still has something to do.
type BatchState string

const (
	BatchOpen      BatchState = "open"
	BatchCommitted BatchState = "committed" // every call has its result
	BatchAbandoned BatchState = "abandoned" // its turn was discarded, or its step asked again
)

// Waiting are the calls that wait for a decision.
func (b ToolBatch) Waiting() []CallRecord {
	var out []CallRecord
	for _, c := range b.Calls {
		if c.State.Waits() {
			out = append(out, c)
		}
	}
	return out
}

// Finished reports that every call has its result.
func (b ToolBatch) Finished() bool {
	for _, c := range b.Calls {
		if c.State != CallDone {
			return false
		}
	}
	return true
}

// Results are the results there are, in the order of the calls.
func (b ToolBatch) Results() Blocks {
	var out Blocks
	for _, c := range b.Calls {
		if c.Result != nil {
			out = append(out, *c.Result)
		}
	}
	return out
}

// CallRecord is a call as the tool journal has it.
type CallRecord struct {
	ID         ToolCallID      `json:"call_id"`
	BatchID    ToolBatchID     `json:"batch_id"`
	TurnID     TurnID          `json:"turn_id"`
	Ordinal    int             `json:"ordinal"`
	UseID      string          `json:"tool_use_id"` // as the provider gave it
	Name       string          `json:"name"`        // as the model wrote it
	Source     string          `json:"source"`      // empty: no tool of that name was offered
	Tool       string          `json:"tool"`
	Definition string          `json:"definition_hash"`
	Effects    bool            `json:"effects"`
	Arguments  json.RawMessage `json:"arguments"`
	State      ToolCallState   `json:"state"`
	Decision   ToolDecision    `json:"decision,omitempty"`
	DecidedAt  *time.Time      `json:"decided_at,omitempty"`
	Runs       int             `json:"runs"` // how often it was started
	StartedAt  *time.Time      `json:"started_at,omitempty"`
	EndedAt    *time.Time      `json:"ended_at,omitempty"`
	Reason     UnknownReason   `json:"reason,omitempty"`
	Redactions []CallRedaction `json:"redactions,omitempty"` // of the arguments, as they left
	Result     *ToolResult     `json:"result,omitempty"`
}

// CallRedaction says what was taken out of a call's arguments, never what it was.
type CallRedaction struct {
	Rule  string `json:"rule"`
	Bytes int    `json:"bytes"`
}

// ProposedCall is a call that a model asks for.
type ProposedCall struct {
	UseID      string
	Name       string
	Source     string
	Tool       string
	Definition string
	Effects    bool
	Arguments  json.RawMessage
}

// CallDecision is a decision about one call. One that does not allow it has its result.
type CallDecision struct {
	Call ToolCallID
	// State is the one in which the call was decided about; in another it is refused. Empty:
	// any that allows a decision.
	State      ToolCallState
	Decision   ToolDecision
	Definition string // hash of what was shown
	Result     *ToolResult
}

// CallEnd is how a call ended: with a result, or unknown for a reason.
type CallEnd struct {
	Call   ToolCallID
	State  ToolCallState // as of CallDecision
	Result *ToolResult
	Reason UnknownReason
	// Recalled are the turns that the result quotes, where the tool read memory, at most
	// MaxRecalled. One without a turn is a session that it names.
	Recalled []ShownTurn
}

// MaxRecalled bounds the turns and sessions that one result quotes.
const MaxRecalled = 128

// LookedUp is a turn that a model was shown because it asked for it with a tool, in the
// middle of its own turn.
type LookedUp struct {
	Call    ToolCallID `json:"call_id"`
	Tool    string     `json:"tool"`
	Session SessionID  `json:"session_id"`
	Title   string     `json:"session"` // empty: the session is not here
	Turn    TurnID     `json:"turn_id"`
	TurnSeq int64      `json:"turn_seq"` // 0: the turn is not here
}

// WaitingCall is a call that waits for a person, with where it belongs.
type WaitingCall struct {
	CallRecord
	StepID    StepID    `json:"step_id"`
	AskedAt   time.Time `json:"asked_at"`
	SessionID SessionID `json:"session_id"`
	BranchID  BranchID  `json:"branch_id"`
	TurnSeq   int64     `json:"turn_seq"`
	Session   string    `json:"session"` // title
}

// ToolPermission is a decision that holds for later calls of a tool, or of all tools of a
// source.
type ToolPermission struct {
	Source     string       `json:"source"`
	Tool       string       `json:"tool,omitempty"`    // empty: all of the source
	Session    SessionID    `json:"session,omitempty"` // empty: in all sessions
	Decision   ToolDecision `json:"decision"`          // session, always; never, also in one session alone
	Definition string       `json:"definition_hash,omitempty"`
	CreatedAt  time.Time    `json:"created_at"`
}

// PinnedDefinition is a definition as it was shown to a person who accepted it.
type PinnedDefinition struct {
	ToolDefinition
	Hash       string    `json:"hash"`
	AcceptedAt time.Time `json:"accepted_at"`
	// Current: it is the one accepted last for its tool.
	Current bool `json:"current"`
}

// ReadOnlyMark says that a person marked a tool as having no effects.
type ReadOnlyMark struct {
	Source string `json:"source"`
	Tool   string `json:"tool"`
}

// RecoveredToolBatch is an open batch with what the model said when it asked for the calls
// (FCRATE's tool journal).
type RecoveredToolBatch struct {
	BatchID       ToolBatchID  `json:"batch_id"`
	SessionID     SessionID    `json:"session_id"`
	TurnID        TurnID       `json:"turn_id"`
	ModelName     string       `json:"model_name"`
	AssistantText string       `json:"assistant_text"`
	Calls         []CallRecord `json:"calls"`
	Results       Blocks       `json:"results"`
}
