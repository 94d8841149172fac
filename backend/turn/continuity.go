package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// mayContinue reports that the provider may be in for what it holds of this turn already
// (SRD 1.2.5). It has to keep each answer for that, the first one too.
func (r *run) mayContinue() bool {
	return r.e.settings().Continuity && !r.forgotten && len(r.context.Tools()) > 0
}

// continuation is the answer that this request can continue from, and nil where all of it has
// to be sent. The provider's context is the one that was stored for the step before: what
// this context begins with must have the same hash.
func (r *run) continuation(ctx context.Context) (*llm.Continuation, error) {
	messages := len(r.context.Messages())
	if !r.mayContinue() || len(r.cycle) == 0 || len(r.partial) > 0 || r.response == "" {
		return nil, nil
	}
	raw, err := r.e.contexts.Manifest(ctx, r.turn.ID)
	if err != nil || raw == nil {
		return nil, err
	}
	var held prompt.Manifest
	if json.Unmarshal(raw, &held) != nil || held.Model != r.model.Endpoint.Name || held.Inputs.ModelID != r.model.Endpoint.ModelID ||
		held.Inputs.StepIndex != r.index-1 || held.SHA256 == "" || held.SHA256 != r.context.HashOfFirst(messages-2) {
		return nil, nil
	}
	return &llm.Continuation{ResponseID: r.response, Messages: messages - 1}, nil
}

// noteContinuity says, for those who ask what the model saw, what of it was sent.
func (r *run) noteContinuity(m *prompt.Manifest) {
	switch {
	case r.continues != nil:
		m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)], fmt.Sprintf(
			"Only what is new was sent: the provider holds the other %s (tools.provider_continuity).", display.Count(r.continues.Messages, "message", "messages")))
	case r.forgotten:
		m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)], "All of it was sent: the provider had forgotten what it held of this turn.")
	}
}

// forgot reports a refusal because the provider does not hold what the request is based on.
func forgot(err error) bool {
	var le *llm.Error
	return errors.As(err, &le) && le.Forgotten
}

// sendWhole closes an attempt that rested on what the provider has forgotten, and sends all
// of it.
func (r *run) sendWhole(ctx context.Context) state {
	if err := r.closeAttempt(); err != nil {
		return r.failWith(ctx, err)
	}
	r.forgotten, r.number = true, r.number-1
	return r.prepare
}
