package transfer

import "contextinfinity/backend/chat"

// codeThread puts the lines of one conversation of Claude Code into turns.
//
// The log links each line to the one before it, but its tree is not that of the
// conversation: calls that ran at the same time, their results, hooks and progress lines
// all leave side lines, and a parent may never have been written. So only prompts branch,
// and only where two of them have the same position: everything else that followed a prompt
// belongs to its turn, in the order in which it was written.
type codeThread struct {
	nodes    []codeNode
	at       map[string]int // the line of each key
	parent   []int          // of each line; -1: none
	turn     []int          // the last prompt up to each line, inclusive; -1: none yet
	position []int          // the last visible or compaction line up to each line; -1: none
}

// thread adds lines, in file order, to a draft.
func thread(d *draft, lines []codeNode) {
	var t codeThread
	t.nodes, t.at = unique(d, lines, func(n *codeNode) *node { return &n.node }, sameContent)
	t.link()
	t.walk()
	t.emit(d)
}

// link finds the parent of each line. A missing parent was only in the program's memory and never written: the
// conversation then continues after the previous line.
func (t *codeThread) link() {
	calls := map[string]int{}
	threaded := true
	for i, n := range t.nodes {
		threaded = threaded && (i == 0 || n.kind < kindAssistant || n.parent != "")
		for _, b := range n.blocks {
			if call, ok := b.(chat.ToolUse); ok {
				calls[call.ToolUseID] = i
			}
		}
	}
	t.parent = make([]int, len(t.nodes))
	unwritten := map[string]int{}
	for i, n := range t.nodes {
		p, ok := t.at[n.parent]
		if !ok || p == i {
			p, ok = t.at[n.logical]
		}
		if !ok || p == i {
			p, ok = unwritten[n.parent]
		}
		if !ok && n.kind == kindTool {
			p, ok = callOf(n, calls)
		}
		switch {
		case ok && p != i:
		case threaded && n.root && n.kind == kindUser && !n.neverEdited:
			p = -1 // the first prompt, edited
		default:
			p = i - 1
		}
		if t.parent[i] = p; n.parent != "" {
			if _, written := t.at[n.parent]; !written {
				unwritten[n.parent] = p
			}
		}
	}
}

// callOf is the line of the call that a result belongs to.
func callOf(n codeNode, calls map[string]int) (int, bool) {
	for _, b := range n.blocks {
		if r, ok := b.(chat.ToolResult); ok {
			if at, ok := calls[r.ToolUseID]; ok {
				return at, true
			}
		}
	}
	return 0, false
}

// walk finds each line's turn and position. A cycle is broken where the walk meets it.
func (t *codeThread) walk() {
	const fresh, walking, done = 0, 1, 2
	state := make([]int, len(t.nodes))
	t.turn, t.position = make([]int, len(t.nodes)), make([]int, len(t.nodes))
	for start := range t.nodes {
		var path []int
		i := start
		for i >= 0 && state[i] == fresh {
			state[i] = walking
			path = append(path, i)
			i = t.parent[i]
		}
		if i >= 0 && state[i] == walking {
			t.parent[path[len(path)-1]] = -1
		}
		for k := len(path) - 1; k >= 0; k-- {
			i, n := path[k], t.nodes[path[k]]
			t.turn[i], t.position[i], state[i] = -1, -1, done
			if p := t.parent[i]; p >= 0 {
				t.turn[i], t.position[i] = t.turn[p], t.position[p]
			}
			if n.kind == kindUser {
				t.turn[i] = i
			}
			if n.kind >= kindUser || n.boundary {
				t.position[i] = i
			}
		}
	}
}

// emit adds the turns, each below the one that it follows.
func (t *codeThread) emit(d *draft) {
	lines := make(map[int][]int, len(t.nodes)) // of each turn
	for i := range t.nodes {
		lines[t.turn[i]] = append(lines[t.turn[i]], i)
	}
	end := map[int]string{-1: t.emitTurn(d, "", lines[-1])} // key of each turn's last line
	f := follower{first: map[int]int{}, above: map[int]int{}, tips: map[int]int{}}
	for _, p := range t.prompts() {
		position := -1
		if up := t.parent[p]; up >= 0 {
			position = t.position[up]
		}
		end[p] = t.emitTurn(d, end[f.follow(p, position, t.before(p), t.nodes[p].neverEdited)], lines[p])
	}
	if len(t.nodes) > 0 {
		d.leaf = end[t.lastPrompt()]
	}
}

// before is the prompt above a line; -1: none.
func (t *codeThread) before(i int) int {
	if up := t.parent[i]; up >= 0 {
		return t.turn[up]
	}
	return -1
}

// prompts lists the prompts in file order, but none before its own ancestor.
func (t *codeThread) prompts() []int {
	var out []int
	listed := make([]bool, len(t.nodes))
	for i, n := range t.nodes {
		if n.kind != kindUser {
			continue
		}
		var path []int
		for p := i; p >= 0 && !listed[p]; p = t.before(p) {
			listed[p] = true
			path = append(path, p)
		}
		for k := len(path) - 1; k >= 0; k-- {
			out = append(out, path[k])
		}
	}
	return out
}

func (t *codeThread) lastPrompt() int {
	for i := len(t.nodes) - 1; i >= 0; i-- {
		if t.nodes[i].kind == kindUser {
			return i
		}
	}
	return -1
}

// emitTurn adds the lines of a turn below the given line, and returns the key of the last. The lines of one message
// are kept together: results written between them follow its last line.
func (t *codeThread) emitTurn(d *draft, before string, lines []int) string {
	rest := map[string][]int{} // lines of each message of the model
	for _, i := range lines {
		if m := t.nodes[i].message; m != "" {
			rest[m] = append(rest[m], i)
		}
	}
	add := func(i int) {
		n := t.nodes[i].node
		n.parent = before
		before = d.add(n)
	}
	for _, i := range lines {
		m := t.nodes[i].message
		if m == "" {
			add(i)
			continue
		}
		for _, k := range rest[m] {
			add(k)
		}
		rest[m] = nil
	}
	return before
}

// follower decides which turn each prompt follows.
type follower struct {
	first map[int]int // the first prompt at each position
	above map[int]int // the turn that each prompt follows
	tips  map[int]int // a turn that follows each, as far as known
}

// follow is the turn that a prompt follows. If an earlier prompt had the same position and a person wrote both, one
// is an edited version of the other, and both follow the same turn. Otherwise the prompt follows the last turn of its
// branch.
func (f *follower) follow(p, position, turn int, neverEdited bool) int {
	if first, taken := f.first[position]; taken && !neverEdited {
		f.above[p] = f.above[first]
		f.tips[f.above[p]] = p
		return f.above[p]
	}
	if !neverEdited {
		f.first[position] = p
	}
	tip := turn
	var path []int
	for next, ok := f.tips[tip]; ok; next, ok = f.tips[tip] {
		path = append(path, tip)
		tip = next
	}
	for _, i := range path {
		f.tips[i] = p
	}
	f.above[p], f.tips[tip] = tip, p
	return tip
}
