package transfer

import (
	"slices"
	"strconv"
)

// tree is a draft's messages with their parents and children. It has no cycle and no duplicate key.
type tree struct {
	d        *draft
	parent   []int // -1: a root
	children [][]int
	order    []int // every message, parents before children, siblings in source order
	byKey    map[string]int
	begun    []bool // whether there was a visible message up to each, inclusive
	messages int    // messages in all turns, repeated ones counted again
	shown    bool   // the messages have the form in which they are shown
}

// Notices about an invalid tree.
const (
	noticeRepeated     = "A message occurred twice; it was imported once."
	noticeSameKey      = "Two messages had the same id; the second got a new one."
	noticeNoParent     = "A message named a parent that does not exist; it starts a branch."
	noticeOrphan       = "A message named a parent that does not exist; it continues the conversation."
	noticeCycle        = "Messages were each other's parents; the first of them starts a branch."
	noticeEmpty        = "A user's message was empty; its turn says so."
	noticeNoUser       = "An answer came before any question; its turn has no user's message."
	noticeInstructions = "Instructions in the middle of the conversation were kept, but are not used."
	noticeHidden       = "Content that the source program hides was left out."
	noticeNoCurrent    = "The message that was open last does not exist; the last one was used."
)

func newTree(d *draft) *tree {
	t := &tree{d: d}
	t.unify()
	return t
}

// arrange links the messages in their current form.
func (t *tree) arrange() {
	t.link()
	t.breakCycles()
	t.sort()
}

// reshape puts every message into the form in which it is shown, and reports whether any changed.
func (t *tree) reshape() bool {
	for i := range t.d.nodes {
		if n := &t.d.nodes[i]; n.now != nil {
			n.kind, n.blocks, t.shown = n.now.kind, slices.Concat(n.now.blocks, n.now.kept), true
		}
	}
	for _, n := range t.d.nodes {
		_, known := t.byKey[n.parent]
		t.shown = t.shown || t.d.line && !n.follows || t.d.orphans && n.parent != "" && !known
	}
	return t.shown
}

// unify gives every message a unique key, and drops identical duplicates.
func (t *tree) unify() {
	self := func(n *node) *node { return n }
	t.d.nodes, t.byKey = unique(t.d, t.d.nodes, self, func(a, b *node) bool {
		return a.parent == b.parent && a.follows == b.follows && sameContent(a, b)
	})
}

// unique gives every message a unique key, and drops those that are the same as one with their key. It also returns
// the position of each key.
func unique[N any](d *draft, all []N, of func(*N) *node, same func(a, b *node) bool) (kept []N, at map[string]int) {
	kept, at = make([]N, 0, len(all)), make(map[string]int, len(all))
	copies := map[string]int{}
	for i := range all {
		n := of(&all[i])
		first, taken := at[n.key]
		if taken && same(n, of(&kept[first])) {
			d.notice(noticeRepeated, 1)
			continue
		}
		if taken {
			d.notice(noticeSameKey, 1)
			key := n.key
			for taken {
				copies[key]++
				n.key = key + "#" + strconv.Itoa(copies[key]+1)
				_, taken = at[n.key]
			}
		}
		at[n.key] = len(kept)
		kept = append(kept, all[i])
	}
	return kept, at
}

func sameContent(a, b *node) bool {
	if a.kind != b.kind || len(a.blocks) != len(b.blocks) {
		return false
	}
	x, errA := a.blocks.MarshalJSON()
	y, errB := b.blocks.MarshalJSON()
	return errA == nil && errB == nil && string(x) == string(y)
}

// link finds every message's parent.
func (t *tree) link() {
	t.parent = make([]int, len(t.d.nodes))
	for i, n := range t.d.nodes {
		t.parent[i] = -1
		if n.follows || t.d.line && t.shown {
			t.parent[i] = i - 1
			continue
		}
		if n.parent == "" {
			continue
		}
		p, ok := t.byKey[n.parent]
		switch {
		case ok:
			t.parent[i] = p
		case t.d.orphans && t.shown:
			t.parent[i] = i - 1
			t.d.notice(noticeOrphan, 1)
		default:
			t.d.notice(noticeNoParent, 1)
		}
	}
}

// breakCycles breaks each cycle at its first message.
func (t *tree) breakCycles() {
	const fresh, walking, done = 0, 1, 2
	state := make([]int, len(t.parent))
	for start := range t.parent {
		var path []int
		i := start
		for i >= 0 && state[i] == fresh {
			state[i] = walking
			path = append(path, i)
			i = t.parent[i]
		}
		if i >= 0 && state[i] == walking {
			first := i
			for k := t.parent[i]; k != i; k = t.parent[k] {
				first = min(first, k)
			}
			t.parent[first] = -1
			t.d.notice(noticeCycle, 1)
		}
		for _, k := range path {
			state[k] = done
		}
	}
}

// sort lists the children of each message and sorts parents first.
func (t *tree) sort() {
	t.children, t.order = make([][]int, len(t.parent)), t.order[:0]
	var stack []int
	for i, p := range t.parent {
		if p >= 0 {
			t.children[p] = append(t.children[p], i)
		}
	}
	for i := len(t.parent) - 1; i >= 0; i-- {
		if t.parent[i] < 0 {
			stack = append(stack, i)
		}
	}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		t.order = append(t.order, i)
		for k := len(t.children[i]) - 1; k >= 0; k-- {
			stack = append(stack, t.children[i][k])
		}
	}
}

// leaf is the message that was open last: the one that its source names, or the last visible one.
func (t *tree) leaf() int {
	if at, ok := t.byKey[t.d.leaf]; ok && t.d.leaf != "" {
		return at
	}
	if t.d.leaf != "" {
		t.d.notice(noticeNoCurrent, 1)
	}
	last := len(t.d.nodes) - 1
	for i, n := range t.d.nodes {
		if n.kind >= kindUser && len(t.children[i]) == 0 && !n.at.Before(t.d.nodes[last].at.Time) {
			last = i
		}
	}
	return last
}
