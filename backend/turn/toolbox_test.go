package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/tools"
	"contextinfinity/backend/turn"
)

// toolbox is a source with one tool that writes and one that reads, and the decisions about them.
type toolbox struct {
	mu          sync.Mutex
	defs        []chat.ToolDefinition
	decisions   map[string]chat.ToolDecision // by tool
	permissions []chat.ToolPermission        // stored
	onRemember  func()                       // called after a permission was stored
	refused     map[string]bool              // tools whose current definition is not accepted
	ran         []string                     // tool and arguments, in order
	maxRunning  int                          // the largest number of calls that ran at the same time
	running     int
	do          func(context.Context, tools.Call) (tools.Output, error)
}

func newToolbox() *toolbox {
	schema := json.RawMessage(`{"type":"object"}`)
	return &toolbox{
		decisions: map[string]chat.ToolDecision{},
		defs: []chat.ToolDefinition{
			{Source: "box", Tool: "write", Name: "box__write", Description: "Writes.", Schema: schema, Effects: true},
			{Source: "box", Tool: "read", Name: "box__read", Description: "Reads.", Schema: schema},
		},
	}
}

func (b *toolbox) Name() string { return "box" }

func (b *toolbox) Definitions() []chat.ToolDefinition {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]chat.ToolDefinition{}, b.defs...)
}

func (b *toolbox) Offer(context.Context, chat.SessionID) ([]chat.ToolDefinition, error) {
	defs := b.Definitions()
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(defs, func(d chat.ToolDefinition) bool { return b.refused[d.Tool] }), nil
}

// redefine changes the definition of the server's first tool.
func (b *toolbox) redefine() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.defs[0].Description += " And more."
}

// offers replaces the tools that the server offers and returns the previous ones.
func (b *toolbox) offers(defs []chat.ToolDefinition) (before []chat.ToolDefinition) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before, b.defs = b.defs, defs
	return before
}

func (b *toolbox) Decision(_ context.Context, _ chat.SessionID, d chat.ToolDefinition) (chat.ToolDecision, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.decisions[d.Tool], nil
}

func (b *toolbox) Permit(_ context.Context, p chat.ToolPermission) error {
	if b.onRemember != nil {
		defer b.onRemember()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.permissions = append(b.permissions, p)
	for _, d := range b.defs {
		if p.Tool == "" || p.Tool == d.Tool {
			b.decisions[d.Tool] = p.Decision
		}
	}
	return nil
}

func (b *toolbox) Source(name string) (tools.Source, bool) { return b, name == b.Name() }

func (b *toolbox) Call(ctx context.Context, c tools.Call) (tools.Output, error) {
	b.mu.Lock()
	b.ran = append(b.ran, c.Tool+string(c.Arguments))
	b.running++
	b.maxRunning = max(b.maxRunning, b.running)
	do := b.do
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		b.running--
		b.mu.Unlock()
	}()
	if do != nil {
		return do(ctx, c)
	}
	return tools.Output{Content: chat.Blocks{chat.Text{Text: "did " + c.Tool + string(c.Arguments)}}}, nil
}

func (b *toolbox) allow(list ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, tool := range list {
		b.decisions[tool] = chat.DecisionAlways
	}
}

func (b *toolbox) calls() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string{}, b.ran...)
}

func (b *toolbox) hash(tool string) string {
	for _, d := range b.Definitions() {
		if d.Tool == tool {
			return d.Hash()
		}
	}
	return ""
}

// withTools is an environment whose models may call tools.
func withTools(t testing.TB) *env {
	t.Helper()
	w := newEnv(t)
	w.tools = newToolbox()
	w.settings.ToolsMode = llm.ToolsEnabled
	w.restart()
	return w
}

// restart closes the program and opens it again.
func (w *env) restart() {
	w.t.Helper()
	w.close()
	w.open()
	if _, err := w.engine.Recover(context.Background()); err != nil {
		w.t.Fatal(err)
	}
}

// scriptCalls scripts one call for each list of events; done is appended.
func (w *env) scriptCalls(list ...[]string) {
	for _, events := range list {
		w.provider.script(call{events: append(append([]string{}, events...), done)})
	}
}

// batch returns the newest batch of a turn.
func (w *env) batch(id chat.TurnID) chat.ToolBatch {
	w.t.Helper()
	all, err := w.store.ToolBatches(context.Background(), []chat.TurnID{id})
	if err != nil || len(all[id]) == 0 {
		w.t.Fatalf("%d batches, %v", len(all[id]), err)
	}
	return all[id][len(all[id])-1]
}

// requireWaiting checks that a turn waits for n decisions, and returns the calls.
func (w *env) requireWaiting(t chat.Turn, n int) []chat.CallRecord {
	w.t.Helper()
	if t.Phase != chat.PhaseResponding || t.Outcome != chat.OutcomeNone || w.engine.IsRunning(t.ID) {
		w.t.Fatalf("turn is %s %q (failure %+v)", t.Phase, t.Outcome, t.Failure)
	}
	calls, err := w.engine.WaitingFor(context.Background(), t)
	if err != nil || len(calls) != n {
		w.t.Fatalf("%d calls wait, want %d: %v %+v", len(calls), n, err, w.batch(t.ID))
	}
	return calls
}

func (w *env) decide(call chat.CallRecord, d chat.ToolDecision) {
	w.t.Helper()
	if err := w.engine.DecideCall(context.Background(), turn.CallChoice{Call: call.ID, Decision: d, Hash: w.tools.hash(call.Tool)}); err != nil {
		w.t.Fatal(err)
	}
}

// ended waits for the run of a turn and returns the turn.
func (w *env) ended(id chat.TurnID) chat.Turn {
	w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		if h, ok := w.engine.Follow(id); ok {
			w.wait(h)
		}
		running := w.engine.IsRunning(id) // before the turn is read: it may end in between
		t, err := w.store.Turn(context.Background(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		if !running {
			return t
		}
		if time.Now().After(deadline) {
			w.t.Fatal("the turn does not end")
		}
	}
}

// toolResults returns the tool results in the final answer of a turn.
func toolResults(t chat.Turn) (out []string) {
	if t.Assistant == nil {
		return nil
	}
	for _, b := range t.Assistant.Blocks {
		if r, ok := b.(chat.ToolResult); ok {
			out = append(out, fmt.Sprintf("%s %v %s", r.ToolUseID, r.IsError, r.Content.RenderedText()))
		}
	}
	return out
}
