package cli

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/llm"
	"contextinfinity/backend/models"
)

// PriceInfo returns a price for documents; nil if unknown.
func PriceInfo(p models.Price, known bool) *ModelPrice {
	if !known {
		return nil
	}
	return &ModelPrice{Input: p.Input, Cached: p.Cached, Output: p.Output, Source: p.Source, Estimate: p.Estimate()}
}

// columns formats the prices of input and output; an estimate is marked.
func (p *ModelPrice) columns() (in, out string) {
	if p == nil {
		return "-", "-"
	}
	sign := ""
	if p.Estimate {
		sign = "~"
	}
	return sign + strconv.FormatFloat(p.Input, 'f', -1, 64), sign + strconv.FormatFloat(p.Output, 'f', -1, 64)
}

// abilityWords describes a model's abilities; "?" if none is known.
func abilityWords(images, tools, reasoning string) string {
	var can []string
	for _, a := range []struct{ name, value string }{{"images", images}, {"tools", tools}, {"reasoning", reasoning}} {
		if a.value == string(llm.AbilityYes) {
			can = append(can, a.name)
		}
	}
	switch {
	case len(can) > 0:
		return strings.Join(can, ", ")
	case images+tools+reasoning == "":
		return "?"
	}
	return "text"
}

// offerInfo is a model that a provider offers.
type offerInfo struct {
	ModelID    string      `json:"model_id"`
	Configured string      `json:"configured"` // the name of the configured model for it, or ""
	Window     int         `json:"context_limit"`
	Output     int         `json:"max_output"`
	Images     string      `json:"images"`
	Tools      string      `json:"tools"`
	Reasoning  string      `json:"reasoning"`
	Price      *ModelPrice `json:"price,omitempty"`
}

type offersReply struct {
	Provider string      `json:"provider"`
	Models   []offerInfo `json:"models"`
}

func (c *call) modelsListCommand() *cobra.Command {
	var provider, search string
	cmd := &cobra.Command{
		Use: "list", Short: "List all models of a provider or server", Args: exactly(),
		Long: "Asks a provider or server for its models, their limits and what they can do. Without --provider it lists the\n" +
			"configured models. The key kept for the provider is sent to it, and nothing else.",
	}
	cmd.Flags().StringVar(&provider, "provider", "", "one of: contextinfinity models providers")
	cmd.Flags().StringVar(&search, "search", "", "only models whose id contains these words")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		setup, err := c.setup(ctx)
		if err != nil {
			return reply{}, err
		}
		if provider == "" {
			doc := modelsReply{[]ModelInfo{}}
			for _, m := range modelInfos(ctx, setup.Models) {
				if containsWords(m.Name+" "+m.ModelID, search) {
					doc.Models = append(doc.Models, m)
				}
			}
			return reply{doc: doc, text: doc.print}, nil
		}
		offers, err := setup.Models.Offers(ctx, provider)
		doc := offersReply{Provider: provider, Models: []offerInfo{}}
		for _, o := range offers {
			if !containsWords(o.ID, search) {
				continue
			}
			doc.Models = append(doc.Models, offerInfo{
				ModelID: o.ID, Configured: o.Configured, Window: o.Window, Output: o.MaxOutput, Images: string(o.Images), Tools: string(o.Tools),
				Reasoning: string(o.Reasoning), Price: PriceInfo(o.Price, o.Priced),
			})
		}
		return reply{doc: doc, text: doc.print}, err
	})
	return cmd
}

// containsWords reports whether a text contains all words, in any order, ignoring case.
func containsWords(text, words string) bool {
	for word := range strings.FieldsSeq(strings.ToLower(words)) {
		if !strings.Contains(strings.ToLower(text), word) {
			return false
		}
	}
	return true
}

func (r offersReply) print(o *output) {
	t := newTable("MODEL", "WINDOW", "OUTPUT", "IN $/M", "OUT $/M", "CAN", "CONFIGURED AS").numbers(1, 2, 3, 4)
	for _, m := range r.Models {
		in, out := m.Price.columns()
		t.add(m.ModelID, tokensOrUnknown(m.Window), tokensOrUnknown(m.Output), in, out, abilityWords(m.Images, m.Tools, m.Reasoning), m.Configured)
	}
	t.print(o)
}

func tokensOrUnknown(n int) string {
	if n == 0 {
		return "?"
	}
	return count(n)
}

type placeInfo struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Protocol string `json:"protocol"`
	BaseURL  string `json:"base_url"`
	Env      string `json:"env"`
	Local    bool   `json:"local"`
	Note     string `json:"note,omitempty"`
}

type placesReply struct {
	Providers []placeInfo `json:"providers"`
}

func (c *call) modelsProvidersCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "providers", Short: "List the providers and servers that can be asked for models now", Args: exactly(),
		Long: "Lists providers for which there is a key, servers of configured models, and servers that answer on this computer.",
	}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		setup, err := c.setup(ctx)
		if err != nil {
			return reply{}, err
		}
		doc := placesReply{[]placeInfo{}}
		for _, p := range setup.Models.Places(ctx) {
			doc.Providers = append(doc.Providers, placeInfo{ID: p.ID, Name: p.Name, Protocol: p.Protocol, BaseURL: p.BaseURL, Env: p.Env, Local: p.Local})
		}
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

func (c *call) modelsPresetsCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "presets", Short: "List the providers and servers that can be added by name", Args: exactly()}
	cmd.RunE = c.run(func(context.Context, []string) (reply, error) {
		doc := placesReply{[]placeInfo{}}
		for _, p := range models.Presets() {
			doc.Providers = append(doc.Providers, placeInfo{ID: p.ID, Name: p.Name, Protocol: p.Protocol, BaseURL: p.BaseURL, Env: p.Env, Local: p.Local, Note: p.Note})
		}
		return reply{doc: doc, text: doc.print}, nil
	})
	return cmd
}

func (r placesReply) print(o *output) {
	if len(r.Providers) == 0 {
		o.printf("There is no provider with a key, and no model server answers on this computer.\n")
		return
	}
	t := newTable("PROVIDER", "NAME", "PROTOCOL", "ADDRESS", "KEY VARIABLE")
	for _, p := range r.Providers {
		address := cmp.Or(p.BaseURL, "its own")
		t.add(p.ID, p.Name, p.Protocol, address, p.Env)
	}
	t.print(o)
	for _, p := range r.Providers {
		if p.Note != "" {
			o.printf("%s: %s\n", p.Name, p.Note)
		}
	}
}

type addedReply struct {
	Name string `json:"name"`
}

func (c *call) modelsAddCommand() *cobra.Command {
	var provider, name string
	cmd := &cobra.Command{
		Use: "add MODEL", Short: "Add a model of a provider or server to the configuration", Args: exactly("MODEL"),
		Long: "Writes a model into config.toml, with the address and protocol of its provider. MODEL is the provider's id for it;\n" +
			"models list --provider shows them. A model that is already configured is not added again.",
	}
	cmd.Flags().StringVar(&provider, "provider", "", "one of: contextinfinity models presets, or models providers")
	cmd.Flags().StringVar(&name, "name", "", "its name (default: made from its id)")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if provider == "" {
			return reply{}, usageHint("contextinfinity models presets lists them", "models add needs --provider.")
		}
		setup, err := c.setup(ctx)
		if err != nil {
			return reply{}, err
		}
		added, err := setup.Models.Add(ctx, setup.Config, provider, args[0], name)
		return reply{doc: addedReply{added}, text: func(o *output) { o.printf("%s\n", line(added)) }}, err
	})
	return cmd
}
