package api

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// SendToSeveral sends a message to two to four models at once, each on its own branch. The first model answers on the
// message's branch, which becomes the active one. The message is never queued.
func (s *Chat) SendToSeveral(req SendRequest, models []string) (SentToSeveral, error) {
	v := SentToSeveral{Problems: []ErrorView{}}
	ctx := s.c.ctx()
	m, sess, err := s.message(ctx, req)
	if err != nil {
		return v, err
	}
	m.Model = "" // it is sent to each of models
	sent, err := s.c.Answers.Ask(ctx, m, models)
	if err != nil {
		return v, err
	}
	s.activate(ctx, m.Branch)
	v.First = sendResult(sent[0].Handle, sess, m.Branch)
	for _, answer := range sent {
		if answer.Err != nil {
			s.c.Log.Warn("a message was not sent to one of several models", "model", answer.Model, "err", answer.Err)
			e := errorView(chat.AsError(answer.Err))
			e.Message = chat.Say("%s: %s", answer.Model, e.Message)
			v.Problems = append(v.Problems, e)
		}
	}
	return v, nil
}

// Answers returns all answers to the message of a turn, each on its branch.
func (s *Branches) Answers(turnID string) (AnswerSet, error) {
	v := AnswerSet{User: []BlockView{}, Columns: []AnswerColumn{}}
	v.Rev = s.c.Hub.Rev()
	ctx := s.c.ctx()
	all, err := s.c.Answers.ForTurn(ctx, chat.TurnID(turnID))
	if err != nil {
		return v, err
	}
	sess, err := s.c.Sessions.Session(ctx, all[0].Turn.SessionID)
	if err != nil {
		return v, err
	}
	v.Seq, v.User = all[0].Turn.Seq, blockViews(all[0].Turn.User.Blocks)
	for _, a := range all {
		views, err := s.c.turnViews(ctx, a.Branch, []chat.Turn{a.Turn})
		if err != nil {
			return v, err
		}
		v.Columns = append(v.Columns, AnswerColumn{
			BranchID: string(a.Branch.ID), Label: a.Branch.Label, Active: a.Branch.ID == sess.ActiveBranch, Later: a.Later, Turn: views[0],
		})
	}
	return v, nil
}

// AnswerAlso answers the message of a turn with another model, on a new branch. The active branch does not change.
func (s *Branches) AnswerAlso(turnID, model string) (SendResult, error) {
	return s.sent(turnID, func(ctx context.Context, id chat.TurnID) (*turn.Handle, error) {
		return s.c.Answers.AskAlso(ctx, id, model)
	})
}

// MergeAnswers lets a model combine all final answers to the message of a turn into one, on a new branch, which
// becomes the active one.
func (s *Branches) MergeAnswers(turnID, model string) (SendResult, error) {
	return s.sent(turnID, func(ctx context.Context, id chat.TurnID) (*turn.Handle, error) {
		return s.c.Answers.Merge(ctx, id, model)
	})
}

func (s *Branches) sent(turnID string, send func(context.Context, chat.TurnID) (*turn.Handle, error)) (SendResult, error) {
	h, err := send(s.c.ctx(), chat.TurnID(turnID))
	if err != nil {
		return SendResult{}, err
	}
	return sendResult(h, h.Turn.SessionID, h.Turn.BranchID), nil
}
