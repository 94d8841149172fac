package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/transfer/render"
)

// treeRun is a run of turns of one branch without forks inside.
type treeRun struct {
	Parent    int           `json:"parent"` // index of the run that this one continues from; -1: none
	BranchID  chat.BranchID `json:"branch_id"`
	Label     string        `json:"label"`
	From      int64         `json:"from_seq"`
	To        int64         `json:"to_seq"` // from_seq - 1: the branch has no turns of its own
	FirstTurn chat.TurnID   `json:"first_turn"`
	LastTurn  chat.TurnID   `json:"last_turn"`
	First     string        `json:"first"`
	Last      string        `json:"last"`
	Ends      bool          `json:"ends"`
	Active    bool          `json:"active"`
	Archived  bool          `json:"archived"`
	Pending   int           `json:"pending"`
	Open      int           `json:"open"`
	UpdatedAt time.Time     `json:"updated_at"`
}

type treeReply struct {
	SessionID chat.SessionID     `json:"session_id"`
	Title     string             `json:"title"`
	Active    chat.BranchID      `json:"active_branch"`
	Runs      []treeRun          `json:"runs"`
	Branches  []render.BranchRow `json:"branches"`
}

func (c *call) treeCommand() *cobra.Command {
	var archived bool
	cmd := &cobra.Command{
		Use: "tree SESSION", Short: "Draw a session's branches", Args: exactly("SESSION"),
		Long: "Draws where branches fork. Turns between two forks are one line. The active branch's end is marked with a star.",
	}
	cmd.Flags().BoolVar(&archived, "archived", false, "archived branches too")
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		session, err := s.session(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		tree, err := s.Store.Tree(ctx, session.ID)
		if err != nil {
			return reply{}, err
		}
		doc := newTreeReply(tree)
		return reply{doc: doc, text: func(o *output) { doc.print(o, archived) }}, nil
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

func newTreeReply(tree chat.Tree) treeReply {
	doc := treeReply{SessionID: tree.Session.ID, Title: tree.Session.Title, Active: tree.Session.ActiveBranch, Runs: []treeRun{}}
	byID := map[chat.BranchID]chat.BranchSummary{}
	for _, b := range tree.Branches {
		byID[b.ID] = b
	}
	doc.Branches = render.BranchRows(tree.Session, tree.Branches)
	for _, r := range tree.Runs {
		b := byID[r.Branch]
		doc.Runs = append(doc.Runs, treeRun{
			Parent: r.Parent, BranchID: r.Branch, Label: b.Label, From: r.From, To: r.To, FirstTurn: r.First.Turn.ID, LastTurn: r.Last.Turn.ID,
			First: r.First.Title, Last: r.Last.Title, Ends: r.Ends, Active: r.Branch == tree.Session.ActiveBranch,
			Archived: b.ArchivedAt != nil, Pending: r.Pending, Open: r.Open, UpdatedAt: r.Last.Turn.UpdatedAt,
		})
	}
	return doc
}

// print draws the runs with box characters, each below the one it continues from.
func (r treeReply) print(o *output, archived bool) {
	o.printf("%s  %s\n", r.SessionID, o.bold(line(titleOf(r.Title))))
	children := map[int][]int{}
	for i, run := range r.Runs {
		children[run.Parent] = append(children[run.Parent], i)
	}
	hidden := r.hidden(archived, children)
	var draw func(parent int, indent string)
	draw = func(parent int, indent string) {
		var shown []int
		for _, i := range children[parent] {
			if !hidden[i] {
				shown = append(shown, i)
			}
		}
		for n, i := range shown {
			corner, rule := "├─ ", "│  "
			if n == len(shown)-1 {
				corner, rule = "└─ ", "   "
			}
			o.printf("%s%s%s\n", indent, corner, r.Runs[i])
			draw(i, indent+rule)
		}
	}
	draw(-1, "")
}

// hidden marks the runs of archived branches that no visible run continues from.
func (r treeReply) hidden(archived bool, children map[int][]int) map[int]bool {
	hidden := map[int]bool{}
	for i := len(r.Runs) - 1; i >= 0 && !archived; i-- { // runs that continue from a run come after it
		hidden[i] = r.Runs[i].Archived
		for _, j := range children[i] {
			hidden[i] = hidden[i] && hidden[j]
		}
	}
	return hidden
}

func (r treeRun) String() string {
	var b strings.Builder
	if r.Ends && r.Active {
		b.WriteString("* ")
	}
	b.WriteString(clip(r.Label, 32))
	switch {
	case r.To < r.From:
		b.WriteString("  no turns of its own")
	case r.To == r.From:
		fmt.Fprintf(&b, "  #%d  %s", r.From, clip(r.First, 48))
	default:
		fmt.Fprintf(&b, "  #%d-#%d  %s … %s", r.From, r.To, clip(r.First, 32), clip(r.Last, 32))
	}
	for _, note := range []struct {
		n     int
		label string
	}{{r.Pending, "pending"}, {r.Open, "open"}} {
		if note.n > 0 {
			fmt.Fprintf(&b, "  %d %s", note.n, note.label)
		}
	}
	if r.Archived {
		b.WriteString("  archived")
	}
	return b.String()
}

// sideRow is one side of a comparison.
type sideRow struct {
	BranchID chat.BranchID `json:"branch_id"`
	Label    string        `json:"label"`
	Turns    []shownTurn   `json:"turns"` // after the shared ones
	Summary  string        `json:"summary"`
	Pins     []string      `json:"pins"`
}

type shownTurn struct {
	ID    chat.TurnID `json:"turn_id"`
	Seq   int64       `json:"turn_seq"`
	Phase chat.Phase  `json:"phase"`
	Title string      `json:"title"`
}

type compareReply struct {
	Shared int64       `json:"shared"`    // shared turns
	Last   chat.TurnID `json:"last_turn"` // the last shared one
	Left   sideRow     `json:"left"`
	Right  sideRow     `json:"right"`
}

func (c *call) compareCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "compare BRANCH OTHER", Short: "Compare two branches of a session", Args: exactly("BRANCH", "OTHER"),
		Long: "Prints the turns of each branch after the last one that they share, and its pinned facts.",
	}
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		left, err := s.anyBranch(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		right, err := s.anyBranch(ctx, args[1])
		if err != nil {
			return reply{}, err
		}
		divergence, err := s.Store.BranchDivergence(ctx, left.ID, right.ID)
		if err != nil {
			return reply{}, err
		}
		doc := compareReply{Shared: divergence.Shared, Last: divergence.Last}
		if doc.Left, err = s.side(ctx, left, divergence.Shared); err != nil {
			return reply{}, err
		}
		doc.Right, err = s.side(ctx, right, divergence.Shared)
		return reply{doc: doc, text: doc.print}, err
	})
	return cmd
}

func (s *Services) side(ctx context.Context, b chat.Branch, shared int64) (sideRow, error) {
	row := sideRow{BranchID: b.ID, Label: b.Label, Turns: []shownTurn{}}
	err := s.eachTurn(ctx, b.ID, shared+1, func(t chat.Turn) error {
		row.Turns = append(row.Turns, shownTurn{t.ID, t.Seq, t.Phase, t.User.Title()})
		return nil
	})
	if err != nil {
		return row, err
	}
	head, err := s.Inspecting.State(ctx, b.HeadState)
	if err != nil {
		return row, err
	}
	row.Summary = head.Summary
	pins, err := s.Pins.Pins(ctx, b.ID)
	row.Pins = lists.Map(pins, func(p chat.Pin) string { return p.Text })
	return row, err
}

func (r compareReply) print(o *output) {
	if r.Shared == 0 {
		o.printf("No shared turns.\n")
	} else {
		o.printf("They share %s, up to #%d %s.\n", plural(int(r.Shared), "turn"), r.Shared, r.Last)
	}
	for _, side := range []sideRow{r.Left, r.Right} {
		o.printf("\n%s  %s\n", o.bold(line(side.Label)), side.BranchID)
		for _, t := range side.Turns {
			o.printf("  #%d  %s\n", t.Seq, line(t.Title))
		}
		if len(side.Turns) == 0 {
			o.printf("  no turns after that\n")
		}
		for _, pin := range side.Pins {
			o.printf("  pinned: %s\n", line(pin))
		}
	}
}
