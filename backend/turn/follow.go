package turn

import (
	"context"

	"contextinfinity/backend/chat"
)

// Follow returns a turn that runs in this process, as Send does; false if it does not run.
func (e *Engine) Follow(ctx context.Context, id chat.TurnID) (*Handle, bool, error) {
	e.mu.Lock()
	r := e.runs[id]
	e.mu.Unlock()
	if r == nil {
		return nil, false, nil
	}
	t, err := e.store.Turn(ctx, id)
	return &Handle{Turn: t, run: r}, true, err
}
