package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Shortened is a message of a turn after the cut that the model sees a part of. The
// turn itself is stored whole.
type Shortened struct {
	Seq  int64     `json:"seq"`
	Role chat.Role `json:"role"`
	// Bytes is what its texts, calls and results may take together, as Reduced divides it.
	Bytes int `json:"bytes"`
}

const (
	// shortShare of the ceiling is what no newest message is shortened below before
	// recalled memory, pending turns and the state summary give way too: beside the four
	// messages that stay original, all of them longer, there is room for everything else.
	shortShare = 1.0 / 8
	// shortest is the least that a message is shortened to, in tokens: its beginning and end
	// still say what it is about.
	shortest = 64
)

// shortenNewest is what follows when the cut is at its limit: the longest of the turns
// after it are shortened, all to the same size, until the context fits with spare tokens
// left, or to least tokens. What recalled memory takes is not counted: it gives way by itself.
func (a *assembler) shortenNewest(step string, spare, least int) error {
	if a.in.Policy.History != HistoryElastic {
		return nil
	}
	excess := func() int { return a.used() - total(a.recalled()) + spare - a.budget.Ceiling }
	whole := slices.Concat(a.originals, a.pending)
	if excess() <= spare { // it fits: the newest messages stay as they were said
		return nil
	}
	for limit := a.budget.Ceiling / 2; excess() > 0; limit = limit * 3 / 4 {
		for _, r := range whole {
			if r.tokens > max(limit, least) {
				a.setShortened(r, max(limit, least))
			}
		}
		if err := a.renderHistory(); err != nil {
			return err
		}
		if limit <= least {
			break
		}
	}
	for i, r := range slices.Concat(a.originals, a.pending) {
		said := "%s: the message of turn %d is shortened: %d to %d tokens"
		if r.source.Role == string(chat.RoleAssistant) {
			said = "%s: the answer of turn %d is shortened: %d to %d tokens"
		}
		if r.tokens < whole[i].tokens {
			a.log(said, step, r.turn, whole[i].tokens, r.tokens)
		}
	}
	return nil
}

// setShortened keeps how much of an item the model is to see, for about so many tokens.
func (a *assembler) setShortened(r rendered, tokens int) {
	s := Shortened{Seq: r.turn, Role: chat.Role(r.source.Role), Bytes: len(r.text)}
	if all := r.tokens - r.images()*ImageTokens; all > tokens {
		s.Bytes = int(int64(len(r.text)) * int64(tokens) / int64(all))
	}
	for i, have := range a.shortened {
		if have.Seq == s.Seq && have.Role == s.Role {
			a.shortened[i] = s
			return
		}
	}
	a.shortened = append(a.shortened, s)
}

// images is how many images a message has outside of the results of its tools.
func (r rendered) images() int {
	_, n := messageText(*r.msg)
	return n
}

// shownOf is how much of a message of a turn the model sees; false: all of it.
func (a *assembler) shownOf(seq int64, role chat.Role) (bytes int, short bool) {
	for _, s := range a.shortened {
		if s.Seq == seq && s.Role == role {
			return s.Bytes, true
		}
	}
	return 0, false
}

// reduced is a message whose texts, calls and results take at most so many bytes
// together: what the short ones do not need is the long ones'. Images, thoughts and what only its
// provider can read are left out.
func reduced(m chat.Message, most int) chat.Message {
	var sizes []int
	for _, b := range m.Blocks {
		sizes = append(sizes, sizeOf(b))
	}
	room := divide(sizes, most)
	out := chat.Message{Role: m.Role}
	images := 0
	for i, b := range m.Blocks {
		switch t := b.(type) {
		case chat.Text, chat.Refusal:
			b = withText(b, middleOut(textOf(b), room[i]))
		case chat.ToolUse:
			b = shortCall(t, room[i])
		case chat.ToolResult:
			b = asResult(t, ResultLimit{Bytes: room[i]})
		case chat.Image:
			images++
			continue
		default:
			continue
		}
		out.Blocks = append(out.Blocks, b)
	}
	if images > 0 || len(out.Blocks) == 0 {
		note := "[" + display.Count(images, "image is", "images are") + " left out here.]"
		if images == 0 {
			note = "[This message is left out here.]"
		}
		out.Blocks = append(chat.Blocks{chat.Text{Text: note}}, out.Blocks...)
	}
	return out
}

// sizeOf is what a block of a shortened message has to divide, in bytes.
func sizeOf(b chat.Block) int {
	switch t := b.(type) {
	case chat.Text, chat.Refusal:
		return len(textOf(b))
	case chat.ToolUse:
		return len(t.Input)
	case chat.ToolResult:
		words, _, _ := resultParts(t.Content)
		return len(words)
	}
	return 0
}

// middleOut is a text of at most so many bytes, but for the line that says how much is
// missing from its middle.
func middleOut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := most*3/4, len(text)-most/4
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	// Whole lines, or at least whole words, if that costs little.
	if at := strings.LastIndexAny(text[:head], "\n "); at > head*3/4 {
		head = at
	}
	if at := strings.IndexAny(text[tail:], "\n "); at >= 0 && at < (len(text)-tail)/4 {
		tail += at + 1
	}
	return text[:head] + fmt.Sprintf("\n[… %s left out here; the whole message is kept …]\n", display.Count(tail-head, "byte is", "bytes are")) + text[tail:]
}
