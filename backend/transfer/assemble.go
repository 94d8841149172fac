package transfer

import (
	"cmp"
	"slices"
	"strconv"

	"contextinfinity/backend/chat"
)

// span is a turn being built: the messages from its user message, or from the first message without one, to end.
type span struct {
	end     int
	before  *span  // the span of the previous message; the turn itself goes back to stop
	stop    *span  // the last span of the previous turn; nil: none
	visible *span  // the last span with visible content, this or an earlier one; nil: none
	turn    string // Key of its turn; empty: not created yet
}

// assemble creates the turns; false if branches repeat too much.
//
// A turn ends at each message that is last or followed by a user message. Answers that diverge in the middle
// therefore become several turns that begin with the same messages. Hidden content between two turns belongs to the
// second, so that an imported turn does not change when the conversation continues.
func (t *tree) assemble() bool {
	t.arrange()
	t.messages = 0
	at := make([]*span, len(t.d.nodes)) // the span that ends at each message
	t.begun = make([]bool, len(t.d.nodes))
	for _, i := range t.order {
		n := &t.d.nodes[i]
		var before *span
		if p := t.parent[i]; p >= 0 {
			before = at[p]
		}
		here := &span{end: i, before: before}
		if before != nil {
			here.stop, here.visible = before.stop, before.visible
		}
		if n.kind == kindUser && here.visible != nil && here.visible != here.stop { // the previous turn is complete
			if !t.close(here.visible) {
				return false
			}
			here.stop = here.visible
		}
		if n.kind >= kindUser {
			here.visible = here
		}
		at[i], t.begun[i] = here, here.visible != nil
	}
	if !t.closeLast(at) {
		return false
	}
	t.sortTurns()
	t.findCurrent()
	return true
}

// closeLast creates the turns that no user message follows. Hidden content after the last visible message belongs to
// the turn if it does not branch; otherwise it is left out, because it would only duplicate the turn.
func (t *tree) closeLast(at []*span) bool {
	visibleBelow := make([]bool, len(at)) // whether visible messages follow each message
	included := make([]bool, len(at))     // whether each message is in a turn
	for k := len(t.order) - 1; k >= 0; k-- {
		i := t.order[k]
		if p := t.parent[i]; p >= 0 && (visibleBelow[i] || t.d.nodes[i].kind >= kindUser) {
			visibleBelow[p] = true
		}
	}
	for _, i := range t.order {
		if t.d.nodes[i].kind < kindUser || visibleBelow[i] {
			included[i] = included[i] || visibleBelow[i]
			continue
		}
		end, tail := i, []int{}
		for len(t.children[end]) == 1 {
			end = t.children[end][0]
			tail = append(tail, end)
		}
		if len(t.children[end]) > 0 {
			end, tail = i, nil
		}
		for _, k := range tail {
			included[k] = true
		}
		if included[i] = true; !t.close(at[end]) {
			return false
		}
	}
	for i, n := range t.d.nodes {
		if n.kind != kindVoid && !included[i] {
			t.d.notice(noticeHidden, 1)
		}
	}
	return true
}

// close creates the turn that ends with s, once.
func (t *tree) close(s *span) bool {
	if s.turn != "" {
		return true
	}
	var path []int
	for p := s; p != s.stop; p = p.before {
		path = append(path, p.end)
	}
	if t.messages += len(path); t.messages > MaxTurnNodes {
		return false
	}
	for i, k := 0, len(path)-1; i < k; i, k = i+1, k-1 {
		path[i], path[k] = path[k], path[i]
	}
	turn := t.turn(path)
	turn.Key = t.d.nodes[s.visible.end].key
	if s.stop != nil {
		turn.Parent = s.stop.turn
	}
	s.turn = turn.Key
	t.d.Turns = append(t.d.Turns, turn)
	return true
}

// turn combines the messages of a path into one turn.
func (t *tree) turn(path []int) Turn {
	var turn Turn
	user := chat.Message{Role: chat.RoleUser}
	answer := chat.Message{Role: chat.RoleAssistant}
	var hidden chat.Blocks // hidden content before any answer
	var calls chat.Blocks  // of the person, before any answer: shown with it
	var visibleUser, visibleAnswer chat.Blocks
	hasUser := false // a user's message, even an empty one
	usages := map[string]bool{}
	for _, i := range path {
		n := &t.d.nodes[i]
		switch n.kind {
		case kindVoid:
		case kindUser:
			hasUser = true
			user.Name = n.name
			user.Blocks, visibleUser = append(user.Blocks, n.blocks...), append(visibleUser, n.blocks...)
			turn.CreatedAt = n.at.Time
			turn.Failed, turn.Failure = n.failed, n.failure
		case kindHidden, kindSystem:
			if n.kind == kindSystem && t.useAsSystemPrompt(i) {
				continue
			}
			if len(answer.Blocks) > 0 {
				answer.Blocks = append(answer.Blocks, t.hiddenBlocks(n)...)
				continue
			}
			for _, b := range t.hiddenBlocks(n) {
				if isCall(b) {
					calls = append(calls, b)
				} else {
					hidden = append(hidden, b)
				}
			}
		default:
			visibleAnswer = append(visibleAnswer, t.answer(&turn, &answer, n, usages)...)
		}
	}
	user.Blocks = append(user.Blocks, hidden...)
	if user.IsEmpty() {
		user.Blocks = append(user.Blocks, chat.NoMessage().Blocks...)
		if hasUser {
			t.d.notice(noticeEmpty, 1)
		} else {
			t.d.notice(noticeNoUser, 1)
		}
	}
	turn.User, turn.visible = user, [2]chat.Blocks{visibleUser, visibleAnswer}
	if answer.IsEmpty() {
		return turn
	}
	answer.Blocks = append(calls, answer.Blocks...)
	pairCalls(answer.Blocks)
	for _, b := range answer.Blocks {
		if _, ok := b.(chat.ToolUse); ok {
			turn.Tools = true
		}
	}
	turn.Assistant = &answer
	return turn
}

func isCall(b chat.Block) bool {
	switch b.(type) {
	case chat.ToolUse, chat.ToolResult:
		return true
	}
	return false
}

// answer adds a message of the assistant or a tool to a turn, and returns its visible blocks.
func (t *tree) answer(turn *Turn, answer *chat.Message, n *node, usages map[string]bool) chat.Blocks {
	visible := n.blocks
	switch {
	case n.failed && len(answer.Blocks) > 0 && !turn.Failed: // the text before the error is the answer
		visible, turn.Incomplete, turn.Failure = nil, true, n.failure
		answer.Blocks = append(answer.Blocks, t.errorBlock(n.blocks)...)
	case !n.failed && turn.Failed && len(n.blocks) > 0: // an answer followed after all
		turn.Failed, turn.Failure = false, ""
		answer.Blocks = append(t.errorBlock(answer.Blocks), n.blocks...)
	default:
		turn.Failed = turn.Failed || n.failed
		answer.Blocks = append(answer.Blocks, n.blocks...)
	}
	answer.Name = cmp.Or(n.name, answer.Name)
	turn.Model = cmp.Or(n.model, turn.Model)
	turn.Provider = cmp.Or(n.provider, turn.Provider)
	if !n.at.IsZero() {
		turn.AnsweredAt = n.at.Time
		if turn.CreatedAt.IsZero() {
			turn.CreatedAt = n.at.Time
		}
	}
	if n.usage != nil && (n.usageKey == "" || !usages[n.usageKey]) {
		usages[n.usageKey] = true
		sum := *n.usage
		if turn.Usage != nil {
			sum = sum.Add(*turn.Usage)
		}
		turn.Usage = &sum
	}
	if n.kind == kindAssistant && !n.failed { // the last message determines how the turn ended
		turn.Incomplete = n.incomplete
	}
	turn.Failure = cmp.Or(n.failure, turn.Failure)
	return visible
}

// errorBlock stores the text of an error so that it is not mistaken for an answer.
func (t *tree) errorBlock(blocks chat.Blocks) chat.Blocks {
	if !slices.ContainsFunc(blocks, func(b chat.Block) bool { _, raw := b.(chat.Unknown); return !raw }) {
		return blocks
	}
	raw, err := chat.MarshalJSON(struct {
		Error chat.Blocks `json:"error"`
	}{blocks})
	if err != nil {
		return nil
	}
	return chat.Blocks{unknownBlock(t.d.Source, raw)}
}

// useAsSystemPrompt uses the text of a leading system message as system prompt; false if it cannot be used.
func (t *tree) useAsSystemPrompt(i int) bool {
	if t.begun[i] {
		return false
	}
	text := t.d.nodes[i].blocks.RenderedText()
	switch {
	case text == "" || text == t.d.SystemPrompt:
		return text != ""
	case t.d.SystemPrompt == "":
		t.d.SystemPrompt = text
		return true
	}
	return false
}

// hiddenBlocks returns the blocks that are kept of a hidden message: its raw blocks, or the text of instructions in a
// form that is not mistaken for an answer.
func (t *tree) hiddenBlocks(n *node) chat.Blocks {
	if n.kind != kindSystem || len(n.blocks) == 0 {
		return n.blocks
	}
	t.d.notice(noticeInstructions, 1)
	raw, err := chat.MarshalJSON(struct {
		Role    string      `json:"role"`
		Content chat.Blocks `json:"content"`
	}{"system", n.blocks})
	if err != nil {
		return nil
	}
	return chat.Blocks{unknownBlock(t.d.Source, raw)}
}

// pairCalls gives ids to calls without one, and gives a result without one the id of the oldest unanswered call.
func pairCalls(bs chat.Blocks) {
	open := []string{}
	for i, b := range bs {
		switch b := b.(type) {
		case chat.ToolUse:
			if b.ToolUseID == "" {
				b.ToolUseID = "call-" + strconv.Itoa(i+1)
				bs[i] = b
			}
			open = append(open, b.ToolUseID)
		case chat.ToolResult:
			if b.ToolUseID == "" && len(open) > 0 {
				b.ToolUseID = open[0]
				bs[i] = b
			}
			for k, id := range open {
				if id == b.ToolUseID {
					open = append(open[:k], open[k+1:]...)
					break
				}
			}
		}
	}
}

// sortTurns sorts parents before children, and siblings in the tree order of their last messages.
func (t *tree) sortTurns() {
	place := make(map[string]int, len(t.d.Turns))
	for i, turn := range t.d.Turns {
		place[turn.Key] = i
	}
	sorted := make([]Turn, 0, len(t.d.Turns))
	for _, i := range t.order {
		if k, ok := place[t.d.nodes[i].key]; ok {
			sorted = append(sorted, t.d.Turns[k])
		}
	}
	t.d.Turns = sorted
}

// findCurrent finds the turn that was open last: the one that ends at the leaf, otherwise the first one that ends
// below it.
func (t *tree) findCurrent() {
	if len(t.d.Turns) == 0 {
		return
	}
	ends := make(map[string]bool, len(t.d.Turns))
	for _, turn := range t.d.Turns {
		ends[turn.Key] = true
	}
	i := t.leaf()
	for !ends[t.d.nodes[i].key] && len(t.children[i]) > 0 {
		i = t.children[i][0]
	}
	for i >= 0 && !ends[t.d.nodes[i].key] {
		i = t.parent[i]
	}
	t.d.Current = t.d.Turns[len(t.d.Turns)-1].Key
	if i >= 0 {
		t.d.Current = t.d.nodes[i].key
	}
}
