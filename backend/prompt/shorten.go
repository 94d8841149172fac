package prompt

import (
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// Shortened is a message of a turn after the cut that the model sees only in part. The stored turn is complete.
type Shortened struct {
	Seq  int64     `json:"seq"`
	Role chat.Role `json:"role"`
	// Bytes is the space for its texts, calls and results together, which reduced divides among them.
	Bytes int `json:"bytes"`
}

// minShortened is the minimum size of a shortened message, in tokens: its beginning and end still show its subject.
const minShortened = 64

// shortenNewest is the step in place of the error that SRD 7.3 ends with: it shortens the longest turns after the cut,
// all to the same size, until the context fits with spare tokens left. Dropped pending turns are included again, because
// shortening makes space for them.
func (a *assembler) shortenNewest(spare int) error {
	if a.in.Policy.History != HistoryElastic || a.fits() {
		return nil
	}
	if len(a.dropped) > 0 {
		a.log("5: the %d dropped pending turns are included again, shortened", len(a.dropped))
		a.dropped = nil
		if err := a.renderHistory(); err != nil {
			return err
		}
	}
	originals := slices.Concat(a.originals, a.pending)
	for limit := a.budget.Ceiling / 2; a.used()+spare > a.budget.Ceiling; limit = limit * 3 / 4 {
		for _, r := range originals {
			if r.tokens > max(limit, minShortened) {
				a.setShortened(r, max(limit, minShortened))
			}
		}
		if err := a.renderHistory(); err != nil {
			return err
		}
		if limit <= minShortened {
			break
		}
	}
	for i, r := range slices.Concat(a.originals, a.pending) {
		format := "5: the message of turn %d is shortened: %d to %d tokens"
		if r.source.Role == string(chat.RoleAssistant) {
			format = "5: the answer of turn %d is shortened: %d to %d tokens"
		}
		if r.tokens < originals[i].tokens {
			a.log(format, r.turn, originals[i].tokens, r.tokens)
		}
	}
	return nil
}

// setShortened records how much of an item is sent, for about this many tokens.
func (a *assembler) setShortened(r rendered, tokens int) {
	s := Shortened{Seq: r.turn, Role: chat.Role(r.source.Role), Bytes: len(r.text)}
	if textTokens := r.tokens - r.images()*ImageTokens; textTokens > tokens {
		s.Bytes = int(int64(len(r.text)) * int64(tokens) / int64(textTokens))
	}
	for i, existing := range a.shortened {
		if existing.Seq == s.Seq && existing.Role == s.Role {
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

// shownOf returns how many bytes of a turn's message the model sees; short is false if it sees all of it.
func (a *assembler) shownOf(seq int64, role chat.Role) (bytes int, short bool) {
	for _, s := range a.shortened {
		if s.Seq == seq && s.Role == role {
			return s.Bytes, true
		}
	}
	return 0, false
}

// reduced is a message whose texts, calls and results take at most this many bytes together: the space that short
// ones do not need goes to long ones. Images, reasoning and provider-specific content are left out.
func reduced(m chat.Message, maxBytes int) chat.Message {
	var sizes []int
	for _, b := range m.Blocks {
		sizes = append(sizes, sizeOf(b))
	}
	space := Divide(sizes, maxBytes)
	out := chat.Message{Role: m.Role}
	images := 0
	for i, b := range m.Blocks {
		switch t := b.(type) {
		case chat.Text, chat.Refusal:
			b = withText(b, middleOut(textOf(b), space[i]))
		case chat.ToolUse:
			b = shortCall(t, space[i])
		case chat.ToolResult:
			b = asResult(t, ResultLimit{Bytes: space[i]})
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
		text, _, _ := resultParts(t.Content)
		return len(text)
	}
	return 0
}

// middleOut cuts the middle of a text to at most this many bytes, plus a line that says how much is missing.
func middleOut(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	head, tail := middle(text, maxBytes)
	// Cut at lines, or at least at words, if that costs little.
	if at := strings.LastIndexAny(text[:head], "\n "); at > head*3/4 {
		head = at
	}
	if at := strings.IndexAny(text[tail:], "\n "); at >= 0 && at < (len(text)-tail)/4 {
		tail += at + 1
	}
	return text[:head] + fmt.Sprintf("\n[… %s left out here; the whole message is kept …]\n", display.Count(tail-head, "byte is", "bytes are")) + text[tail:]
}
