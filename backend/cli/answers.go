package cli

import (
	"cmp"
	"context"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/turn"
)

// answerJSON is one of several answers to a message.
type answerJSON struct {
	turnReply
	Label  string `json:"branch_label,omitempty"`
	Active bool   `json:"active"`
	Later  int    `json:"later_turns"`
	// Problem is why this model was not called.
	Problem string `json:"problem,omitempty"`
}

func answersVerb() verb {
	return verb{
		use:   "answers TURN",
		short: "List the answers of several models to one message, or merge them",
		long: `TURN is the turn of any of the answers; each is on a branch of its own.
To continue with one of them: contextinfinity switch SESSION BRANCH.`,
		opens: reads,
		do:    listAnswers,
		verbs: []verb{
			rerunVerb("also", "Answer the message of a turn with another model too",
				"The answer is on a new branch. The session's active branch does not change.",
				func(s *Services) startAnswer { return s.Answers.AskAlso }),
			rerunVerb("merge", "Ask a model for one answer out of all final ones",
				`The question and the answers are sent as an ordinary message, on a new branch, which
becomes the active one.`,
				func(s *Services) startAnswer { return s.Answers.Merge }),
		},
	}
}

func listAnswers(ctx context.Context, r *run) (reply, error) {
	all, err := r.s.Answers.ForTurn(ctx, r.turn.ID)
	if err != nil {
		return reply{}, err
	}
	session, err := r.s.Sessions.Session(ctx, r.turn.SessionID)
	if err != nil {
		return reply{}, err
	}
	var rows []answerJSON
	for _, a := range all {
		m, err := r.s.Turns.Answer(ctx, a.Turn)
		if err != nil {
			return reply{}, err
		}
		doc, err := r.s.turnReply(ctx, a.Turn, m)
		if err != nil {
			return reply{}, err
		}
		active := a.Branch.ID == session.ActiveBranch
		rows = append(rows, answerJSON{turnReply: doc, Label: a.Branch.Label, Active: active, Later: a.Later})
	}
	t := tableOf("|MODEL|TURN|BRANCH|ANSWER|BEGINS", rows, func(a answerJSON) []any {
		mark, state := map[bool]string{true: "*"}[a.Active], cmp.Or(string(a.Outcome), string(a.Phase))
		return []any{mark, a.Model, a.TurnID, a.BranchID, state, clip(a.Text, 60)}
	})
	return reply{doc: fields{{"session_id", session.ID}, {"answers", rows}}, text: t.print}, nil
}

// askSeveral sends a message to several models.
func (c *call) askSeveral(ctx context.Context, s *Services, m turn.Message, models []string) ([]answers.Sent, error) {
	before, _, err := s.Store.LastTurn(ctx, m.Branch)
	if err != nil {
		return nil, err
	}
	sent, err := s.Answers.Ask(ctx, m, models)
	if err != nil {
		return nil, withChoices(err, before)
	}
	c.noteCleared(before, m.Incomplete)
	return sent, nil
}

// followSeveral prints the answers of several models in the order of the models, each when it is complete.
func (r *run) followSeveral(ctx context.Context, sent []answers.Sent) (reply, error) {
	first := sent[0].Handle.Turn
	rows, failure := r.eachAnswer(ctx, sent)
	answer := reply{doc: fields{{"session_id", first.SessionID}, {"answers", rows}}, keepOnError: true}
	if ctx.Err() == nil && !r.out.gone() {
		r.flush(answer, failure)
		r.workAfter(ctx, r.s, first)
	}
	return answer, failure
}

// eachAnswer waits for each answer. It returns the first error; the other answers continue anyway.
func (r *run) eachAnswer(ctx context.Context, sent []answers.Sent) (rows []answerJSON, failure error) {
	interrupts, release := r.signal.hold()
	defer release()
	session, stopped := sent[0].Handle.Turn.SessionID, false
	for i, x := range sent {
		if x.Err != nil {
			r.notef("%s was not asked: %s", x.Model, line(r.describe(x.Err).Message))
			none := turnReply{SessionID: session, Model: x.Model}
			rows = append(rows, answerJSON{turnReply: none, Problem: chat.AsError(x.Err).Message})
			failure = cmp.Or(failure, x.Err)
			continue
		}
		end, err := r.awaitOne(ctx, x.Handle, sent[i:], interrupts, &stopped)
		if err != nil {
			return rows, err
		}
		a, err := r.finishedAnswer(ctx, r.s, end, r.level())
		failure = cmp.Or(failure, err)
		a.Active = i == 0
		rows = append(rows, a)
		if !r.json {
			r.out.printf("%s\n\n", r.out.bold("# "+line(end.Model)+" (branch "+string(end.BranchID)+")"))
			r.out.text(a.Text)
			r.out.printf("\n\n")
		}
	}
	return rows, failure
}

// awaitOne waits for the end of one answer. The first Ctrl-C stops all remaining answers.
func (r *run) awaitOne(ctx context.Context, h *turn.Handle, remaining []answers.Sent, interrupts <-chan struct{},
	stopped *bool,
) (chat.Turn, error) {
	done := waitFor(ctx, h)
	for {
		select {
		case end := <-done:
			return end.turn, end.err
		case <-interrupts:
			if *stopped {
				return h.Turn, errQuit
			}
			*stopped = true
			r.notef("stopping; the texts so far are kept (Ctrl-C again quits immediately)")
			for _, x := range remaining {
				if x.Handle != nil {
					go func() { _, _ = r.s.Turns.Stop(ctx, x.Handle.Turn.ID) }() // Wait reports the end
				}
			}
		}
	}
}

// finishedAnswer returns a finished answer, after background work up to the requested level.
func (c *call) finishedAnswer(ctx context.Context, s *Services, t chat.Turn, to jobs.Level) (answerJSON, error) {
	answer, err := s.Turns.Answer(ctx, t)
	if err != nil {
		return answerJSON{}, err
	}
	failure := outcomeError(t)
	waiting, err := s.waitingOf(ctx, t.ID)
	if len(waiting) > 0 {
		failure = newWaitsError(waiting)
	}
	failure = cmp.Or(failure, err)
	if t.Phase.Finalized() && to != jobs.LevelFinalized {
		t, err = s.runWork(ctx, t, to)
		failure = cmp.Or(failure, err)
	}
	b, err := s.Sessions.Branch(ctx, t.BranchID)
	failure = cmp.Or(failure, err)
	doc, err := s.turnReply(ctx, t, answer)
	doc.WaitingCalls = lists.Map(waiting, callRow)
	return answerJSON{turnReply: doc, Label: b.Label}, cmp.Or(failure, err)
}
