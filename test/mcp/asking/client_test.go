// Package asking tests the program's MCP client with third-party servers: the official conformance suite in both
// revisions, and the reference servers.
package asking

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/config"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/tools"
	"contextinfinity/test/harness"
)

// scenarioEnv is set by the suite when it starts this test binary as the client under test.
const scenarioEnv = "MCP_CONFORMANCE_SCENARIO"

func TestMain(m *testing.M) {
	if name := os.Getenv(scenarioEnv); name != "" {
		if err := examine(name, os.Args[len(os.Args)-1]); err != nil {
			fmt.Fprintln(os.Stderr, name+":", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(harness.Main(m))
}

// defaultAnswers answers every question with its default.
type defaultAnswers struct{}

func (defaultAnswers) Elicit(_ context.Context, q mcpclient.Question) (mcpclient.Answer, error) {
	values := map[string][]string{}
	for _, f := range q.Fields {
		if len(f.Default) == 0 && f.Type == mcpclient.FieldBoolean {
			values[f.Name] = []string{"true"}
		}
	}
	return mcpclient.Answer{Action: mcpclient.Accept, Values: values}, nil
}

// client returns the program's client with one server.
func client(server config.MCPServer, secrets map[string]string) *mcpclient.Manager {
	var mu sync.Mutex
	return mcpclient.NewManager(mcpclient.Deps{
		Servers: func() []config.MCPServer { return []config.MCPServer{server} },
		Secret: func(_, name string) (string, bool) {
			mu.Lock()
			defer mu.Unlock()
			v, ok := secrets[name]
			return v, ok
		},
		SetSecret: func(_, name, value string) error {
			mu.Lock()
			defer mu.Unlock()
			secrets[name] = value
			return nil
		},
		Environ: os.Environ, Getenv: os.Getenv, Elicit: defaultAnswers{}, Open: browse, Version: "test",
		Limits: mcpclient.Limits{Start: harness.Patience, StartWait: harness.Patience, List: harness.Patience},
	})
}

// browse requests the address as a browser would and follows the redirect.
func browse(address string) error {
	go func() {
		if resp, err := http.Get(address); err == nil { // #nosec G107 -- of tests
			_ = resp.Body.Close()
		}
	}()
	return nil
}

// examine does what a scenario of the suite requires, as the program would.
func examine(scenario, address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	var scenarioContext struct {
		ClientID     string `json:"client_id"`
		ClientSecret string `json:"client_secret"`
		ToolCalls    []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if text := os.Getenv("MCP_CONFORMANCE_CONTEXT"); text != "" {
		if err := json.Unmarshal([]byte(text), &scenarioContext); err != nil {
			return err
		}
	}
	server := config.MCPServer{Name: "examined", Enabled: true, URL: address, OAuthClientID: scenarioContext.ClientID}
	m := client(server, map[string]string{"oauth_client_secret": scenarioContext.ClientSecret})
	defer m.Stop()
	m.Ensure(ctx)
	signIn := func() bool { return m.Statuses()[0].State == mcpclient.StateSignIn }
	if signIn() {
		if err := m.SignIn(ctx, server.Name); err != nil {
			return err
		}
	}
	if st := m.Statuses()[0]; st.State != mcpclient.StateReady {
		return fmt.Errorf("the server is %s: %s", st.State, st.Full())
	}
	source := m.Sources()[0]
	for _, p := range m.Prompts(ctx) {
		_, _ = m.GetPrompt(ctx, server.Name, p.Name, nil)
	}
	for _, r := range m.Resources(ctx) {
		_, _ = m.ReadResource(ctx, server.Name, r.URI)
	}
	if len(scenarioContext.ToolCalls) > 0 {
		for _, c := range scenarioContext.ToolCalls {
			_, _ = source.Call(ctx, tools.Call{Tool: c.Name, Arguments: c.Arguments})
		}
		return nil
	}
	for _, d := range source.Definitions() {
		_, err := source.Call(ctx, tools.Call{Tool: d.Tool, Arguments: argumentsFor(d.Tool, source)})
		for tries := 0; err != nil && tries < 3; tries++ { // a scope was missing, so the user signs in again
			awaitStateChange(ctx, m)
			if !signIn() {
				break
			}
			if serr := m.SignIn(ctx, server.Name); serr != nil {
				return serr
			}
			_, err = source.Call(ctx, tools.Call{Tool: d.Tool, Arguments: argumentsFor(d.Tool, source)})
		}
	}
	return nil
}

// awaitStateChange waits for a moment until a failed call has changed the state of the server.
func awaitStateChange(ctx context.Context, m *mcpclient.Manager) {
	for range 100 {
		if m.Statuses()[0].State != mcpclient.StateReady || ctx.Err() != nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func argumentsFor(tool string, source tools.Source) json.RawMessage {
	switch tool {
	case "add_numbers":
		return json.RawMessage(`{"a": 5, "b": 3}`)
	case "json_schema_echo": // the schema as models receive it
		for _, d := range source.Definitions() {
			if d.Tool == "json_schema_2020_12_tool" {
				return json.RawMessage(`{"schema": ` + string(d.Schema) + `}`)
			}
		}
	}
	return json.RawMessage(`{"region": "us-west1"}`)
}
