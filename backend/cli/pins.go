package cli

import (
	"context"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
)

type pinReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	Pin       chat.Pin       `json:"pin"`
}

type pinsReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	Tokens    int            `json:"tokens"`
	Pins      []chat.Pin     `json:"pins"`
}

// branchFlag adds --branch to a verb about one branch.
func branchFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("branch", "", "the branch, instead of the session's active one")
}

func (c *call) pinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "pin SESSION TEXT", Short: "Pin a fact that every request of the branch carries word for word",
		Args: atMost("SESSION", "TEXT"),
	}
	branch := branchFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		text, err := c.argument(args[1:], "fact")
		if err == nil {
			err = checkText("cli.pin", "fact", text, false)
		}
		if err != nil {
			return reply{}, err
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			session, b, err := s.place(ctx, args[0], *branch)
			if err != nil {
				return reply{}, err
			}
			p, err := s.pin(ctx, b.ID, text)
			return reply{doc: pinReply{session.ID, b.ID, p}, text: func(o *output) {
				o.printf("Pinned %s (%s).\n", p.ID, plural(p.Tokens, "token"))
			}}, err
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) pin(ctx context.Context, branch chat.BranchID, text string) (chat.Pin, error) {
	return s.Store.AddPin(ctx, branch, text, s.Counter.Count("", text))
}

func (c *call) pinsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "pins SESSION", Short: "List a branch's pinned facts", Args: exactly("SESSION")}
	branch := branchFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.reading(ctx, func(s *Services) (reply, error) {
			session, b, err := s.place(ctx, args[0], *branch)
			if err != nil {
				return reply{}, err
			}
			doc, err := s.pins(ctx, session.ID, b.ID)
			return reply{doc: doc, text: doc.print}, err
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) pins(ctx context.Context, session chat.SessionID, branch chat.BranchID) (pinsReply, error) {
	found, err := s.Store.Pins(ctx, branch)
	doc := pinsReply{SessionID: session, BranchID: branch, Pins: append([]chat.Pin{}, found...)}
	for _, p := range found {
		doc.Tokens += p.Tokens
	}
	return doc, err
}

func (r pinsReply) print(o *output) {
	if len(r.Pins) == 0 {
		o.printf("No pinned facts.\n")
		return
	}
	t := newTable("PIN", "TOKENS", "FACT").numbers(1)
	for _, p := range r.Pins {
		t.add(string(p.ID), count(p.Tokens), clip(p.Text, 80))
	}
	t.print(o)
}

type unpinReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	PinID     chat.PinID     `json:"pin_id"`
}

func (c *call) unpinCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "unpin SESSION PIN", Short: "Take a pinned fact out of the branch's requests",
		Long: "On a branch that inherited the fact it goes for that branch alone.", Args: exactly("SESSION", "PIN"),
	}
	branch := branchFlag(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			session, b, err := s.place(ctx, args[0], *branch)
			if err != nil {
				return reply{}, err
			}
			id, err := s.unpin(ctx, b.ID, args[1])
			return reply{doc: unpinReply{session.ID, b.ID, id}, text: func(o *output) { o.printf("Unpinned %s.\n", id) }}, err
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) unpin(ctx context.Context, branch chat.BranchID, typed string) (chat.PinID, error) {
	fragment, err := parseID("pin", typed)
	if err != nil {
		return "", err
	}
	pins, err := s.Store.Pins(ctx, branch)
	if err != nil {
		return "", err
	}
	ids := make([]chat.PinID, len(pins))
	for i, p := range pins {
		ids[i] = p.ID
	}
	id, err := match("pin", fragment, ids)
	if err != nil {
		return "", err
	}
	return id, s.Store.RemovePin(ctx, branch, id)
}
