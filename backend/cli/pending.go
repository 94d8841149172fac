package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
)

// pendingRow is a final turn that is not yet in its branch's state.
type pendingRow struct {
	TurnID    chat.TurnID  `json:"turn_id"`
	Seq       int64        `json:"turn_seq"`
	Phase     chat.Phase   `json:"phase"`
	Outcome   chat.Outcome `json:"outcome"`
	Title     string       `json:"title"` // first words of the message
	Job       *chat.Job    `json:"job"`   // the job that will commit it; null if there is none
	CreatedAt time.Time    `json:"created_at"`
}

type pendingReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	Pending   []pendingRow   `json:"pending"`
}

func (c *call) pendingCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "pending SESSION", Short: "List turns that are final but not yet in the branch's state", Args: exactly("SESSION"),
	}
	branch := branchFlag(cmd)
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		session, b, err := s.place(ctx, args[0], *branch)
		if err != nil {
			return reply{}, err
		}
		doc, err := s.pending(ctx, session.ID, b.ID)
		return reply{doc: doc, text: doc.print}, err
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) pending(ctx context.Context, session chat.SessionID, branch chat.BranchID) (pendingReply, error) {
	doc := pendingReply{SessionID: session, BranchID: branch, Pending: []pendingRow{}}
	turns, err := s.Store.PendingTurns(ctx, branch)
	if err != nil {
		return doc, err
	}
	for _, t := range turns {
		row := pendingRow{
			TurnID: t.ID, Seq: t.Seq, Phase: t.Phase, Outcome: t.Outcome,
			Title: chat.TitleFrom(t.User.RenderedText()), CreatedAt: t.CreatedAt,
		}
		job, ok, err := s.Queue.JobFor(ctx, t.ID, chat.JobSummarizeTurn)
		if err != nil {
			return doc, err
		}
		if ok {
			row.Job = &job
		}
		doc.Pending = append(doc.Pending, row)
	}
	return doc, nil
}

func (r pendingReply) print(o *output) {
	if len(r.Pending) == 0 {
		o.printf("Nothing is pending.\n")
		return
	}
	t := newTable("#", "TURN", "MESSAGE", "JOB", "TRIES", "SENT").numbers(0, 4)
	for _, p := range r.Pending {
		state, attempts := "none", ""
		if p.Job != nil {
			state, attempts = string(p.Job.State), count(p.Job.Attempts)
		}
		t.add(decimal(p.Seq), string(p.TurnID), clip(p.Title, 50), state, attempts, local(p.CreatedAt))
	}
	t.print(o)
}

type commitReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	Committed int            `json:"committed"`
	HeadState chat.StateID   `json:"head_state"`
	HeadSeq   int64          `json:"head_seq"`
	HeadTurn  int64          `json:"head_turn_seq"`
}

func (c *call) commitCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "commit SESSION", Short: "Commit a branch's pending turns into its state now", Args: exactly("SESSION"),
		Long: "This also happens in the background, soon after each answer. contextinfinity pending lists those that are left.",
	}
	branch := branchFlag(cmd)
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		_, b, err := s.place(ctx, args[0], *branch)
		if err != nil {
			return reply{}, err
		}
		doc, err := s.commit(ctx, b.ID)
		return reply{doc: doc, text: doc.print}, err
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) commit(ctx context.Context, branch chat.BranchID) (commitReply, error) {
	n, err := s.Jobs.CommitPending(ctx, branch)
	if err != nil {
		return commitReply{}, err
	}
	b, err := s.Sessions.Branch(ctx, branch)
	if err != nil {
		return commitReply{}, err
	}
	covers, err := s.Inspecting.StateTurnSeq(ctx, b.HeadState)
	return commitReply{b.SessionID, b.ID, n, b.HeadState, b.HeadSeq, covers}, err
}

func (r commitReply) print(o *output) {
	if r.Committed == 0 {
		o.printf("Nothing was pending, head %s.\n", headOf(r.HeadTurn, r.HeadState))
		return
	}
	o.printf("Committed %s, head %s.\n", plural(r.Committed, "turn"), headOf(r.HeadTurn, r.HeadState))
}
