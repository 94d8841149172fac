package prompt

import (
	"slices"

	"contextinfinity/backend/chat"
)

// Manifest describes one assembled context: its sections in prompt order, every item with its source, size and hash,
// every shrink step, and the inputs from which it can be assembled again (SPEC 6).
type Manifest struct {
	AssemblerVersion int       `json:"assembler_version"`
	Model            string    `json:"model"`
	Provider         string    `json:"provider"`
	Limits           Limits    `json:"limits"`
	Policy           Policy    `json:"policy"`
	Budget           Budget    `json:"budget"`
	Sections         []Section `json:"sections"`
	Shrink           []string  `json:"shrink"`          // as text, in order; empty if none
	Notes            []string  `json:"notes,omitempty"` // a message over its cap, a state summary that was shortened or left out
	// Words are Shrink and Notes with their values apart; earlier versions stored none.
	Words          []chat.Phrase `json:"words,omitempty"`
	DroppedPending []int64       `json:"dropped_pending,omitempty"`
	Redactions     []Redaction   `json:"redactions,omitempty"`
	History        HistoryRecord `json:"history"`
	Inputs         Inputs        `json:"inputs"`
	TotalTokens    int           `json:"total_tokens"`
	MaxOutput      int           `json:"max_output"`
	SHA256         string        `json:"sha256"` // of the canonical context bytes
	// Deleted names the receipt of the last permanent deletion that removed a part of the context: it can no longer be
	// assembled again.
	Deleted string `json:"erased,omitempty"`
}

// WorkingSet returns the limit of the context in the model's own tokens: smaller than the configured one after a refusal
// for its size.
func (m Manifest) WorkingSet() int {
	if whole := NewBudget(m.Limits, m.Policy, m.Budget.Calibration); m.Budget.Ceiling >= whole.Ceiling {
		return m.Budget.WorkingSet(m.Limits)
	}
	return m.Budget.InModelTokens(m.Budget.Ceiling)
}

// Inputs are the inputs not recorded in the sections: with them and the ids in the sections the same context can be
// assembled again.
type Inputs struct {
	System string `json:"system"` // the instructions, as in Input
	// Project is the session's project at that time; Scope the scope of the memory search.
	Project    *Project   `json:"project,omitempty"`
	Scope      chat.Scope `json:"scope,omitempty"`
	HeadState  string     `json:"head_state"`
	HeadShrunk string     `json:"head_shrunk,omitempty"`
	LastSeq    int64      `json:"last_seq"` // newest turn of the lineage at that time
	// Shortened are messages after the cut that the model saw only in part.
	Shortened []Shortened `json:"shortened,omitempty"`
	Pending   []int64     `json:"pending,omitempty"`
	Extracted int         `json:"extracted,omitempty"` // target of the extract of the dropped pending turns, in tokens
	Reduce    float64     `json:"reduce,omitempty"`
	Now       string      `json:"now,omitempty"` // date and time of the request as text
	Partial   bool        `json:"partial,omitempty"`
	StepIndex int         `json:"step_index,omitempty"` // of the request's step: a partial answer belongs to an earlier one
	ModelID   string      `json:"model_id,omitempty"`   // whose encoding measured the texts
	// RedactionRules identifies the rules by which texts were redacted.
	RedactionRules string `json:"redaction_rules,omitempty"`
	// RetrievalError says why memory was not searched; RetrievalWords is the same with its values, if it has any.
	RetrievalError string      `json:"retrieval_error,omitempty"`
	RetrievalWords chat.Phrase `json:"retrieval_words,omitzero"`
	// Tools are the offered definitions; Results how much the model saw of each result of the turn's earlier steps,
	// in order.
	Tools   []chat.ToolDefinition `json:"tools,omitempty"`
	Results []ResultLimit         `json:"results,omitempty"`
}

// Section is one of the sections of SPEC 6 in the context.
type Section struct {
	Name   string  `json:"name"`
	Tokens int     `json:"tokens"`
	Share  float64 `json:"share"` // of the whole context
	Cap    int     `json:"cap,omitempty"`
	Items  []Part  `json:"items"`
}

// Part is one item of a section. Bytes is the size of its text as sent.
type Part struct {
	// Source is "config", "project", "project_fact", "pin", "summary", "extract", "turn", "state", "chunk",
	// "day", "now", "tool", "message", "step" or "partial".
	Source string `json:"source"`
	ID     string `json:"id,omitempty"`
	Turn   string `json:"turn,omitempty"` // of a chunk
	Seq    int64  `json:"seq,omitempty"`  // of a turn
	From   int64  `json:"from,omitempty"` // of a summary or extract: [From, To)
	To     int64  `json:"to,omitempty"`
	Role   string `json:"role,omitempty"`
	// Of a chunk: its form, the slices of its source, its scores (chat.Retrieval), and whether the user attached it.
	Form       chat.PackedAs `json:"form,omitempty"`
	Slices     []chat.Span   `json:"slices,omitempty"`
	Librarian  bool          `json:"by_librarian,omitempty"` // the form is a summary, which the librarian wrote
	Score      float64       `json:"score,omitempty"`
	Similarity float64       `json:"similarity,omitempty"`
	Vector     float64       `json:"vector_score,omitempty"`
	Keyword    float64       `json:"keyword_score,omitempty"`
	Reasons    []chat.Reason `json:"reasons,omitempty"`
	Attached   bool          `json:"attached,omitempty"`
	Shortened  bool          `json:"shortened,omitempty"` // of a turn: only a part is included
	Rank       int           `json:"rank,omitempty"`      // among the chunks, from 1; they are listed in order of time
	Tokens     int           `json:"tokens"`
	Bytes      int           `json:"bytes"`
	SHA256     string        `json:"sha256"`
}

// Names of sections, in prompt order.
const (
	SectionSystem    = "system"
	SectionTools     = "tools"
	SectionPinned    = "pinned"
	SectionSummaries = "summaries"
	SectionOriginals = "originals"
	SectionPending   = "pending"
	SectionState     = "state"
	SectionRetrieved = "retrieved"
	SectionMessage   = "message"
)

func (a *assembler) manifest(c PreparedContext) (Manifest, []Text) {
	m := Manifest{
		AssemblerVersion: AssemblerVersion, Model: a.in.Model, Provider: a.in.Provider, Limits: a.in.Limits,
		Policy: a.in.Policy, Budget: a.budget, Shrink: append([]string{}, texts(a.steps)...), Notes: texts(a.notes), Words: slices.Concat(a.steps, a.notes), DroppedPending: a.dropped,
		Redactions: slices.Concat(a.redactedFixed, a.redactedRecalled, a.redactedHistory, a.redactedLast), TotalTokens: c.tokens, MaxOutput: c.maxOutput, SHA256: canonicalHash(c),
		History: HistoryRecord{Cut: a.plan.Cut, Allowance: a.budget.Allowance, Ranges: a.plan.Ranges, Pieces: a.pieces},
		Inputs:  a.inputs(),
	}
	state, retrieved, message := a.memorySections()
	var texts []Text
	add := func(name string, limit int, items []rendered) {
		if len(items) == 0 {
			return
		}
		s := Section{Name: name, Tokens: total(items), Cap: limit}
		s.Share = float64(s.Tokens) / float64(max(1, c.tokens))
		for _, r := range items {
			s.Items = append(s.Items, r.source)
			texts = append(texts, Text{Section: name, Part: r.source, Text: r.text})
		}
		m.Sections = append(m.Sections, s)
	}
	caps := a.budget.Caps
	add(SectionSystem, caps.System, a.system)
	add(SectionTools, caps.Tools, a.tools)
	add(SectionPinned, caps.Pinned, a.pinned)
	add(SectionSummaries, a.budget.Summaries, a.framed(a.summaries, summariesFrame))
	history := a.budget.Allowance
	if a.plan.Cut == 0 {
		history = a.budget.Ceiling - (a.used() - total(a.originals) - total(a.pending)) // all that the others leave
	}
	add(SectionOriginals, history, a.originals)
	add(SectionPending, history, a.pending)
	add(SectionState, caps.State, state)
	add(SectionRetrieved, caps.Retrieved, retrieved)
	add(SectionMessage, caps.Message, slices.Concat(message, a.last))
	return m, texts
}

// has reports whether a section exists.
func (m Manifest) has(name string) bool {
	return slices.ContainsFunc(m.Sections, func(s Section) bool { return s.Name == name })
}

// Chunks returns the retrieved memory in the context, in order.
func (m Manifest) Chunks() []Part {
	var out []Part
	for _, s := range m.Sections {
		for _, it := range s.Items {
			if it.Source == "chunk" {
				out = append(out, it)
			}
		}
	}
	return out
}

// memorySections splits the memory block: the opening of its frame belongs to its first section, the closing to its
// last. Without state and memory the frame belongs to the message.
func (a *assembler) memorySections() (state, retrieved, message []rendered) {
	all := a.memory()
	switch {
	case len(a.retrieved) == 0 && len(a.state) == 0:
		return nil, nil, all
	case len(a.retrieved) == 0:
		return all, nil, nil
	case len(a.state) == 0:
		return nil, all, nil
	}
	n := 1 + len(a.state) + len(a.restored) + len(a.left)
	return all[:n], all[n:], nil
}

// WhyNotSearched returns RetrievalError with its values.
func (in Inputs) WhyNotSearched() chat.Phrase { return in.RetrievalWords.As(in.RetrievalError) }

// Said returns the steps of Shrink and the Notes, each with its values.
func (m Manifest) Said() (steps, notes []chat.Phrase) {
	all := slices.Clone(m.Words)
	if len(all) != len(m.Shrink)+len(m.Notes) {
		all = nil
		for _, text := range slices.Concat(m.Shrink, m.Notes) {
			all = append(all, chat.Quote(text))
		}
	}
	return all[:len(m.Shrink)], all[len(m.Shrink):]
}

// texts returns phrases in English.
func texts(phrases []chat.Phrase) []string {
	var out []string
	for _, p := range phrases {
		out = append(out, p.String())
	}
	return out
}

func (a *assembler) inputs() Inputs {
	in := Inputs{
		System: a.in.System, Project: a.in.Project, Scope: a.in.Scope, HeadState: string(a.in.Head.ID), Reduce: a.in.Reduce,
		Now: a.in.Now, Partial: a.in.Partial != nil, StepIndex: a.in.StepIndex, ModelID: a.in.ModelID, RedactionRules: a.in.RedactionRules,
		Tools: a.in.Tools, Results: a.limits, Shortened: a.shortened,
		Extracted: a.extracted,
	}
	in.RetrievalError, in.RetrievalWords = a.in.RetrievalError.Split()
	if a.in.HeadCapped || a.headShrunk {
		in.HeadShrunk = a.stateSummary()
	}
	for _, s := range a.in.Sizes {
		in.LastSeq = s.Seq
		if s.Pending {
			in.Pending = append(in.Pending, s.Seq)
		}
	}
	return in
}
