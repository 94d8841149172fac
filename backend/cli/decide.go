package cli

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// rerunVerbs get another answer for an existing turn, or decide about it.
func rerunVerbs() []verb {
	return []verb{
		rerunVerb("retry", "Ask again for the answer of a turn",
			`An incomplete turn gets a new attempt; the old one is kept. A failed turn is sent again as a new turn. A
final answer is regenerated on a new branch, which becomes the active one. An unsent message is sent.`,
			func(s *Services) startAnswer { return s.Turns.Retry }),
		rerunVerb("continue", "Ask the model to continue an incomplete answer",
			`Prints the partial answer, then the rest as it arrives. The rest of one that was stopped, kept or cut short
becomes a turn of its own, and is printed alone.`,
			func(s *Services) startAnswer { return s.Turns.Continue }),
		rerunVerb("resend", "Send a message that a crash left unsent", "",
			func(s *Services) startAnswer { return s.Turns.SendUnsent }),
		{
			use:   "keep TURN",
			short: "Keep an incomplete answer as the final one",
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				t, err := r.s.Turns.Keep(ctx, r.turn.ID)
				return decided(ctx, r, t, "kept: it is final as it is", err)
			},
		},
		{
			use:   "discard TURN",
			short: "Discard an incomplete or unsent turn; it can still be read",
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				t, err := r.s.Turns.Discard(ctx, r.turn.ID)
				return decided(ctx, r, t, "discarded; it can still be read", err)
			},
		},
	}
}

// startAnswer starts an answer for an existing turn.
type startAnswer func(ctx context.Context, id chat.TurnID, model string) (*turn.Handle, error)

// rerunVerb returns a verb that streams like send.
func rerunVerb(name, short, long string, start func(*Services) startAnswer) verb {
	return verb{
		use: name + " TURN", short: short, long: long, flags: answerFlags(), opens: writes, streams: true,
		prepare: func(_ context.Context, r *run) error { return r.checkEvents() },
		do: func(ctx context.Context, r *run) (reply, error) {
			return rerun(ctx, r, name == "continue", start(r.s))
		},
	}
}

// rerun starts an answer and shows it. continues prints the existing part first.
func rerun(ctx context.Context, r *run, continues bool, start startAnswer) (reply, error) {
	base, err := r.s.existingAnswer(ctx, r.st, r.turn, continues)
	if err != nil {
		return reply{}, err
	}
	r.st.subscribe()
	h, err := start(ctx, r.turn.ID, r.text("model"))
	if err != nil {
		r.st.unsubscribe()
		return reply{}, err
	}
	if h.Turn.BranchID != r.turn.BranchID {
		session, err := r.s.Sessions.Session(ctx, h.Turn.SessionID)
		if err != nil {
			return sentSoFar(h.Turn), err
		}
		where := ""
		if session.ActiveBranch == h.Turn.BranchID {
			where = ", now the active one"
		}
		r.notef("answered on the new branch %s%s", h.Turn.BranchID, where)
	}
	end, answer, err := r.follow(ctx, r.s, r.st, h, base)
	if err != nil {
		return sentSoFar(end), err
	}
	return r.answered(ctx, r.s, end, answer, r.level())
}

// existingAnswer returns the existing part of the answer that is kept and printed first; of a final one nothing is, whose
// rest is a turn of its own. A retry of a continuation keeps what preceded it, so the stream is muted and only the
// complete answer is printed.
func (s *Services) existingAnswer(ctx context.Context, st *stream, t chat.Turn, continues bool) (chat.Blocks, error) {
	if continues && !t.Phase.Finalized() {
		part, err := s.Turns.Answer(ctx, t)
		return part.Blocks, err
	}
	steps, err := s.Store.Steps(ctx, t.ID)
	if n := len(steps); n > 0 {
		st.mute(t.Incomplete() && steps[n-1].Index > 0)
	}
	return nil, err
}

// decided replies with a turn after a decision about it, which may have failed.
func decided(ctx context.Context, r *run, t chat.Turn, done string, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	answer, err := r.s.Turns.Answer(ctx, t)
	if err != nil {
		return reply{}, err
	}
	doc, err := r.s.turnReply(ctx, t, answer)
	return sentence(doc, "Turn #%d %s.", t.Seq, done), err
}
