package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
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
		Use: "pin SESSION TEXT", Short: "Pin a fact that every request of a branch contains word for word",
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
			p, err := s.Pins.Add(ctx, b.ID, text)
			return reply{doc: pinReply{session.ID, b.ID, p}, text: func(o *output) {
				o.printf("Pinned %s (%s).\n", p.ID, plural(p.Tokens, "token"))
			}}, err
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

// pinsFlags choose between the pins of a branch and the suggestions.
type pinsFlags struct {
	branch    string
	suggested bool
	accept    string
	text      string
	dismiss   string
}

func (c *call) pinsCommand() *cobra.Command {
	var f pinsFlags
	cmd := &cobra.Command{
		Use: "pins SESSION", Short: "List a branch's pinned facts, or what could be pinned", Args: exactly("SESSION"),
		Long: `Lists the pinned facts of a branch. With --suggested it lists standing instructions in your own
messages ("always", "never", "from now on", "I prefer") that could be pinned: --accept ID pins one,
with --text in other words, and --dismiss ID never suggests it again. Nothing is pinned automatically.`,
	}
	cmd.Flags().StringVar(&f.branch, "branch", "", "the branch, instead of the session's active one")
	cmd.Flags().BoolVar(&f.suggested, "suggested", false, "list standing instructions that could be pinned")
	cmd.Flags().StringVar(&f.accept, "accept", "", "pin the suggestion with this `ID`")
	cmd.Flags().StringVar(&f.text, "text", "", "with --accept: pin this text instead")
	cmd.Flags().StringVar(&f.dismiss, "dismiss", "", "never suggest the one with this `ID` again")
	cmd.MarkFlagsMutuallyExclusive("suggested", "accept", "dismiss")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		switch {
		case f.text != "" && f.accept == "":
			return reply{}, usagef("--text needs --accept.")
		case f.accept != "":
			return c.onSuggestion(ctx, args[0], f, f.accept, func(s *Services, b chat.Branch, p chat.PinSuggestion) (reply, error) {
				return s.acceptSuggestion(ctx, b, p, f.text)
			})
		case f.dismiss != "":
			return c.onSuggestion(ctx, args[0], f, f.dismiss, func(s *Services, b chat.Branch, p chat.PinSuggestion) (reply, error) {
				err := s.Pins.Dismiss(ctx, b.ID, p.ID)
				return reply{doc: suggestionReply{b.SessionID, b.ID, p}, text: func(o *output) { o.printf("Dismissed %s.\n", p.ID) }}, err
			})
		}
		return c.reading(ctx, func(s *Services) (reply, error) {
			session, b, err := s.place(ctx, args[0], f.branch)
			if err != nil {
				return reply{}, err
			}
			if f.suggested {
				return s.suggestions(ctx, b)
			}
			doc, err := s.pins(ctx, session.ID, b.ID)
			return reply{doc: doc, text: doc.print}, err
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

// suggestionsReply contains standing instructions that could be pinned, newest first.
type suggestionsReply struct {
	SessionID   chat.SessionID       `json:"session_id"`
	BranchID    chat.BranchID        `json:"branch_id"`
	Suggestions []chat.PinSuggestion `json:"suggestions"`
}

type suggestionReply struct {
	SessionID  chat.SessionID     `json:"session_id"`
	BranchID   chat.BranchID      `json:"branch_id"`
	Suggestion chat.PinSuggestion `json:"suggestion"`
}

func (s *Services) suggestions(ctx context.Context, b chat.Branch) (reply, error) {
	found, err := s.Pins.Suggested(ctx, b.ID)
	doc := suggestionsReply{SessionID: b.SessionID, BranchID: b.ID, Suggestions: append([]chat.PinSuggestion{}, found...)}
	return reply{doc: doc, text: doc.print}, err
}

func (r suggestionsReply) print(o *output) {
	if len(r.Suggestions) == 0 {
		o.printf("Nothing to suggest.\n")
		return
	}
	t := newTable("SUGGESTION", "TURN", "INSTRUCTION").numbers(1)
	for _, p := range r.Suggestions {
		t.add(string(p.ID), decimal(p.TurnSeq), clip(p.Text, 80))
	}
	t.print(o)
	o.printf("Pin one with: contextinfinity pins %s --accept SUGGESTION\n", r.SessionID)
}

// onSuggestion runs f on the suggestion with an id, or the beginning of one.
func (c *call) onSuggestion(ctx context.Context, session string, flags pinsFlags, typed string, f func(*Services, chat.Branch, chat.PinSuggestion) (reply, error)) (reply, error) {
	fragment, err := parseID("suggestion", typed)
	if err != nil {
		return reply{}, err
	}
	return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
		_, b, err := s.place(ctx, session, flags.branch)
		if err != nil {
			return reply{}, err
		}
		offered, err := s.Pins.Suggested(ctx, b.ID)
		if err != nil {
			return reply{}, err
		}
		ids := lists.Map(offered, func(p chat.PinSuggestion) chat.SuggestionID { return p.ID })
		id, err := match("suggestion", fragment, ids)
		if err != nil {
			return reply{}, err
		}
		return f(s, b, offered[slices.Index(ids, id)])
	})
}

func (s *Services) acceptSuggestion(ctx context.Context, b chat.Branch, suggested chat.PinSuggestion, text string) (reply, error) {
	if err := checkText("cli.pin", "fact", text, true); err != nil {
		return reply{}, err
	}
	p, err := s.Pins.Accept(ctx, b.ID, suggested.ID, text)
	return reply{doc: pinReply{b.SessionID, b.ID, p}, text: func(o *output) {
		o.printf("Pinned %s (%s).\n", p.ID, plural(p.Tokens, "token"))
	}}, err
}

func (s *Services) pins(ctx context.Context, session chat.SessionID, branch chat.BranchID) (pinsReply, error) {
	found, err := s.Pins.Pins(ctx, branch)
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
		Use: "unpin SESSION PIN", Short: "Remove a pinned fact from a branch's requests",
		Long: "Other branches that inherited the fact keep it.", Args: exactly("SESSION", "PIN"),
	}
	branch := branchFlag(cmd)
	cmd.RunE = c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		session, b, err := s.place(ctx, args[0], *branch)
		if err != nil {
			return reply{}, err
		}
		id, err := s.unpin(ctx, b.ID, args[1])
		return reply{doc: unpinReply{session.ID, b.ID, id}, text: func(o *output) { o.printf("Unpinned %s.\n", id) }}, err
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func (s *Services) unpin(ctx context.Context, branch chat.BranchID, typed string) (chat.PinID, error) {
	fragment, err := parseID("pin", typed)
	if err != nil {
		return "", err
	}
	pins, err := s.Pins.Pins(ctx, branch)
	if err != nil {
		return "", err
	}
	ids := lists.Map(pins, func(p chat.Pin) chat.PinID { return p.ID })
	id, err := match("pin", fragment, ids)
	if err != nil {
		return "", err
	}
	return id, s.Pins.Remove(ctx, branch, id)
}
