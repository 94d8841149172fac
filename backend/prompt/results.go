package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/untrusted"
)

// DefaultResultBytes is the default of tools.result_max_bytes.
const DefaultResultBytes = 64 << 10

const (
	// pastResults limits all tool results of an earlier turn together, in bytes, and pastArguments the arguments of one
	// call. The cut never moves past the newest turns, so the size of their tool results must be limited.
	pastResults   = 24 << 10
	pastArguments = 8 << 10
	// maxResultImages is how many images of one result the model sees.
	maxResultImages = 8
)

// shorterResults are the sizes in bytes to which results of the running turn are shortened, oldest first, if the steps
// of the turn do not fit.
var shorterResults = []int{4 << 10, 512}

const (
	resultOpen  = "<tool_output>\n"
	resultClose = "\n</tool_output>"
)

// ResultLimit is how much of one result the model sees.
type ResultLimit struct {
	Bytes  int `json:"bytes"`
	Images int `json:"images,omitempty"`
}

// asResult is a result as it is sent to a model: its text framed as data, like memory, then its images, then a note
// about what was left out.
func asResult(r chat.ToolResult, l ResultLimit) chat.ToolResult {
	content, images, other := resultParts(r.Content)
	shown, omitted := headAndTail(content, l.Bytes)
	text := resultOpen + untrusted.Document(untrusted.Visible(shown)) + resultClose
	var notes []string
	if omitted > 0 {
		notes = append(notes, fmt.Sprintf("%s of the %d are left out here and shown as ….", display.Count(omitted, "byte", "bytes"), len(content)))
	}
	if n := len(images) - l.Images; n > 0 {
		images = images[:l.Images]
		notes = append(notes, display.Count(n, "image is", "images are")+" left out here.")
	}
	if other > 0 {
		notes = append(notes, display.Count(other, "part", "parts")+" of a kind that cannot be sent.")
	}
	if len(notes) > 0 {
		text += "\n[" + strings.Join(notes, " ") + " The whole result is kept.]"
	}
	out := chat.ToolResult{ToolUseID: r.ToolUseID, IsError: r.IsError, Content: chat.Blocks{chat.Text{Text: text}}}
	out.Content = append(out.Content, images...)
	return out
}

func resultParts(content chat.Blocks) (text string, images chat.Blocks, other int) {
	for _, b := range content {
		switch b.(type) {
		case chat.Text, chat.Refusal:
		case chat.Image:
			images = append(images, b)
		default:
			other++
		}
	}
	return content.RenderedText(), images, other
}

// headAndTail keeps the beginning and the end of a text, where long output reports its result, together at most this
// many bytes, and says how many bytes it leaves out.
func headAndTail(text string, maxBytes int) (shown string, omitted int) {
	if len(text) <= maxBytes {
		return text, 0
	}
	head, tail := middle(text, maxBytes)
	return text[:head] + "\n…\n" + text[tail:], tail - head
}

// middle is the part of a text that is cut out to leave at most this many bytes, most of them at the beginning.
func middle(text string, maxBytes int) (head, tail int) {
	head, tail = maxBytes*3/4, len(text)-maxBytes/4
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	return head, tail
}

// pastLimits divides the space for the results of an earlier turn among them. Images are not sent again.
func pastLimits(m chat.Message) []ResultLimit {
	var sizes []int
	for _, b := range m.Blocks {
		if r, ok := b.(chat.ToolResult); ok {
			text, _, _ := resultParts(r.Content)
			sizes = append(sizes, len(text))
		}
	}
	out := make([]ResultLimit, len(sizes))
	for i, n := range Divide(sizes, pastResults) {
		out[i].Bytes = n
	}
	return out
}

// Divide distributes space among parts of these sizes: the space that small parts do not need goes to large ones.
func Divide(sizes []int, space int) []int {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return sizes[a] - sizes[b] })
	out := make([]int, len(sizes))
	for k, i := range order {
		out[i] = min(sizes[i], space/(len(order)-k))
		space -= out[i]
	}
	return out
}

// withResults replaces the results of a message by the forms that the model sees.
func withResults(m chat.Message, limits []ResultLimit) chat.Message {
	if len(limits) == 0 {
		return m
	}
	m.Blocks = slices.Clone(m.Blocks)
	n := 0
	for i, b := range m.Blocks {
		if r, ok := b.(chat.ToolResult); ok && n < len(limits) {
			m.Blocks[i] = asResult(r, limits[n])
			n++
		}
	}
	return m
}

// pastCalls shortens the arguments of calls in an earlier turn: a file that a call wrote still exists as a file.
func pastCalls(m chat.Message) chat.Message {
	long := func(b chat.Block) bool { u, ok := b.(chat.ToolUse); return ok && len(u.Input) > pastArguments }
	if !slices.ContainsFunc(m.Blocks, long) {
		return m
	}
	m.Blocks = slices.Clone(m.Blocks)
	for i, b := range m.Blocks {
		if u, ok := b.(chat.ToolUse); ok {
			m.Blocks[i] = shortCall(u, pastArguments)
		}
	}
	return m
}

// shortCall is a call with only the beginning and end of its arguments if they are longer than this many bytes.
func shortCall(u chat.ToolUse, maxBytes int) chat.ToolUse {
	if len(u.Input) <= maxBytes {
		return u
	}
	shown, omitted := headAndTail(string(u.Input), maxBytes)
	short, err := chat.MarshalJSON(map[string]string{
		"shortened": shown, "note": fmt.Sprintf("%d bytes of the arguments are left out here. The whole is kept.", omitted),
	})
	if err == nil {
		u.Input = short
	}
	return u
}

// cycleLimits returns the limits of the running turn's results, in order, before shortening.
func (a *assembler) cycleLimits() []ResultLimit {
	if a.in.Replay != nil {
		return slices.Clone(a.in.Replay.Inputs.Results)
	}
	maxBytes := a.in.ResultMaxBytes
	if maxBytes <= 0 {
		maxBytes = DefaultResultBytes
	}
	var out []ResultLimit
	for _, m := range a.in.Cycle {
		for range results(m) {
			out = append(out, ResultLimit{maxBytes, maxResultImages})
		}
	}
	return out
}

func results(m chat.Message) int {
	n := 0
	for _, b := range m.Blocks {
		if _, ok := b.(chat.ToolResult); ok {
			n++
		}
	}
	return n
}

// renderCycle renders the steps of the turn so far with the current limits.
func (a *assembler) renderCycle() []rendered {
	var out []rendered
	at := 0
	for _, m := range a.in.Cycle {
		out = append(out, a.renderStep(m, at))
		at += results(m)
	}
	return out
}

// renderStep renders a message of the cycle whose first result has the given number.
func (a *assembler) renderStep(m chat.Message, first int) rendered {
	end := min(first+results(m), len(a.limits))
	return a.messageWith(m, Part{Source: "step", Role: string(m.Role)}, a.limits[min(first, end):end])
}

// shrinkCycle shortens the results of the running turn, oldest first, until the context fits: no call or result is
// removed.
func (a *assembler) shrinkCycle() error {
	var reported []Redaction // these redactions are already in the manifest
	a.found = &reported
	for _, maxBytes := range shorterResults {
		at := 0
		for k, m := range a.in.Cycle {
			n := results(m)
			for i := at; i < at+n && !a.fits(); i++ {
				if a.limits[i].Bytes <= maxBytes {
					continue
				}
				before := a.last[1+k].tokens
				a.limits[i] = ResultLimit{Bytes: maxBytes}
				a.last[1+k] = a.renderStep(m, at)
				if after := a.last[1+k].tokens; after < before {
					a.log("tools: result %d of this turn was shortened to %d bytes: %d to %d tokens", i+1, maxBytes, before, after)
				}
			}
			at += n
		}
	}
	return nil
}
