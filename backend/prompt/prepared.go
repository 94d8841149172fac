package prompt

import (
	"math"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// PreparedContext is a context that is known to fit. Only this package can make
// one, its zero value is refused, and it is all that an adapter accepts
// (SPEC 2.10).
type PreparedContext struct {
	ok        bool
	system    []string
	messages  []chat.Message
	stable    int
	tokens    int
	maxOutput int
	manifest  Manifest
	texts     []Text
	tools     []chat.ToolDefinition
	cycle     int
}

// Tools are the definitions that the request offers, in a stable order.
func (c PreparedContext) Tools() []chat.ToolDefinition { return c.tools }

// Cycle is the number of Messages at the end that are the steps of this turn so far: an
// answer that ends with tool calls, then a message that begins with their results. In a
// continuation the partial answer and the request to continue it count as well.
func (c PreparedContext) Cycle() int { return c.cycle }

// Valid reports that the assembler made this context.
func (c PreparedContext) Valid() bool { return c.ok }

// System is the system text in parts: instructions, then pinned facts. They are
// sent as one system prompt in this order, with nothing between them.
func (c PreparedContext) System() []string { return c.system }

// Messages alternate between user and assistant, user first, and end with the
// user's message, or with the results of the calls that followed it. The caller must not change them.
func (c PreparedContext) Messages() []chat.Message { return c.messages }

// StablePrefix is how many of Messages belong to sections 1 to 6: the prefix a
// provider's prompt cache can keep until the cut advances.
func (c PreparedContext) StablePrefix() int { return c.stable }

// Tokens is the estimate of the input; MaxOutput what is left for the answer,
// bounded by the model's own limit.
func (c PreparedContext) Tokens() int    { return c.tokens }
func (c PreparedContext) MaxOutput() int { return c.maxOutput }

// Manifest describes the context item by item.
func (c PreparedContext) Manifest() Manifest { return c.manifest }

// Texts are the items of the manifest with their exact text, in prompt order.
func (c PreparedContext) Texts() []Text { return c.texts }

// Text is an item's text as it was sent.
type Text struct {
	Section string `json:"section"`
	Part
	Text string `json:"text"`
}

// prepared puts the sections together in order. Section 4 is at the front of
// the first user message after it, and the memory block at the front of the
// last, which is a block of its own before what the user says: roles alternate, as
// every provider wants it.
func (a *assembler) prepared() PreparedContext {
	c := PreparedContext{ok: true, system: []string{joinText(a.system)}, tokens: a.used(), tools: a.in.Tools}
	if len(a.in.Cycle) > 0 {
		c.cycle = len(a.last) - 1
	}
	if len(a.pinned) > 0 {
		c.system = append(c.system, joinText(a.pinned))
	}
	for _, r := range slices.Concat(a.originals, a.pending) {
		c.messages = append(c.messages, *r.msg)
	}
	c.stable = len(c.messages)
	for _, r := range a.last {
		c.messages = append(c.messages, *r.msg)
	}
	prepend(c.messages, c.stable, joinText(a.memory()))
	prepend(c.messages, 0, joinText(a.framed(a.summaries, summariesFrame)))
	// The window is the provider's: what it counts for our tokens is what is left out of it.
	real := int(math.Ceil(float64(c.tokens) * a.budget.Calibration))
	c.maxOutput = max(1, min(a.in.Limits.MaxOutput, a.in.Limits.ContextLimit-real))
	c.manifest, c.texts = a.manifest(c)
	return c
}

// prepend puts text in front of a message as a block of its own. The message is
// replaced, not changed: its blocks belong to the turn.
func prepend(messages []chat.Message, i int, text string) {
	if text == "" {
		return
	}
	m := messages[i]
	messages[i] = chat.Message{Role: m.Role, Blocks: append(chat.Blocks{chat.Text{Text: text}}, m.Blocks...)}
}

func joinText(items []rendered) string {
	var sb strings.Builder
	for _, r := range items {
		sb.WriteString(r.text)
	}
	return sb.String()
}

// frame is the text around derived text.
type frame struct{ open, close string }

// framed adds the frame's two items, if there is anything to frame.
func (a *assembler) framed(items []rendered, f frame) []rendered {
	if len(items) == 0 {
		return nil
	}
	out := append([]rendered{a.frameItem("config", f.open)}, items...)
	return append(out, a.frameItem("config", f.close))
}

// frameItem is a text of the program's own around others.
func (a *assembler) frameItem(source, text string) rendered {
	tokens := a.in.Count(text)
	return rendered{text: text, tokens: tokens, source: Part{
		Source: source, Tokens: tokens, Bytes: len(text), SHA256: chat.HashText(text),
	}}
}

// memory is section 7: the head state summary and the lines of ranges that it no longer says, then retrieved artifacts, then the date
// and time of the request.
func (a *assembler) memory() []rendered { return a.memoryWith(a.recalled()) }

func (a *assembler) memoryWith(recalled []rendered) []rendered {
	return a.framed(slices.Concat(a.state, a.again, recalled, a.now), memoryFrame)
}

// recalled are the artifacts as a reader follows them: said to be a selection, in
// the order of time, each day under a line of its own.
func (a *assembler) recalled() []rendered {
	if len(a.retrieved) == 0 {
		return nil
	}
	out := []rendered{a.frameItem("config", selection)}
	day := ""
	for _, i := range byTime(a.in.Retrieved) {
		if d := a.in.Retrieved[i].Day; d != day {
			day = d
			out = append(out, a.dayItem(d))
		}
		out = append(out, a.retrieved[i])
	}
	return out
}

// dayItem is the line of a day, counted once however often the block is laid out.
func (a *assembler) dayItem(day string) rendered {
	item, ok := a.days[day]
	if !ok {
		item = a.frameItem("day", dayText(day))
		if a.days == nil {
			a.days = map[string]rendered{}
		}
		a.days[day] = item
	}
	return item
}

// canonicalHash is over the context's own JSON; the wire form, which an
// adapter shapes, is hashed apart.
func canonicalHash(c PreparedContext) string {
	return c.hashOf(len(c.messages))
}

// HashOfFirst is the hash that a context of the same definitions, system text and so many
// of the same messages has: its manifest's SHA256 (SRD 1.2.5).
func (c PreparedContext) HashOfFirst(messages int) string {
	if messages < 0 || messages > len(c.messages) {
		return ""
	}
	return c.hashOf(messages)
}

func (c PreparedContext) hashOf(messages int) string {
	raw, err := chat.MarshalJSON(struct {
		System   []string       `json:"system"`
		Tools    []sentTool     `json:"tools,omitempty"`
		Messages []chat.Message `json:"messages"`
	}{c.system, sentTools(c.tools), c.messages[:messages]})
	if err != nil {
		return "" // blocks come from storage, which only holds what encodes
	}
	return chat.HashText(string(raw))
}
