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

// Bounds of what local servers are asked beyond their listing.
const (
	maxDetailed = 40      // models, each a request of its own
	maxDetails  = 4 << 20 // bytes of one answer; templates and licences are in it
	asked       = 4       // at the same time
)

// unloadedWindow is what Ollama and LM Studio run a model with unless they are told
// otherwise. Both cut longer prompts without saying so: too small costs memory, too large loses text.
const unloadedWindow = 4096

// DescribeModels implements llm.ModelDescriber. What kind of server it is follows from who it says owns
// its models; one that is none of the known is asked for nothing but its listing.
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

// kindOf is the kind of a server by the owner of its models, or by the port that only one kind has.
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

// fetched is one optional answer: where it fails, the server does not say.
func fetched(ctx context.Context, s wire.Server, path string, body any) (out map[string]json.RawMessage) {
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

// ollama asks /api/show of each model, and /api/ps for the window of those that are loaded.
func ollama(ctx context.Context, s wire.Server, only string, cards []llm.ModelCard) {
	loaded := map[string]int{}
	var running []struct {
		Name, Model   string
		ContextLength int `json:"context_length"`
	}
	_ = json.Unmarshal(fetched(ctx, s, "/api/ps", nil)["models"], &running)
	for _, r := range running {
		loaded[r.Name], loaded[r.Model] = r.ContextLength, r.ContextLength
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, asked)
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
			ollamaModel(fetched(ctx, s, "/api/show", map[string]string{"model": c.ID}), loaded[c.ID], c)
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
			c.MaxWindow = whole(raw)
		}
	}
	var parameters string
	_ = json.Unmarshal(show["parameters"], &parameters)
	set := 0
	if found := numCtx.FindStringSubmatch(parameters); found != nil {
		set, _ = strconv.Atoi(found[1])
	}
	switch {
	case bounded(loaded) > 0:
		c.Window = loaded
	case bounded(set) > 0:
		c.Window = set
	case c.MaxWindow > 0:
		c.Window = min(unloadedWindow, c.MaxWindow)
	}
}

// lmStudio reads the listing of its own interface, which the compatible one lacks.
func lmStudio(ctx context.Context, s wire.Server, cards []llm.ModelCard) {
	var models []struct {
		ID           string
		Type         string
		Loaded       json.RawMessage `json:"loaded_context_length"`
		Max          json.RawMessage `json:"max_context_length"`
		Capabilities []string
	}
	_ = json.Unmarshal(fetched(ctx, s, "/api/v0/models", nil)["data"], &models)
	for _, m := range models {
		i := slices.IndexFunc(cards, func(c llm.ModelCard) bool { return c.ID == m.ID })
		if i < 0 {
			continue
		}
		c := &cards[i]
		c.MaxWindow = whole(m.Max)
		c.Window = whole(m.Loaded)
		if c.Window == 0 && c.MaxWindow > 0 {
			c.Window = min(unloadedWindow, c.MaxWindow)
		}
		if m.Capabilities != nil {
			wire.Abilities(c, m.Capabilities)
			c.Reasoning = llm.AbilityUnknown // it is not among what this list names
		}
		c.Images = llm.AbilityOf(m.Type == "vlm")
		c.Embeds = m.Type == "embeddings"
	}
}

// llamaCpp has one model, and says at /props what it was started with.
func llamaCpp(ctx context.Context, s wire.Server, cards []llm.ModelCard) {
	if len(cards) != 1 {
		return // a router of several: its properties are of none of them
	}
	props := fetched(ctx, s, "/props", nil)
	var settings, modalities, template map[string]json.RawMessage
	_ = json.Unmarshal(props["default_generation_settings"], &settings)
	_ = json.Unmarshal(props["modalities"], &modalities)
	_ = json.Unmarshal(props["chat_template_caps"], &template)
	c := &cards[0]
	if n := whole(settings["n_ctx"]); n > 0 {
		c.Window = n
	}
	var yes bool
	if json.Unmarshal(modalities["vision"], &yes) == nil {
		c.Images = llm.AbilityOf(yes)
	}
	if json.Unmarshal(template["supports_tools"], &yes) == nil {
		c.Tools = llm.AbilityOf(yes)
	}
}

// whole is a number of tokens, 0 for what is none.
func whole(raw json.RawMessage) int {
	var n int
	if json.Unmarshal(raw, &n) != nil {
		return 0
	}
	return bounded(n)
}

func bounded(n int) int {
	if n < 1 || n > 100_000_000 {
		return 0
	}
	return n
}
