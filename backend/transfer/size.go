package transfer

import "contextinfinity/backend/chat"

// Size is the approximate size of a turn in bytes.
func (t *Turn) Size() int {
	n := 0
	for _, m := range []*chat.Message{&t.User, t.Assistant} {
		if m == nil {
			continue
		}
		for _, b := range m.Blocks {
			switch b := b.(type) {
			case chat.Text:
				n += len(b.Text)
			case chat.Document:
				n += len(b.Text)
			case chat.Unknown:
				n += len(b.Raw)
			case chat.Image:
				n += len(b.Source)
			case chat.Reasoning:
				n += len(b.Summary) + len(b.Raw)
			case chat.ToolUse:
				n += len(b.Input)
			case chat.ToolResult:
				n += len(b.Content.RenderedText())
			}
		}
	}
	return n
}
