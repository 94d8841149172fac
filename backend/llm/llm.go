// Package llm is the contract between a turn and a model provider (SPEC 9, SRD 11).
//
// An adapter is a pure Encode (context in, wire body out), a Stream that carries
// exact provider events and interprets nothing, and a pure Decoder that does the
// interpreting. Live streaming and crash recovery use the same Decoder, so what
// is recovered from a journal equals what was shown.
package llm

import (
	"context"
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// ToolsMode is SRD 12.1.
type ToolsMode string

const (
	ToolsDisabled  ToolsMode = "disabled"   // no definitions are sent; a call is an error
	ToolsParseOnly ToolsMode = "parse_only" // calls are shown, not run
	ToolsEnabled   ToolsMode = "enabled"
)

// Endpoint is a configured model and how to reach it. Key is a secret: it is
// never encoded, logged or put into an error.
type Endpoint struct {
	Name     string // the configured name, "sonnet"
	Provider string // adapter name, "anthropic"
	ModelID  string
	BaseURL  string // empty: the vendor's own
	Key      Secret
	// AllowPlainHTTP lets the key go to another machine over plain http; otherwise
	// nothing is sent there.
	AllowPlainHTTP bool
	Options        map[string]any // provider_options, merged into the body last
	Stream         bool
	ToolsMode      ToolsMode
	MaxOutput      int // the model's own limit; the context's is smaller or equal
	// MaxAnswerBytes is stream.max_answer_bytes, by which single events are bounded; 0: its default.
	MaxAnswerBytes int

	// Policy of SRD 11.2 and 11.3.
	Truncation        string // OpenAI: "disabled" or "auto"
	Store             bool   // OpenAI
	ParallelToolCalls bool
	CacheKey          string // OpenAI prompt_cache_key, one per branch

	// Branch is the turn's: recall leaves its siblings out.
	Branch chat.BranchID

	// Session settings; nil means the provider's default.
	Temperature *float64
	Effort      string
}

// Secret is a key that does not print.
type Secret string

func (Secret) String() string               { return "[redacted]" }
func (Secret) GoString() string             { return "[redacted]" }
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"[redacted]"`), nil }

// Reveal returns the key itself, for the one header that carries it.
func (s Secret) Reveal() string { return string(s) }

// Request is one call: only a PreparedContext can be sent (SPEC 2.10).
type Request struct {
	Endpoint Endpoint
	Context  prompt.PreparedContext
	// Continues, if not nil, lets the provider are in for what it holds already: OpenAI's
	// previous_response_id, within the steps of one turn (SRD 1.2.5). The answer that it names
	// must have been asked for with Store. Others ignore it, and where the whole request has to
	// be sent anyway, the body says so by having no previous_response_id.
	Continues *Continuation
}

// Continuation is an answer that the provider keeps, and which this request continues from.
type Continuation struct {
	ResponseID string
	// Messages is how many of the context's messages, from the first, the provider holds with
	// that answer, the answer itself among them.
	Messages int
}

// Provider is one wire protocol.
type Provider interface {
	// Name is the adapter's name in configuration, journals and opaque blocks.
	Name() string

	// Encode returns the exact body that Stream would send. It is pure: same
	// request, same bytes.
	Encode(Request) (json.RawMessage, error)

	// Stream performs the call and yields every event in order, byte for byte,
	// known or not. A model that does not stream yields one event of type
	// EventResponse. body is what Encode returned. It returns nil when the
	// stream ended by itself, however it ended: the Decoder judges that. A
	// yield error stops the stream and is returned as it is. Other errors are
	// *Error.
	Stream(ctx context.Context, ep Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error

	// NewDecoder returns a fresh interpreter for one stream.
	NewDecoder(mode ToolsMode) Decoder
}

// EventResponse is the RawEvent type of a whole, unstreamed response body.
const EventResponse = "response"

// Decoder turns raw events into deltas and, at any moment, into the answer so
// far. It never fails: what it cannot read is kept as unknown. It is pure, not
// safe for concurrent use.
type Decoder interface {
	Decode(chat.RawEvent) []Delta
	Result() Result
	// Parts is how many parts the answer has so far: blocks, items, citations, those that
	// show nothing included. What comes after MaxParts is counted, and left out.
	Parts() int
}

// DeltaKind says what a delta adds.
type DeltaKind string

const (
	DeltaText      DeltaKind = "text"
	DeltaReasoning DeltaKind = "reasoning"
	DeltaRefusal   DeltaKind = "refusal"
	DeltaTool      DeltaKind = "tool" // text is a piece of the arguments
)

// Delta is what one event adds to what a person sees.
type Delta struct {
	Kind  DeltaKind
	Block int    // index into Result().Blocks; stable for the stream
	Text  string // valid UTF-8
	Tool  string // name, on the first delta of a tool block
}

// ReasonPauseTurn is of an answer that the provider paused in a long run of tools that it runs
// itself: it continues when the answer is sent back as it is.
const ReasonPauseTurn = "pause_turn"

// Result is the answer as far as the events tell it.
type Result struct {
	Blocks chat.Blocks // of the final assistant message, in order
	Items  chat.Items  // everything the provider put out, in order
	Usage  *chat.Usage
	// Terminal reports that the provider ended the stream itself, well or not.
	// Without it an ended stream was cut.
	Terminal bool
	// Status is how it ended: StepCompleted, StepIncomplete (Reason says why:
	// max_output_tokens, content_filter), StepPaused (tool calls, or ReasonPauseTurn), StepFailed.
	// Meaningless unless Terminal.
	Status StepStatus
	Reason string
	Err    *Error // of StepFailed
	// ResponseID and Model are as the provider reported them.
	ResponseID string
	Model      string
	// Refused: the provider declined (its words, if any, are a Refusal block).
	Refused bool
}

// StepStatus is chat's.
type StepStatus = chat.StepStatus

// Text is the visible text of the result.
func (r Result) Text() string { return r.Blocks.RenderedText() }

// Error is a provider's failure. It classifies itself.
type Error struct {
	Code       chat.Code
	Status     int    // HTTP status, 0 if there was no response
	Message    string // the provider's own words, redacted
	Type       string // the provider's own code
	Retry      bool
	RetryAfter time.Duration // from the header; 0 if absent
	// Of a request refused for its size: the most input tokens that the provider takes,
	// and how many it counted; 0 where it names no number.
	SizeLimit, SizeCounted int
	// Forgotten: the provider does not hold the answer that the request continues, or keeps
	// none at all. The whole request, without Continues and without Store (it would name what
	// was stored by its id), may succeed.
	Forgotten bool
	// NoTools: the model, or the server as it was started, takes no tools. The same request
	// without definitions may succeed.
	NoTools bool
	Err     error
}

func (e *Error) Error() string {
	if e.Message != "" {
		return e.Message
	}
	if e.Err != nil {
		return e.Err.Error()
	}
	return string(e.Code)
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later, provided no
// byte of an answer arrived.
func (e *Error) Retryable() bool { return e.Retry }

// ContextTooLarge reports that the provider rejected the request for its size.
func (e *Error) ContextTooLarge() bool { return e.Code == chat.CodeTooLarge }
