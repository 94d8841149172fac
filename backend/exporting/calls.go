package exporting

import "contextinfinity/backend/chat"

// withResults inserts the result of each tool call of an answer after the call. The answer itself contains only the
// calls; the results are in the tool journal. A provider may use one id for several calls; they are then matched by
// their order.
func withResults(m *chat.Message, batches []chat.ToolBatch) *chat.Message {
	if m == nil || len(batches) == 0 {
		return m
	}
	results := map[string][]*chat.ToolResult{}
	for _, b := range batches {
		for _, c := range b.Calls {
			results[c.UseID] = append(results[c.UseID], c.Result)
		}
	}
	out := chat.Message{Role: m.Role, Name: m.Name, Blocks: make(chat.Blocks, 0, len(m.Blocks))}
	for _, b := range m.Blocks {
		out.Blocks = append(out.Blocks, b)
		use, ok := b.(chat.ToolUse)
		if remaining := results[use.ToolUseID]; ok && len(remaining) > 0 {
			results[use.ToolUseID] = remaining[1:]
			if remaining[0] != nil {
				out.Blocks = append(out.Blocks, *remaining[0])
			}
		}
	}
	return &out
}
