package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Shortened is a message of a turn after the cut that the model sees only in part. The stored turn is complete.
type Shortened struct {
	Seq  int64     `json:"seq"`
	Role chat.Role `json:"role"`
	// Bytes is the space for its texts, calls and results together, divided by Reduced.
	Bytes int `json:"bytes"`
}

const (
	// shortShare of the ceiling is the size below which no recent message is shortened before recalled memory,
	// pending turns and the state summary are reduced too: besides the four messages that stay original, even if all
	// are longer, there is room for everything else.
	shortShare = 1.0 / 8
	// shortest is the minimum size of a shortened message, in tokens: its beginning and end still show its subject.
	shortest = 64
)

// shortenNewest is the step after the cut has reached its limit: it shortens the longest turns after the cut, all to
// the same size, until the context fits with spare tokens left, or to least tokens. Recalled memory is not counted,
// because it is reduced separately.
func (a *assembler) shortenNewest(step string, spare, least int) error {
	if a.in.Policy.History != HistoryElastic {
		return nil
	}
	excess := func() int { return a.used() - total(a.recalled()) + spare - a.budget.Ceiling }
	whole := slices.Concat(a.originals, a.pending)
	if excess() <= spare { // it fits: the newest messages stay complete
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

// setShortened records how much of an item is sent, for about this many tokens.
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

// images is the number of images in a message outside of tool results.
func (r rendered) images() int {
	_, n := messageText(*r.msg)
	return n
}

// shownOf is how much of a turn's message the model sees; false: all of it.
func (a *assembler) shownOf(seq int64, role chat.Role) (bytes int, short bool) {
	for _, s := range a.shortened {
		if s.Seq == seq && s.Role == role {
			return s.Bytes, true
		}
	}
	return 0, false
}

// reduced is a message whose texts, calls and results take at most this many bytes together: what the short ones do
// not need goes to the long ones. Images, reasoning and provider-specific content are left out.
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

// sizeOf is the size of a block's content that can be shortened, in bytes.
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

// middleOut cuts the middle of a text to at most this many bytes, plus a line that says how much is missing.
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
	// Cut at lines, or at least at words, if that costs little.
	if at := strings.LastIndexAny(text[:head], "\n "); at > head*3/4 {
		head = at
	}
	if at := strings.IndexAny(text[tail:], "\n "); at >= 0 && at < (len(text)-tail)/4 {
		tail += at + 1
	}
	return text[:head] + fmt.Sprintf("\n[… %s left out here; the whole message is kept …]\n", display.Count(tail-head, "byte is", "bytes are")) + text[tail:]
}
