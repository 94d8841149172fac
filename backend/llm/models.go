package llm

import "context"

// ModelLister is a provider that can name the models an endpoint offers. It is
// the cheapest call that proves a key, so the key test in Settings uses it.
type ModelLister interface {
	// ListModels returns model ids in the provider's order. Errors are *Error.
	ListModels(ctx context.Context, ep Endpoint) ([]string, error)
}

// ModelDescriber is a provider that can say more of its models than their names.
type ModelDescriber interface {
	// DescribeModels returns the endpoint's models in its order. Some servers tell the
	// details of each model at an address of its own: these are asked for at most a few
	// dozen, or, where ep.ModelID is set, for that model alone. Errors are *Error.
	DescribeModels(ctx context.Context, ep Endpoint) ([]ModelCard, error)
}

// Ability is whether a model can do something, as its server says.
type Ability string

// Abilities.
const (
	AbilityUnknown Ability = ""
	AbilityYes     Ability = "yes"
	AbilityNo      Ability = "no"
)

// AbilityOf is what a server says with true or false.
func AbilityOf(able bool) Ability {
	if able {
		return AbilityYes
	}
	return AbilityNo
}

// ModelCard is what a server says of a model. What it does not say is zero.
type ModelCard struct {
	ID string
	// Window is how many tokens one call holds now, in and out. MaxWindow is what the model
	// was trained for: a local server often runs it with less.
	Window    int
	MaxWindow int
	MaxOutput int
	Images    Ability
	Tools     Ability
	Reasoning Ability
	// Prices in US dollars per million tokens; Priced: the server names them.
	PriceInput, PriceCached, PriceOutput float64
	Priced                               bool
	// Embeds: the model makes vectors and cannot hold a conversation.
	Embeds bool
}
