package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
)

// AssemblerVersion changes whenever the same input gives other bytes.
const AssemblerVersion = 1

// messageOverhead is the tokens that role markers and framing cost a message.
const messageOverhead = 4

// Input is everything a context is made of. The assembler reads nothing else.
type Input struct {
	Model    string
	Provider string // adapter the context is for
	Limits   Limits
	System   string // instructions; the hardening statement is added here
	Pins     []chat.Pin
	Head     chat.State
	// Originals are committed turns of the lineage, oldest first: a run that ends
	// at the newest. Pending are the finalized, uncommitted ones after them.
	Originals []chat.Turn
	Pending   []chat.Turn
	Current   chat.Message
	// Partial, if not nil, is the unfinished answer to Current that the model is
	// asked to continue.
	Partial *chat.Message
	// Count returns the tokens of a text. It must be a pure function.
	Count func(string) int
}

// continueInstruction asks for the rest of an answer that was cut.
const continueInstruction = "Your answer above was cut off. Continue it exactly where it stops, without repeating anything and without any introduction."

// OverBudgetError says by how much a context does not fit, all in tokens.
type OverBudgetError struct {
	Required, Ceiling                   int
	System, Pinned, State, Pending, Msg int
	PendingTurns                        int
}

func (e *OverBudgetError) Error() string {
	return fmt.Sprintf("the context needs %d tokens and may have %d: system %d, pinned facts %d, state %d, %d pending turns %d, message %d",
		e.Required, e.Ceiling, e.System, e.Pinned, e.State, e.PendingTurns, e.Pending, e.Msg)
}

// Assemble builds the context in the order of SPEC 6. Newest originals that fit
// are taken; everything else must fit or the error is a *chat.Error with code
// over_budget whose cause is an *OverBudgetError.
func Assemble(in Input) (PreparedContext, error) {
	a := assembler{in: in, budget: NewBudget(in.Limits)}
	a.fixed()
	if err := a.check(); err != nil {
		return PreparedContext{}, err
	}
	a.takeOriginals()
	return a.prepared(), nil
}

type assembler struct {
	in     Input
	budget Budget

	system, pinned, state string
	sizes                 struct{ system, pinned, state, pending, message int }
	pending               []rendered
	last                  []rendered // what follows pending: message, and for a continuation the partial answer
	originals             []rendered
}

// rendered is one message as it will be sent.
type rendered struct {
	msg    chat.Message
	source Part
	tokens int
}

func (a *assembler) fixed() {
	a.system = systemText(a.in.System)
	a.sizes.system = a.count(a.system)
	if a.pinned = pinnedText(a.in.Pins); a.pinned != "" {
		a.sizes.pinned = a.count(a.pinned)
	}
	if a.state = memoryBlock(a.in.Head.Summary); a.state != "" {
		a.sizes.state = a.in.Count(a.state)
	}
	a.pending = a.renderTurns(a.in.Pending)
	a.sizes.pending = total(a.pending)
	a.last = a.renderCurrent()
	a.sizes.message = total(a.last)
}

func (a *assembler) used() int {
	s := a.sizes
	return s.system + s.pinned + s.state + s.pending + s.message
}

func (a *assembler) check() error {
	if a.used() <= a.budget.Ceiling {
		return nil
	}
	s := a.sizes
	cause := &OverBudgetError{
		Required: a.used(), Ceiling: a.budget.Ceiling, System: s.system, Pinned: s.pinned, State: s.state,
		Pending: s.pending, Msg: s.message, PendingTurns: len(a.in.Pending),
	}
	err := chat.WrapError(chat.CodeOverBudget, "prompt.assemble", cause, cause.Error())
	return err.WithHint("%s", a.advice(cause))
}

// advice names the largest part that the user can change.
func (a *assembler) advice(e *OverBudgetError) string {
	switch {
	case e.Msg > e.Ceiling/2:
		return "shorten the message, or choose a model with a larger window"
	case e.Pending > e.Ceiling/2:
		return "commit the pending turns first, or raise budget.working_set_tokens"
	case e.Pinned > e.Ceiling/2:
		return "unpin some facts, or raise budget.working_set_tokens"
	}
	return "raise budget.working_set_tokens, or choose a model with a larger window"
}

// takeOriginals keeps the longest run of newest turns that fits.
func (a *assembler) takeOriginals() {
	room := a.budget.Ceiling - a.used()
	for i := len(a.in.Originals) - 1; i >= 0; i-- {
		turn := a.renderTurn(a.in.Originals[i])
		if total(turn) > room {
			return
		}
		room -= total(turn)
		a.originals = append(turn, a.originals...)
	}
}

func (a *assembler) renderTurns(turns []chat.Turn) []rendered {
	var out []rendered
	for _, t := range turns {
		out = append(out, a.renderTurn(t)...)
	}
	return out
}

// renderTurn gives a turn's messages. A turn is rendered to the same bytes as
// an original and as a pending turn, so committing it changes nothing before it.
func (a *assembler) renderTurn(t chat.Turn) []rendered {
	if t.Assistant == nil {
		return nil
	}
	answer := replayable(*t.Assistant)
	if t.Provider == "recall" && a.in.Provider != "recall" {
		answer = chat.AssistantText(recallNote)
	}
	return []rendered{
		a.render(t.User, Part{Source: "turn", ID: string(t.ID), Role: string(chat.RoleUser)}),
		a.render(answer, Part{Source: "turn", ID: string(t.ID), Role: string(chat.RoleAssistant)}),
	}
}

// recallNote stands where recall quoted the user's memory: history crosses to a
// provider only as conversation of this lineage (SPEC 9).
const recallNote = "[Answered from local memory: the quotations are not repeated here.]"

func (a *assembler) renderCurrent() []rendered {
	current := a.render(a.in.Current, Part{Source: "message", Role: string(chat.RoleUser)})
	if a.in.Partial == nil {
		return []rendered{current}
	}
	return []rendered{
		current,
		a.render(replayable(*a.in.Partial), Part{Source: "partial", Role: string(chat.RoleAssistant)}),
		a.render(chat.UserText(continueInstruction), Part{Source: "config", Role: string(chat.RoleUser)}),
	}
}

func (a *assembler) render(m chat.Message, source Part) rendered {
	text, tokens := a.measure(m)
	source.Tokens, source.Bytes, source.SHA256 = tokens, len(text), hashOf(text)
	return rendered{msg: m, source: source, tokens: tokens}
}

// measure returns the text of every block that is sent and its tokens.
func (a *assembler) measure(m chat.Message) (string, int) {
	var sb strings.Builder
	images := 0
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case chat.Text:
			sb.WriteString(b.Text)
		case chat.Refusal:
			sb.WriteString(b.Text)
		case chat.Image:
			images++
		default:
			if raw, err := chat.MarshalJSON(b); err == nil {
				sb.Write(raw)
			}
		}
	}
	text := sb.String()
	return text, a.count(text) + images*ImageTokens
}

// ImageTokens is what one image is reckoned to cost: the upper end of what the
// vendors document for an image of the size they scale to.
const ImageTokens = 1600

func (a *assembler) count(s string) int { return a.in.Count(s) + messageOverhead }

// prepared puts the sections together in order.
func (a *assembler) prepared() PreparedContext {
	c := PreparedContext{ok: true, system: []string{a.system}, tokens: a.used() + total(a.originals)}
	if a.pinned != "" {
		c.system = append(c.system, a.pinned)
	}
	for _, r := range append(append([]rendered{}, a.originals...), a.pending...) {
		c.messages = append(c.messages, r.msg)
	}
	c.stable = len(c.messages)
	for i, r := range a.last {
		if i == 0 && a.state != "" {
			r.msg.Blocks = append(chat.Blocks{chat.Text{Text: a.state}}, r.msg.Blocks...)
		}
		c.messages = append(c.messages, r.msg)
	}
	c.maxOutput = max(1, min(a.in.Limits.MaxOutput, a.in.Limits.ContextLimit-c.tokens))
	c.manifest = a.manifest(c)
	return c
}

func (a *assembler) manifest(c PreparedContext) Manifest {
	m := Manifest{
		AssemblerVersion: AssemblerVersion, Model: a.in.Model, Budget: a.budget,
		Shrink: []string{}, TotalTokens: c.tokens, SHA256: canonicalHash(c),
	}
	m.add(SectionSystem, []rendered{textPart("config", "", a.system, a.sizes.system)})
	if a.pinned != "" {
		m.add(SectionPinned, []rendered{textPart("pin", "", a.pinned, a.sizes.pinned)})
	}
	m.add(SectionOriginals, a.originals)
	m.add(SectionPending, a.pending)
	if a.state != "" {
		m.add(SectionState, []rendered{textPart("state", string(a.in.Head.ID), a.state, a.sizes.state)})
	}
	m.add(SectionMessage, a.last)
	return m
}

func (m *Manifest) add(name string, items []rendered) {
	if len(items) == 0 {
		return
	}
	s := Section{Name: name, Tokens: total(items)}
	for _, r := range items {
		s.Items = append(s.Items, r.source)
	}
	m.Sections = append(m.Sections, s)
}

func textPart(source, id, text string, tokens int) rendered {
	return rendered{tokens: tokens, source: Part{
		Source: source, ID: id, Tokens: tokens, Bytes: len(text), SHA256: hashOf(text),
	}}
}

// canonicalHash is over the context's own JSON; the wire form, which a vendor's
// SDK shapes, is hashed apart.
func canonicalHash(c PreparedContext) string {
	raw, err := chat.MarshalJSON(struct {
		System   []string       `json:"system"`
		Messages []chat.Message `json:"messages"`
	}{c.system, c.messages})
	if err != nil {
		return "" // blocks come from storage, which only holds what encodes
	}
	return hashOf(string(raw))
}

func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

func total(rs []rendered) int {
	n := 0
	for _, r := range rs {
		n += r.tokens
	}
	return n
}
