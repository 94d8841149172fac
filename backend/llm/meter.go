package llm

import (
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
)

// Default limits of one answer: far above the longest answer of a model, far below what would fill memory.
const (
	DefaultAnswerBytes  = 16 << 20
	DefaultAnswerTokens = 2_000_000
)

// MaxParts is the maximum number of parts of an answer: texts, reasoning, calls, citations, and invisible parts.
const MaxParts = 10_000

const (
	// rawFactor limits the size of the events of an answer, as a multiple of the answer's limit, or of the default
	// limit if that is larger. Each small delta takes some hundred bytes of JSON.
	rawFactor = 16
	// maxRepeats is how often a protocol may repeat visible content in events that show nothing: the Responses API does
	// so four times. Beyond that, such events (signatures, encrypted reasoning, results of the provider's own tools,
	// pings) may take as much as the answer's limit, or the default limit if that is larger, because decoders keep many
	// of them.
	maxRepeats = 5
	// countEvery is how many bytes of text are counted at once.
	countEvery = 64 << 10
)

// Meter measures one answer as it arrives, so that a provider that never stops cannot fill memory and disk. Text,
// reasoning, refusals and tool arguments all count. It is not safe for concurrent use.
type Meter struct {
	MaxBytes  int              // 0: DefaultAnswerBytes
	MaxTokens int              // 0: DefaultAnswerTokens
	Count     func(string) int // of tokens
	shown     int              // bytes
	raw       int              // bytes of all events
	silent    int              // bytes of invisible events
	tokens    int              // tokens counted so far
	uncounted strings.Builder  // text not counted yet
}

// Add measures one event and its visible content; parts is the number of parts including it. The error is
// CodeTooLong: the caller then ends the stream and keeps the partial answer, including this event.
func (m *Meter) Add(ev chat.RawEvent, deltas []Delta, parts int) error {
	maxBytes, maxTokens := orDefault(m.MaxBytes, DefaultAnswerBytes), orDefault(m.MaxTokens, DefaultAnswerTokens)
	m.raw += len(ev.Type) + len(ev.Data)
	before := m.shown
	for _, d := range deltas {
		m.shown += len(d.Text)
		if m.Count != nil && maxTokens < maxBytes { // otherwise the limit on bytes is reached first, as a token has at least one byte
			m.uncounted.WriteString(d.Text)
		}
	}
	if m.shown == before {
		m.silent += len(ev.Data)
	}
	switch {
	case m.silent > max(maxBytes, DefaultAnswerBytes)+m.shown*maxRepeats:
		return tooLong("it has more than %s of events that show nothing", size(max(maxBytes, DefaultAnswerBytes)))
	case m.shown > maxBytes:
		return tooLong("it is longer than %s (stream.max_answer_bytes)", size(maxBytes))
	case m.raw/rawFactor > max(maxBytes, DefaultAnswerBytes):
		return tooLong("its events are longer than %s", size(rawFactor*max(maxBytes, DefaultAnswerBytes)))
	case parts > MaxParts:
		return tooLong("it has more than %d parts", MaxParts)
	case m.countTokens(maxTokens) > maxTokens:
		return tooLong("it is longer than %d tokens (stream.max_answer_tokens)", maxTokens)
	}
	return nil
}

// countTokens returns the number of tokens counted so far, and counts more text if enough has arrived. With fewer bytes
// than allowed tokens nothing has to be counted, because a token has at least one byte.
func (m *Meter) countTokens(maxTokens int) int {
	if m.shown <= maxTokens || m.uncounted.Len() < min(countEvery, maxTokens) {
		return m.tokens
	}
	for text := m.uncounted.String(); text != ""; {
		n := min(countEvery, len(text))
		m.tokens += m.Count(text[:n])
		text = text[n:]
	}
	m.uncounted.Reset()
	return m.tokens
}

func orDefault(n, def int) int {
	if n > 0 {
		return n
	}
	return def
}

// size formats a number of bytes for people.
func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MB", n>>20)
}

func tooLong(format string, args ...any) error {
	return chat.Errorf(chat.CodeTooLong, "turn.stream",
		"The answer was stopped because it is too long: %s. The partial answer is kept.", chat.Say(format, args...)).
		WithHint("keep or discard it; if the model repeats itself, ask again")
}

// IsTooLong reports whether an answer was stopped because of its length.
func IsTooLong(err error) bool { return chat.CodeOf(err) == chat.CodeTooLong }
