package cli

import (
	"context"
	"fmt"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/transfer/render"
)

func treeVerbs() []verb {
	return []verb{
		{
			use:   "tree SESSION",
			short: "Draw a session's branches",
			long: "Draws where branches fork. Turns between two forks are one line. The active branch's end is marked " +
				"with a star.",
			flags: []flag{boolFlag("archived", "archived branches too")},
			opens: reads,
			do:    drawTree,
		},
		{
			use:   "compare BRANCH OTHER",
			short: "Compare two branches of a session",
			long:  "Prints the turns of each branch after the last one that they share, and its pinned facts.",
			opens: reads,
			do:    compareBranches,
		},
	}
}

// treeRun is a run of turns of one branch without forks inside, and the branch.
type treeRun struct {
	chat.TreeRun
	branch chat.BranchSummary
	active bool
}

func drawTree(ctx context.Context, r *run) (reply, error) {
	tree, err := r.s.Store.Tree(ctx, r.session.ID)
	if err != nil {
		return reply{}, err
	}
	byID := map[chat.BranchID]chat.BranchSummary{}
	for _, b := range tree.Branches {
		byID[b.ID] = b
	}
	active := tree.Session.ActiveBranch
	runs := lists.Map(tree.Runs, func(x chat.TreeRun) treeRun { return treeRun{x, byID[x.Branch], x.Branch == active} })
	doc := fields{
		{"session_id", tree.Session.ID},
		{"title", tree.Session.Title},
		{"active_branch", active},
		{"runs", lists.Map(runs, treeRun.document)},
		{"branches", render.BranchRows(tree.Session, tree.Branches)},
	}
	return reply{doc: doc, text: func(o *output) {
		o.printf("%s  %s\n", tree.Session.ID, o.bold(line(titleOf(tree.Session.Title))))
		printTree(o, runs, r.on("archived"))
	}}, nil
}

func (r treeRun) document() fields {
	return fields{
		{"parent", r.Parent}, // index of the run that this one continues from; -1: none
		{"branch_id", r.Branch},
		{"label", r.branch.Label},
		{"from_seq", r.From},
		{"to_seq", r.To}, // from_seq - 1: the branch has no turns of its own
		{"first_turn", r.First.Turn.ID},
		{"last_turn", r.Last.Turn.ID},
		{"first", r.First.Title},
		{"last", r.Last.Title},
		{"ends", r.Ends},
		{"active", r.active},
		{"archived", r.branch.ArchivedAt != nil},
		{"pending", r.Pending},
		{"open", r.Open},
		{"updated_at", r.Last.Turn.UpdatedAt},
	}
}

// printTree draws the runs with box characters, each below the one it continues from.
func printTree(o *output, runs []treeRun, archived bool) {
	children := map[int][]int{}
	for i, run := range runs {
		children[run.Parent] = append(children[run.Parent], i)
	}
	hidden := map[int]bool{}                           // runs of archived branches that no visible run continues from
	for i := len(runs) - 1; i >= 0 && !archived; i-- { // runs that continue from a run come after it
		hidden[i] = runs[i].branch.ArchivedAt != nil
		for _, j := range children[i] {
			hidden[i] = hidden[i] && hidden[j]
		}
	}
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
			o.printf("%s%s%s\n", indent, corner, runs[i])
			draw(i, indent+rule)
		}
	}
	draw(-1, "")
}

func (r treeRun) String() string {
	var b strings.Builder
	if r.Ends && r.active {
		b.WriteString("* ")
	}
	b.WriteString(clip(r.branch.Label, 32))
	switch {
	case r.To < r.From:
		b.WriteString("  no turns of its own")
	case r.To == r.From:
		fmt.Fprintf(&b, "  #%d  %s", r.From, clip(r.First.Title, 48))
	default:
		fmt.Fprintf(&b, "  #%d-#%d  %s … %s", r.From, r.To, clip(r.First.Title, 32), clip(r.Last.Title, 32))
	}
	if r.Pending > 0 {
		fmt.Fprintf(&b, "  %d pending", r.Pending)
	}
	if r.Open > 0 {
		fmt.Fprintf(&b, "  %d open", r.Open)
	}
	if r.branch.ArchivedAt != nil {
		b.WriteString("  archived")
	}
	return b.String()
}

// side is one side of a comparison: its turns after the shared ones, and its pinned facts.
type side struct {
	branch  chat.Branch
	turns   []chat.Turn
	summary string
	pins    []string
}

func compareBranches(ctx context.Context, r *run) (reply, error) {
	other, err := r.s.anyBranch(ctx, r.args[1])
	if err != nil {
		return reply{}, err
	}
	divergence, err := r.s.Store.BranchDivergence(ctx, r.branch.ID, other.ID)
	if err != nil {
		return reply{}, err
	}
	left, err := r.s.side(ctx, r.branch, divergence.Shared)
	if err != nil {
		return reply{}, err
	}
	right, err := r.s.side(ctx, other, divergence.Shared)
	doc := fields{
		{"shared", divergence.Shared},
		{"last_turn", divergence.Last},
		{"left", left.document()},
		{"right", right.document()},
	}
	return reply{doc: doc, text: func(o *output) {
		if divergence.Shared == 0 {
			o.printf("No shared turns.\n")
		} else {
			shared := plural(int(divergence.Shared), "turn")
			o.printf("They share %s, up to #%d %s.\n", shared, divergence.Shared, divergence.Last)
		}
		left.print(o)
		right.print(o)
	}}, err
}

func (s *Services) side(ctx context.Context, b chat.Branch, shared int64) (side, error) {
	x := side{branch: b}
	err := s.eachTurn(ctx, b.ID, shared+1, func(t chat.Turn) error {
		x.turns = append(x.turns, t)
		return nil
	})
	if err != nil {
		return x, err
	}
	head, err := s.Inspecting.State(ctx, b.HeadState)
	if err != nil {
		return x, err
	}
	x.summary = head.Summary
	pins, err := s.Pins.Pins(ctx, b.ID)
	x.pins = lists.Map(pins, func(p chat.Pin) string { return p.Text })
	return x, err
}

func (x side) document() fields {
	turns := lists.Map(x.turns, func(t chat.Turn) fields {
		return fields{{"turn_id", t.ID}, {"turn_seq", t.Seq}, {"phase", t.Phase}, {"title", t.User.Title()}}
	})
	return fields{
		{"branch_id", x.branch.ID},
		{"label", x.branch.Label},
		{"turns", turns},
		{"summary", x.summary},
		{"pins", x.pins},
	}
}

func (x side) print(o *output) {
	o.printf("\n%s  %s\n", o.bold(line(x.branch.Label)), x.branch.ID)
	for _, t := range x.turns {
		o.printf("  #%d  %s\n", t.Seq, line(t.User.Title()))
	}
	if len(x.turns) == 0 {
		o.printf("  no turns after that\n")
	}
	for _, pin := range x.pins {
		o.printf("  pinned: %s\n", line(pin))
	}
}
