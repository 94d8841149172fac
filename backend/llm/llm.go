// Package llm defines the interface between a turn and a model provider (SPEC 9, SRD 11).
//
// An adapter is a pure Encode (context to request body), a Stream that passes on exact provider events without
// interpreting them, and a pure Decoder that interprets them. Live streaming and crash recovery use the same Decoder,
// so an answer recovered from a journal equals what was shown.
package llm

import (
	"context"
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// ToolsMode says what happens to a model's tool calls (SRD 12.1).
type ToolsMode string

const (
	ToolsDisabled  ToolsMode = "disabled"   // no definitions are sent; a call is an error
	ToolsParseOnly ToolsMode = "parse_only" // definitions are sent; calls are shown but not run
	ToolsEnabled   ToolsMode = "enabled"
)

// Endpoint is a configured model and how to reach it. Key is a secret: it is never encoded, logged or put into an
// error.
type Endpoint struct {
	Name     string // the configured name, "sonnet"
	Provider string // adapter name, "anthropic"
	ModelID  string
	BaseURL  string // empty: the vendor's own
	Key      Secret
	// KeyHeader is the header that carries the key; empty: the protocol's own. Authorization carries "Bearer KEY".
	KeyHeader string
	// Headers are sent in addition to the protocol's, and Hidden are the secrets in them, which are redacted like the key.
	Headers map[string]Secret
	Hidden  []Secret
	// AllowPlainHTTP allows sending the key to another machine over plain http; otherwise nothing is sent there.
	AllowPlainHTTP bool
	Options        map[string]any // provider_options, merged into the body last
	Stream         bool
	ToolsMode      ToolsMode
	MaxOutput      int // the model's own limit; the context's is smaller or equal
	// MaxAnswerBytes is stream.max_answer_bytes, which also limits single events; 0: its default.
	MaxAnswerBytes int

	// Policy of SRD 11.2 and 11.3.
	Truncation        string // OpenAI: "disabled" or "auto"
	Store             bool   // OpenAI
	CanContinue       bool   // the provider can continue an answer that it has stored
	ParallelToolCalls bool
	CacheKey          string // OpenAI prompt_cache_key, one per branch

	// Branch is the turn's branch: recall excludes its siblings. Scope is what recall searches; empty: every session.
	Branch chat.BranchID
	Scope  chat.Scope
	// NoMemory: the chat is temporary. It has no memory, so recall searches nothing.
	NoMemory bool

	// Refused is what the model's server has refused in earlier requests (Error.Refused).
	Refused []string

	// Session settings; nil means the provider's default.
	Temperature *float64
	Effort      string
}

// Secrets returns everything that is sent to the server and must not be shown.
func (e Endpoint) Secrets() []Secret { return append([]Secret{e.Key}, e.Hidden...) }

// Secret is a key that is never printed or encoded.
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
	// Continues, if not nil, lets the provider use what it has stored already: OpenAI's previous_response_id, within
	// the steps of one turn (SRD 1.2.5). The previous answer must have been requested with Store. Other providers
	// ignore it, and if the complete request has to be sent anyway, the body has no previous_response_id.
	Continues *Continuation
}

// Continuation is an answer stored by the provider, which this request continues.
type Continuation struct {
	ResponseID string
	// Messages is how many of the context's messages, from the first, the provider has stored, including that answer.
	Messages int
}

// Provider is one wire protocol.
type Provider interface {
	// Name is the adapter's name in configuration, journals and opaque blocks.
	Name() string

	// Encode returns the exact body that Stream would send. It is pure: the same request always has the same bytes.
	Encode(Request) (json.RawMessage, error)

	// Stream performs the call and yields every event in order, byte for byte, known or not. A model that does not
	// stream yields one event of type EventResponse. body is the result of Encode. It returns nil when the stream
	// ended without a transport error; the Decoder determines the outcome. An error of yield stops the stream and is
	// returned unchanged. Other errors are *Error.
	Stream(ctx context.Context, ep Endpoint, body json.RawMessage, yield func(chat.RawEvent) error) error

	// NewDecoder returns a new decoder for one stream.
	NewDecoder(mode ToolsMode) Decoder
}

// Parts of a request that a server may refuse and that are not a member of its body.
const (
	RefusedSystem     = "system"            // instructions in a message of their own
	RefusedAfterTool  = "user after tool"   // a message of the user right after the results of calls
	RefusedNoThoughts = "reasoning_content" // answers without the reasoning before them
	RefusedTool       = "tool "             // a tool whose schema it does not accept, by the name that it was sent under
	RefusedMaxTokens  = "max_tokens="       // a longer answer than this number of tokens
)

type aliveKey struct{}

// WithAlive returns a context whose streams call alive for every sign of life that is not an event, such as a comment.
func WithAlive(ctx context.Context, alive func()) context.Context {
	return context.WithValue(ctx, aliveKey{}, alive)
}

// Alive returns the function of WithAlive.
func Alive(ctx context.Context) func() {
	if alive, ok := ctx.Value(aliveKey{}).(func()); ok {
		return alive
	}
	return func() {}
}

// EventResponse is the RawEvent type of a complete response body without streaming.
const EventResponse = "response"

// Decoder converts raw events to deltas and, at any time, to the answer so far. It never fails: unreadable content is
// kept as unknown. It is pure, but not safe for concurrent use.
type Decoder interface {
	Decode(chat.RawEvent) []Delta
	Result() Result
	// Parts returns the number of parts of the answer so far: blocks, items, citations, including invisible ones. Parts
	// beyond MaxParts are counted but not kept.
	Parts() int
}

// DeltaKind is the kind of content a delta adds.
type DeltaKind string

const (
	DeltaText      DeltaKind = "text"
	DeltaReasoning DeltaKind = "reasoning"
	DeltaRefusal   DeltaKind = "refusal"
	DeltaTool      DeltaKind = "tool" // text is a piece of the arguments
)

// Delta is the visible content added by one event.
type Delta struct {
	Kind  DeltaKind
	Block int    // index into Result().Blocks; stable for the stream
	Text  string // valid UTF-8
	Tool  string // name, on the first delta of a tool block
}

// ReasonPauseTurn is the reason of an answer that the provider paused during a long run of its own tools: it
// continues when the answer is sent back unchanged.
const ReasonPauseTurn = "pause_turn"

// Result is the answer according to the events so far.
type Result struct {
	Blocks chat.Blocks // of the final assistant message, in order
	Items  chat.Items  // the provider's complete output, in order
	Usage  *chat.Usage
	// Terminal reports that the provider ended the stream itself, successfully or not. A stream that ended without it
	// was interrupted.
	Terminal bool
	// Status is the outcome: StepCompleted, StepIncomplete (Reason says why: max_output_tokens, content_filter),
	// StepPaused (tool calls, or ReasonPauseTurn), StepFailed. It is valid only if Terminal.
	Status StepStatus
	Reason string
	Err    *Error // of StepFailed
	// ResponseID and Model are as the provider reported them.
	ResponseID string
	Model      string
	// Ignored are the types of events that the decoder does not know, each once, at most MaxIgnored.
	Ignored []string
	// Refused: the provider declined (its explanation, if any, is a Refusal block).
	Refused bool
}

// MaxIgnored limits Result.Ignored.
const MaxIgnored = 8

// StepStatus is chat.StepStatus.
type StepStatus = chat.StepStatus

// Text returns the visible text of the result.
func (r Result) Text() string { return r.Blocks.RenderedText() }

// Error is a provider's failure with its classification.
type Error struct {
	Code       chat.Code
	Status     int    // HTTP status, 0 if there was no response
	Message    string // the provider's own message, redacted
	Type       string // the provider's own code
	Retry      bool
	RetryAfter time.Duration // from the header; 0 if absent
	// For a request refused because of its size: the maximum number of input tokens, and the number that the provider
	// counted; 0 if the message names no number.
	SizeLimit, SizeCounted int
	// Forgotten: the provider has not stored the answer that the request continues, or stores none at all. The
	// complete request, without Continues and without Store (which would refer to stored items by id), may succeed.
	Forgotten bool
	// NoTools: the model, or the server with its configuration, does not support tools. The same request without
	// definitions may succeed.
	NoTools bool
	// Refused is the part of the request that the server does not accept, so that the same request without it, or in
	// the other form, may succeed: the name of a member, RefusedSystem, RefusedNoThoughts, or "max_tokens=LIMIT". Empty:
	// none is known.
	Refused string
	// Unpaid: the account has no credit left, so waiting does not help.
	Unpaid bool
	Err    error

	said chat.Phrase
}

func (e *Error) Error() string { return e.Phrase().String() }

// Phrase returns the message, the cause's, or the code.
func (e *Error) Phrase() chat.Phrase {
	switch {
	case e.Message != "" && e.Message == e.said.String():
		return e.said
	case e.Message != "":
		return chat.Quote(e.Message)
	case e.Err != nil:
		return chat.Quote(e.Err.Error())
	}
	return chat.Quote(string(e.Code))
}

// Say sets the message to a text of the program, and returns the error.
func (e *Error) Say(format string, args ...any) *Error {
	e.said = chat.Say(format, args...)
	e.Message = e.said.String()
	return e
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same request may succeed later, provided no byte of an answer arrived.
func (e *Error) Retryable() bool { return e.Retry }

// Unreachable reports whether no server responded, provided no byte of an answer arrived: the network may be down.
func (e *Error) Unreachable() bool {
	return e.Code == chat.CodeUnavailable && e.Status == 0 && e.Retry
}

// ContextTooLarge reports whether the provider rejected the request for its size.
func (e *Error) ContextTooLarge() bool { return e.Code == chat.CodeTooLarge }
