package llm

import (
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
)

// Limits of one answer where none are configured: far above the longest answer that a
// model gives, far below what would fill memory.
const (
	DefaultAnswerBytes  = 16 << 20
	DefaultAnswerTokens = 2_000_000
)

// MaxParts is how many parts one answer may have: texts, thoughts, calls, citations, and
// what shows nothing.
const MaxParts = 10_000

const (
	// rawShare is how many times its limit, the default's at least, an answer may take as
	// events. Each small delta comes in some hundred bytes of JSON.
	rawShare = 16
	// echoes is how often a protocol repeats, in events that show nothing, what it showed: the
	// Responses API four times. Beside that, such events (signatures, encrypted reasoning,
	// results of the provider's own tools, pings) may take as much as the answer's limit, the
	// default's at least: decoders keep many of them.
	echoes = 5
	// countEvery is how much text is counted at once, in bytes.
	countEvery = 64 << 10
)

// Meter measures one answer as it arrives, so that a provider that never ends cannot fill
// memory and disk. Text, reasoning, refusals and arguments of tools count alike. It is not
// safe for concurrent use.
type Meter struct {
	MaxBytes  int              // 0: DefaultAnswerBytes
	MaxTokens int              // 0: DefaultAnswerTokens
	Count     func(string) int // of tokens
	shown     int              // bytes
	raw       int              // bytes of all events
	silent    int              // bytes of events that show nothing
	tokens    int              // of what is counted already
	uncounted strings.Builder  // the rest
}

// Add measures one event and what it shows; parts is how many the answer has with it. Its
// error is CodeTooLong: the stream is to be ended, and what has arrived, this event
// included, is kept.
func (m *Meter) Add(ev chat.RawEvent, deltas []Delta, parts int) error {
	most, tokens := orDefault(m.MaxBytes, DefaultAnswerBytes), orDefault(m.MaxTokens, DefaultAnswerTokens)
	m.raw += len(ev.Type) + len(ev.Data)
	before := m.shown
	for _, d := range deltas {
		m.shown += len(d.Text)
		if m.Count != nil && tokens < most { // else the bytes end it first: a token is at least one
			m.uncounted.WriteString(d.Text)
		}
	}
	if m.shown == before {
		m.silent += len(ev.Data)
	}
	switch {
	case m.silent > max(most, DefaultAnswerBytes)+m.shown*echoes:
		return tooLong("it has more than %s of events that show nothing", size(max(most, DefaultAnswerBytes)))
	case m.shown > most:
		return tooLong("it is longer than %s (stream.max_answer_bytes)", size(most))
	case m.raw/rawShare > max(most, DefaultAnswerBytes):
		return tooLong("its events are longer than %s", size(rawShare*max(most, DefaultAnswerBytes)))
	case parts > MaxParts:
		return tooLong("it has more than %d parts", MaxParts)
	case m.countTokens(tokens) > tokens:
		return tooLong("it is longer than %d tokens (stream.max_answer_tokens)", tokens)
	}
	return nil
}

// countTokens counts the text so far. As long as there are no more bytes than tokens are
// allowed there is nothing to count: a token is at least a byte.
func (m *Meter) countTokens(most int) int {
	if m.shown <= most || m.uncounted.Len() < min(countEvery, most) {
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

// size is a number of bytes for people.
func size(n int) string {
	if n < 1<<20 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%d MB", n>>20)
}

func tooLong(format string, args ...any) error {
	return chat.Errorf(chat.CodeTooLong, "turn.stream", "The answer is too long, so it was ended: "+format+". What had arrived is kept.", args...).
		WithHint("keep or discard it; a model that repeats itself is better asked again")
}

// IsTooLong reports that an answer was ended for its length.
func IsTooLong(err error) bool { return chat.CodeOf(err) == chat.CodeTooLong }
