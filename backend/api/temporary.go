package api

import (
	"sync"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/turn"
)

// temporaries are the temporary chats of this run.
type temporaries struct {
	mu    sync.Mutex
	chats map[string]*turn.Temporary
}

// find returns a temporary chat; CodeNotFound if it has ended.
func (t *temporaries) find(id string) (*turn.Temporary, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.chats[id]; c != nil {
		return c, nil
	}
	return nil, chat.Errorf(chat.CodeNotFound, "chat.temporary", "This temporary chat has ended; nothing was kept.")
}

// TemporaryStart starts a chat that is never written to disk, and returns its id. It exists only in memory, during
// this run.
func (s *Chat) TemporaryStart() (string, error) {
	c := s.c.Turns.NewTemporary()
	s.temporary.mu.Lock()
	defer s.temporary.mu.Unlock()
	if s.temporary.chats == nil {
		s.temporary.chats = map[string]*turn.Temporary{}
	}
	s.temporary.chats[string(c.ID)] = c
	return string(c.ID), nil
}

// TemporarySend sends a message in a temporary chat. Only text, images and model of the request are used.
func (s *Chat) TemporarySend(id string, req SendRequest) (SendResult, error) {
	c, err := s.temporary.find(id)
	if err != nil {
		return SendResult{}, err
	}
	if len(req.Files) > 0 {
		return SendResult{}, chat.Errorf(chat.CodeInvalid, "chat.temporary", "A temporary chat saves nothing, so nothing can be attached to it; the message was not sent.").
			WithHint("paste the text into the message")
	}
	if len(req.Memories) > 0 {
		return SendResult{}, chat.Errorf(chat.CodeInvalid, "chat.temporary", "A temporary chat has no memory, so none can be attached to it; the message was not sent.").
			WithHint("paste the text into the message, or ask in a session")
	}
	m, err := userMessage(req.Text, req.Images, nil, nil)
	if err != nil {
		return SendResult{}, err
	}
	t, err := c.Send(s.c.ctx(), m, req.Model)
	return SendResult{SessionID: id, BranchID: id, TurnID: string(t.ID)}, err
}

// TemporaryTurns returns all turns of a temporary chat, in order.
func (s *Chat) TemporaryTurns(id string) ([]TurnView, error) {
	c, err := s.temporary.find(id)
	if err != nil {
		return nil, err
	}
	turns, live := c.Turns()
	return lists.Map(turns, func(t chat.Turn) TurnView { return s.c.temporaryView(t, live) }), nil
}

func (c *Core) temporaryView(t chat.Turn, live *turn.Live) TurnView {
	v := TurnView{
		ID: string(t.ID), BranchID: string(t.BranchID), Seq: t.Seq, Phase: t.Phase, Outcome: t.Outcome,
		User: blockViews(t.User.Blocks), Assistant: []BlockView{}, Model: t.Model, Provider: t.Provider,
		CreatedAt: ms(t.CreatedAt), UpdatedAt: ms(t.UpdatedAt), State: TurnNotKept,
	}
	if t.Usage != nil {
		v.InputTokens, v.OutputTokens, v.CachedTokens = t.Usage.InputTokens, t.Usage.OutputTokens, t.Usage.CachedInputTokens
		v.Cost = c.cost(t.Model, *t.Usage)
	}
	v.Error = failureView(t.Failure)
	switch {
	case t.Phase == chat.PhaseFailed:
		v.State = TurnFailed
	case t.Phase == chat.PhaseResponding:
		v.State, v.Live = TurnResponding, true
		if live != nil && live.Frame.Turn == t.ID {
			v.LiveStep, v.LiveSeq, v.Displayed = string(live.Frame.Step), live.Frame.Seq, live.Frame.Displayed
			v.Assistant = blockViews(live.Blocks)
		}
	case t.Assistant != nil:
		v.Assistant = blockViews(t.Assistant.Blocks)
		v.Displayed = int64(len(t.Assistant.RenderedText()))
	}
	return v
}

// TemporaryStop stops the running answer of a temporary chat; the received part is kept.
func (s *Chat) TemporaryStop(id string) error {
	c, err := s.temporary.find(id)
	if err == nil {
		c.Stop()
	}
	return err
}

// TemporaryEnd discards a temporary chat.
func (s *Chat) TemporaryEnd(id string) error {
	c, err := s.temporary.find(id)
	if err != nil {
		return err
	}
	c.Stop()
	s.temporary.mu.Lock()
	defer s.temporary.mu.Unlock()
	delete(s.temporary.chats, id)
	return nil
}
