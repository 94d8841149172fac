package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// Limits for a list of models: bytes per page, number of models, and the length of an id, which is shown and written
// into the configuration.
const (
	maxListing  = 16 << 20
	maxModels   = 5_000
	maxModelID  = 200
	maxWindow   = 100_000_000
	maxPriceUSD = 1e6
)

// Cards reads a listing of the form {"data":[{"id":...}]}, Ollama's {"models":[{"name":...}]} or a plain list, with
// everything that known servers report about a model, and returns where the next page starts. Fields of an unexpected
// type count as missing.
func (s Server) Cards(ctx context.Context, path string) (cards []llm.ModelCard, owners []string, next string, err error) {
	data, err := s.fetch(ctx, http.MethodGet, path, nil, maxListing)
	if err != nil {
		return nil, nil, "", err
	}
	var page struct {
		Data    []json.RawMessage `json:"data"`
		Models  []json.RawMessage `json:"models"`
		HasMore bool              `json:"has_more"`
		LastID  string            `json:"last_id"`
	}
	data = bytes.TrimSpace(data)
	if json.Unmarshal(data, &page) != nil && json.Unmarshal(data, &page.Data) != nil {
		return nil, nil, "", &llm.Error{Code: chat.CodeProvider, Message: "the list of models could not be read; check the address of the server"}
	}
	for _, raw := range append(page.Data, page.Models...) {
		if len(cards) == maxModels {
			break
		}
		e := readEntry(raw)
		if card := s.card(e); card.ID != "" {
			cards, owners = append(cards, card), append(owners, e.text("owned_by"))
		}
	}
	if page.HasMore {
		next = page.LastID
	}
	return cards, owners, next, nil
}

// Models returns the ids of Cards.
func (s Server) Models(ctx context.Context, path string) (ids []string, next string, err error) {
	cards, _, next, err := s.Cards(ctx, path)
	for _, c := range cards {
		ids = append(ids, c.ID)
	}
	return ids, next, err
}

// Root returns the server with its Base shortened by the version at its end: local servers describe their models there.
func (s Server) Root() Server {
	address, query, has := strings.Cut(s.Base, "?")
	if s.Base = strings.TrimSuffix(strings.TrimRight(address, "/"), "/v1"); has {
		s.Base += "?" + query
	}
	return s
}

// Get returns a response body, of which it reads at most this many bytes.
func (s Server) Get(ctx context.Context, path string, limit int64) ([]byte, error) {
	return s.fetch(ctx, http.MethodGet, path, nil, limit)
}

// entry is one model of a listing, by field.
type entry map[string]json.RawMessage

func readEntry(raw []byte) entry {
	var e entry
	_ = json.Unmarshal(raw, &e)
	return e
}

func (e entry) text(name string) string {
	var s string
	_ = json.Unmarshal(e[name], &s)
	return s
}

func (e entry) object(name string) entry { return readEntry(e[name]) }

func (e entry) list(name string) (out []string, ok bool) {
	return out, e[name] != nil && json.Unmarshal(e[name], &out) == nil && out != nil
}

// tokens returns the first field with a plausible number of tokens.
func (e entry) tokens(names ...string) int {
	for _, name := range names {
		var n float64
		if json.Unmarshal(e[name], &n) == nil && n >= 1 && n <= maxWindow {
			return int(n)
		}
	}
	return 0
}

// price reads a number of dollars, possibly in a string; scale converts it to a price per million tokens.
func (e entry) price(name string, scale float64) (float64, bool) {
	var n float64
	if e[name] == nil {
		return 0, false
	}
	if json.Unmarshal(e[name], &n) != nil {
		var err error
		if n, err = strconv.ParseFloat(e.text(name), 64); err != nil {
			return 0, false
		}
	}
	// Rounded to the precision of prices, otherwise a dollar per million tokens becomes 0.9999999.
	n = math.Round(n*scale*1e6) / 1e6
	return n, n >= 0 && n <= maxPriceUSD
}

func (s Server) card(e entry) llm.ModelCard {
	id := e.text("id")
	if id == "" {
		id = e.text("name")
	}
	id = string(redactAll([]byte(id), s.Endpoint.Secrets()))
	if len(id) > maxModelID || strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return llm.ModelCard{}
	}
	c := llm.ModelCard{
		ID:        id,
		Window:    e.tokens("context_length", "context_window", "max_model_len", "max_context_length", "max_input_tokens"),
		MaxOutput: e.tokens("max_completion_tokens", "max_output_tokens", "max_tokens"),
		Embeds:    e.text("type") == "embedding" || e.text("type") == "embeddings",
	}
	if n := e.object("top_provider").tokens("max_completion_tokens"); n > 0 {
		c.MaxOutput = n
	}
	e.abilities(&c)
	e.prices(&c)
	return c
}

// abilities reads OpenRouter's lists, Mistral's object and the lists of local servers.
func (e entry) abilities(c *llm.ModelCard) {
	if in, ok := e.object("architecture").list("input_modalities"); ok {
		c.Images = llm.AbilityOf(slices.Contains(in, "image"))
	}
	if params, ok := e.list("supported_parameters"); ok {
		c.Tools, c.Reasoning = llm.AbilityOf(slices.Contains(params, "tools")), llm.AbilityOf(slices.Contains(params, "reasoning"))
	}
	if list, ok := e.list("capabilities"); ok {
		Abilities(c, list)
		return
	}
	for name, raw := range e.object("capabilities") {
		var yes bool
		if json.Unmarshal(raw, &yes) != nil {
			continue
		}
		switch name {
		case "vision":
			c.Images = llm.AbilityOf(yes)
		case "function_calling":
			c.Tools = llm.AbilityOf(yes)
		case "reasoning":
			c.Reasoning = llm.AbilityOf(yes)
		}
	}
}

// Abilities reads a list of everything a model can do, as local servers return it.
func Abilities(c *llm.ModelCard, list []string) {
	has := func(names ...string) llm.Ability {
		return llm.AbilityOf(slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) }))
	}
	c.Images, c.Tools, c.Reasoning = has("vision"), has("tools", "tool_use"), has("thinking", "reasoning")
	c.Embeds = slices.Contains(list, "embedding") && !slices.Contains(list, "completion")
}

// prices reads OpenRouter's prices, in dollars per token, and Together's, in dollars per million tokens.
func (e entry) prices(c *llm.ModelCard) {
	p := e.object("pricing")
	in, ok := p.price("prompt", 1e6)
	out, ok2 := p.price("completion", 1e6)
	cached, known := p.price("input_cache_read", 1e6)
	if !ok || !ok2 {
		if in, ok = p.price("input", 1); !ok {
			return
		}
		if out, ok = p.price("output", 1); !ok {
			return
		}
		cached, known = p.price("cached_input", 1)
	}
	if !known {
		cached = in
	}
	c.PriceInput, c.PriceOutput, c.PriceCached, c.Priced = in, out, cached, true
}
