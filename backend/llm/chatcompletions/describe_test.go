package chatcompletions_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/chatcompletions"
)

// described returns the cards of a server with a response for each path; other paths are not found.
func described(t *testing.T, answers map[string]string, ep llm.Endpoint) ([]llm.ModelCard, []string, error) {
	t.Helper()
	var requested []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requested = append(requested, r.URL.Path)
		body, ok := answers[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	ep.Provider, ep.BaseURL = "chatcompletions", server.URL+"/v1"
	client := &http.Client{}
	defer client.CloseIdleConnections()
	cards, err := chatcompletions.New(client).DescribeModels(t.Context(), ep)
	return cards, requested, err
}

func TestDescribeModels(t *testing.T) {
	const yes, no = llm.AbilityYes, llm.AbilityNo
	for name, c := range map[string]struct {
		answers map[string]string
		want    llm.ModelCard
	}{
		"OpenRouter": {
			map[string]string{"/v1/models": `{"data":[{"id":"m","context_length":200000,"architecture":{"input_modalities":["text","image"]},
				"supported_parameters":["tools","temperature"],"top_provider":{"max_completion_tokens":64000},
				"pricing":{"prompt":"0.000003","completion":"0.000015","input_cache_read":"0.0000003"}}]}`},
			llm.ModelCard{ID: "m", Window: 200000, MaxOutput: 64000, Images: yes, Tools: yes, Reasoning: no, PriceInput: 3, PriceOutput: 15, PriceCached: 0.3, Priced: true},
		},
		"vLLM": {
			map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"vllm","max_model_len":32768}]}`},
			llm.ModelCard{ID: "m", Window: 32768},
		},
		"Groq":    {map[string]string{"/v1/models": `{"data":[{"id":"m","context_window":131072,"max_completion_tokens":8192}]}`}, llm.ModelCard{ID: "m", Window: 131072, MaxOutput: 8192}},
		"Mistral": {map[string]string{"/v1/models": `{"data":[{"id":"m","max_context_length":131072,"capabilities":{"vision":true,"function_calling":false}}]}`}, llm.ModelCard{ID: "m", Window: 131072, Images: yes, Tools: no}},
		"Together, a bare list": {
			map[string]string{"/v1/models": `[{"id":"m","context_length":8192,"pricing":{"input":0.2,"output":0.6}}]`},
			llm.ModelCard{ID: "m", Window: 8192, PriceInput: 0.2, PriceOutput: 0.6, PriceCached: 0.2, Priced: true},
		},
		"llama.cpp": {
			map[string]string{
				"/v1/models": `{"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx_train":131072}}]}`,
				"/props":     `{"default_generation_settings":{"n_ctx":16384},"modalities":{"vision":false},"chat_template_caps":{"supports_tools":true}}`,
			},
			llm.ModelCard{ID: "m", Window: 16384, Images: no, Tools: yes},
		},
		"LM Studio, loaded": {
			map[string]string{
				"/v1/models":     `{"data":[{"id":"m","owned_by":"organization_owner"}]}`,
				"/api/v0/models": `{"data":[{"id":"m","type":"vlm","loaded_context_length":12000,"max_context_length":131072,"capabilities":["tool_use"]}]}`,
			},
			llm.ModelCard{ID: "m", Window: 12000, MaxWindow: 131072, Images: yes, Tools: yes},
		},
		"Ollama, loaded": {
			map[string]string{
				"/v1/models": `{"data":[{"id":"m","owned_by":"library"}]}`,
				"/api/show":  `{"capabilities":["completion","tools"],"model_info":{"llama.context_length":131072}}`,
				"/api/ps":    `{"models":[{"name":"m","context_length":32768}]}`,
			},
			llm.ModelCard{ID: "m", Window: 32768, MaxWindow: 131072, Images: no, Tools: yes, Reasoning: no},
		},
		"Ollama, its size set": {
			map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"library"}]}`, "/api/show": `{"parameters":"stop \"x\"\nnum_ctx   16384","model_info":{"llama.context_length":131072}}`},
			llm.ModelCard{ID: "m", Window: 16384, MaxWindow: 131072},
		},
		"Ollama, not loaded": {
			map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"library"}]}`, "/api/show": `{"capabilities":["embedding"],"model_info":{"bert.context_length":131072}}`},
			llm.ModelCard{ID: "m", Window: 4096, MaxWindow: 131072, Images: no, Tools: no, Reasoning: no, Embeds: true},
		},
		"without details": {map[string]string{"/v1/models": `{"data":[{"id":"m","owned_by":"library"}]}`}, llm.ModelCard{ID: "m"}},
		"hostile": {
			map[string]string{
				"/v1/models": `{"data":[{"id":"m","owned_by":"llamacpp","context_length":-5,"max_completion_tokens":1e300,"pricing":{"prompt":"-1","completion":"NaN"},
					"capabilities":7,"architecture":[],"supported_parameters":"tools"},{"id":"` + strings.Repeat("x", 300) + `"},{"id":"a\u0000b"},7]}`,
				"/props": `{"default_generation_settings":[1],"modalities":{"vision":"yes"},"chat_template_caps":null}`,
			},
			llm.ModelCard{ID: "m"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cards, _, err := described(t, c.answers, llm.Endpoint{})
			if err != nil || len(cards) != 1 || cards[0] != c.want {
				t.Fatalf("%+v, %v, want %+v", cards, err, c.want)
			}
		})
	}
}

// TestDescribeModelsIsBounded: a server with very many models is read up to a limit, and only a few models, or the
// named one, are requested in detail.
func TestDescribeModelsIsBounded(t *testing.T) {
	var list strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&list, `,{"id":"m%d","owned_by":"library"}`, i)
	}
	answers := map[string]string{"/v1/models": `{"data":[` + list.String()[1:] + `]}`}
	cards, requested, err := described(t, answers, llm.Endpoint{ModelID: "m7"})
	if err != nil || len(cards) != 5000 || strings.Join(requested, " ") != "/v1/models /api/ps /api/show" {
		t.Fatalf("%d, %v, %v", len(cards), requested, err)
	}
	if _, _, err = described(t, map[string]string{"/v1/models": `<html>`}, llm.Endpoint{}); err == nil {
		t.Fatal("a web page was accepted as a list of models")
	}
}
