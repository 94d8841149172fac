package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

type findRow struct {
	ID    chat.TurnID `json:"turn_id"`
	Seq   int64       `json:"turn_seq"`
	Count int         `json:"count"`
	First string      `json:"first"`
}

type findReply struct {
	SessionID chat.SessionID `json:"session_id"`
	BranchID  chat.BranchID  `json:"branch_id"`
	Text      string         `json:"text"`
	Total     int            `json:"total"`
	Turns     []findRow      `json:"turns"`
}

func (c *call) findCommand() *cobra.Command {
	var session, branch string
	var matchCase bool
	cmd := &cobra.Command{
		Use: "find TEXT --session SESSION", Short: "Find a text in the turns of a branch", Args: exactly("TEXT"),
		Long: `Looks for exactly TEXT, ignoring case, in the turns of a branch and in those before the fork.
To search all sessions by words and by similarity, use search.`,
	}
	cmd.Flags().StringVar(&session, "session", "", "the session to search")
	cmd.Flags().StringVar(&branch, "branch", "", "the branch, instead of the session's active one")
	cmd.Flags().BoolVar(&matchCase, "case", false, "distinguish upper and lower case")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		switch {
		case strings.TrimSpace(args[0]) == "":
			return reply{}, usagef("TEXT is empty.")
		case session == "":
			return reply{}, usageHint("contextinfinity sessions lists them; contextinfinity search searches all of them", "--session SESSION is missing.")
		}
		return c.reading(ctx, func(s *Services) (reply, error) {
			found, b, err := s.place(ctx, session, branch)
			if err != nil {
				return reply{}, err
			}
			hits, err := s.Store.Find(ctx, chat.FindQuery{Branch: b.ID, Text: args[0], MatchCase: matchCase})
			if err != nil {
				return reply{}, err
			}
			doc := findReply{SessionID: found.ID, BranchID: b.ID, Text: args[0], Total: hits.Total}
			doc.Turns = lists.Map(hits.Turns, func(h chat.FoundTurn) findRow { return findRow{h.Turn, h.Seq, h.Count, h.First} })
			return reply{doc: doc, text: doc.print}, nil
		})
	})
	_ = cmd.RegisterFlagCompletionFunc("session", c.completeSession)
	return cmd
}

func (r findReply) print(o *output) {
	if r.Total == 0 {
		o.printf("Nothing found.\n")
		return
	}
	t := newTable("TURN", "", "TIMES", "WORDS").numbers(0, 2)
	for _, row := range r.Turns {
		t.add("#"+decimal(row.Seq), string(row.ID), count(row.Count), clip(row.First, 90))
	}
	t.print(o)
}
