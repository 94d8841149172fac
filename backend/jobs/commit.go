package jobs

import (
	"context"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/librarian"
)

// commitTries limits how often a commit is repeated after losing to another writer.
const commitTries = 5

// maxWalk limits how many state summaries back the newest state by a model is searched for. If it is older, the oldest
// state within the limit is used.
const maxWalk = 50

// CommitPolicy says when pending turns become a state summary (SPEC 7).
type CommitPolicy struct {
	Lazy          bool // librarian.commit = "lazy"
	PendingTokens int  // budget.pending_window_tokens: the size from which a lazy policy commits
	MinTurns      int  // librarian.min_turns: the minimum number of turns in a state summary
}

// batches reports whether one state summary covers all pending turns, instead of one state each.
func (p CommitPolicy) batches() bool { return p.Lazy || p.MinTurns > 1 }

func (r *Runner) policy() CommitPolicy {
	if r.d.Commit == nil {
		return CommitPolicy{}
	}
	return r.d.Commit()
}

// recheckDelay is the delay after which a job that waits for more turns is checked again, in case a setting changed.
// The job of the turn that reaches the required number or size does not wait for it.
const recheckDelay = chat.MaxJobPause

// summarize commits a turn. Earlier pending turns are committed first: a head never skips one. Unless forced, it
// is postponed until there is enough for a state summary.
func (r *Runner) summarize(ctx context.Context, job chat.Job, turn chat.Turn, m mode) error {
	if !turn.Pending() {
		return r.d.Queue.FinishJob(ctx, job.Lease())
	}
	policy := r.policy()
	if policy.batches() && m != forced {
		enough, err := r.enough(ctx, turn.BranchID, policy)
		if err != nil {
			return err
		}
		if !enough {
			return r.d.Queue.PostponeJob(ctx, job.Lease(), recheckDelay)
		}
	}
	_, err := r.commitPending(ctx, turn, commitment{job: job.Lease(), batch: policy.batches(), ask: true})
	return err
}

// enough reports whether a branch has enough pending turns for a state summary. What the branch's model has room for is
// always enough: a turn must not leave the prompt before it is in the state (SRD 2.3.3).
func (r *Runner) enough(ctx context.Context, branch chat.BranchID, p CommitPolicy) (bool, error) {
	pending, err := r.d.Store.PendingTurns(ctx, branch)
	if err != nil {
		return false, err
	}
	tokens := r.tokens(pending)
	if r.d.PendingLimit != nil {
		if limit := r.d.PendingLimit(ctx, branch); limit > 0 && tokens >= limit {
			return true, nil
		}
	}
	return len(pending) >= p.MinTurns && (!p.Lazy || tokens >= p.PendingTokens), nil
}

// tokens counts the tokens of turns.
func (r *Runner) tokens(turns []chat.Turn) int {
	n := 0
	for _, t := range turns {
		n += r.count(t.User.RenderedText())
		if t.Assistant != nil {
			n += r.count(t.Assistant.RenderedText())
		}
	}
	return n
}

func (r *Runner) count(s string) int { return r.d.Counter.Count("", s) }

// CommitThrough commits the branch's pending turns up to and including turn, one state summary each. It calls no model,
// because the user waits; the next commit with a model summarizes these turns again.
func (r *Runner) CommitThrough(ctx context.Context, turn chat.Turn) error {
	defer r.Wake()
	_, err := r.commitPending(ctx, turn, commitment{})
	return err
}

// CommitPending commits all pending turns of a branch, in order, and returns how many.
func (r *Runner) CommitPending(ctx context.Context, branch chat.BranchID) (int, error) {
	pending, err := r.d.Store.PendingTurns(ctx, branch)
	if err != nil || len(pending) == 0 {
		return 0, err
	}
	defer r.Wake()
	return r.commitPending(ctx, pending[len(pending)-1], commitment{batch: r.policy().batches(), ask: true})
}

// commitment is how pending turns are committed.
type commitment struct {
	job   chat.Lease // completed with the last turn, unless zero
	batch bool       // one state summary for all turns, instead of one each
	ask   bool       // use a model, if there is one
}

// commitPending commits the branch's pending turns up to and including last; a batch also includes those after it.
func (r *Runner) commitPending(ctx context.Context, last chat.Turn, c commitment) (int, error) {
	last.User, last.Assistant = chat.Message{}, nil // frees a long text, which is read again
	pending, err := r.d.Store.PendingTurns(ctx, last.BranchID)
	if err != nil {
		return 0, err
	}
	if c.batch {
		return len(pending), r.commitBatch(ctx, pending, c)
	}
	n := 0
	for _, t := range pending {
		if t.Seq > last.Seq {
			break
		}
		each := c
		if t.ID != last.ID {
			each.job = chat.Lease{} // the store completes each turn's own job
		}
		if err := r.commitBatch(ctx, []chat.Turn{t}, each); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// commitBatch creates one state summary and moves the head. A stale epoch means that another writer moved the head: the
// work is repeated on the new head (OXY 7), with the turns that are still pending.
func (r *Runner) commitBatch(ctx context.Context, turns []chat.Turn, c commitment) error {
	var err error
	for range commitTries {
		if len(turns) == 0 {
			return nil // the other writer committed them
		}
		if err = r.tryCommit(ctx, turns, c); chat.CodeOf(err) != chat.CodeConflict {
			return err
		}
		var rerr error
		if turns, rerr = r.stillPending(ctx, turns); rerr != nil {
			return rerr
		}
		if len(turns) > 0 && chat.LeaseLost(err) {
			return err // the owner of the job commits them
		}
	}
	return err
}

func (r *Runner) stillPending(ctx context.Context, turns []chat.Turn) ([]chat.Turn, error) {
	var out []chat.Turn
	for _, t := range turns {
		current, err := r.d.Store.Turn(ctx, t.ID)
		if err != nil {
			return nil, err
		}
		if current.Pending() {
			out = append(out, current)
		}
	}
	return out, nil
}

func (r *Runner) tryCommit(ctx context.Context, turns []chat.Turn, c commitment) error {
	start := time.Now()
	last := turns[len(turns)-1]
	b, err := r.d.Store.Branch(ctx, last.BranchID)
	if err != nil {
		return err
	}
	head, err := r.d.Store.State(ctx, b.HeadState)
	if err != nil {
		return err
	}
	pins, err := r.d.Store.Pins(ctx, b.ID)
	if err != nil {
		return err
	}
	u := librarian.Update{
		Previous: head.Summary, Pins: pins, Turns: turns, Target: r.d.TargetTokens(), Count: r.count,
	}
	if c.ask {
		if err := r.askModel(ctx, &u, head, last); err != nil {
			return err
		}
	}
	retitle := chat.Retitle{}
	if u.Model != nil && len(u.ModelTurns) > 0 && u.ModelTurns[0].Seq == 1 { // the first summary of the session by a model
		if retitle.From, u.Titled, err = r.automaticTitle(ctx, u.ModelTurns[0]); err != nil {
			return err
		}
	}
	sum := r.librarian().Update(ctx, u)
	retitle.To = sum.Title
	if ctx.Err() != nil {
		return ctx.Err() // cancelled, so no fallback: it is repeated next time
	}
	_, err = r.d.Store.Commit(ctx, chat.Commit{
		BranchID: b.ID, Epoch: b.Epoch, Turns: idsOf(turns), Summary: sum.Summary, PinnedFacts: pinnedFacts(pins),
		TokenCount: sum.Tokens, Origin: sum.Origin, Model: sum.Model, Validation: sum.Validation, Job: c.job,
		SummarizeMs: time.Since(start).Milliseconds(), Retitle: retitle,
	})
	if err == nil {
		if retitle.To != "" {
			r.d.Publish.Change(chat.Change{Kind: chat.ChangeSessions, ID: string(b.SessionID), Session: b.SessionID})
			r.d.Publish.Change(chat.Change{Kind: chat.ChangeSession, ID: string(b.SessionID), Session: b.SessionID})
		}
		r.committed(ctx, b, turns)
	}
	return err
}

// automaticTitle is a session's title, and whether it was derived from its first message, in which case a model may
// replace it.
func (r *Runner) automaticTitle(ctx context.Context, first chat.Turn) (string, bool, error) {
	session, err := r.d.Store.Session(ctx, first.SessionID)
	return session.Title, err == nil && session.Title == first.User.Title(), err
}

func idsOf(turns []chat.Turn) []chat.TurnID {
	return lists.Map(turns, func(t chat.Turn) chat.TurnID { return t.ID })
}

// committed publishes a new state summary, and plans the range summaries that it requires.
func (r *Runner) committed(ctx context.Context, b chat.Branch, turns []chat.Turn) {
	r.d.Publish.Change(chat.Change{Kind: chat.ChangeHead, ID: string(b.ID), Session: b.SessionID})
	for _, t := range turns {
		r.d.Publish.Change(chat.Change{Kind: chat.ChangeTurn, ID: string(t.ID), Session: t.SessionID})
	}
	if slices.ContainsFunc(turns, hasInstructions) { // instructions are suggested as pins
		r.d.Publish.Change(chat.Change{Kind: chat.ChangePins, ID: string(b.ID), Session: b.SessionID})
	}
	r.listener.committed(turns)
	if r.d.Plan != nil {
		r.d.Plan(ctx, b.ID)
	}
	r.Wake()
}

func hasInstructions(t chat.Turn) bool {
	return len(intent.TypedInstructions(t.User.RenderedText())) > 0
}

func (r *Runner) librarian() librarian.Librarian {
	var l librarian.Librarian
	if r.d.Timeout != nil {
		l.Timeout = r.d.Timeout()
	}
	return l
}

// modelFor is the model that summarizes a turn's conversation, nil if there is none.
func (r *Runner) modelFor(ctx context.Context, turn chat.Turn) librarian.Model {
	if r.d.Summarize == nil {
		return nil
	}
	return r.d.Summarize(ctx, turn)
}

// askModel sets the model of an update, the newest summary written by a model, and all turns since then, which include
// what a fallback left out (SPEC 7).
func (r *Runner) askModel(ctx context.Context, u *librarian.Update, head chat.State, last chat.Turn) error {
	model := r.modelFor(ctx, last)
	if model == nil {
		return nil
	}
	base := head
	for n := 0; n < maxWalk && base.ParentID != "" && (base.Origin == chat.StateFallback || base.Origin == chat.StatePins); n++ {
		parent, err := r.d.Store.State(ctx, base.ParentID)
		if err != nil {
			return err
		}
		base = parent
	}
	covers, err := r.d.Store.StateTurnSeq(ctx, base.ID)
	if err != nil {
		return err
	}
	turns, err := r.d.Store.Lineage(ctx, chat.LineageQuery{Branch: last.BranchID, FromSeq: covers + 1, ToSeq: last.Seq})
	if err != nil {
		return err
	}
	u.Model, u.ModelPrevious = model, base.Summary
	for _, t := range turns {
		if t.Phase.Finalized() {
			u.ModelTurns = append(u.ModelTurns, t)
		}
	}
	return nil
}

// Shrink shortens a state summary for one request of a turn (SPEC 6), with the turn's librarian model if it responds
// in time, otherwise by rule.
func (r *Runner) Shrink(ctx context.Context, turn chat.Turn, summary string, target int) string {
	short, _ := r.librarian().Shrink(ctx, summary, target, r.modelFor(ctx, turn), r.count)
	return short
}

func pinnedFacts(pins []chat.Pin) string {
	lines := lists.Map(pins, func(p chat.Pin) string { return p.Text })
	return strings.Join(lines, "\n")
}
