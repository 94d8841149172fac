package prompt

import (
	"math"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/scrub"
	"contextinfinity/backend/internal/untrusted"
)

// AssemblerVersion changes whenever the same input gives different bytes.
const AssemblerVersion = 9

// messageOverhead is the number of tokens for a message's role markers and framing.
const messageOverhead = 4

// Input is everything from which a context is assembled. The assembler reads nothing else.
type Input struct {
	Model    string
	ModelID  string // whose encoding Count uses
	Provider string // adapter the context is for
	// StepIndex is the index of the step that the request is for.
	StepIndex int
	Limits    Limits
	Policy    Policy
	// Calibration is the provider's token count relative to ours.
	Calibration float64
	System      string // instructions, without the hardening statement, which is added here
	// Project, if not nil, is the session's project: its instructions precede System, its facts precede Pins.
	Project *Project
	Pins    []chat.Pin
	Head    chat.State
	// HeadCapped: the head's summary was over its cap, and Head is the shortened one.
	HeadCapped bool
	// HeadShrunk, after NeedsSummaryShrink, replaces the head's summary in step 4.
	HeadShrunk string
	// Now is the date and time of the request as text. It is in the memory block, which changes with each request
	// anyway. It is left out if empty, and in plain chat.
	Now string
	// Sizes are the sizes of all finalized turns of the lineage before this one, in order.
	Sizes []Size
	// Fetch returns the turns of [from, to) of the lineage, in order; Extract a deterministic extract of them with at
	// most this many tokens. Both must be pure.
	Fetch   func(from, to int64) ([]chat.Turn, error)
	Extract func(turns []chat.Turn, target int) string
	// CachedExtract, if not nil, returns an earlier result of extract for the same piece, or calls extract.
	CachedExtract func(p Piece, extract func() (string, error)) (string, error)
	// Repeats returns the lines of a range summary, counted from 0, that a state summary also contains; nil: none is
	// left out. It must be pure.
	Repeats func(text, state string) []int
	// Summaries are the lineage's live range summaries. Previous is how the previous request represented history.
	Summaries []Summary
	Previous  *HistoryRecord
	Retrieved []Artifact // best first
	Current   chat.Message
	// Tools are the definitions that the request offers, in a stable order.
	Tools []chat.ToolDefinition
	// Cycle are the steps of this turn so far: the answer of each with its tool calls, and then the results of those
	// calls. They follow Current, and are neither separated nor trimmed.
	Cycle []chat.Message
	// ResultMaxBytes limits what the model sees of a result in Cycle; 0: DefaultResultBytes.
	ResultMaxBytes int
	// Partial, if not nil, is the unfinished answer to Current that the model should continue.
	Partial *chat.Message
	// Reduce lowers the ceiling to this share after a provider rejected the request for its size; 0 means 1.
	Reduce float64
	// Count returns the tokens of a text. It must be a pure function.
	Count func(string) int
	// Replay, if not nil, is a manifest whose context is assembled again: with its plan and its pieces, and without
	// what its shrinking removed. Nothing is planned or shrunk again.
	Replay *Manifest
	// RedactionRules identifies the rules of Redact, so that a changed rule can be distinguished from a changed record.
	RedactionRules string
	// Refused are the shrink steps of earlier attempts that the provider refused for their size, and each refusal.
	Refused []chat.Phrase
	// RetrievalError says why memory was not searched for this request.
	RetrievalError chat.Phrase
	// Scope is the scope of the memory search; the manifest records it.
	Scope chat.Scope
	// Redact removes secrets from a text before it is hashed and sent; nil: nothing is removed. It must be pure.
	Redact func(string) (clean string, found []Redaction)
}

// Artifact is a piece of retrieved memory.
type Artifact struct {
	ID   string // chunk
	Turn string
	Text string // the assembler escapes it and makes it visible
	// Day is the heading of a day's artifacts; At, Seq and Ordinal order them: the turn's creation time in
	// milliseconds, its turn_seq, and the chunk's position in it.
	Day     string
	At      int64
	Seq     int64
	Ordinal int
	Summary string // replaces Text if that is too large
	// ByLibrarian: Summary is the librarian's, not the one made by rule.
	ByLibrarian bool
	Score       float64
	// The components of Score, which explain why the artifact was chosen (chat.Retrieval).
	Similarity, Vector, Keyword float64
	Reasons                     []chat.Reason
	// Attached: the user attached it; it is dropped after all others.
	Attached bool
	// Form and Slices say how Text was derived from the chunk, so that it can be derived again: the manifest records
	// them.
	Form   chat.PackedAs
	Slices []chat.Span
}

// Redaction says which kind of secret was replaced, never the secret.
type Redaction struct {
	Rule  string `json:"rule"`
	Bytes int    `json:"bytes"`
}

// continueInstruction asks for the rest of an interrupted answer.
const continueInstruction = "Your answer above was cut off. Continue it exactly where it stops, without repeating anything and without any introduction."

// Assemble builds the context in the order of SPEC 6 and shrinks it in the order of SRD 7.3 until it fits. Its errors
// are *NeedsSummaryShrink, after which the caller tries again with HeadShrunk, and *chat.Error with code over_budget
// and an *OverBudgetError, *RecentMessagesTooLarge or *SectionOverCap as its cause.
func Assemble(in Input) (PreparedContext, error) {
	d, err := NewDraft(in)
	if err != nil {
		return PreparedContext{}, err
	}
	return d.Finish(in.Retrieved, in.RetrievalError)
}

// assembler contains the sections while they are built and shrunk.
type assembler struct {
	in     Input
	budget Budget
	plan   Plan
	pieces []Piece

	system    []rendered
	tools     []rendered // definitions
	pinned    []rendered
	summaries []rendered
	originals []rendered
	pending   []rendered // complete turns: two messages each
	state     []rendered
	restored  []rendered // lines of ranges that were omitted and that the state summary no longer contains
	left      []rendered // the extract of dropped pending turns
	retrieved []rendered // best first, like in.Retrieved
	now       []rendered // the line of date and time
	last      []rendered // the message, the steps of its turn so far, and in a continuation the partial answer

	limits     []ResultLimit // of the results in in.Cycle, in order
	dropped    []int64       // turn_seqs of pending turns dropped by step 3, without gaps
	extracted  int           // target of their extract, in tokens
	headShrunk bool          // HeadShrunk is sent
	// shortened are messages after the cut that are sent only in part.
	shortened []Shortened
	steps     []chat.Phrase
	notes     []chat.Phrase // other deviations from the caps
	// Redactions, separate for the parts that may be rendered more than once; found is the current list.
	redactedFixed, redactedRecalled, redactedHistory, redactedLast []Redaction

	found *[]Redaction
	days  map[string]rendered // rendered date headings
	// full is the ceiling before Reduce, for which plans are made.
	full int
}

// rendered is one item as it will be sent. Items that are messages have msg; items of system text and of the
// memory block have only text.
type rendered struct {
	msg    *chat.Message
	text   string
	source Part
	tokens int
	turn   int64 // turn_seq of an original or pending turn
}

func newAssembler(in Input) *assembler {
	if in.Redact == nil {
		in.Redact = func(s string) (string, []Redaction) { return s, nil }
	}
	in.Policy = in.Policy.OrDefault()
	tools := renderTools(in.Tools, in.Count)
	in.Limits.Tools = total(tools)
	b := NewBudget(in.Limits, in.Policy, in.Calibration)
	a := &assembler{in: in, tools: tools, budget: b, full: b.Ceiling, steps: slices.Clone(in.Refused)}
	a.headShrunk = in.Replay != nil && in.HeadShrunk != ""
	a.limits = a.cycleLimits()
	a.found = &a.redactedFixed
	if in.Reduce > 0 && in.Reduce < 1 {
		a.budget.Ceiling = int(float64(b.Ceiling) * in.Reduce)
	}
	return a
}

// renderHistory renders sections 4 to 6 for the plan.
func (a *assembler) renderHistory() error {
	if a.in.Replay != nil {
		a.pieces = a.in.Replay.History.Pieces
	} else {
		pieces, kept := Choose(a.plan, a.in.Summaries, a.in.Previous, a.budget, a.in.Policy)
		var err error
		if a.pieces, err = a.omitRepeats(pieces, kept); err != nil {
			return err
		}
	}
	a.originals, a.pending = nil, nil
	a.redactedHistory, a.found = nil, &a.redactedHistory
	if err := a.renderPieces(); err != nil {
		return err
	}
	if err := a.renderTurns(); err != nil {
		return err
	}
	return a.renderDropped()
}

func (a *assembler) renderTurns() error {
	from, to, ok := a.span()
	if !ok {
		return nil
	}
	turns, err := a.in.Fetch(from, to)
	if err != nil {
		return err
	}
	pending := map[int64]bool{}
	for _, s := range a.in.Sizes {
		if s.Pending {
			pending[s.Seq] = true
		}
	}
	for _, t := range turns {
		if slices.Contains(a.dropped, t.Seq) {
			continue
		}
		items := a.renderTurn(t)
		if pending[t.Seq] {
			a.pending = append(a.pending, items...)
		} else {
			a.originals = append(a.originals, items...)
		}
	}
	return nil
}

// span is the range of turn_seqs after the cut.
func (a *assembler) span() (from, to int64, ok bool) {
	for _, s := range a.in.Sizes {
		if s.Seq > a.plan.Cut {
			if !ok {
				from, ok = s.Seq, true
			}
			to = s.Seq + 1
		}
	}
	return from, to, ok
}

// renderTurn renders a turn's messages. A turn has the same bytes as an original and as a pending turn, so committing
// it changes nothing before it.
func (a *assembler) renderTurn(t chat.Turn) []rendered {
	user, answer, ok := TurnMessages(t, a.in.Provider, a.in.Model)
	if !ok {
		return nil
	}
	items := []rendered{
		a.past(user, Part{Source: "turn", ID: string(t.ID), Role: string(chat.RoleUser), Seq: t.Seq}),
		a.past(answer, Part{Source: "turn", ID: string(t.ID), Role: string(chat.RoleAssistant), Seq: t.Seq}),
	}
	items[0].turn, items[1].turn = t.Seq, t.Seq
	return items
}

// TurnMessages returns a finalized turn's two messages in the form that any provider may receive, with complete tool
// results; ok is false for a turn without an answer. model is the one that receives them.
func TurnMessages(t chat.Turn, provider, model string) (user, answer chat.Message, ok bool) {
	if t.Assistant == nil {
		return user, answer, false
	}
	answer = replayable(*t.Assistant, model == t.Model)
	if t.Provider == "recall" && provider != "recall" {
		answer = chat.AssistantText(recallNote)
	}
	return conversation(t.User), answer, true
}

// Measure is the size of a finalized turn in tokens: both messages as rendered for a provider other than recall, with
// their framing.
func Measure(t chat.Turn, count func(string) int) int {
	user, answer, ok := TurnMessages(t, "", t.Model)
	if !ok {
		return 0
	}
	n := 0
	for _, m := range []chat.Message{user, withResults(pastCalls(answer), pastLimits(answer))} {
		text, images := messageText(m)
		n += count(text) + messageOverhead + images*ImageTokens
	}
	return n
}

func (a *assembler) renderPins() []rendered {
	facts := a.in.Project.facts()
	if len(a.in.Pins)+len(facts) == 0 {
		return nil
	}
	items := []rendered{a.textItem(Part{Source: "config"}, pinnedHeading, messageOverhead)}
	for _, f := range facts {
		items = append(items, a.textItem(Part{Source: "project_fact", ID: string(f.ID)}, pinnedLine(f), 0))
	}
	for _, p := range a.in.Pins {
		items = append(items, a.textItem(Part{Source: "pin", ID: string(p.ID)}, pinnedLine(p), 0))
	}
	return items
}

func (a *assembler) renderState() []rendered {
	summary := a.stateSummary()
	if a.in.Policy.History == HistoryOff || strings.TrimSpace(summary) == "" {
		return nil
	}
	return []rendered{a.derived(Part{Source: "state", ID: string(a.in.Head.ID)}, summary, stateText)}
}

// renderRetrieved renders the artifacts in their order, best first.
func (a *assembler) renderRetrieved() {
	a.retrieved, a.redactedRecalled, a.found = nil, nil, &a.redactedRecalled
	for i, r := range a.in.Retrieved {
		a.retrieved = append(a.retrieved, a.renderArtifact(r, i+1))
	}
}

func (a *assembler) renderArtifact(r Artifact, rank int) rendered {
	return a.derived(Part{
		Source: "chunk", ID: r.ID, Rank: rank, Turn: r.Turn, Form: r.Form, Slices: r.Slices, Attached: r.Attached,
		Score: rounded(r.Score), Similarity: rounded(r.Similarity), Vector: rounded(r.Vector), Keyword: rounded(r.Keyword), Reasons: r.Reasons,
		Librarian: r.ByLibrarian && r.Form == chat.PackedSummary,
	}, r.Text, artifactText)
}

// rounded is a score with the stored precision; more digits would only take space.
func rounded(score float64) float64 { return math.Round(score*1e4) / 1e4 }

func (a *assembler) renderNow() []rendered {
	if a.in.Now == "" || a.in.Policy.History == HistoryOff {
		return nil
	}
	return []rendered{a.frameItem("now", nowText(a.in.Now))}
}

// renderLast renders the current message again with what follows it.
func (a *assembler) renderLast() {
	a.redactedLast, a.found = nil, &a.redactedLast
	a.last = a.renderCurrent()
}

func (a *assembler) renderCurrent() []rendered {
	last := []rendered{a.message(a.in.Current, Part{Source: "message", Role: string(chat.RoleUser)})}
	last = append(last, a.renderCycle()...)
	if a.in.Partial == nil {
		return last
	}
	return append(last,
		a.message(replayable(*a.in.Partial, false), Part{Source: "partial", Role: string(chat.RoleAssistant)}),
		a.message(chat.UserText(continueInstruction), Part{Source: "config", Role: string(chat.RoleUser)}))
}

// message renders a message: secrets are removed first, then it is measured and hashed as it will be sent.
func (a *assembler) message(m chat.Message, source Part) rendered {
	return a.messageWith(m, source, nil)
}

// past renders a message of an earlier turn.
func (a *assembler) past(m chat.Message, source Part) rendered {
	if maxBytes, short := a.shownOf(source.Seq, m.Role); short {
		source.Shortened = true
		return a.measured(reduced(a.redactMessage(m), maxBytes), source)
	}
	return a.messageWith(pastCalls(m), source, pastLimits(m))
}

// messageWith renders a message with limits for its tool results.
func (a *assembler) messageWith(m chat.Message, source Part, limits []ResultLimit) rendered {
	return a.measured(withResults(a.redactMessage(m), limits), source)
}

// measured is a message as it will be sent.
func (a *assembler) measured(m chat.Message, source Part) rendered {
	text, images := messageText(m)
	tokens := a.in.Count(text) + messageOverhead + images*ImageTokens
	source.Tokens, source.Bytes, source.SHA256 = tokens, len(text), chat.HashText(text)
	return rendered{msg: &m, text: text, source: source, tokens: tokens}
}

func (a *assembler) textItem(source Part, text string, overhead int) rendered {
	return a.item(source, a.redact(text), overhead)
}

// derived is an item of text that the program generated or recalled. Secrets are removed from the plain text, before
// anything is escaped.
func (a *assembler) derived(source Part, text string, frame func(string) string) rendered {
	return a.item(source, frame(a.redact(untrusted.Visible(text))), 0)
}

func (a *assembler) item(source Part, text string, overhead int) rendered {
	tokens := a.in.Count(text) + overhead
	source.Tokens, source.Bytes, source.SHA256 = tokens, len(text), chat.HashText(text)
	return rendered{text: text, source: source, tokens: tokens}
}

func (a *assembler) redact(s string) string {
	clean, found := a.in.Redact(s)
	*a.found = append(*a.found, found...)
	return clean
}

// redactMessage is a message as this provider may receive it, without secrets.
func (a *assembler) redactMessage(m chat.Message) chat.Message {
	return chat.Message{Role: m.Role, Blocks: a.redactBlocks(m.Blocks, a.redact)}
}

func (a *assembler) redactBlocks(blocks chat.Blocks, redact func(string) string) chat.Blocks {
	out := make(chat.Blocks, 0, len(blocks))
	for _, b := range sendable(blocks, a.in.Provider) {
		switch t := b.(type) {
		case chat.Text:
			t.Text = redact(t.Text)
			b = t
		case chat.Refusal:
			t.Text = redact(t.Text)
			b = t
		case chat.ToolUse:
			t.Input = scrub.JSON(t.Input, a.redact)
			b = t
		case chat.ToolResult:
			t.Content = a.redactBlocks(visible(t.Content), a.redactQuoted)
			b = t
		}
		out = append(out, b)
	}
	return out
}

// redactQuoted is redact for tool results, which often quote JSON.
func (a *assembler) redactQuoted(s string) string { return scrub.Text(s, a.redact) }

// visible returns the blocks of a result without invisible characters: inside a secret they would prevent its
// detection, and removing them later would restore it.
func visible(blocks chat.Blocks) chat.Blocks {
	out := slices.Clone(blocks)
	for i, b := range out {
		switch t := b.(type) {
		case chat.Text:
			t.Text = untrusted.Visible(t.Text)
			out[i] = t
		case chat.Refusal:
			t.Text = untrusted.Visible(t.Text)
			out[i] = t
		}
	}
	return out
}

// messageText is the text of every block that may be sent.
func messageText(m chat.Message) (text string, images int) {
	var sb strings.Builder
	for _, b := range m.Blocks {
		switch b := b.(type) {
		case chat.Text:
			sb.WriteString(b.Text)
		case chat.Refusal:
			sb.WriteString(b.Text)
		case chat.Document:
			sb.WriteString(documentText(b))
		case chat.Image:
			images++
		case chat.ToolResult:
			t, n := messageText(chat.Message{Blocks: b.Content})
			images += n
			b.Content = chat.Blocks{chat.Text{Text: t}}
			writeJSON(&sb, b)
		default:
			writeJSON(&sb, b)
		}
	}
	return sb.String(), images
}

func writeJSON(sb *strings.Builder, b chat.Block) {
	if raw, err := chat.MarshalJSON(b); err == nil {
		sb.Write(raw)
	}
}

// ImageTokens is the assumed cost of an image: the upper end of what the vendors document for an image of the size to
// which they scale it.
const ImageTokens = 1600
