package api

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

// queuedRunes is how much of a queued message's text is shown.
const queuedRunes = 600

// Queue returns the messages that wait on a branch.
func (s *Chat) Queue(branchID string) (QueueView, error) {
	return s.c.queue(s.c.ctx(), chat.BranchID(branchID))
}

func (c *Core) queue(ctx context.Context, branch chat.BranchID) (QueueView, error) {
	q, err := c.Turns.Queue(ctx, branch)
	v := QueueView{Messages: lists.Map(q.Messages, queuedView)}
	if len(q.Messages) > 0 {
		v.Held = q.Hold.Cause
	}
	if q.Hold.Err != nil {
		e := errorView(q.Hold.Err)
		v.Error = &e
	}
	return v, err
}

func queuedView(q chat.QueuedMessage) QueuedMessage {
	v := QueuedMessage{
		ID: string(q.ID), Text: q.Message.RenderedText(), Files: documentViews(q.Message.Blocks), Memories: len(q.Message.Blocks.Memories()),
	}
	if runes := []rune(v.Text); len(runes) > queuedRunes {
		v.Text, v.Cut = string(runes[:queuedRunes]), true
	}
	for _, b := range q.Message.Blocks {
		if _, ok := b.(chat.Image); ok {
			v.Images++
		}
	}
	return v
}

// SendQueue sends the messages that wait on a branch, one after another: the first now, or when the running answer is
// complete.
func (s *Chat) SendQueue(branchID string) error {
	return s.c.Turns.ResumeQueue(s.c.ctx(), chat.BranchID(branchID))
}

// EditQueued moves a message from the queue into the branch's draft, above the text that is already there, and returns
// it.
func (s *Chat) EditQueued(messageID string) (Draft, error) {
	return s.fromQueue(s.c.Turns.EditQueued, messageID)
}

// RemoveQueued deletes a message from the queue, and returns it for RestoreQueued.
func (s *Chat) RemoveQueued(messageID string) (Draft, error) {
	return s.fromQueue(s.c.Turns.RemoveQueued, messageID)
}

func (s *Chat) fromQueue(take func(context.Context, chat.QueuedID) (chat.QueuedMessage, error), id string) (Draft, error) {
	ctx := s.c.ctx()
	m, err := take(ctx, chat.QueuedID(id))
	if err != nil {
		return Draft{}, err
	}
	return s.c.unsent(ctx, m.Message)
}

// MoveQueued moves a message to a position in its queue, counted from 0.
func (s *Chat) MoveQueued(messageID string, to int) error {
	return s.c.Turns.MoveQueued(s.c.ctx(), chat.QueuedID(messageID), to)
}

// RestoreQueued undoes RemoveQueued: it inserts the message at a position in the queue, counted from 0.
func (s *Chat) RestoreQueued(branchID string, message Draft, at int) error {
	m, err := userMessage(message.Text, message.Images, message.Files, message.Memories)
	if err == nil {
		err = s.c.sendable(s.c.ctx(), m)
	}
	if err != nil {
		return err
	}
	return s.c.Turns.RestoreQueued(s.c.ctx(), chat.BranchID(branchID), m, at)
}
