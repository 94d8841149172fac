package transfer

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
)

// anyNodes returns messages of every kind, with parents that may be missing, later, or their own children, and ids
// that may be duplicates.
func anyNodes(rt *rapid.T) []node {
	n := rapid.IntRange(1, 24).Draw(rt, "messages")
	nodes := make([]node, n)
	for i := range nodes {
		k := kind(rapid.IntRange(int(kindVoid), int(kindTool)).Draw(rt, "kind"))
		key := "k" + strconv.Itoa(i)
		if rapid.IntRange(0, 19).Draw(rt, "taken") == 0 {
			key = "k0"
		}
		nodes[i] = node{key: key, kind: k}
		switch p := rapid.IntRange(-2, n).Draw(rt, "parent"); {
		case p == -2:
			nodes[i].follows = true
		case p >= 0:
			nodes[i].parent = "k" + strconv.Itoa(p)
		}
		if k == kindVoid || rapid.IntRange(0, 9).Draw(rt, "empty") == 0 {
			continue
		}
		text := fmt.Sprintf("said-%d.", i)
		switch k {
		case kindHidden:
			raw, _ := json.Marshal(text)
			nodes[i].blocks = chat.Blocks{unknownBlock("test", raw)}
		case kindTool:
			nodes[i].blocks = chat.Blocks{chat.ToolResult{Content: texts(text)}}
		default:
			nodes[i].blocks = texts(text)
		}
	}
	return nodes
}

func draftOf(nodes []node) *draft {
	d := newDraft("test")
	d.ID = "tree"
	d.nodes = slices.Clone(nodes)
	return d
}

// TestAnyTreeBecomesTurns: for any messages the turns are a tree and contain the text of every message of a user, an
// assistant or a tool, and the same messages give the same turns.
func TestAnyTreeBecomesTurns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		nodes := anyNodes(rt)
		c, reason := draftOf(nodes).build()
		hasMessages := slices.ContainsFunc(nodes, func(n node) bool { return n.kind >= kindUser })
		if (reason == "") != hasMessages {
			rt.Fatalf("visible messages: %v; refused because %q", hasMessages, reason)
		}
		if reason != "" {
			return
		}
		checkValid(t, c)
		raw, err := chat.MarshalJSON(c)
		if err != nil {
			rt.Fatal(err)
		}
		for i, n := range nodes {
			text := fmt.Sprintf("said-%d.", i)
			if n.kind >= kindUser && len(n.blocks) > 0 && !strings.Contains(string(raw), text) {
				rt.Fatalf("%q does not occur in %s", text, raw)
			}
		}
		again, _ := draftOf(nodes).build()
		if twice, _ := chat.MarshalJSON(again); string(twice) != string(raw) {
			rt.Fatalf("not the same twice:\n%s\n%s", raw, twice)
		}
	})
}

// TestAGrownTreeKeepsItsTurns: additional messages do not change existing turns, except for a turn that was not
// complete.
func TestAGrownTreeKeepsItsTurns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var nodes []node
		n := rapid.IntRange(1, 20).Draw(rt, "messages")
		for i := range n {
			k := kind(rapid.IntRange(int(kindVoid), int(kindTool)).Draw(rt, "kind"))
			m := node{key: "k" + strconv.Itoa(i), kind: k}
			if p := rapid.IntRange(-1, i-1).Draw(rt, "parent"); p >= 0 {
				m.parent = "k" + strconv.Itoa(p)
			}
			if k != kindVoid {
				m.blocks = texts("said-" + strconv.Itoa(i))
			}
			nodes = append(nodes, m)
		}
		cut := rapid.IntRange(0, n).Draw(rt, "cut")
		before, reason := draftOf(nodes[:cut]).build()
		if reason != "" {
			return
		}
		after, _ := draftOf(nodes).build()
		kept := map[string]bool{}
		for _, turn := range after.Turns {
			kept[turn.ContentKey] = true
		}
		for _, turn := range before.Turns {
			if kept[turn.ContentKey] {
				continue
			}
			if !continuesFrom(nodes, cut, turn.Key) {
				rt.Fatalf("turn %s was complete and changed", turn.Key)
			}
		}
	})
}

// continuesFrom reports whether an answer continued from a message, or from hidden messages below it, among the messages
// from cut on.
func continuesFrom(nodes []node, cut int, key string) bool {
	below := map[string]bool{key: true}
	for i, m := range nodes {
		if !below[m.parent] || m.parent == "" {
			continue
		}
		if m.kind < kindUser {
			below[m.key] = true
		} else if m.kind != kindUser && i >= cut {
			return true
		}
	}
	return false
}

// TestRegeneratedAnswersAreSiblings: answers to one message share the parent turn and the user's message.
func TestRegeneratedAnswersAreSiblings(t *testing.T) {
	d := draftOf([]node{
		{key: "u", kind: kindUser, blocks: texts("Ask")},
		{key: "a", parent: "u", kind: kindAssistant, blocks: texts("One")},
		{key: "b", parent: "u", kind: kindAssistant, blocks: chat.Blocks{chat.ToolUse{Name: "look"}}},
		{key: "r", parent: "b", kind: kindTool, blocks: chat.Blocks{chat.ToolResult{Content: texts("seen")}}},
		{key: "c", parent: "r", kind: kindAssistant, blocks: texts("Two")},
		{key: "e", parent: "r", kind: kindAssistant, blocks: texts("Three")},
		{key: "v", parent: "a", kind: kindUser, blocks: texts("Next")},
	})
	d.leaf = "c"
	c, reason := d.build()
	if reason != "" {
		t.Fatal(reason)
	}
	var got []string
	for _, turn := range c.Turns {
		answer := ""
		if turn.Assistant != nil {
			answer = turn.Assistant.RenderedText()
		}
		got = append(got, turn.Parent+">"+turn.Key+":"+turn.User.RenderedText()+"/"+answer)
	}
	want := []string{">a:Ask/One", "a>v:Next/", ">c:Ask/Two", ">e:Ask/Three"}
	if !slices.Equal(got, want) || c.Current != "c" {
		t.Errorf("got %q, current %s", got, c.Current)
	}
	for _, k := range []int{2, 3} {
		use, result := c.Turns[k].Assistant.Blocks[0].(chat.ToolUse), c.Turns[k].Assistant.Blocks[1].(chat.ToolResult)
		if use.ToolUseID == "" || use.ToolUseID != result.ToolUseID {
			t.Errorf("the call %q and its result %q are not a pair", use.ToolUseID, result.ToolUseID)
		}
	}
}

func TestMoment(t *testing.T) {
	const want = "2023-11-14T22:13:20.123Z"
	for _, raw := range []string{
		`1700000000.123`, `1700000000123`, `1700000000123456`, `1700000000123456789`, `"1700000000.123"`,
		`"2023-11-14T22:13:20.123Z"`, `"2023-11-15T00:13:20.123456+02:00"`, `"2023-11-14 22:13:20.123"`, `1.700000000123e9`,
	} {
		if got := readMoment(json.RawMessage(raw)); chat.FormatTime(got.Time) != want {
			t.Errorf("%s: got %v", raw, got)
		}
	}
	for raw, unread := range map[string]string{
		``: "", `null`: "", `0`: "", `""`: "", `"0001-01-01T00:00:00Z"`: "", `"soon"`: "soon", `-5`: "-5", `1e300`: "1e300", `"Inf"`: "Inf",
		`{}`: "{}", `[1]`: "[1]", `true`: "true", `"9999-12-31"`: "9999-12-31", `"03/04/2024"`: "03/04/2024",
	} {
		if got := readMoment(json.RawMessage(raw)); !got.IsZero() || got.unread != unread {
			t.Errorf("%s: got %v, unread %q", raw, got.Time, got.unread)
		}
	}
}
