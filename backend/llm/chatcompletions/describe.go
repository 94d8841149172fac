package chatcompletions

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"contextinfinity/backend/internal/wire"
	"contextinfinity/backend/llm"
)

// Limits for requests to local servers beyond their listing.
const (
	maxDetailed = 40      // models, each with its own request
	maxDetails  = 4 << 20 // bytes per response, which includes templates and licences
	maxRequests = 4       // at the same time
)

// unloadedWindow is the default window of Ollama and LM Studio. Both silently cut longer prompts: a value that is too
// small costs memory, one that is too large loses text.
const unloadedWindow = 4096

// DescribeModels implements llm.ModelDescriber. The kind of server is derived from the owner of its models; an
// unknown kind is only asked for its listing.
func (p *Provider) DescribeModels(ctx context.Context, ep llm.Endpoint) ([]llm.ModelCard, error) {
	server, err := wire.OpenAI(p.client, ep)
	if err != nil {
		return nil, err
	}
	cards, owners, _, err := server.Cards(ctx, "/models")
	if err != nil {
		return nil, err
	}
	switch kindOf(server.Base, owners) {
	case kindOllama:
		ollama(ctx, server.Root(), ep.ModelID, cards)
	case kindLMStudio:
		lmStudio(ctx, server.Root(), cards)
	case kindLlamaCpp:
		llamaCpp(ctx, server.Root(), cards)
	}
	return cards, nil
}

type kind int

const (
	kindOther kind = iota
	kindOllama
	kindLMStudio
	kindLlamaCpp
)

// kindOf returns the kind of a server, derived from the owner of its models or from its port.
func kindOf(base string, owners []string) kind {
	has := func(owner string) bool { return slices.Contains(owners, owner) }
	u, err := url.Parse(base)
	port := ""
	if err == nil {
		port = u.Port()
	}
	switch {
	case has("llamacpp"):
		return kindLlamaCpp
	case has("organization_owner") && port == "1234":
		return kindLMStudio
	case has("library"), port == "11434":
		return kindOllama
	case has("organization_owner"):
		return kindLMStudio
	}
	return kindOther
}

// fetch returns an optional response; an error counts as no information.
func fetch(ctx context.Context, s wire.Server, path string, body any) (out map[string]json.RawMessage) {
	var data []byte
	var err error
	if body == nil {
		data, err = s.Get(ctx, path, maxDetails)
	} else {
		raw, _ := json.Marshal(body)
		data, err = s.Post(ctx, path, raw, maxDetails)
	}
	if err == nil {
		_ = json.Unmarshal(data, &out)
	}
	return out
}

var numCtx = regexp.MustCompile(`(?m)^num_ctx\s+(\d{1,9})\s*$`)

// ollama requests /api/show for each model, and /api/ps for the window of loaded models.
func ollama(ctx context.Context, s wire.Server, only string, cards []llm.ModelCard) {
	loaded := map[string]int{}
	var running []struct {
		Name, Model   string
		ContextLength int `json:"context_length"`
	}
	_ = json.Unmarshal(fetch(ctx, s, "/api/ps", nil)["models"], &running)
	for _, r := range running {
		loaded[r.Name], loaded[r.Model] = r.ContextLength, r.ContextLength
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxRequests)
	n := 0
	for i := range cards {
		c := &cards[i]
		if only != "" && c.ID != only || n == maxDetailed {
			continue
		}
		n++
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			ollamaModel(fetch(ctx, s, "/api/show", map[string]string{"model": c.ID}), loaded[c.ID], c)
		})
	}
	wg.Wait()
}

func ollamaModel(show map[string]json.RawMessage, loaded int, c *llm.ModelCard) {
	var list []string
	if json.Unmarshal(show["capabilities"], &list) == nil && len(list) > 0 {
		wire.Abilities(c, list)
	}
	var info map[string]json.RawMessage
	_ = json.Unmarshal(show["model_info"], &info)
	for name, raw := range info {
		if strings.HasSuffix(name, ".context_length") {
			c.MaxWindow = tokenCount(raw)
		}
	}
	var parameters string
	_ = json.Unmarshal(show["parameters"], &parameters)
	configured := 0
	if match := numCtx.FindStringSubmatch(parameters); match != nil {
		configured, _ = strconv.Atoi(match[1])
	}
	switch {
	case bounded(loaded) > 0:
		c.Window = loaded
	case bounded(configured) > 0:
		c.Window = configured
	case c.MaxWindow > 0:
		c.Window = min(unloadedWindow, c.MaxWindow)
	}
}

// lmStudio reads the listing of LM Studio's own API, which has more than the compatible one.
func lmStudio(ctx context.Context, s wire.Server, cards []llm.ModelCard) {
	var models []struct {
		ID           string
		Type         string
		Loaded       json.RawMessage `json:"loaded_context_length"`
		Max          json.RawMessage `json:"max_context_length"`
		Capabilities []string
	}
	_ = json.Unmarshal(fetch(ctx, s, "/api/v0/models", nil)["data"], &models)
	for _, m := range models {
		i := slices.IndexFunc(cards, func(c llm.ModelCard) bool { return c.ID == m.ID })
		if i < 0 {
			continue
		}
		c := &cards[i]
		c.MaxWindow = tokenCount(m.Max)
		c.Window = tokenCount(m.Loaded)
		if c.Window == 0 && c.MaxWindow > 0 {
			c.Window = min(unloadedWindow, c.MaxWindow)
		}
		if m.Capabilities != nil {
			wire.Abilities(c, m.Capabilities)
			c.Reasoning = llm.AbilityUnknown // the list does not mention it
		}
		c.Images = llm.AbilityOf(m.Type == "vlm")
		c.Embeds = m.Type == "embeddings"
	}
}

// llamaCpp requests /props, with the parameters of the only model of llama.cpp.
func llamaCpp(ctx context.Context, s wire.Server, cards []llm.ModelCard) {
	if len(cards) != 1 {
		return // a router of several models: its properties belong to none of them
	}
	props := fetch(ctx, s, "/props", nil)
	var settings, modalities, template map[string]json.RawMessage
	_ = json.Unmarshal(props["default_generation_settings"], &settings)
	_ = json.Unmarshal(props["modalities"], &modalities)
	_ = json.Unmarshal(props["chat_template_caps"], &template)
	c := &cards[0]
	if n := tokenCount(settings["n_ctx"]); n > 0 {
		c.Window = n
	}
	var supported bool
	if json.Unmarshal(modalities["vision"], &supported) == nil {
		c.Images = llm.AbilityOf(supported)
	}
	if json.Unmarshal(template["supports_tools"], &supported) == nil {
		c.Tools = llm.AbilityOf(supported)
	}
}

// tokenCount returns a number of tokens, 0 if invalid.
func tokenCount(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return bounded(n)
}

// bounded returns a plausible number of tokens unchanged, and 0 for any other.
func bounded(n int) int {
	if n < 1 || n > 100_000_000 {
		return 0
	}
	return n
}
