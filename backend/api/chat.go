package api

import (
	"cmp"
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/turn"
)

// Chat sends messages, and carries out the user's decisions about turns.
type Chat struct {
	c         *Core
	temporary temporaries
	uploads   uploads
}

// NewChat returns the service.
func NewChat(c *Core) *Chat { return &Chat{c: c} }

// Send makes a message durable and starts its turn, or queues it while another turn of the branch runs. Its branch
// becomes the active one.
func (s *Chat) Send(req SendRequest) (SendResult, error) {
	ctx := s.c.ctx()
	m, sess, err := s.message(ctx, req)
	if err != nil {
		return SendResult{}, err
	}
	h, err := s.c.Turns.SendOrQueue(ctx, m)
	if err != nil {
		return SendResult{}, err
	}
	branch := m.Branch
	if h != nil { // another one, if that is another device's
		branch = h.Turn.BranchID
	} else if branch, err = s.c.Branches.Own(ctx, branch); err != nil {
		return SendResult{}, err
	}
	s.activate(ctx, branch)
	return sendResult(h, sess, branch), nil
}

// activate makes the branch of a message the active one, so that the session opens there the next time, even if another
// branch was made the active one in the meantime. The message is already stored, so an error is only logged.
func (s *Chat) activate(ctx context.Context, branch chat.BranchID) {
	if err := s.c.Branches.Activate(ctx, branch); err != nil {
		s.c.Log.Warn("the branch of a message could not be made the active one", "branch", branch, "err", err)
	}
}

// message returns the message of a request, and its session, which is created if the request names none.
func (s *Chat) message(ctx context.Context, req SendRequest) (turn.Message, chat.SessionID, error) {
	content, err := userMessage(req.Text, req.Images, req.Files, req.Memories)
	if err == nil {
		err = s.c.sendable(ctx, content)
	}
	if err == nil && !slices.Contains(chat.Efforts, req.Effort) {
		err = chat.Errorf(chat.CodeInvalid, "chat.send", "%q is not a reasoning effort; nothing was sent.", req.Effort).WithHint("choose minimal, low, medium or high, or leave it unset")
	}
	if err != nil {
		return turn.Message{}, "", err
	}
	sess, err := s.session(ctx, req, content)
	return turn.Message{
		Branch: cmp.Or(chat.BranchID(req.BranchID), sess.ActiveBranch), Content: content, Model: req.Model, Effort: req.Effort,
		Incomplete: turn.IncompletePolicy(req.Incomplete), FromDraft: true,
	}, sess.ID, err
}

// sendable returns an error for a message without content, or with missing memory.
func (c *Core) sendable(ctx context.Context, m chat.Message) error {
	if m.IsEmpty() && len(m.Blocks.Memories()) > 0 {
		return chat.Errorf(chat.CodeInvalid, "chat.send", "The message has attached memory but no text; nothing was sent.").
			WithHint("add a message to go with it")
	}
	if m.IsEmpty() {
		return chat.Errorf(chat.CodeInvalid, "chat.send", "The message is empty; nothing was sent.")
	}
	return c.checkMemories(ctx, m)
}

// session finds or creates the session of a message, and sets a missing title.
func (s *Chat) session(ctx context.Context, req SendRequest, m chat.Message) (chat.Session, error) {
	if req.SessionID == "" {
		if err := s.c.Turns.CanUse(ctx, req.Model); err != nil {
			return chat.Session{}, err // checked first, so that no session is created needlessly
		}
		sess, _, err := s.c.Sessions.CreateSession(ctx, chat.NewSession{Title: m.Title()})
		return sess, err
	}
	sess, err := s.c.Sessions.Session(ctx, chat.SessionID(req.SessionID))
	if err != nil {
		return sess, err
	}
	return sess, s.c.Sessions.SetTitleFrom(ctx, sess, m)
}

func sendResult(h *turn.Handle, session chat.SessionID, branch chat.BranchID) SendResult {
	if h == nil {
		return SendResult{SessionID: string(session), BranchID: string(branch), Queued: true}
	}
	return SendResult{SessionID: string(h.Turn.SessionID), BranchID: string(h.Turn.BranchID), TurnID: string(h.Turn.ID)}
}

// Stop ends a running answer and keeps the received part.
func (s *Chat) Stop(turnID string) error {
	return s.decide(func(ctx context.Context) error {
		_, err := s.c.Turns.Stop(ctx, chat.TurnID(turnID))
		return err
	})
}

// Keep makes an incomplete answer final.
func (s *Chat) Keep(turnID string) error {
	return s.decide(func(ctx context.Context) error {
		_, err := s.c.Turns.Keep(ctx, chat.TurnID(turnID))
		return err
	})
}

// Discard ends an incomplete, unsent or failed turn without an answer; its text can still be read.
func (s *Chat) Discard(turnID string) error {
	return s.decide(func(ctx context.Context) error {
		_, err := s.c.Turns.Discard(ctx, chat.TurnID(turnID))
		return err
	})
}

func (s *Chat) decide(do func(context.Context) error) error {
	defer s.c.Jobs.Wake()
	return do(s.c.ctx())
}

// Retry tries again: an incomplete turn with a new attempt, a failed one with a new turn, a final one on a fork.
func (s *Chat) Retry(turnID, model string) (SendResult, error) {
	return s.repeat(s.c.Turns.Retry, turnID, model)
}

// Continue asks the model to continue an incomplete answer. After a stopped one, which is final, it sends a new
// message.
func (s *Chat) Continue(turnID, model string) (SendResult, error) {
	return s.repeat(s.c.Turns.Continue, turnID, model)
}

// SendUnsent sends a turn that was accepted but never answered.
func (s *Chat) SendUnsent(turnID, model string) (SendResult, error) {
	return s.repeat(s.c.Turns.SendUnsent, turnID, model)
}

func (s *Chat) repeat(do func(context.Context, chat.TurnID, string) (*turn.Handle, error), id, model string) (SendResult, error) {
	ctx := s.c.ctx()
	h, err := do(ctx, chat.TurnID(id), model)
	if err != nil {
		return SendResult{}, err
	}
	s.activate(ctx, h.Turn.BranchID)
	return sendResult(h, h.Turn.SessionID, h.Turn.BranchID), nil
}

// Stream returns a step's text so far, for a window that missed frames.
func (s *Chat) Stream(stepID string) (StreamState, error) {
	if live, ok := s.c.Turns.LiveStep(chat.StepID(stepID)); ok {
		f := live.Frame
		return StreamState{
			Step: string(f.Step), Attempt: f.Attempt, Seq: f.Seq, Blocks: blockViews(live.Blocks),
			Displayed: f.Displayed, Durable: f.Durable, Live: true,
		}, nil
	}
	ctx := s.c.ctx()
	st, err := s.c.Store.StepByID(ctx, chat.StepID(stepID))
	if err != nil {
		return StreamState{}, err
	}
	t, err := s.c.Store.Turn(ctx, st.TurnID)
	if err != nil {
		return StreamState{}, err
	}
	answer, err := s.c.Turns.Answer(ctx, t)
	return StreamState{
		Step: stepID, Attempt: st.Attempt, Blocks: blockViews(answer.Blocks),
		Displayed: st.DisplayedBytes, Durable: st.DurableBytes,
	}, err
}

// CountTokens estimates the tokens of a text.
func (s *Chat) CountTokens(text string) int { return s.c.Counter.Count("", text) }

// SetModel sets the session's model from now on.
func (s *Chat) SetModel(sessionID, model string) error {
	return s.c.Sessions.SetSessionModel(s.c.ctx(), chat.SessionID(sessionID), model)
}
