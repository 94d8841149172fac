package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/chatcompletions"
	"contextinfinity/backend/models"
	"contextinfinity/test/testtier"
)

// compatibleServer is an OpenAI-compatible server with a chat model and an embedding model, like LM Studio and vLLM.
// It rejects the same requests as they do.
type compatibleServer struct {
	*httptest.Server
	model  string
	mu     sync.Mutex
	inputs []string
}

func newCompatibleServer(t *testing.T, model string) *compatibleServer {
	s := &compatibleServer{model: model}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"object":"list","data":[{"id":"qwen3-8b","object":"model"},{"id":%q,"object":"model"}]}`, s.model)
	})
	mux.HandleFunc("POST /v1/embeddings", s.embed)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *compatibleServer) embed(w http.ResponseWriter, r *http.Request) {
	var in map[string]json.RawMessage
	var texts []string
	var model string
	bad := json.NewDecoder(r.Body).Decode(&in) != nil || json.Unmarshal(in["input"], &texts) != nil || json.Unmarshal(in["model"], &model) != nil
	if bad || model != s.model || in["encoding_format"] != nil || in["dimensions"] != nil || r.Header.Get("Authorization") != "" {
		http.Error(w, `{"error":{"message":"not supported"}}`, http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.inputs = append(s.inputs, texts...)
	s.mu.Unlock()
	type item struct {
		Object    string    `json:"object"`
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	}
	var data []item
	for i, text := range texts {
		data = append(data, item{"embedding", i, plantedVector(text, 768)})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data, "model": model})
}

func (s *compatibleServer) sent() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.inputs)
}

// withLocalServer returns an environment with the built-in embedder, and services that find a server on this machine.
func withLocalServer(t *testing.T, name string, s *compatibleServer) (*embedderEnv, *api.Embedders, *api.Memory) {
	t.Helper()
	e := newEmbedderEnv(t, "")
	catalog := models.New(models.Deps{
		Config: e.Config.Config, Keys: e.Keys, Providers: []llm.Provider{chatcompletions.New(e.embedders.client)},
		Local: []models.LocalAddress{{Name: name, BaseURL: s.URL + "/v1"}, {Name: "llama.cpp", BaseURL: "http://127.0.0.1:1/v1"}},
	})
	e.Models, e.Vectors = catalog, e.manager
	core := &api.Core{Set: &e.Set, Hub: api.NewHub()}
	return e, api.NewEmbedders(core), api.NewMemory(core)
}

// An OpenAI-compatible server on this machine is offered, measured without using the history, accepted, and replaced by
// the built-in embedder again. While its vectors are made, the old ones are searched and the progress is reported.
func TestLocalServerAsEmbedder(t *testing.T) {
	t.Parallel()
	models := map[string]string{"LM Studio": "text-embedding-nomic-embed-text-v1.5", "vLLM": "nomic-ai/nomic-embed-text-v1.5"}
	for _, name := range testtier.Sample(slices.Sorted(maps.Keys(models)), 1) {
		t.Run(name, func(t *testing.T) {
			model := models[name]
			t.Parallel()
			s := newCompatibleServer(t, model)
			e, service, memory := withLocalServer(t, name, s)
			var texts []string
			for i := range 70 { // more than one step of the manager
				texts = append(texts, fmt.Sprintf("Parcel %d stands in aisle %d.", i, 3*i))
			}
			e.say(append(texts, "Yesterday the feline dozed upon the windowsill.")...)
			previous := e.complete()

			v, err := service.Embedders()
			if err != nil || len(v.Options) != 1 || v.Offer != v.Options[0].ID {
				t.Fatalf("%+v, %v", v, err)
			}
			if o := v.Options[0]; o.Server != name || o.Model != model || o.Host != "this computer" || o.Remote {
				t.Errorf("offered %+v", o)
			}
			if cost, err := service.Estimate(v.Offer); err != nil || cost.Cost != 0 || cost.Units != v.Units {
				t.Errorf("%+v, %v", cost, err)
			}
			if slices.ContainsFunc(s.sent(), func(text string) bool { return strings.Contains(text, "Parcel") }) {
				t.Error("the history was sent before the offer was accepted")
			}

			if v, err = service.Use(v.Offer); err != nil || v.Offer != "" || v.Current.Model != model || v.Current.BuiltIn {
				t.Fatalf("%+v, %v", v, err)
			}
			if _, err := e.manager.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			status, err := memory.Status("")
			if err != nil || len(status.Spaces) != 2 {
				t.Fatalf("%+v, %v", status, err)
			}
			for _, space := range status.Spaces {
				building := strings.Contains(space.Embedder, model)
				if building != (space.State == chat.NamespaceBuilding) || building && (space.Done == 0 || space.Done >= space.Total) || !space.Error.IsZero() {
					t.Errorf("halfway: %+v", space)
				}
			}
			if ns, ok, err := e.Store.Serving(t.Context()); err != nil || !ok || ns.ID != previous.ID {
				t.Errorf("halfway %+v serves, %v", ns, err)
			}
			ns := e.complete()
			if ns.Embedder.Name != "openai" || ns.Embedder.Dimension != 768 {
				t.Errorf("serving %s", ns.Embedder)
			}
			if got, _ := e.nearest(ns, "where was the cat asleep"); !strings.Contains(got, "feline") {
				t.Errorf("found %q", got)
			}
			if sent := s.sent(); !strings.HasPrefix(sent[len(sent)-1], "search_query: ") {
				t.Errorf("queried with %q, not in the form the model was trained with", sent[len(sent)-1])
			}

			sentBefore := len(s.sent())
			if v, err = service.UseBuiltIn(); err != nil || !v.Current.BuiltIn || v.Offer != "" || len(v.Options) != 1 {
				t.Fatalf("%+v, %v", v, err)
			}
			if ns = e.complete(); ns.Embedder.Name != "local" || len(s.sent()) != sentBefore {
				t.Errorf("%s serves, and %d more texts were sent to the server", ns.Embedder, len(s.sent())-sentBefore)
			}
		})
	}
}
