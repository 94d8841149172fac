package llm

import "context"

// ModelLister is a provider that can name the models an endpoint offers. It is
// the cheapest call that proves a key, so the key test in Settings uses it.
type ModelLister interface {
	// ListModels returns model ids in the provider's order. Errors are *Error.
	ListModels(ctx context.Context, ep Endpoint) ([]string, error)
}
