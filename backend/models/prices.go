package models

import (
	"cmp"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/llm"
)

// PricesDate is the date of the shipped price list.
const PricesDate = "2026-08-05"

// Price is the price of a model's tokens, in US dollars per million.
type Price struct {
	Input, Cached, Output float64
	// Source is "configured", "server", or "list " and the list's date. All but configured prices are estimates:
	// prices change, and long inputs can cost more.
	Source string
}

// Estimate reports whether the price is not a configured one.
func (p Price) Estimate() bool { return p.Source != chat.PriceConfigured }

// Sources of a price besides chat.PriceConfigured.
const (
	priceServer = "server"
	priceList   = "list " + PricesDate
)

// listed is an entry of the price list: a family of models at one service.
type listed struct {
	service string // a vendor's provider name, or a preset's id
	prefix  string
	input   float64
	cached  float64 // 0: same as input
	output  float64
}

// prices are the services' published prices in US dollars per million tokens, for inputs of normal length. The longest
// matching prefix counts, so later models of a family have its price.
var prices = []listed{
	{config.ProviderAnthropic, "claude-3-5-haiku", 0.8, 0.08, 4},
	{config.ProviderAnthropic, "claude-haiku-4-5", 1, 0.1, 5},
	{config.ProviderAnthropic, "claude-3-7-sonnet", 3, 0.3, 15},
	{config.ProviderAnthropic, "claude-sonnet-4", 3, 0.3, 15},
	{config.ProviderAnthropic, "claude-sonnet-5", 2, 0.2, 10},
	{config.ProviderAnthropic, "claude-opus-4", 15, 1.5, 75},
	{config.ProviderAnthropic, "claude-opus-4-5", 5, 0.5, 25},
	{config.ProviderAnthropic, "claude-opus-4-6", 5, 0.5, 25},
	{config.ProviderAnthropic, "claude-opus-4-7", 5, 0.5, 25},
	{config.ProviderAnthropic, "claude-opus-4-8", 5, 0.5, 25},
	{config.ProviderAnthropic, "claude-fable-5", 10, 1, 50},

	{config.ProviderOpenAI, "gpt-4o", 2.5, 1.25, 10},
	{config.ProviderOpenAI, "gpt-4o-mini", 0.15, 0.075, 0.6},
	{config.ProviderOpenAI, "gpt-4.1", 2, 0.5, 8},
	{config.ProviderOpenAI, "gpt-4.1-mini", 0.4, 0.1, 1.6},
	{config.ProviderOpenAI, "gpt-4.1-nano", 0.1, 0.025, 0.4},
	{config.ProviderOpenAI, "gpt-5", 1.25, 0.125, 10},
	{config.ProviderOpenAI, "gpt-5-mini", 0.25, 0.025, 2},
	{config.ProviderOpenAI, "gpt-5-nano", 0.05, 0.005, 0.4},
	{config.ProviderOpenAI, "gpt-5-pro", 15, 0, 120},
	{config.ProviderOpenAI, "gpt-5.1", 1.25, 0.125, 10},
	{config.ProviderOpenAI, "gpt-5.1-codex-mini", 0.25, 0.025, 2},
	{config.ProviderOpenAI, "gpt-5.2", 1.75, 0.175, 14},
	{config.ProviderOpenAI, "gpt-5.2-pro", 21, 0, 168},
	{config.ProviderOpenAI, "gpt-5.4", 2.5, 0.25, 15},
	{config.ProviderOpenAI, "gpt-5.4-mini", 0.75, 0.075, 4.5},
	{config.ProviderOpenAI, "gpt-5.4-nano", 0.2, 0.02, 1.25},
	{config.ProviderOpenAI, "gpt-5.4-pro", 30, 0, 180},
	{config.ProviderOpenAI, "gpt-5.5", 5, 0.5, 30},
	{config.ProviderOpenAI, "gpt-5.5-pro", 30, 0, 180},
	{config.ProviderOpenAI, "gpt-5.6-sol", 5, 0.5, 30},
	{config.ProviderOpenAI, "gpt-5.6-terra", 2.5, 0.25, 15},
	{config.ProviderOpenAI, "gpt-5.6-luna", 1, 0.1, 6},
	{config.ProviderOpenAI, "o4-mini", 1.1, 0.275, 4.4},

	{"gemini", "gemini-2.5-pro", 1.25, 0.125, 10},
	{"gemini", "gemini-2.5-flash", 0.3, 0.03, 2.5},
	{"gemini", "gemini-2.5-flash-lite", 0.1, 0.01, 0.4},
	{"gemini", "gemini-3-pro", 2, 0, 12},
	{"gemini", "gemini-3-flash", 0.5, 0, 3},
	{"gemini", "gemini-3.1-flash-lite", 0.25, 0.025, 1.5},
	{"gemini", "gemini-3.5-flash", 1.5, 0.15, 9},
	{"gemini", "gemini-3.5-flash-lite", 0.3, 0.03, 2.5},
	{"gemini", "gemini-3.6-flash", 1.5, 0.15, 7.5},

	{"mistral", "mistral-small", 0.1, 0, 0.3},
	{"mistral", "mistral-medium", 0.4, 0, 2},
	{"mistral", "mistral-large", 2, 0, 6},
	{"mistral", "codestral", 0.3, 0, 0.9},
	{"mistral", "magistral-medium", 2, 0, 5},
	{"mistral", "ministral-8b", 0.1, 0, 0.1},
	{"mistral", "ministral-3b", 0.04, 0, 0.04},

	{"deepseek", "deepseek-chat", 0.27, 0, 1.1},
	{"deepseek", "deepseek-reasoner", 0.55, 0, 2.19},
	{"deepseek", "deepseek-v4-flash", 0.14, 0.028, 0.28},
	{"deepseek", "deepseek-v4-pro", 1.74, 0.145, 3.48},

	{"xai", "grok-3", 3, 0.75, 15},
	{"xai", "grok-3-mini", 0.3, 0.075, 0.5},
	{"xai", "grok-4", 3, 0.75, 15},
	{"xai", "grok-4-fast", 0.2, 0.05, 0.5},
	{"xai", "grok-4.3", 1.25, 0.2, 2.5},
	{"xai", "grok-4.5", 2, 0.3, 6},
	{"xai", "grok-code-fast-1", 0.2, 0.02, 1.5},
}

// listPrice returns the listed price of a model at a service. A prefix must end before a hyphen or at the end of the
// id: the price of "gpt-5" says nothing about "gpt-5.9".
func listPrice(service, modelID string) (Price, bool) {
	id := strings.TrimPrefix(strings.ToLower(modelID), "models/")
	var best listed
	for _, l := range prices {
		rest, ok := strings.CutPrefix(id, l.prefix)
		if ok && l.service == service && (rest == "" || strings.HasPrefix(rest, "-")) && len(l.prefix) > len(best.prefix) {
			best = l
		}
	}
	if best.prefix == "" {
		return Price{}, false
	}
	cached := best.cached
	cached = cmp.Or(cached, best.input)
	return Price{Input: best.input, Cached: cached, Output: best.output, Source: priceList}, true
}

// serviceOf returns the service whose price list applies to a model: its vendor, or the preset with its address;
// empty for any other server.
func serviceOf(m config.Model) string {
	name := m.KeyName()
	if name == config.ProviderAnthropic || name == config.ProviderOpenAI {
		return name
	}
	i := slices.IndexFunc(presets, func(p Preset) bool { return !p.Local && p.Host() == name })
	if i < 0 {
		return ""
	}
	return presets[i].ID
}

// Price returns a configured model's price: as configured, as its server reports it, or from the shipped list. If only
// the price of input or of output is configured, the other prices are those of the server or of the list, and the
// source is theirs; the price is not known if they are not.
func (c *Catalog) Price(m config.Model) (Price, bool) {
	if m.PriceInput != 0 && m.PriceOutput != 0 {
		return Price{Input: m.PriceInput, Cached: cmp.Or(m.PriceCached, m.PriceInput), Output: m.PriceOutput, Source: chat.PriceConfigured}, true
	}
	known, ok := c.knownPrice(m)
	if !ok {
		return Price{}, false
	}
	return Price{
		Input: cmp.Or(m.PriceInput, known.Input), Cached: cmp.Or(m.PriceCached, known.Cached), Output: cmp.Or(m.PriceOutput, known.Output),
		Source: known.Source,
	}, true
}

// knownPrice returns a model's price as its server reports it, or from the shipped list, unless estimates are off.
func (c *Catalog) knownPrice(m config.Model) (Price, bool) {
	if !c.d.Config().Cost.Estimate {
		return Price{}, false
	}
	if card, ok := c.learned(m); ok && card.Priced {
		return serverPrice(card), true
	}
	return listPrice(serviceOf(m), m.ModelID)
}

func serverPrice(card llm.ModelCard) Price {
	return Price{Input: card.PriceInput, Cached: card.PriceCached, Output: card.PriceOutput, Source: priceServer}
}

// Of returns the cost of a call by this price.
func (p Price) Of(u chat.Usage) chat.Cost {
	fresh := max(0, u.InputTokens-u.CachedInputTokens)
	return chat.Cost{
		USD:    (float64(fresh)*p.Input + float64(u.CachedInputTokens)*p.Cached + float64(u.OutputTokens)*p.Output) / 1e6,
		Source: p.Source,
	}
}

// Cost returns what a usage of a configured model cost: by the price that was known then, otherwise by today's price,
// which is the zero Cost if it is not known either.
func (c *Catalog) Cost(model string, u chat.Usage) (cost chat.Cost, today bool) {
	if u.Cost.Known() {
		return u.Cost, false
	}
	if m, ok := c.Configured(model); ok {
		cost = c.costNow(m, u)
	}
	return cost, cost.Known()
}

// costNow returns the cost of a usage of a model by its current price; the zero Cost if that is not known.
func (c *Catalog) costNow(m config.Model, u chat.Usage) chat.Cost {
	price, ok := c.Price(m)
	if !ok {
		return chat.Cost{}
	}
	return price.Of(u)
}
