package llm

import "context"

// ModelLister is a provider that can list the models of an endpoint. It is the cheapest call that validates a key, so
// the key test in Settings uses it.
type ModelLister interface {
	// ListModels returns model ids in the provider's order. Errors are *Error.
	ListModels(ctx context.Context, ep Endpoint) ([]string, error)
}

// ModelDescriber is a provider that can describe its models.
type ModelDescriber interface {
	// DescribeModels returns the endpoint's models in its order. Some servers need a request per model for details:
	// they are requested for at most a few dozen, or, if ep.ModelID is set, only for that model. Errors are *Error.
	DescribeModels(ctx context.Context, ep Endpoint) ([]ModelCard, error)
}

// Ability is whether a model supports something, according to its server.
type Ability string

// Abilities.
const (
	AbilityUnknown Ability = ""
	AbilityYes     Ability = "yes"
	AbilityNo      Ability = "no"
)

// AbilityOf converts a boolean to AbilityYes or AbilityNo.
func AbilityOf(able bool) Ability {
	if able {
		return AbilityYes
	}
	return AbilityNo
}

// ModelCard is what a server says about a model. Unknown values are zero.
type ModelCard struct {
	ID string
	// Window is the current context window, input and output. MaxWindow is the one the model was trained for: a local
	// server often runs it with less.
	Window    int
	MaxWindow int
	MaxOutput int
	Images    Ability
	Tools     Ability
	Reasoning Ability
	// Prices in US dollars per million tokens; Priced: the server reports them.
	PriceInput, PriceCached, PriceOutput float64
	Priced                               bool
	// Embeds: the model makes vectors and cannot chat.
	Embeds bool
}
