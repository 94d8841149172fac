package imports

import (
	"crypto/sha256"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer"
)

// ImportPart is what one transaction writes.
type ImportPart struct {
	runs []*importRun
	Last bool // no part follows
}

// importRun is a series of consecutive turns of one branch that one state summary commits.
type importRun struct {
	tip   *branchTip
	forks bool
	from  *turnPosition // the turn before; nil: the run begins the conversation
	label string
	gap   *chat.ForkState // see chat.ForkPoint.Fallback
	turns []*transfer.Turn
	state chat.State // commits the run; empty if no turn has an answer
}

// answered returns the run's turns that a state summary commits.
func (r *importRun) answered() []*transfer.Turn {
	var out []*transfer.Turn
	for _, t := range r.turns {
		if Ended(t) {
			out = append(out, t)
		}
	}
	return out
}

// Ended reports whether a turn has a final answer. An answer that its source marks as an error does not count.
func Ended(t *transfer.Turn) bool { return t.Assistant != nil && !t.Assistant.IsEmpty() && !t.Failed }

// Plan takes the next missing turns and summarizes them, without blocking the writer.
func (m *Importer) Plan() (ImportPart, error) {
	var part ImportPart
	turns, size := 0, 0
	var open *importRun
	for len(m.order) > 0 {
		t := &m.Conversation.Turns[m.order[0]]
		if m.positions[t.Key] != nil {
			m.order = m.order[1:]
			continue
		}
		turnSize := t.Size()
		if turns > 0 && (turns == ImportTurns || size+turnSize > importBytes) {
			return part, m.summarize(part)
		}
		turns, size, m.order = turns+1, size+turnSize, m.order[1:]
		run := m.place(t, open)
		if run != open {
			part.runs = append(part.runs, run)
		}
		run.tip.lastSeq++
		run.turns = append(run.turns, t)
		m.positions[t.Key] = &turnPosition{tip: run.tip, seq: run.tip.lastSeq}
		m.addQuestion(t)
		if open = run; len(m.children[t.Key]) > 1 || t.Key == m.Conversation.Current { // a state summary ends at each fork, so that each branch has one to build on
			open = nil
		}
	}
	part.Last = true
	return part, m.summarize(part)
}

// place decides where a turn continues: in the open run, on the branch of its parent, or on a new branch.
func (m *Importer) place(t *transfer.Turn, open *importRun) *importRun {
	before := m.positions[t.Parent]
	if t.Parent == "" {
		before = nil
	}
	switch {
	case before == nil:
		if m.main == nil {
			m.main = &branchTip{}
		}
		if m.main.lastSeq == 0 && !m.main.closed {
			return &importRun{tip: m.main}
		}
	case before.tip.lastSeq == before.seq && !before.tip.closed && t.Parent != m.Conversation.Current:
		if open != nil && open.tip == before.tip {
			return open
		}
		return &importRun{tip: before.tip, from: before}
	}
	run := &importRun{tip: &branchTip{}, forks: true, from: before}
	if before != nil {
		run.tip.lastSeq = before.seq
	}
	run.label = m.label(t, run.tip.lastSeq+1)
	return run
}

// label names a branch by its origin: a regenerated answer, an edited question, or a later addition.
func (m *Importer) label(t *transfer.Turn, seq int64) string {
	kind := "Continued in " + sourceName(m.Conversation.Source)
	if len(m.children[t.Parent]) > 1 {
		kind = "Edited"
		if m.questions[t.Parent][questionHash(t)] != "" {
			kind = "Regenerated answer"
		}
	}
	kind += " at #" + sqlite.Itoa(seq)
	for {
		label := kind
		if m.labelUses[kind]++; m.labelUses[kind] > 1 {
			label += " (" + sqlite.Itoa(m.labelUses[kind]) + ")"
		}
		if !m.labels[label] {
			m.labels[label] = true
			return label
		}
	}
}

// questionHash returns the hash of a turn's question.
func questionHash(t *transfer.Turn) [32]byte {
	b, err := t.User.Blocks.MarshalJSON()
	if err != nil { // cannot happen with blocks from a parser; such a question would match no other
		b = []byte(t.Key)
	}
	return sha256.Sum256(b)
}

var sourceNames = map[transfer.Source]string{
	transfer.SourceChatGPT: "ChatGPT", transfer.SourceClaude: "Claude", transfer.SourceClaudeCode: "Claude Code",
	transfer.SourceCodex: "Codex", transfer.SourceOpenWebUI: "Open WebUI", transfer.SourceLibreChat: "LibreChat",
	transfer.SourceAIStudio: "AI Studio", transfer.SourceGrok: "Grok", transfer.SourceGptme: "gptme",
	transfer.SourceChatbox: "Chatbox", transfer.SourceCherry: "Cherry Studio", transfer.SourceTakeout: "Gemini",
	transfer.SourceDeepSeek: "DeepSeek", transfer.SourceLMStudio: "LM Studio", transfer.SourceOpenCode: "opencode",
	transfer.SourceGeminiCLI: "Gemini CLI",
}

func sourceName(s transfer.Source) string {
	if name, ok := sourceNames[s]; ok {
		return name
	}
	return "the source"
}

// summarize creates the state summaries that commit the part's runs.
func (m *Importer) summarize(part ImportPart) error {
	for _, run := range part.runs {
		pins, err := m.startFrom(run)
		if err != nil {
			return err
		}
		turns := m.toSummarize(run)
		if len(turns) > 0 {
			run.state = m.Rules.Summarize(*run.tip.summary, pins, turns)
			run.state.Summary = strings.Clone(run.state.Summary)
			run.tip.summary = &run.state.Summary
		}
		m.positions[run.turns[len(run.turns)-1].Key].summary = run.tip.summary
	}
	return nil
}

// toSummarize returns a run's answered turns as the librarian needs them. Each has its date, or the last date known
// before it, so that plans can be distinguished from past events. If no date is known, it has none, because the time of
// the import says nothing about when something was said.
func (m *Importer) toSummarize(run *importRun) []chat.Turn {
	at := m.moment(m.Conversation.CreatedAt)
	if run.from != nil && !run.from.at.IsZero() {
		at = run.from.at
	}
	var turns []chat.Turn
	for _, t := range run.answered() {
		if created := m.moment(t.CreatedAt); !created.IsZero() {
			at = created
		}
		turns = append(turns, chat.Turn{User: t.User, Assistant: t.Assistant, Provider: t.Provider, Model: t.Model, CreatedAt: at})
	}
	return turns
}

// startFrom sets the summary that a run continues from, and returns the existing pins.
func (m *Importer) startFrom(run *importRun) ([]chat.Pin, error) {
	none := ""
	switch {
	case run.forks && run.from != nil:
		return m.startFromFork(run)
	case run.tip.summary != nil: // written by this import; there are no pins
	case run.tip.id == "" || run.forks:
		run.tip.summary = &none
		return nil, nil
	default:
		st, err := m.Store.records.State(m.Ctx, run.tip.head)
		if err != nil {
			return nil, err
		}
		run.tip.summary = &st.Summary
	}
	if run.tip.id == "" {
		return nil, nil
	}
	return m.Store.records.Pins(m.Ctx, run.tip.id)
}

// startFromFork is like startFrom, for a run that forks off after a turn. If this import created a state summary that
// ends with that turn, it is used; otherwise the turns missing in the base are summarized for the fork.
func (m *Importer) startFromFork(run *importRun) ([]chat.Pin, error) {
	if run.from.summary != nil {
		run.tip.summary = run.from.summary
		if run.from.tip.id == "" {
			return nil, nil
		}
		return m.Store.records.Pins(m.Ctx, run.from.tip.id)
	}
	pins, err := m.Store.records.Pins(m.Ctx, run.from.tip.id)
	if err != nil {
		return nil, err
	}
	base, turns, err := m.Store.records.ForkBase(m.Ctx, run.from.tip.id, run.from.id)
	if err != nil {
		return nil, err
	}
	if len(turns) > 0 {
		st := m.Rules.Summarize(base.Summary, pins, turns)
		run.gap = &chat.ForkState{Summary: st.Summary, PinnedFacts: st.PinnedFacts, TokenCount: st.TokenCount}
		base.Summary = st.Summary
	}
	run.tip.summary = &base.Summary
	return pins, nil
}
