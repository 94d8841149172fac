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

// mayContinue reports that the provider may use what it has stored of this turn (SRD 1.2.5). For that it must store
// each answer, including the first.
func (r *run) mayContinue() bool {
	return r.e.settings().Continuity && !r.forgotten && len(r.context.Tools()) > 0
}

// continuation is the answer that this request can continue, or nil if everything has to be sent. The provider's
// context is that of the previous step: this context must begin with the same hash.
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

// noteContinuity records in the manifest which part was sent.
func (r *run) noteContinuity(m *prompt.Manifest) {
	switch {
	case r.continues != nil:
		m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)], fmt.Sprintf(
			"Only what is new was sent: the provider has stored the other %s (tools.provider_continuity).", display.Count(r.continues.Messages, "message", "messages")))
	case r.forgotten:
		m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)], "All of it was sent: the provider no longer had the earlier part of this turn.")
	}
}

// forgot reports a refusal because the provider has not stored the answer that the request continues.
func forgot(err error) bool {
	var le *llm.Error
	return errors.As(err, &le) && le.Forgotten
}

// sendWhole ends an attempt that continued an answer forgotten by the provider, and sends the complete request.
func (r *run) sendWhole(ctx context.Context) state {
	if err := r.closeAttempt(); err != nil {
		return r.failWith(ctx, err)
	}
	r.forgotten, r.number = true, r.number-1
	return r.prepare
}
