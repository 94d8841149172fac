package prompt

import (
	"math"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// PreparedContext is a context that fits its budget. Only this package can create one, its zero value is refused, and
// adapters accept no other type (SPEC 2.10).
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
	status    UsageStatus
}

// Status says what the context needs.
func (c PreparedContext) Status() UsageStatus { return c.status }

// Tools returns the definitions that the request offers, in a stable order.
func (c PreparedContext) Tools() []chat.ToolDefinition { return c.tools }

// Cycle is the number of Messages at the end that are the steps of this turn so far: an answer that ends with tool
// calls, then a message that begins with their results. A continuation's partial answer and its request count as
// well.
func (c PreparedContext) Cycle() int { return c.cycle }

// Valid reports whether the assembler created this context.
func (c PreparedContext) Valid() bool { return c.ok }

// System is the system text in parts: instructions, then pinned facts. They are sent as one system prompt in this
// order, without separators.
func (c PreparedContext) System() []string { return c.system }

// Messages alternate between user and assistant, user first, and end with the
// user's message, or with the results of the calls that followed it. The caller must not change them.
func (c PreparedContext) Messages() []chat.Message { return c.messages }

// StablePrefix is the number of Messages in sections 1 to 6: the prefix that a provider's prompt cache can keep until
// the cut moves.
func (c PreparedContext) StablePrefix() int { return c.stable }

// Tokens is the estimated size of the input.
func (c PreparedContext) Tokens() int { return c.tokens }

// MaxOutput is the space that remains for the answer, at most the model's own limit.
func (c PreparedContext) MaxOutput() int { return c.maxOutput }

// Manifest describes the context item by item.
func (c PreparedContext) Manifest() Manifest { return c.manifest }

// Texts returns the items of the manifest with their exact text, in prompt order.
func (c PreparedContext) Texts() []Text { return c.texts }

// Fact is a pinned fact as the request contains it: without secrets.
type Fact struct {
	Text    string `json:"text"`
	Project bool   `json:"project,omitempty"` // of the session's project, not of the session itself
}

// Facts returns the pinned facts in prompt order: those of the project come first.
func (c PreparedContext) Facts() []Fact {
	var out []Fact
	for _, t := range c.texts {
		if t.Source == "pin" || t.Source == "project_fact" {
			out = append(out, Fact{Text: pinnedText(t.Text), Project: t.Source == "project_fact"})
		}
	}
	return out
}

// Text is an item's text as it was sent.
type Text struct {
	Section string `json:"section"`
	Part
	Text string `json:"text"`
}

// prepared joins the sections in order. Section 4 is at the beginning of the first user message after it, and the
// memory block at the beginning of the last one, as a separate block before the user's text: roles alternate, as
// every provider requires.
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
	// The window is measured by the provider's count, so the calibrated size is subtracted from it.
	calibrated := int(math.Ceil(float64(c.tokens) * a.budget.Calibration))
	c.maxOutput = max(1, min(a.in.Limits.MaxOutput, a.in.Limits.ContextLimit-calibrated))
	c.manifest, c.texts = a.manifest(c)
	c.status = a.status()
	return c
}

// prepend adds text to the beginning of a message as a separate block. The message is copied, because its blocks
// belong to the turn.
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

// framed adds the frame's two items, unless there is nothing inside.
func (a *assembler) framed(items []rendered, f frame) []rendered {
	if len(items) == 0 {
		return nil
	}
	out := append([]rendered{a.frameItem("config", f.open)}, items...)
	return append(out, a.frameItem("config", f.close))
}

// frameItem is a text of the program around other items.
func (a *assembler) frameItem(source, text string) rendered {
	tokens := a.in.Count(text)
	return rendered{text: text, tokens: tokens, source: Part{
		Source: source, Tokens: tokens, Bytes: len(text), SHA256: chat.HashText(text),
	}}
}

// memory is section 7: the head state summary, lines of ranges that it no longer contains, the extract of dropped
// pending turns, retrieved artifacts, then the date and time of the request.
func (a *assembler) memory() []rendered { return a.memoryWith(a.recalled()) }

func (a *assembler) memoryWith(recalled []rendered) []rendered {
	return a.framed(slices.Concat(a.state, a.restored, a.left, recalled, a.now), memoryFrame)
}

// recalled returns the artifacts in reading order: marked as a selection, sorted by time, each day under a line with
// its date.
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

// dayItem is the date heading of a day, counted once however often the block is built.
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

// canonicalHash covers the context's own JSON; the wire format of an adapter has a separate hash.
func canonicalHash(c PreparedContext) string {
	return c.hashOf(len(c.messages))
}

// HashOfFirst is the hash of a context with the same definitions, system text and first messages: its manifest's
// SHA256 (SRD 1.2.5).
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
		return "" // stored blocks always encode
	}
	return chat.HashText(string(raw))
}
