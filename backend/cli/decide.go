package cli

import (
	"context"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/turn"
)

// rerun starts an answer for an existing turn.
type rerun func(s *Services, ctx context.Context, id chat.TurnID, model string) (*turn.Handle, error)

func (c *call) retryCommand() *cobra.Command {
	return c.rerunCommand("retry TURN", "Ask again for the answer of a turn",
		`An incomplete turn gets a new attempt; the old one is kept. A failed turn is sent again as a new turn. A
final answer is regenerated on a new branch, which becomes the active one. An unsent message is sent.`, false,
		func(s *Services, ctx context.Context, id chat.TurnID, model string) (*turn.Handle, error) {
			return s.Turns.Retry(ctx, id, model)
		})
}

func (c *call) continueCommand() *cobra.Command {
	return c.rerunCommand("continue TURN", "Ask the model to continue an incomplete answer",
		"Prints the partial answer, then the rest as it arrives.", true,
		func(s *Services, ctx context.Context, id chat.TurnID, model string) (*turn.Handle, error) {
			return s.Turns.Continue(ctx, id, model)
		})
}

func (c *call) resendCommand() *cobra.Command {
	return c.rerunCommand("resend TURN", "Send a message that a crash left unsent", "", false,
		func(s *Services, ctx context.Context, id chat.TurnID, model string) (*turn.Handle, error) {
			return s.Turns.SendUnsent(ctx, id, model)
		})
}

// rerunCommand is a verb that streams like send. continues prints the existing part first.
func (c *call) rerunCommand(use, short, long string, continues bool, start rerun) *cobra.Command {
	var f sendFlags
	cmd := &cobra.Command{Use: use, Short: short, Long: long, Args: exactly("TURN")}
	c.answerFlags(&f, cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if err := c.checkSend(f); err != nil {
			return reply{}, err
		}
		st := c.newStream()
		return c.writing(ctx, st, func(s *Services) (reply, error) {
			t, err := s.turn(ctx, args[0])
			if err != nil {
				return reply{}, err
			}
			return c.rerun(ctx, s, st, t, f, continues, start)
		})
	})
	return cmd
}

func (c *call) rerun(ctx context.Context, s *Services, st *stream, t chat.Turn, f sendFlags, continues bool, start rerun) (reply, error) {
	base, err := s.existingAnswer(ctx, st, t, continues)
	if err != nil {
		return reply{}, err
	}
	st.subscribe()
	h, err := start(s, ctx, t.ID, f.model)
	if err != nil {
		st.unsubscribe()
		return reply{}, err
	}
	if h.Turn.BranchID != t.BranchID {
		session, err := s.Sessions.Session(ctx, h.Turn.SessionID)
		if err != nil {
			return sentSoFar(h.Turn), err
		}
		where := ""
		if session.ActiveBranch == h.Turn.BranchID {
			where = ", now the active one"
		}
		c.notef("answered on the new branch %s%s", h.Turn.BranchID, where)
	}
	end, answer, err := c.follow(ctx, s, st, h, base)
	if err != nil {
		return sentSoFar(end), err
	}
	return c.answered(ctx, s, end, answer, jobs.Level(f.wait))
}

// existingAnswer returns the existing part of the answer that is kept and printed first. A retry of a continuation
// keeps what preceded it, so the stream is muted and only the complete answer is printed.
func (s *Services) existingAnswer(ctx context.Context, st *stream, t chat.Turn, continues bool) (chat.Blocks, error) {
	if continues {
		part, err := s.Turns.Answer(ctx, t)
		return part.Blocks, err
	}
	steps, err := s.Store.Steps(ctx, t.ID)
	if n := len(steps); n > 0 {
		st.mute(t.Incomplete() && steps[n-1].Index > 0)
	}
	return nil, err
}

func (c *call) keepCommand() *cobra.Command {
	return c.decideCommand("keep TURN", "Keep an incomplete answer as the final one", "kept: it is final as it is",
		func(s *Services, ctx context.Context, id chat.TurnID) (chat.Turn, error) {
			return s.Turns.Keep(ctx, id)
		})
}

func (c *call) discardCommand() *cobra.Command {
	return c.decideCommand("discard TURN", "Discard an incomplete or unsent turn; it can still be read", "discarded; it can still be read",
		func(s *Services, ctx context.Context, id chat.TurnID) (chat.Turn, error) {
			return s.Turns.Discard(ctx, id)
		})
}

func (c *call) decideCommand(use, short, done string, decide func(*Services, context.Context, chat.TurnID) (chat.Turn, error)) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: exactly("TURN")}
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		t, err := s.turn(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		if t, err = decide(s, ctx, t.ID); err != nil {
			return reply{}, err
		}
		return s.decided(ctx, t, done)
	})
	return cmd
}

func (s *Services) decided(ctx context.Context, t chat.Turn, done string) (reply, error) {
	answer, err := s.Turns.Answer(ctx, t)
	if err != nil {
		return reply{}, err
	}
	doc, err := s.turnReply(ctx, t, answer)
	return reply{doc: doc, text: func(o *output) { o.printf("Turn #%d %s.\n", t.Seq, done) }}, err
}
