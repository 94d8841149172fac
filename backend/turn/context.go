package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/prompt"
)

// assembly is one request to assemble: which turn, which model, and how it differs from the branch's next plain
// request.
type assembly struct {
	branch  chat.BranchID
	session chat.SessionID // of the branch, set by contextInput
	seq     int64          // turns before it are history; 0: all
	model   Model
	current chat.Message
	earlier earlierSteps  // from the earlier steps of the turn
	reduce  float64       // after a provider rejected the request for its size
	refused []chat.Phrase // the shrink steps until then
	step    int           // index of the step
	turn    *chat.Turn    // nil for a preview, which calls no model
	memory  *memorySelection
	cut     *chat.Cut // to assemble for a future fork; nil: the branch itself
}

// assemble reads the lineage and assembles the context. If it fits only with a shorter state summary, the librarian
// shortens it.
func (e *Engine) assemble(ctx context.Context, a assembly) (prompt.PreparedContext, error) {
	in, err := e.contextInput(ctx, &a)
	if err != nil {
		return prompt.PreparedContext{}, err
	}
	c, err := e.fit(ctx, &in, a)
	var shrink *prompt.NeedsSummaryShrink
	if !errors.As(err, &shrink) {
		return c, err
	}
	in.HeadShrunk = e.shrinkHead(ctx, a, in.Head.Summary, shrink.Target)
	return e.fit(ctx, &in, a)
}

// fit selects memory for the space that the rest of the context leaves, and shrinks until it fits.
func (e *Engine) fit(ctx context.Context, in *prompt.Input, a assembly) (prompt.PreparedContext, error) {
	d, err := e.draft(ctx, in, a)
	if err != nil {
		return prompt.PreparedContext{}, err
	}
	return d.Finish(in.Retrieved, in.RetrievalError)
}

// shrinkHead shortens the state summary for this request only. A preview never calls a model.
func (e *Engine) shrinkHead(ctx context.Context, a assembly, summary string, target int) string {
	count := e.count(a.model)
	if a.turn != nil && e.shrink != nil {
		if s := e.shrink(ctx, *a.turn, summary, target); s != "" && count(s) <= target {
			return s
		}
	}
	return librarian.Trim(summary, target, count)
}

// Preview assembles the branch's next request with the given message, whose documents only name their files. Nothing
// is sent and no model is called.
func (e *Engine) Preview(ctx context.Context, branch chat.BranchID, model string, current chat.Message) (prompt.PreparedContext, prompt.Budget, error) {
	m, err := e.modelFor(ctx, branch, model)
	if err != nil {
		return prompt.PreparedContext{}, prompt.Budget{}, err
	}
	if current, err = e.freeze(ctx, current, m); err != nil {
		return prompt.PreparedContext{}, prompt.Budget{}, err
	}
	return e.preview(ctx, assembly{branch: branch, model: m, current: current, memory: &memorySelection{}})
}

// PreviewAt is Preview for a branch that would fork off at a cut, without creating it.
func (e *Engine) PreviewAt(ctx context.Context, cut chat.Cut, model string, current chat.Message) (prompt.PreparedContext, prompt.Budget, error) {
	m, err := e.modelFor(ctx, cut.Branch, model)
	if err != nil {
		return prompt.PreparedContext{}, prompt.Budget{}, err
	}
	return e.preview(ctx, assembly{branch: cut.Branch, seq: cut.Seq + 1, model: m, current: current, memory: &memorySelection{}, cut: &cut})
}

func (e *Engine) preview(ctx context.Context, a assembly) (prompt.PreparedContext, prompt.Budget, error) {
	c, err := e.assemble(ctx, a)
	if err != nil {
		in, ierr := e.contextInput(ctx, &a)
		if ierr != nil {
			return c, prompt.Budget{}, ierr
		}
		return c, prompt.NewBudget(in.Limits, in.Policy, in.Calibration), err
	}
	return c, c.Manifest().Budget, nil
}

// contextInput reads all inputs of an assembly.
func (e *Engine) contextInput(ctx context.Context, a *assembly) (prompt.Input, error) {
	in := prompt.Input{
		Model: a.model.Endpoint.Name, ModelID: a.model.Endpoint.ModelID, StepIndex: a.step, Provider: a.model.Endpoint.Provider, Limits: a.model.Limits,
		Policy: e.settings().Policy.OrDefault(), Current: a.current, Reduce: a.reduce, Refused: a.refused, Count: e.count(a.model), Redact: e.redact,
		RedactionRules: e.settings().RedactionRules,
	}
	in.ResultMaxBytes = e.settings().ResultMaxBytes
	a.earlier.addTo(&in)
	b, err := e.past.Branch(ctx, a.branch)
	if err != nil {
		return in, err
	}
	a.session = b.SessionID
	s, err := e.past.Session(ctx, b.SessionID)
	if err != nil {
		return in, err
	}
	project, belongs, err := e.projectOf(ctx, s)
	if err != nil {
		return in, err
	}
	if in.Project = promptProject(project, belongs); in.Project != nil && in.Policy.History == prompt.HistoryOff {
		in.Project.Files = false // plain chat has no memory
	}
	in.Scope = e.scopeOf(s, belongs, in.Provider)
	if in.Tools, err = e.offer(ctx, a.model, s.ID); err != nil {
		return in, err
	}
	if in.Provider != recallModel {
		in.Now = e.now(a.turn)
	}
	in.System = e.instructions(s)
	if err := e.knowledge(ctx, &in, *a, b); err != nil {
		return in, err
	}
	if in.Sizes, err = e.sizes(ctx, a.branch, a.seq, a.model); err != nil {
		return in, err
	}
	if a.cut != nil { // a fork commits what is pending before it
		for i := range in.Sizes {
			in.Sizes[i].Pending = false
		}
	}
	if err := e.history(ctx, &in, *a); err != nil {
		return in, err
	}
	if err := e.calibrate(ctx, &in, *a); err != nil {
		return in, err
	}
	in.Head.Summary = headText(in)
	capHead(&in)
	return in, nil
}

// knowledge reads the branch's head and pins.
func (e *Engine) knowledge(ctx context.Context, in *prompt.Input, a assembly, b chat.Branch) (err error) {
	if a.cut != nil {
		in.Head = a.cut.Head
		in.Pins, err = e.contexts.PinsAt(ctx, a.branch, a.cut.Seq)
		return err
	}
	if in.Head, err = e.contexts.State(ctx, b.HeadState); err != nil {
		return err
	}
	in.Pins, err = e.contexts.Pins(ctx, a.branch)
	return err
}

func (e *Engine) count(m Model) func(string) int {
	return func(s string) int { return e.counter.Count(m.Endpoint.ModelID, s) }
}

// history sets how the turns of the lineage can be represented.
func (e *Engine) history(ctx context.Context, in *prompt.Input, a assembly) error {
	in.Fetch = func(from, to int64) ([]chat.Turn, error) { return e.fetch(ctx, a.branch, from, to) }
	in.Extract = func(turns []chat.Turn, target int) string {
		return librarian.Extract(turns, target, in.Count)
	}
	in.Repeats = librarian.RepeatedLines
	in.CachedExtract = e.cachedExtract(a.branch, e.counter.Encoding(a.model.Endpoint.ModelID))
	summaries, err := e.contexts.UsableSummaries(ctx, a.branch)
	if err != nil {
		return err
	}
	for _, s := range summaries {
		if a.cut != nil && s.To-1 > a.cut.Seq {
			continue
		}
		in.Summaries = append(in.Summaries, prompt.Summary{
			ID: s.ID, From: s.From, To: s.To, Tokens: s.TokenCount, Text: s.Content, Model: s.GeneratedBy,
		})
	}
	raw, _, err := e.contexts.PreviousManifest(ctx, a.branch, a.seq)
	if err != nil || raw == nil {
		return err
	}
	var m prompt.Manifest
	if json.Unmarshal(raw, &m) == nil && m.AssemblerVersion == prompt.AssemblerVersion && m.Model == in.Model {
		in.Previous, in.Calibration = &m.History, m.Budget.Calibration
	}
	return nil
}

// calibrate applies what was learned about the provider's token counting, but only when the cut moves anyway: a changed
// budget would otherwise move the cut, and with it the prefix.
func (e *Engine) calibrate(ctx context.Context, in *prompt.Input, a assembly) error {
	learned, err := e.contexts.Calibration(ctx, a.model.Endpoint.Provider, a.model.Endpoint.ModelID)
	if err != nil {
		return err
	}
	if learned.Factor == 0 || learned.Factor == in.Calibration {
		return nil
	}
	if in.Previous != nil && in.Calibration > 0 {
		if plan, _, err := prompt.PlanOf(*in); err == nil && plan.Cut == in.Previous.Cut {
			return nil
		}
	}
	in.Calibration = learned.Factor
	return nil
}

// fetch reads the finalized turns of [from, to) of a lineage.
func (e *Engine) fetch(ctx context.Context, branch chat.BranchID, from, to int64) ([]chat.Turn, error) {
	turns, err := e.past.Lineage(ctx, chat.LineageQuery{Branch: branch, FromSeq: from, ToSeq: to - 1})
	if err != nil {
		return nil, err
	}
	out := turns[:0]
	for _, t := range turns {
		if t.Phase.Finalized() {
			out = append(out, t)
		}
	}
	return out, nil
}

// sizes returns the sizes of the turns before turn_seq seq, or of all turns if seq is 0. A missing size is counted once
// and stored.
func (e *Engine) sizes(ctx context.Context, branch chat.BranchID, seq int64, m Model) ([]prompt.Size, error) {
	// The size of a turn depends on how it is rendered.
	encoding := fmt.Sprintf("%s/%d", e.counter.Encoding(m.Endpoint.ModelID), prompt.AssemblerVersion)
	all, err := e.contexts.Sizes(ctx, branch, encoding)
	if err != nil {
		return nil, err
	}
	if err := e.countMissing(ctx, branch, encoding, all, m); err != nil {
		return nil, err
	}
	out := make([]prompt.Size, 0, len(all))
	for _, s := range all {
		if seq == 0 || s.Seq < seq {
			out = append(out, prompt.Size{Seq: s.Seq, Tokens: s.Tokens, Pending: s.Pending})
		}
	}
	return out, nil
}

// page is how many turns are measured at a time.
const page = 64

// countMissing counts and stores the sizes that are not known yet.
func (e *Engine) countMissing(ctx context.Context, branch chat.BranchID, encoding string, sizes []chat.TurnSize, m Model) error {
	for i := 0; i < len(sizes); i++ {
		if sizes[i].Tokens >= 0 {
			continue
		}
		n := min(len(sizes), i+page)
		turns, err := e.fetch(ctx, branch, sizes[i].Seq, sizes[n-1].Seq+1)
		if err != nil {
			return err
		}
		tokens := map[int64]int{}
		for _, t := range turns {
			tokens[t.Seq] = prompt.Measure(t, e.count(m))
		}
		for j := i; j < n; j++ {
			sizes[j].Tokens = tokens[sizes[j].Seq]
		}
		if !e.readOnly {
			if err := e.contexts.PutSizes(ctx, encoding, sizes[i:n]); err != nil {
				return err
			}
		}
		i = n - 1
	}
	return nil
}

// PlanAhead lists the ranges of a branch that background jobs should summarize now: those of the current plan, and
// those that the next move of the cut will need.
func (e *Engine) PlanAhead(ctx context.Context, branch chat.BranchID) ([]prompt.Range, error) {
	return e.planRanges(ctx, branch, func(in prompt.Input, b prompt.Budget) []prompt.Range {
		ranges := prompt.MakePlan(in.Sizes, b, in.Policy).Ranges
		if next, near := prompt.Next(in.Sizes, b, in.Policy); near {
			for _, r := range next.Ranges {
				if !mostlyCovered(r, in.Summaries) {
					ranges = append(ranges, r)
				}
			}
		}
		return ranges
	})
}

// planAll lists every range before the newest turns, even if all still fit.
func (e *Engine) planAll(ctx context.Context, branch chat.BranchID) ([]prompt.Range, error) {
	return e.planRanges(ctx, branch, func(in prompt.Input, b prompt.Budget) []prompt.Range {
		return prompt.AdvanceToFit(in.Sizes, lastSeq(in.Sizes), 0, b, in.Policy).Ranges
	})
}

// lastSeq is the turn_seq of the newest turn, 0 for none.
func lastSeq(sizes []prompt.Size) int64 {
	if len(sizes) == 0 {
		return 0
	}
	return sizes[len(sizes)-1].Seq
}

// planRanges computes ranges for the branch's next context, without those that have a summary.
func (e *Engine) planRanges(ctx context.Context, branch chat.BranchID, choose func(prompt.Input, prompt.Budget) []prompt.Range) ([]prompt.Range, error) {
	m, err := e.modelFor(ctx, branch, "")
	if err != nil {
		return nil, err
	}
	in, err := e.contextInput(ctx, &assembly{branch: branch, model: m, current: chat.UserText(" ")})
	if err != nil {
		return nil, err
	}
	_, b, err := prompt.PlanOf(in)
	if err != nil { // nothing can be sent until it is fixed, so nothing need be prepared
		return nil, nil //nolint:nilerr // the next message reports it
	}
	return withoutSummarized(choose(in, b), in.Summaries), nil
}

// mostlyCovered reports whether a summary already covers the beginning and most of a future range: the position of the
// next cut shifts with every turn, and a summary for each possible position would cost a model call per turn.
func mostlyCovered(r prompt.Range, summaries []prompt.Summary) bool {
	const minShare = 0.6
	for _, s := range summaries {
		if s.From == r.From && s.To <= r.To && float64(s.To-s.From) >= minShare*float64(r.To-r.From) {
			return true
		}
	}
	return false
}

// withoutSummarized drops ranges that have a summary, and duplicates.
func withoutSummarized(ranges []prompt.Range, summaries []prompt.Summary) []prompt.Range {
	type span struct{ from, to int64 }
	done := map[span]bool{}
	for _, s := range summaries {
		done[span{s.From, s.To}] = true
	}
	var out []prompt.Range
	for _, r := range ranges {
		if k := (span{r.From, r.To}); !done[k] {
			done[k] = true
			out = append(out, r)
		}
	}
	return out
}

// EnqueueRanges queues background jobs for the ranges from PlanAhead and returns how many were new.
func (e *Engine) EnqueueRanges(ctx context.Context, branch chat.BranchID) (int, error) {
	return e.enqueue(ctx, branch, e.PlanAhead)
}

// EnqueueAll is EnqueueRanges for every turn except the newest, even if all still fit.
func (e *Engine) EnqueueAll(ctx context.Context, branch chat.BranchID) (int, error) {
	return e.enqueue(ctx, branch, e.planAll)
}

func (e *Engine) enqueue(ctx context.Context, branch chat.BranchID, plan func(context.Context, chat.BranchID) ([]prompt.Range, error)) (int, error) {
	if e.settings().Policy.History != prompt.HistoryElastic {
		return 0, nil
	}
	ranges, err := plan(ctx, branch)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, r := range ranges {
		last, err := e.past.Lineage(ctx, chat.LineageQuery{Branch: branch, ToSeq: r.To - 1, Limit: 1, Newest: true})
		if err != nil {
			return n, err
		}
		if len(last) == 0 {
			continue
		}
		added, err := e.contexts.EnqueueRange(ctx, branch, r.From, last[0].ID)
		if err != nil {
			return n, err
		}
		if added {
			n++
		}
	}
	return n, nil
}

// RangeTarget is the target size of a range summary for originals of this size.
func (e *Engine) RangeTarget(ctx context.Context, branch chat.BranchID, tokens int) int {
	p := e.settings().Policy
	m, err := e.modelFor(ctx, branch, "")
	if err != nil { // the model was removed; any window will do
		m.Limits = prompt.Limits{ContextLimit: 8192, WorkingSet: 50000}
		return prompt.RangeTarget(tokens, prompt.NewBudget(m.Limits, p, 1), p)
	}
	b := prompt.NewBudget(m.Limits, p, 1)
	if in, err := e.contextInput(ctx, &assembly{branch: branch, model: m, current: chat.UserText(" ")}); err == nil {
		_, b, _ = prompt.PlanOf(in)
	}
	return prompt.RangeTarget(tokens, b, p)
}

// PendingLimit is the size of pending turns, in tokens, above which they crowd out the rest of a branch's context: the
// low-water mark of its model's window, whatever budget.pending_window_tokens says. 0: the model is unknown.
func (e *Engine) PendingLimit(ctx context.Context, branch chat.BranchID) int {
	m, err := e.modelFor(ctx, branch, "")
	if err != nil || e.settings().Policy.History == prompt.HistoryOff {
		return 0
	}
	return prompt.NewBudget(m.Limits, e.settings().Policy.OrDefault(), 1).LowWater
}
