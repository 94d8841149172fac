package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
)

// knownGroup is what is known of one kind.
type knownGroup struct {
	Kind  chat.KnownKind `json:"kind"`
	Total int            `json:"total"`
	Items []chat.Known   `json:"items"`
}

type knowsReply struct {
	Known []knownGroup `json:"known"`
}

// knownTitles are the headings of the kinds.
var knownTitles = map[chat.KnownKind]string{
	chat.KnownPin: "Pinned facts", chat.KnownSuggestion: "Standing instructions, suggested", chat.KnownInstructions: "Instructions of sessions", chat.KnownSummary: "State summaries",
}

func (c *call) knowsCommand() *cobra.Command {
	var q chat.KnownQuery
	var kind string
	cmd := &cobra.Command{
		Use: "knows", Short: "List what is remembered in all sessions: pinned facts, instructions, summaries", Args: exactly(),
		Long: `Lists, with its origin, what requests contain besides the conversation itself: for the active branch
of every session, and the facts and instructions of projects. To change it, use unpin, pins --accept and
--dismiss, delete, and projects set. A summary is made from the conversation: to correct it, pin the right
fact or delete the turn.`,
	}
	cmd.Flags().StringVar(&kind, "kind", "", "only: pin, suggestion, instructions or summary")
	cmd.Flags().StringVar(&q.Text, "text", "", "only what contains this")
	cmd.Flags().IntVar(&q.Limit, "limit", 20, "at most this many of a kind")
	cmd.Flags().IntVar(&q.Offset, "offset", 0, "skip this many of each kind first")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions([]string{"pin", "suggestion", "instructions", "summary"}, cobra.ShellCompDirectiveNoFileComp))
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		kinds := chat.KnownKinds
		if kind != "" {
			if kinds = []chat.KnownKind{chat.KnownKind(kind)}; !slices.Contains(chat.KnownKinds, kinds[0]) {
				return reply{}, usagef("--kind must be one of pin, suggestion, instructions, summary, not %q.", clip(kind, 40))
			}
		}
		if q.Limit < 1 || q.Offset < 0 {
			return reply{}, usagef("--limit must be at least 1, and --offset must not be negative.")
		}
		return c.readingAny(ctx, knowsAnswer(knowsReply{[]knownGroup{}}), func(s *Services) (reply, error) {
			doc := knowsReply{}
			for _, k := range kinds {
				q.Kind = k
				items, total, err := s.Store.Known(ctx, q)
				if err != nil {
					return reply{}, err
				}
				doc.Known = append(doc.Known, knownGroup{k, total, items})
			}
			return knowsAnswer(doc), nil
		})
	})
	return cmd
}

func knowsAnswer(doc knowsReply) reply {
	return reply{doc: doc, text: func(o *output) {
		if !slices.ContainsFunc(doc.Known, func(g knownGroup) bool { return g.Total > 0 }) {
			o.printf("Nothing is remembered yet.\n")
			return
		}
		for _, g := range doc.Known {
			if g.Total == 0 {
				continue
			}
			o.printf("%s (%s)\n", o.bold(knownTitles[g.Kind]), count(g.Total))
			t := newTable("ID", "SESSION", "TURN", "WHEN", "TEXT")
			for _, k := range g.Items {
				turn, when := "", ""
				if k.TurnSeq > 0 {
					turn = "#" + decimal(k.TurnSeq)
				}
				if !k.At.IsZero() {
					when = local(k.At)
				}
				source := titleOf(k.SessionTitle)
				if k.Project != "" {
					source = "project " + chat.BoundTitle(k.Project)
				}
				t.add(k.ID, clip(source, 28), turn, when, clip(strings.Join(strings.Fields(k.Text), " "), 70))
			}
			t.print(o)
		}
	}}
}
