package cli

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"contextinfinity/backend/answers"
	"contextinfinity/backend/chat"
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

type answersReply struct {
	SessionID chat.SessionID `json:"session_id"`
	Answers   []answerJSON   `json:"answers"`
}

func (c *call) answersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "answers TURN",
		Short: "List the answers of several models to one message, or merge them",
		Long: `TURN is the turn of any of the answers; each is on a branch of its own.
To continue with one of them: contextinfinity switch SESSION BRANCH.`,
		Args: exactly("TURN"),
	}
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		t, err := s.turn(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		all, err := s.Answers.ForTurn(ctx, t.ID)
		if err != nil {
			return reply{}, err
		}
		doc, err := s.answersReply(ctx, t.SessionID, all)
		return reply{doc: doc, text: doc.print}, err
	})
	cmd.AddCommand(
		c.rerunCommand("also TURN", "Answer the message of a turn with another model too",
			"The answer is on a new branch. The session's active branch does not change.", false,
			func(s *Services, ctx context.Context, id chat.TurnID, model string) (*turn.Handle, error) {
				return s.Answers.AskAlso(ctx, id, model)
			}),
		c.rerunCommand("merge TURN", "Ask a model for one answer out of all final ones",
			`The question and the answers are sent as an ordinary message, on a new branch, which
becomes the active one.`, false,
			func(s *Services, ctx context.Context, id chat.TurnID, model string) (*turn.Handle, error) {
				return s.Answers.Merge(ctx, id, model)
			}))
	return cmd
}

func (s *Services) answersReply(ctx context.Context, id chat.SessionID, all []answers.Answer) (answersReply, error) {
	doc := answersReply{SessionID: id, Answers: []answerJSON{}}
	session, err := s.Sessions.Session(ctx, id)
	if err != nil {
		return doc, err
	}
	for _, a := range all {
		m, err := s.Turns.Answer(ctx, a.Turn)
		if err != nil {
			return doc, err
		}
		r, err := s.turnReply(ctx, a.Turn, m)
		if err != nil {
			return doc, err
		}
		doc.Answers = append(doc.Answers, answerJSON{turnReply: r, Label: a.Branch.Label, Active: a.Branch.ID == session.ActiveBranch, Later: a.Later})
	}
	return doc, nil
}

func (r answersReply) print(o *output) {
	t := newTable("", "MODEL", "TURN", "BRANCH", "ANSWER", "BEGINS").numbers()
	for _, a := range r.Answers {
		mark := ""
		if a.Active {
			mark = "*"
		}
		t.add(mark, a.Model, string(a.TurnID), string(a.BranchID), cmp.Or(string(a.Outcome), string(a.Phase)), clip(line(a.Text), 60))
	}
	t.print(o)
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
func (c *call) followSeveral(ctx context.Context, s *Services, sent []answers.Sent, f sendFlags) (reply, error) {
	first := sent[0].Handle.Turn
	doc := answersReply{SessionID: first.SessionID}
	failure := c.eachAnswer(ctx, s, sent, jobs.Level(f.wait), &doc)
	r := reply{doc: doc, keepOnError: true}
	if ctx.Err() == nil && !c.out.gone() {
		c.flush(r, failure)
		c.workAfter(ctx, s, first)
	}
	return r, failure
}

// eachAnswer waits for each answer and adds it to a reply. It returns the first error; the other answers continue
// anyway.
func (c *call) eachAnswer(ctx context.Context, s *Services, sent []answers.Sent, to jobs.Level, doc *answersReply) error {
	interrupts, release := c.signal.hold()
	defer release()
	var failure error
	stopped := false
	for i, x := range sent {
		if x.Err != nil {
			c.notef("%s was not asked: %s", x.Model, line(c.describe(x.Err).Message))
			doc.Answers = append(doc.Answers, answerJSON{turnReply: turnReply{SessionID: doc.SessionID, Model: x.Model}, Problem: chat.AsError(x.Err).Message})
			failure = cmp.Or(failure, x.Err)
			continue
		}
		end, err := c.awaitOne(ctx, s, x.Handle, sent[i:], interrupts, &stopped)
		if err != nil {
			return err
		}
		a, err := c.finishedAnswer(ctx, s, end, to)
		failure = cmp.Or(failure, err)
		a.Active = i == 0
		doc.Answers = append(doc.Answers, a)
		if !c.json {
			c.out.printf("%s\n\n", c.out.bold("# "+line(end.Model)+" (branch "+string(end.BranchID)+")"))
			c.out.text(a.Text)
			c.out.printf("\n\n")
		}
	}
	return failure
}

// awaitOne waits for the end of one answer. The first Ctrl-C stops all remaining answers.
func (c *call) awaitOne(ctx context.Context, s *Services, h *turn.Handle, remaining []answers.Sent, interrupts <-chan struct{}, stopped *bool) (chat.Turn, error) {
	done := make(chan turnEnd, 1)
	go func() {
		t, err := h.Wait(ctx)
		done <- turnEnd{t, err}
	}()
	for {
		select {
		case r := <-done:
			return r.turn, r.err
		case <-interrupts:
			if *stopped {
				return h.Turn, errQuit
			}
			*stopped = true
			c.notef("stopping; the texts so far are kept (Ctrl-C again quits immediately)")
			for _, x := range remaining {
				if x.Handle != nil {
					go func() { _, _ = s.Turns.Stop(ctx, x.Handle.Turn.ID) }() // Wait reports the end
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
	for _, w := range waiting {
		doc.WaitingCalls = append(doc.WaitingCalls, callOf(w))
	}
	return answerJSON{turnReply: doc, Label: b.Label}, cmp.Or(failure, err)
}
