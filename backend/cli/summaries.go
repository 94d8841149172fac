package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
)

func (c *call) summariesCommand() *cobra.Command {
	var branch string
	var orphans, text bool
	cmd := &cobra.Command{
		Use: "summaries SESSION", Short: "List a session's range summaries and which of them are in use", Args: exactly("SESSION"),
		Long: `Lists the range summaries of all branches of a session. Those "in use" are in the next request of the
branch; an "orphan" was replaced by a summary of a longer range and is kept.`,
	}
	cmd.Flags().StringVar(&branch, "branch", "", "the branch whose next request is shown, instead of the active one")
	cmd.Flags().BoolVar(&orphans, "orphans", false, "only those that were replaced")
	cmd.Flags().BoolVar(&text, "text", false, "print the whole text of each")
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		session, b, err := s.place(ctx, args[0], branch)
		if err != nil {
			return reply{}, err
		}
		doc := summariesReply{SessionID: session.ID, BranchID: b.ID, orphans: orphans}
		doc.Summaries, err = s.rangeSummaries(ctx, b, orphans)
		return reply{doc: doc, text: func(o *output) { doc.print(o, text) }}, err
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

type summariesReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	Summaries []summaryRow   `json:"summaries"`
	orphans   bool           // list only these
}

// summaryRow is a range summary of the turns from_seq up to, but not including, to_seq.
type summaryRow struct {
	chat.RangeSummary
	chat.StateCheck
	Orphan bool `json:"orphan"`
	InUse  bool `json:"in_use"`
}

// rangeSummaries returns the range summaries of a branch's session, and whether the branch's next request contains
// each.
func (s *Services) rangeSummaries(ctx context.Context, b chat.Branch, orphans bool) ([]summaryRow, error) {
	all, _, err := s.Inspecting.SummariesOf(ctx, b)
	if err != nil {
		return nil, err
	}
	out := []summaryRow{}
	for _, r := range all {
		row := summaryRow{RangeSummary: r.RangeSummary, StateCheck: r.Check(), Orphan: r.SupersededBy != "", InUse: r.InUse}
		row.Validation = nil // the check in the row says what is useful of it
		if row.Orphan || !orphans {
			out = append(out, row)
		}
	}
	return out, nil
}

func (r summariesReply) print(o *output, text bool) {
	if len(r.Summaries) == 0 {
		o.printf("%s\n", r.emptyText())
		return
	}
	t := newTable("SUMMARY", "TURNS", "TOKENS", "OF", "BY", "CHECK", "STATUS", "CREATED").numbers(2, 3)
	for _, m := range r.Summaries {
		t.add(m.ID, fmt.Sprintf("#%d to #%d", m.From, m.To-1), count(m.TokenCount), count(m.OriginalTokens), m.GeneratedBy, checkWords(m.StateCheck), m.status(), local(m.CreatedAt))
	}
	t.print(o)
	for _, m := range r.Summaries {
		if text {
			o.printf("\n%s\n", o.bold(m.ID))
			o.text(m.Content + "\n")
		}
	}
}

// emptyText explains why the list is empty.
func (r summariesReply) emptyText() string {
	if r.orphans {
		return "No range summary was replaced by another."
	}
	return "No range summaries. They are made when old turns no longer fit into a request; contextinfinity summarize makes them now."
}

func (m summaryRow) status() string {
	switch {
	case m.Orphan:
		return "orphan, replaced by " + m.SupersededBy
	case m.InUse:
		return "in use"
	}
	return "kept"
}
