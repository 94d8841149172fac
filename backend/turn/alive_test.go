package turn

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// commenting is a provider that sends a comment every 100 seconds, and then one event; 0: no event.
type commenting struct {
	llm.Provider
	comments int
}

func (p commenting) Stream(ctx context.Context, _ llm.Endpoint, _ json.RawMessage, yield func(chat.RawEvent) error) error {
	for n := 1; ; n++ {
		select {
		case <-time.After(100 * time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		if n == p.comments {
			return yield(chat.RawEvent{Type: "message"})
		}
		llm.Alive(ctx)()
	}
}

// TestCommentsKeepACallAlive: a server that reads a long prompt is waited for while it sends comments, but not for ever.
func TestCommentsKeepACallAlive(t *testing.T) {
	const idle = 120 * time.Second
	for comments, want := range map[int]error{5: nil, 0: errIdle} {
		synctest.Test(t, func(t *testing.T) {
			e := &Engine{settings: func() Settings { return Settings{IdleTimeout: idle} }}
			begun := time.Now()
			r := &run{model: Model{Provider: commenting{comments: comments}}}
			err := e.callProvider(t.Context(), r, func(chat.RawEvent) error { return nil })
			if took := time.Since(begun); !errors.Is(err, want) || took > (maxCommentsOnly+2)*idle {
				t.Errorf("%d comments: %v after %s", comments, err, took)
			}
		})
	}
}
