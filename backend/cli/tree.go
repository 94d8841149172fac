package cli

import (
	"context"
	"fmt"
	"slices"
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
			long: "Draws where branches fork. Turns between two forks are one line, also if they go on on another machine. " +
				"The active branch's end is marked with a star.",
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
		printTree(o, runs, chat.Continued(tree.Branches), r.on("archived"))
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
		{"machine", r.branch.On},          // on which its branch began; empty: not known
		{"continues", r.branch.Continues}, // the branch of another device that its branch continues
		{"pending", r.Pending},
		{"open", r.Open},
		{"updated_at", r.Last.Turn.UpdatedAt},
	}
}

// printTree draws the runs with box characters, each below the one it continues from. What continues on another device is
// one line with what it continues.
func printTree(o *output, runs []treeRun, continued map[chat.BranchID]bool, archived bool) {
	children := map[int][]int{}
	for i, run := range runs {
		children[run.Parent] = append(children[run.Parent], i)
	}
	hidden := map[int]bool{}              // runs of archived branches that no visible run continues from
	for i := len(runs) - 1; i >= 0; i-- { // runs that continue from a run come after it
		run := runs[i]
		hidden[i] = run.branch.ArchivedAt != nil && !archived || run.To < run.From && continued[run.Branch] && !run.active
		for _, j := range children[i] {
			hidden[i] = hidden[i] && hidden[j]
		}
	}
	shown := func(parent int) []int {
		return slices.DeleteFunc(slices.Clone(children[parent]), func(i int) bool { return hidden[i] })
	}
	var draw func(parent int, machine, indent string)
	draw = func(parent int, machine, indent string) {
		next := shown(parent)
		for n, i := range next {
			corner, rule := "├─ ", "│  "
			if n == len(next)-1 {
				corner, rule = "└─ ", "   "
			}
			line := []treeRun{runs[i]}
			for runs[i].Ends && !runs[i].active {
				more := shown(i)
				if len(more) != 1 || runs[more[0]].branch.Continues == "" || runs[more[0]].branch.ArchivedAt != nil {
					break
				}
				i = more[0]
				line = append(line, runs[i])
			}
			o.printf("%s%s%s\n", indent, corner, lineOf(line, machine))
			draw(i, runs[i].branch.On, indent+rule)
		}
	}
	draw(-1, "", "")
}

// lineOf describes runs that are one line, after a run on a machine; empty: none, or not known.
func lineOf(runs []treeRun, machine string) string {
	first, last := runs[0], runs[len(runs)-1]
	var b strings.Builder
	if last.Ends && last.active {
		b.WriteString("* ")
	}
	b.WriteString(clip(last.branch.Label, 32))
	words := last.Last.Title
	if words == "" {
		words = last.First.Title
	}
	switch {
	case last.To < first.From:
		b.WriteString("  no turns of its own")
	case last.To == first.From:
		fmt.Fprintf(&b, "  #%d  %s", first.From, clip(first.First.Title, 48))
	default:
		fmt.Fprintf(&b, "  #%d-#%d  %s … %s", first.From, last.To, clip(first.First.Title, 32), clip(words, 32))
	}
	pending, open := 0, 0
	for i, r := range runs {
		pending, open = pending+r.Pending, open+r.Open
		switch on := r.branch.On; {
		case on == "" || on == machine || r.To < r.From || first.Parent < 0 && i == 0:
		case i == 0:
			fmt.Fprintf(&b, "  on %s", clip(on, 32))
		default:
			fmt.Fprintf(&b, "  from #%d on %s", r.From, clip(on, 32))
		}
		machine = r.branch.On
	}
	if pending > 0 {
		fmt.Fprintf(&b, "  %d pending", pending)
	}
	if open > 0 {
		fmt.Fprintf(&b, "  %d open", open)
	}
	if last.branch.ArchivedAt != nil {
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
	o.printIf(len(x.turns) == 0, "  no turns after that\n")
	o.printEach("  pinned: %s\n", x.pins)
}
