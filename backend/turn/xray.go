package turn

import (
	"context"
	"encoding/json"
	"fmt"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// Seen is the context of one turn as the model saw it: the stored manifest, and the exact text of each item,
// assembled again from the recorded inputs.
type Seen struct {
	Manifest prompt.Manifest
	Texts    []prompt.Text
	// Same: the reassembled context has the stored SHA-256. If not, Note says why that is possible.
	Same bool
	Note string
	// Elsewhere is the number of its passages from conversations or files that do not exist here.
	Elsewhere int
}

// ContextSeen returns the context that the model saw in a turn. A turn without an assembled context is CodeNotFound.
func (e *Engine) ContextSeen(ctx context.Context, id chat.TurnID) (Seen, error) {
	const op = "context.show"
	raw, err := e.contexts.Manifest(ctx, id)
	if err != nil {
		return Seen{}, err
	}
	if raw == nil {
		why, err := e.whyNoContext(ctx, id)
		if err != nil {
			return Seen{}, err
		}
		return Seen{}, chat.Errorf(chat.CodeNotFound, op, "%s", why)
	}
	var s Seen
	if err := json.Unmarshal(raw, &s.Manifest); err != nil {
		return s, chat.WrapError(chat.CodeCorrupt, op, err, "The manifest of turn %s cannot be read.", id)
	}
	if s.Manifest.AssemblerVersion != prompt.AssemblerVersion {
		s.Note = "It was assembled by another version of the program, so its texts cannot be reproduced. The exact request is stored with its step."
		return s, nil
	}
	t, err := e.past.Turn(ctx, id)
	if err != nil {
		return s, err
	}
	c, elsewhere, err := e.reassemble(ctx, t, s.Manifest)
	s.Elsewhere = elsewhere
	if s.Manifest.Deleted != "" {
		s.Note = deletedNote
		if err == nil {
			s.Texts = textsOf(s.Manifest, c.Texts())
		}
		return s, nil
	}
	if err != nil {
		return s, err
	}
	if elsewhere > 0 {
		s.Note, s.Texts = elsewhereNote(elsewhere), textsOf(s.Manifest, c.Texts())
		return s, nil
	}
	s.Texts, s.Same = c.Texts(), c.Manifest().SHA256 == s.Manifest.SHA256
	if !s.Same {
		s.Note = e.whyDifferent(s.Manifest)
	}
	return s, nil
}

// whyNoContext says why no context of a turn is stored. That of a copied turn stays with the original; an imported turn
// has one only if its bundle contained it.
func (e *Engine) whyNoContext(ctx context.Context, id chat.TurnID) (string, error) {
	t, err := e.past.Turn(ctx, id)
	if err != nil {
		return "", err
	}
	if t.Assistant == nil && !t.Failure.Unanswered() {
		steps, err := e.past.Steps(ctx, id)
		if err != nil {
			return "", err
		}
		if len(steps) == 0 {
			return "Nothing was assembled for this turn: it was never sent.", nil
		}
	}
	s, err := e.past.Session(ctx, t.SessionID)
	switch {
	case err != nil:
		return "", err
	case s.Source == chat.SourceDuplicate:
		return "The context of this turn is not stored here: it belongs to the original of this copy.", nil
	case s.Source == chat.SourceNative:
		return "The context of this turn is not stored here.", nil
	}
	return "The context of this turn is not stored here: the turn was imported.", nil
}

// MemoryFailure returns why memory was not searched for a turn; empty if it was, or if there was nothing to search.
func (e *Engine) MemoryFailure(ctx context.Context, id chat.TurnID) (string, error) {
	raw, err := e.contexts.Manifest(ctx, id)
	if err != nil || raw == nil {
		return "", err
	}
	var m prompt.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return "", chat.WrapError(chat.CodeCorrupt, "context.memory", err, "The manifest of turn %s cannot be read.", id)
	}
	return m.Inputs.RetrievalError, nil
}

const deletedNote = "Part of this context has since been permanently deleted. The rest is shown; the request that was sent was deleted too."

// elsewhereNote says that an imported context quoted conversations that were not imported with it.
func elsewhereNote(passages int) string {
	quoted := "a passage"
	if passages > 1 {
		quoted = fmt.Sprintf("%d passages", passages)
	}
	return "It contained " + quoted + " of other sessions or files that are not here: they were not in the bundle from which this session was imported. The rest is shown."
}

// textsOf returns the texts of a manifest's items, in their order, from a context that was assembled again with some
// items missing or replaced. An item that it lacks has no text.
func textsOf(m prompt.Manifest, texts []prompt.Text) []prompt.Text {
	type name struct{ section, source, id string }
	bySum, byName, bySection := map[string]string{}, map[name]string{}, map[string][]string{}
	for _, t := range texts {
		bySum[t.SHA256] = t.Text
		byName[name{t.Section, t.Source, t.ID}] = t.Text
		bySection[t.Section] = append(bySection[t.Section], t.Text)
	}
	var out []prompt.Text
	for _, s := range m.Sections {
		for i, it := range s.Items {
			text, ok := bySum[it.SHA256]
			if !ok && it.ID != "" {
				text, ok = byName[name{s.Name, it.Source, it.ID}]
			}
			if !ok && len(bySection[s.Name]) == len(s.Items) {
				text = bySection[s.Name][i]
			}
			out = append(out, prompt.Text{Section: s.Name, Part: it, Text: text})
		}
	}
	return out
}

func (e *Engine) whyDifferent(m prompt.Manifest) string {
	if m.Inputs.RedactionRules != e.settings().RedactionRules {
		return "The redaction rules have changed since then, so what was replaced is not known exactly."
	}
	return "The stored records no longer produce the same context: a record was changed. Run verify."
}

// reassemble assembles a context again from its manifest, and counts the passages that do not exist here.
func (e *Engine) reassemble(ctx context.Context, t chat.Turn, m prompt.Manifest) (c prompt.PreparedContext, elsewhere int, err error) {
	in := prompt.Input{
		Model: m.Model, ModelID: m.Inputs.ModelID, StepIndex: m.Inputs.StepIndex, Provider: m.Provider, Limits: m.Limits, Policy: m.Policy, Calibration: m.Budget.Calibration,
		System: m.Inputs.System, Project: m.Inputs.Project, Scope: m.Inputs.Scope, HeadShrunk: m.Inputs.HeadShrunk, Now: m.Inputs.Now, Reduce: m.Inputs.Reduce, Current: t.User,
		Redact: e.redact, RedactionRules: m.Inputs.RedactionRules, RetrievalError: m.Inputs.WhyNotSearched(), Replay: &m,
	}
	// Texts are measured as they were then, whatever the current configuration is.
	var model Model
	model.Endpoint.ModelID = m.Inputs.ModelID
	in.Count = e.count(model)
	if in.Head, err = e.contexts.State(ctx, chat.StateID(m.Inputs.HeadState)); err != nil {
		return c, 0, err
	}
	if in.Pins, err = e.contexts.PinsByID(ctx, pinsOf(m)); err != nil {
		return c, 0, err
	}
	if err := e.replayHistory(ctx, &in, t, model); err != nil {
		return c, 0, err
	}
	in.Head.Summary = headText(in)
	if in.Retrieved, elsewhere, err = e.recalled(ctx, m, t.SessionID); err != nil {
		return c, 0, err
	}
	in.Tools = m.Inputs.Tools
	if m.Inputs.StepIndex > 0 {
		steps, err := e.past.Steps(ctx, t.ID)
		if err != nil {
			return c, 0, err
		}
		before, err := e.readEarlier(ctx, steps, m.Inputs.StepIndex)
		if err != nil {
			return c, 0, err
		}
		before.addTo(&in)
		if !m.Inputs.Partial {
			in.Partial = nil
		}
	}
	c, err = prompt.Assemble(in)
	return c, elsewhere, err
}

func pinsOf(m prompt.Manifest) []chat.PinID {
	var ids []chat.PinID
	for _, s := range m.Sections {
		for _, it := range s.Items {
			if it.Source == "pin" {
				ids = append(ids, chat.PinID(it.ID))
			}
		}
	}
	return ids
}

// replayHistory sets the history of an assembly as it was, including superseded summaries.
func (e *Engine) replayHistory(ctx context.Context, in *prompt.Input, t chat.Turn, model Model) error {
	m := in.Replay
	if err := e.history(ctx, in, assembly{branch: t.BranchID, seq: t.Seq, model: model}); err != nil {
		return err
	}
	in.Previous, in.Calibration = nil, m.Budget.Calibration
	all, err := e.contexts.AllSummaries(ctx, t.SessionID)
	if err != nil {
		return err
	}
	in.Summaries = nil
	for _, s := range all {
		in.Summaries = append(in.Summaries, prompt.Summary{ID: s.ID, From: s.From, To: s.To, Tokens: s.TokenCount, Text: s.Content, Model: s.GeneratedBy})
	}
	pending := map[int64]bool{}
	for _, seq := range m.Inputs.Pending {
		pending[seq] = true
	}
	sizes, err := e.contexts.Sizes(ctx, t.BranchID, e.counter.Encoding(""))
	for _, s := range sizes {
		if s.Seq <= m.Inputs.LastSeq {
			in.Sizes = append(in.Sizes, prompt.Size{Seq: s.Seq, Tokens: s.Tokens, Pending: pending[s.Seq]})
		}
	}
	return err
}

// VerifyContexts assembles every stored context again and reports each that differs from the original (SPEC 6, 11).
func (e *Engine) VerifyContexts(ctx context.Context) ([]chat.Finding, error) {
	ids, err := e.contexts.PreparedTurns(ctx)
	if err != nil {
		return nil, err
	}
	var out []chat.Finding
	for _, id := range ids {
		s, err := e.ContextSeen(ctx, id)
		switch {
		case err != nil:
			out = append(out, chat.Finding{Kind: "context", Table: "turns", ID: string(id), Message: "The context cannot be assembled again: " + err.Error()})
		case !s.Same && s.Elsewhere == 0 && s.Manifest.Deleted == "" && s.Manifest.AssemblerVersion == prompt.AssemblerVersion && s.Manifest.Inputs.RedactionRules == e.settings().RedactionRules:
			out = append(out, chat.Finding{Kind: "context", Table: "turns", ID: string(id), Message: "The reassembled context does not have the stored SHA-256."})
		}
	}
	return out, nil
}
