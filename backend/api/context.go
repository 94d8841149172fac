package api

import (
	"context"
	"slices"
	"sort"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
)

// Context returns the X-ray of a turn: what the model saw.
func (s *Inspect) Context(turnID string) (ContextView, error) {
	return s.c.turnContext(s.c.ctx(), chat.TurnID(turnID))
}

// turnContext returns the context of a turn, and marks which items the previous request already contained.
func (c *Core) turnContext(ctx context.Context, id chat.TurnID) (ContextView, error) {
	t, err := c.Store.Turn(ctx, id)
	if err != nil {
		return ContextView{}, err
	}
	seen, err := c.Turns.ContextSeen(ctx, id)
	if err != nil {
		return ContextView{}, err
	}
	v := contextView(seen.Manifest, seen.Texts)
	v.TurnID, v.TurnSeq, v.Same, v.Note = string(id), t.Seq, seen.Same, seen.Note
	if err := c.explain(ctx, &v, seen.Manifest, seen.Texts); err != nil {
		return v, err
	}
	lookups, err := c.Inspecting.LookedUp(ctx, id)
	if err != nil {
		return v, err
	}
	for _, l := range lookups {
		v.LookedUp = append(v.LookedUp, LookedUpView{
			Tool: l.Tool, SessionID: string(l.Session), SessionTitle: chat.BoundTitle(l.Title), TurnID: string(l.Turn), TurnSeq: l.TurnSeq,
		})
	}
	steps, err := c.Store.Steps(ctx, id)
	if err != nil {
		return v, err
	}
	if n := len(steps); n > 0 {
		v.StepID = string(steps[n-1].ID)
		if u := steps[n-1].Usage; u != nil {
			v.Reported, v.Cached = u.InputTokens, u.CachedInputTokens
			v.UsageNote = u.WhyDropped()
		}
	}
	if before, ok := c.textsBefore(ctx, t); ok {
		v.markChanges(before)
	}
	return v, nil
}

// textsBefore returns the items of the request before a turn's, if there was one that can be assembled again.
func (c *Core) textsBefore(ctx context.Context, t chat.Turn) ([]prompt.Text, bool) {
	_, texts, err := c.Inspecting.Before(ctx, t.BranchID, t.Seq)
	return texts, err == nil && len(texts) > 0
}

// markChanges sets for each item whether the previous request contained the same text.
func (v *ContextView) markChanges(before []prompt.Text) {
	existing := map[string]bool{}
	for _, t := range before {
		existing[t.Text] = true
	}
	for i := range v.Sections {
		for j := range v.Sections[i].Items {
			it := &v.Sections[i].Items[j]
			it.Change = "new"
			if existing[it.Text] {
				it.Change = "same"
			}
		}
	}
}

// NextContext returns the branch's next request with a draft and its attachments.
func (s *Inspect) NextContext(branchID, model string, draft Draft) (ContextView, error) {
	ctx, branch := s.c.ctx(), chat.BranchID(branchID)
	m, err := userMessage(draft.Text, draft.Images, draft.Files, draft.Memories)
	if err != nil {
		return ContextView{}, err
	}
	if err := s.c.checkMemories(ctx, m); err != nil {
		return ContextView{}, err
	}
	if m.IsEmpty() {
		m.Blocks = append(m.Blocks, chat.Text{Text: " "})
	}
	p, budget, err := s.c.Turns.Preview(ctx, branch, model, m)
	return s.c.previewView(ctx, chat.Turn{BranchID: branch}, model, p, budget, err)
}

// previewView returns the view of a preview of the request for turn t, or of the error of the preview.
func (c *Core) previewView(ctx context.Context, t chat.Turn, model string, p prompt.PreparedContext, budget prompt.Budget, err error) (ContextView, error) {
	if chat.CodeOf(err) == chat.CodeOverBudget {
		v := contextView(prompt.Manifest{Budget: budget, Model: model}, nil)
		e := errorView(chat.AsError(err))
		v.Error = &e
		if st, ok := prompt.StatusOfError(err); ok {
			v.Status, v.Tokens, v.Ceiling = usageStatus(st), st.Required, st.Budget
		}
		return v, nil
	}
	if err != nil {
		return ContextView{}, err
	}
	v := contextView(p.Manifest(), p.Texts())
	v.Same, v.Status = true, usageStatus(p.Status())
	if err := c.explain(ctx, &v, p.Manifest(), p.Texts()); err != nil {
		return v, err
	}
	if texts, ok := c.textsBefore(ctx, t); ok {
		v.markChanges(texts)
	}
	return v, nil
}

// DiffContext compares a turn's request with the previous one.
func (s *Inspect) DiffContext(turnID string) (ContextDiff, error) {
	d := ContextDiff{Added: []ContextItem{}}
	ctx := s.c.ctx()
	t, err := s.c.Store.Turn(ctx, chat.TurnID(turnID))
	if err != nil {
		return d, err
	}
	if d.To, err = s.c.turnContext(ctx, t.ID); err != nil {
		return d, err
	}
	_, before, err := s.c.Inspecting.PreviousManifest(ctx, t.BranchID, t.Seq)
	if err != nil {
		return d, err
	}
	to := d.To.texts()
	if before == "" {
		d.Added, d.TotalBytes = to, bytesOf(to)
		return d, nil
	}
	if d.From, err = s.c.turnContext(ctx, before); err != nil {
		return d, err
	}
	from := d.From.texts()
	diff := prompt.Compare(promptTexts(from), promptTexts(to))
	d.Removed = lists.Map(diff.Removed, func(i int) ContextItem { return from[i] })
	for _, i := range diff.Added {
		d.Added = append(d.Added, to[i])
	}
	d.SharedBytes, d.TotalBytes = diff.SharedBytes, diff.TotalBytes
	return d, nil
}

func usageStatus(s prompt.UsageStatus) *UsageStatus {
	return &UsageStatus{
		Kind:       string(s.Kind),
		Excess:     s.Excess,
		Turns:      append([]int64{}, s.Turns...),
		Required:   s.Required,
		Budget:     s.Budget,
		Suggestion: s.Suggestion,
	}
}

func (v ContextView) texts() []ContextItem {
	var out []ContextItem
	for _, s := range v.Sections {
		out = append(out, s.Items...)
	}
	return out
}

func promptTexts(items []ContextItem) []prompt.Text {
	return lists.Map(items, func(it ContextItem) prompt.Text {
		return prompt.Text{Text: it.Text, Part: prompt.Part{Bytes: it.Bytes, SHA256: chat.HashText(it.Text)}}
	})
}

func bytesOf(items []ContextItem) int {
	n := 0
	for _, it := range items {
		n += it.Bytes
	}
	return n
}

// contextView returns the view of a manifest with the texts of its items, in the same order.
func contextView(m prompt.Manifest, texts []prompt.Text) ContextView {
	u := prompt.UsageOf(m)
	b := m.Budget
	v := ContextView{
		Model: m.Model, Provider: m.Provider, Format: u.Format(), State: u.State(), Tokens: u.Used, Ceiling: u.Ceiling,
		MaxOutput: m.MaxOutput, Cut: m.History.Cut, Sections: []ContextSection{}, LookedUp: []LookedUpView{},
		Dropped: append([]int64{}, m.DroppedPending...), Redacted: redactionViews(m.Redactions), SHA256: m.SHA256,
		RetrievalError: m.Inputs.WhyNotSearched(), Scope: string(m.Inputs.Scope),
		Budget: BudgetView{
			ModelLimit: b.ModelLimit, ResponseReserve: b.ResponseReserve, SafetyMargin: b.SafetyMargin, InputBudget: b.InputBudget,
			Allowance: b.InModelTokens(b.Allowance), Summaries: b.InModelTokens(b.Summaries),
			HighWater: b.InModelTokens(b.HighWater), LowWater: b.InModelTokens(b.LowWater), Calibration: b.Calibration,
		},
	}
	steps, notes := m.Said()
	v.Shrink = slices.Concat([]chat.Phrase{}, steps, notes)
	if m.Inputs.Project != nil {
		v.Project = m.Inputs.Project.Name
	}
	n := 0
	for _, sec := range m.Sections {
		out := ContextSection{Name: sec.Name, Tokens: b.InModelTokens(sec.Tokens), Cap: b.InModelTokens(sec.Cap), Items: []ContextItem{}}
		for _, it := range sec.Items {
			item := contextItem(it)
			item.Tokens = b.InModelTokens(it.Tokens)
			if n < len(texts) {
				item.Text = texts[n].Text
			}
			n++
			out.Items = append(out.Items, item)
		}
		v.Sections = append(v.Sections, out)
	}
	return v
}

func contextItem(p prompt.Part) ContextItem {
	it := ContextItem{
		Source: p.Source, ID: p.ID, Seq: p.Seq, From: p.From, Role: p.Role, Tokens: p.Tokens, Bytes: p.Bytes, Label: label(p),
	}
	if p.To > 0 {
		it.To = p.To - 1
	}
	return it
}

// label returns the description of an item.
func label(p prompt.Part) chat.Phrase {
	switch p.Source {
	case "turn":
		return turnLabel(p)
	case "summary":
		return chat.Say("Summary of turns %d to %d", p.From, p.To-1)
	case "extract":
		return chat.Say("Extract of turns %d to %d", p.From, p.To-1)
	case "pin":
		return chat.Say("Pinned fact")
	case "project":
		return chat.Say("Instructions of the project")
	case "project_fact":
		return chat.Say("Pinned fact of the project")
	case "state":
		return chat.Say("State summary %s", chat.ShortID(p.ID))
	case "chunk":
		return chat.Say("Memory %s", chat.ShortID(p.ID))
	case "day":
		return chat.Say("Date of the passages below")
	case "now":
		return chat.Say("Date and time")
	case "message":
		return chat.Say("Your message")
	case "partial":
		return chat.Say("The answer so far")
	case "tool":
		return chat.Say("Tool %s", p.ID)
	case "step":
		if p.Role == string(chat.RoleAssistant) {
			return chat.Say("Model output in this turn so far")
		}
		return chat.Say("Results of its tool calls")
	}
	return chat.Say("Instructions")
}

func turnLabel(p prompt.Part) chat.Phrase {
	model := p.Role == string(chat.RoleAssistant)
	switch {
	case model && p.Shortened:
		return chat.Say("Turn %d, the model, shortened", p.Seq)
	case model:
		return chat.Say("Turn %d, the model", p.Seq)
	case p.Shortened:
		return chat.Say("Turn %d, you, shortened", p.Seq)
	}
	return chat.Say("Turn %d, you", p.Seq)
}

func redactionViews(found []prompt.Redaction) []RedactionView {
	count := map[string]int{}
	for _, r := range found {
		count[r.Rule]++
	}
	out := []RedactionView{}
	for rule, n := range count {
		out = append(out, RedactionView{Rule: rule, Count: n})
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Rule < out[j].Rule })
	return out
}

// Summarize makes the branch's due range summaries now. With force, it also summarizes turns that still fit.
func (s *Inspect) Summarize(branchID string, force bool) error {
	_, err := s.c.Jobs.SummarizeRanges(s.c.ctx(), chat.BranchID(branchID), force)
	s.c.Hub.Change(chat.Change{Kind: chat.ChangeJobs})
	return err
}

// SwitchPreview returns what sending to another model would change.
func (s *Inspect) SwitchPreview(branchID, model string) (SwitchPreview, error) {
	v := SwitchPreview{Model: model}
	a, err := s.c.Turns.PreviewSwitch(s.c.ctx(), chat.BranchID(branchID), "", model)
	if err != nil {
		return v, err
	}
	if a.Refused != nil {
		e := errorView(chat.AsError(a.Refused))
		v.Error = &e
	}
	v.Kind, v.Returning, v.Compressed = string(a.Kind), a.Returning, a.Compressed
	v.NeedsSummarization, v.Unsummarized, v.Dropped = a.NeedsSummarization(), a.Unsummarized, a.Dropped
	v.OldCeiling, v.NewCeiling, v.OldTokens, v.NewTokens = a.From, a.To, a.OldTokens, a.NewTokens
	if cost := s.c.cost(model, chat.Usage{InputTokens: a.NewTokens}); cost != nil {
		v.Cost = &cost.USD
	}
	v.Message = a.String()
	return v, nil
}
