package turn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
)

// mayContinue reports whether the provider may use what it has stored of this turn (SRD 1.2.5). For that it must store
// each answer, including the first.
func (r *run) mayContinue() bool {
	return r.wantsContinuity() && !r.e.settings().StoreRefused && !r.forgotten
}

// wantsContinuity reports whether the turn could be continued at its provider, as far as the settings and the request go.
func (r *run) wantsContinuity() bool {
	ep := r.model.Endpoint
	return r.e.settings().Continuity && ep.CanContinue && ep.ToolsMode == llm.ToolsEnabled && len(r.context.Tools()) > 0
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
	var previous prompt.Manifest
	if json.Unmarshal(raw, &previous) != nil || previous.Model != r.model.Endpoint.Name || previous.Inputs.ModelID != r.model.Endpoint.ModelID ||
		previous.Inputs.StepIndex != r.index-1 || previous.SHA256 == "" || previous.SHA256 != r.context.HashOfFirst(messages-2) {
		return nil, nil
	}
	return &llm.Continuation{ResponseID: r.response, Messages: messages - 1}, nil
}

// noteSent records in the manifest how much of the context was sent, what the provider may store for it, and what the
// server has refused before.
func (r *run) noteSent(m *prompt.Manifest) {
	if refused := r.model.Endpoint.Refused; len(refused) > 0 {
		m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)],
			"Left out or sent in another form, because the model's server refused it before: "+strings.Join(refused, ", ")+".")
	}
	note := func(text string) { m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)], text) }
	switch {
	case r.wantsContinuity() && r.e.settings().StoreRefused:
		note("Everything was sent and nothing is stored at the provider: openai.store = false takes precedence over tools.provider_continuity.")
	case r.mayContinue() && !r.model.Endpoint.Store:
		note("The provider was asked to store this answer, so that the turn can continue there (tools.provider_continuity).")
	}
	switch {
	case r.continues != nil:
		m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)], fmt.Sprintf(
			"Only what is new was sent: the provider has stored the other %s (tools.provider_continuity).", display.Count(r.continues.Messages, "message", "messages")))
	case r.forgotten:
		m.Notes = append(m.Notes[:len(m.Notes):len(m.Notes)], "Everything was sent: the provider no longer had the earlier part of this turn.")
	}
}

// wasForgotten reports whether a request was refused because the provider has not stored the answer that it continues.
func wasForgotten(err error) bool {
	var le *llm.Error
	return errors.As(err, &le) && le.Forgotten
}

// sendComplete ends an attempt that continued an answer forgotten by the provider, and sends the complete request.
func (r *run) sendComplete(ctx context.Context) state {
	if err := r.closeAttempt(); err != nil {
		return r.failWith(ctx, err)
	}
	r.forgotten, r.number = true, r.number-1
	return r.prepare
}

// refusedPart is the part of a request that its server does not accept; empty: none is known.
func refusedPart(err error) string {
	var le *llm.Error
	if errors.As(err, &le) {
		return le.Refused
	}
	return ""
}

// adapt ends an attempt of which the server refused a part, and sends the request without that part from now on.
func (r *run) adapt(ctx context.Context) state {
	if err := r.closeAttempt(); err != nil {
		return r.failWith(ctx, err)
	}
	part := refusedPart(r.end.cause)
	r.model.Endpoint.Refused = append(slices.Clone(r.model.Endpoint.Refused), part)
	if r.model.Refuses != nil {
		r.model.Refuses(part)
	}
	r.number--
	return r.prepare
}
