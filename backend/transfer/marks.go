package transfer

import (
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/pattern"
)

// ChatGPT writes references into its texts between private-use characters: begin, a kind, its arguments, end.
const (
	markBegin = '\ue200'
	markEnd   = '\ue201'
	markNext  = "\ue202"
)

var mark = pattern.New(string(markBegin) + "[^" + string(markBegin) + string(markEnd) + "]*" + string(markEnd))

// withoutMarks removes ChatGPT's references from a text. The words that some of them contain stay: the name of a person,
// the title of a page.
func withoutMarks(s string) string {
	if !strings.ContainsRune(s, markBegin) {
		return s
	}
	s = mark().ReplaceAllStringFunc(s, func(m string) string {
		args := strings.Split(strings.Trim(m, string(markBegin)+string(markEnd)), markNext)
		switch {
		case len(args) < 2:
		case args[0] == "link_title":
			return args[1]
		case args[0] == "entity": // ["people", "Ada Lovelace", 0]
			var entity list
			if json.Unmarshal([]byte(args[1]), &entity) == nil && len(entity) > 1 {
				name, _ := textOf(entity[1])
				return name
			}
		}
		return ""
	})
	return strings.Map(func(r rune) rune { // of marks that do not end
		if r >= markBegin && r <= '\ue206' {
			return -1
		}
		return r
	}, s)
}

// shown returns the blocks of a message as they are shown. The keys of turns are derived from what the source wrote, so
// that a conversation that was imported by an earlier version is not imported again.
func (n *node) shown() chat.Blocks {
	if n.clean == nil {
		return n.blocks
	}
	return cleaned(n.blocks, n.clean, n.references)
}

func cleaned(blocks chat.Blocks, clean func(string) string, references list) chat.Blocks {
	out := make(chat.Blocks, len(blocks))
	for i, b := range blocks {
		switch b := b.(type) {
		case chat.Text:
			if text := clean(b.Text); text != b.Text {
				b.Text, b.Annotations = text, append(b.Annotations[:len(b.Annotations):len(b.Annotations)], references...)
				references = nil
			}
			out[i] = b
		case chat.ToolResult:
			b.Content = cleaned(b.Content, clean, references)
			out[i] = b
		default:
			out[i] = b
		}
	}
	return out
}
