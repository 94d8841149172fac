package turn

import (
	"context"
	"fmt"

	"contextinfinity/backend/chat"
)

// VerifyJournals reads every stream journal and reports damaged ones (SPEC 11). A torn last line is a normal result
// of a power failure and not damage: none of it was durable.
func (e *Engine) VerifyJournals(ctx context.Context) ([]chat.Finding, error) {
	steps, err := e.journals.List()
	if err != nil {
		return nil, err
	}
	var out []chat.Finding
	add := func(id chat.StepID, format string, args ...any) {
		out = append(out, chat.Finding{Kind: "journal", Table: "streams", ID: string(id), Message: fmt.Sprintf(format, args...)})
	}
	for _, id := range steps {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		replay, err := e.journals.Read(id, func(chat.RawEvent) error { return ctx.Err() })
		switch {
		case err != nil:
			add(id, "The stream journal cannot be read: %v", err)
		case replay.BadLine > 0:
			add(id, "Line %d of the stream journal is damaged; the lines before it are used.", replay.BadLine)
		}
	}
	return out, nil
}
