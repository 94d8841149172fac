package cli

import (
	"context"
	"fmt"

	"contextinfinity/backend/chat"
)

// summaryVerbs are about the states and summaries that represent old turns.
func summaryVerbs() []verb {
	return []verb{
		{
			use:   "pending SESSION",
			short: "List turns that are final but not yet in the branch's state",
			flags: []flag{branchFlag},
			opens: reads,
			do:    func(ctx context.Context, r *run) (reply, error) { return r.s.pending(ctx, r.branch) },
		},
		{
			use:   "commit SESSION",
			short: "Commit a branch's pending turns into its state now",
			long: "This also happens in the background, soon after each answer. contextinfinity pending lists those " +
				"that are left.",
			flags: []flag{branchFlag},
			opens: writes,
			do:    func(ctx context.Context, r *run) (reply, error) { return r.s.commit(ctx, r.branch.ID) },
		},
		{
			use:   "summarize SESSION",
			short: "Summarize old turns now",
			long: `History that no longer fits is sent as range summaries, which are made in the background. This makes those
that are due now, and lists all of them. With --force it also summarizes turns that still fit, except the
newest: they are sent in full until they no longer fit, and then their summaries are ready.`,
			flags: []flag{branchFlag, boolFlag("force", "summarize all turns except the newest, even if they still fit")},
			opens: writes,
			do:    summarize,
		},
		{
			use:   "summaries SESSION",
			short: "List a session's range summaries and which of them are in use",
			long: `Lists the range summaries of all branches of a session. Those "in use" are in the next request of the
branch; an "orphan" was replaced by a summary of a longer range and is kept.`,
			flags: []flag{
				nameFlag("branch", "the branch whose next request is shown, instead of the active one"),
				boolFlag("orphans", "only those that were replaced"),
				boolFlag("text", "print the whole text of each"),
			},
			opens: reads,
			do:    listSummaries,
		},
	}
}

func (s *Services) pending(ctx context.Context, b chat.Branch) (reply, error) {
	turns, err := s.Store.PendingTurns(ctx, b.ID)
	if err != nil {
		return reply{}, err
	}
	rows := []fields{}
	table := newTable(">#|TURN|MESSAGE|JOB|>TRIES|SENT")
	for _, t := range turns {
		job, ok, err := s.Queue.JobFor(ctx, t.ID, chat.JobSummarizeTurn) // the job that will commit it
		if err != nil {
			return reply{}, err
		}
		var shown *chat.Job
		state, attempts := "none", ""
		if ok {
			shown, state, attempts = &job, string(job.State), count(job.Attempts)
		}
		title := chat.TitleFrom(t.User.RenderedText())
		rows = append(rows, fields{
			{"turn_id", t.ID},
			{"turn_seq", t.Seq},
			{"phase", t.Phase},
			{"outcome", t.Outcome},
			{"title", title},
			{"job", shown},
			{"created_at", t.CreatedAt},
		})
		table.add(t.Seq, t.ID, clip(title, 50), state, attempts, t.CreatedAt)
	}
	return listed(aboutBranch(b, "pending", rows), "Nothing is pending.", table), nil
}

func (s *Services) commit(ctx context.Context, branch chat.BranchID) (reply, error) {
	n, err := s.Jobs.CommitPending(ctx, branch)
	if err != nil {
		return reply{}, err
	}
	b, err := s.Sessions.Branch(ctx, branch)
	if err != nil {
		return reply{}, err
	}
	covers, err := s.Inspecting.StateTurnSeq(ctx, b.HeadState)
	done := "Nothing was pending"
	if n > 0 {
		done = "Committed " + plural(n, "turn")
	}
	doc := append(aboutBranch(b, "committed", n), fields{
		{"head_state", b.HeadState},
		{"head_seq", b.HeadSeq},
		{"head_turn_seq", covers},
	}...)
	return sentence(doc, "%s, head %s.", done, headOf(b.HeadSeq, b.HeadState)), err
}

func summarize(ctx context.Context, r *run) (reply, error) {
	ran, err := r.s.Jobs.SummarizeRanges(ctx, r.branch.ID, r.on("force"))
	if err != nil {
		return reply{}, err
	}
	all, err := r.s.Inspecting.Summaries(ctx, r.branch.ID)
	empty := "The whole conversation still fits: no range was summarized. --force summarizes all turns but the newest."
	if r.on("force") {
		empty = "No range is summarized: there are too few turns before the newest ones, which are always sent in full."
	}
	t := tableOf("TURNS|>TOKENS|>OF|BY", all, func(s chat.RangeSummary) []any {
		turns := fmt.Sprintf("%d to %d", s.From, s.To-1)
		return []any{turns, count(s.TokenCount), count(s.OriginalTokens), s.GeneratedBy}
	})
	doc := append(r.onBranch("summarized", ran), field{"ranges", all})
	return reply{doc: doc, text: func(o *output) {
		o.printIf(ran > 0, "Ran %s.\n", plural(ran, "summarization job"))
		t.printOr(o, empty)
	}}, err
}

// rangeRow is a range summary in a list. Its document has the check in place of the validation.
type rangeRow struct {
	chat.RangeSummary
	chat.StateCheck
	Orphan bool `json:"orphan"`
	InUse  bool `json:"in_use"`
}

func listSummaries(ctx context.Context, r *run) (reply, error) {
	all, _, err := r.s.Inspecting.SummariesOf(ctx, r.branch)
	rows := []rangeRow{}
	for _, s := range all {
		row := rangeRow{s.RangeSummary, s.Check(), s.SupersededBy != "", s.InUse}
		row.Validation = nil
		if row.Orphan || !r.on("orphans") {
			rows = append(rows, row)
		}
	}
	empty := "No range summaries. They are made when old turns no longer fit into a request; " +
		"contextinfinity summarize makes them now."
	if r.on("orphans") {
		empty = "No range summary was replaced by another."
	}
	t := tableOf("SUMMARY|TURNS|>TOKENS|>OF|BY|CHECK|STATUS|CREATED", rows, func(m rangeRow) []any {
		turns, check := fmt.Sprintf("#%d to #%d", m.From, m.To-1), checkWords(m.StateCheck)
		tokens, of := count(m.TokenCount), count(m.OriginalTokens)
		return []any{m.ID, turns, tokens, of, m.GeneratedBy, check, m.status(), m.CreatedAt}
	})
	return reply{doc: r.onBranch("summaries", rows), text: func(o *output) {
		t.printOr(o, empty)
		for _, m := range rows {
			if r.on("text") {
				o.printf("\n%s\n", o.bold(m.ID))
				o.text(m.Content + "\n")
			}
		}
	}}, err
}

func (m rangeRow) status() string {
	switch {
	case m.Orphan:
		return "orphan, replaced by " + m.SupersededBy
	case m.InUse:
		return "in use"
	}
	return "kept"
}
