package config

import (
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/internal/lists"
)

func names(models []Model) []string {
	return lists.Map(models, func(m Model) string { return m.Name })
}

func keys(have ...string) HaveKey {
	return func(name, env string) bool { return slices.Contains(have, name) || slices.Contains(have, env) }
}

func TestBuiltInModelsFollowTheKeys(t *testing.T) {
	own := "[models.mine]\nprovider = \"anthropic\"\nmodel_id = \"x\"\n[models.mini]\nprovider = \"chatcompletions\"\nmodel_id = \"y\"\nbase_url = \"http://h:1\"\n"
	cases := []struct {
		name, text string
		have       HaveKey
		models     []string
		byDefault  string
	}{
		{"nothing at all", "", nil, []string{"recall"}, "recall"},
		{"a stored key", "", keys("anthropic"), []string{"sonnet", "haiku", "recall"}, "sonnet"},
		{"a variable", "", keys("OPENAI_API_KEY"), []string{"gpt", "mini", "recall"}, "gpt"},
		{"both", "", keys("anthropic", "openai"), []string{"sonnet", "haiku", "gpt", "mini", "recall"}, "sonnet"},
		{"own anthropic, own name", own, keys("anthropic", "openai"), []string{"mine", "mini", "gpt", "recall"}, "mine"},
		{"own, no key", own, nil, []string{"mine", "mini", "recall"}, "mini"},
		{"chosen", "[general]\ndefault_model = \"gpt\"\n", keys("anthropic", "openai"), []string{"sonnet", "haiku", "gpt", "mini", "recall"}, "gpt"},
		{"chosen, key gone", "[general]\ndefault_model = \"gpt\"\n", nil, []string{"recall"}, "recall"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg, err := Parse("c.toml", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if got := names(cfg.Models(c.have)); !slices.Equal(got, c.models) {
				t.Errorf("models %v, want %v", got, c.models)
			}
			if got := cfg.DefaultModel(c.have).Name; got != c.byDefault {
				t.Errorf("default %s, want %s", got, c.byDefault)
			}
		})
	}
}

// A vendor's key is never sent to another server automatically.
func TestKeysBelongToServers(t *testing.T) {
	cases := []struct {
		m         Model
		name, env string
		needs     bool
	}{
		{Model{Provider: "anthropic"}, "anthropic", "ANTHROPIC_API_KEY", true},
		{Model{Provider: "openai", APIKeyEnv: "MY_KEY"}, "openai", "MY_KEY", true},
		{Model{Provider: "chatcompletions", BaseURL: "https://API.openai.com/v1"}, "openai", "OPENAI_API_KEY", true},
		{Model{Provider: "openai", BaseURL: "http://127.0.0.1:8080/v1"}, "127.0.0.1:8080", "", false},
		{Model{Provider: "anthropic", BaseURL: "https://gate.example", APIKeyEnv: "GATE"}, "gate.example", "GATE", true},
		{Model{Provider: "anthropic", BaseURL: "https://api.anthropic.com.evil.example"}, "api.anthropic.com.evil.example", "", false},
		{recallModel, "", "", false},
	}
	for _, c := range cases {
		if c.m.KeyName() != c.name || c.m.KeyEnv() != c.env || c.m.NeedsKey() != c.needs {
			t.Errorf("%+v: %q %q %v", c.m, c.m.KeyName(), c.m.KeyEnv(), c.m.NeedsKey())
		}
	}
	if ok, why := (Model{Provider: "anthropic"}).Usable(nil); ok || why.String() != "No key: paste one in the settings or set ANTHROPIC_API_KEY." {
		t.Errorf("%v %q", ok, why)
	}
	if ok, why := (Model{Provider: "chatcompletions", BaseURL: "http://h:1", KeyRequired: true}).Usable(nil); ok || !strings.Contains(why.String(), "key_required = false") {
		t.Errorf("%v %q", ok, why)
	}
}

func TestLibrarianModel(t *testing.T) {
	all := keys("anthropic", "openai")
	local := Model{Name: "l", Provider: "chatcompletions", ModelID: "q", BaseURL: "http://h:1", Stream: true}
	text := func(s string) string { return "[librarian]\nmodel = \"" + s + "\"\n" }
	cases := []struct {
		name, text string
		turn       Model
		have       HaveKey
		want       string
	}{
		{"auto, anthropic", "", Model{Provider: "anthropic", ModelID: "big"}, all, "haiku"},
		{"auto, openai", "", Model{Provider: "openai", ModelID: "big"}, all, "mini"},
		{"auto, no key", "", Model{Provider: "openai", ModelID: "big"}, nil, ""},
		{"auto, own server", "", local, nil, "l"},
		{"auto, recall", "", recallModel, all, ""},
		{"none", text(""), Model{Provider: "openai"}, all, ""},
		{"named", text("gpt"), recallModel, all, "gpt"},
		{"named, key gone", text("gpt"), recallModel, nil, ""},
	}
	for _, c := range cases {
		cfg, err := Parse("c.toml", []byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		m, ok := cfg.LibrarianModel(c.turn, c.have)
		if ok != (c.want != "") || ok && m.Name != c.want {
			t.Errorf("%s: %v %s", c.name, ok, m.Name)
		}
	}
}

func TestModelsAreInFileOrder(t *testing.T) {
	cfg, err := Parse("c.toml", []byte("[models]\nz = { provider = \"recall\" }\n[models.a]\nprovider = \"recall\"\n[models.m.provider_options]\nx = 1\n[models.m]\nprovider = \"recall\"\n"))
	if err != nil || !slices.Equal(names(cfg.Configured), []string{"z", "a", "m"}) {
		t.Fatalf("%v, %v", names(cfg.Configured), err)
	}
}

func TestEmbedding(t *testing.T) {
	cases := []struct {
		name, text string
		want       Embedding
	}{
		{"nothing at all", "", Embedding{Embedder: EmbedderLocal}},
		{"local has no server", "embedding_model = \"x\"\nembedding_base_url = \"http://h:1\"", Embedding{Embedder: EmbedderLocal}},
		{"OpenAI", "embedder = \"openai\"", Embedding{
			Embedder: EmbedderOpenAI, Model: "text-embedding-3-small", KeyName: "openai", KeyEnv: "OPENAI_API_KEY",
		}},
		{"a server of its protocol", "embedder = \"openai\"\nembedding_base_url = \"http://h:1/v1\"\nembedding_model = \"m\"\nembedding_dimension = 256", Embedding{
			Embedder: EmbedderOpenAI, Model: "m", BaseURL: "http://h:1/v1", KeyName: "h:1", Dimension: 256,
		}},
		{"a variable of its own", "embedder = \"openai\"\nembedding_api_key_env = \"MY_KEY\"", Embedding{
			Embedder: EmbedderOpenAI, Model: "text-embedding-3-small", KeyName: "openai", KeyEnv: "MY_KEY",
		}},
		{"Ollama", "embedder = \"ollama\"", Embedding{Embedder: EmbedderOllama, Model: "nomic-embed-text"}},
		{"Ollama with a model", "embedder = \"ollama\"\nembedding_model = \"bge-m3\"", Embedding{Embedder: EmbedderOllama, Model: "bge-m3"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cfg, _, err := parse("config.toml", []byte("[retrieval]\n"+c.text+"\n"))
			if err != nil {
				t.Fatal(err)
			}
			if got := cfg.Embedding(); got != c.want {
				t.Errorf("%+v, want %+v", got, c.want)
			}
		})
	}
}
