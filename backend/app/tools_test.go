package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
)

// toolCall returns a Chat Completions answer that calls a tool.
func toolCall(id, tool, arguments string) llmtest.Step {
	events := llmtest.Events(
		`{"id":"r","object":"chat.completion.chunk","model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Let me look.","tool_calls":[{"index":0,"id":"`+id+
			`","type":"function","function":{"name":"`+tool+`","arguments":`+harness.Quoted(arguments)+`}}]},"finish_reason":null}]}`,
		`{"id":"r","model":"m-1","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`,
		`{"id":"r","model":"m-1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17}}`, `[DONE]`)
	return streamed(events)
}

func textReply(words string) llmtest.Step { return streamed(harness.ChatWire.TextStream(true, words)) }

func streamed(events []chat.RawEvent) llmtest.Step {
	var s llmtest.Step
	for _, e := range events {
		s.Chunks = append(s.Chunks, "data: "+string(e.Data)+"\n\n")
	}
	return s
}

// toolPage is a window with tools enabled, a folder, and a scripted provider.
type toolPage struct {
	*page
	tools  *api.Tools
	relay  *harness.Relay
	folder string
	dir    string
}

func newToolPage(t *testing.T, script ...llmtest.Step) *toolPage {
	t.Helper()
	p := &toolPage{folder: t.TempDir(), dir: t.TempDir()}
	p.relay = harness.NewRelay(t, harness.ChatWire, func(n int) llmtest.Step {
		if n > len(script) {
			return textReply("There is nothing more to say.")
		}
		return script[n-1]
	}, nil)
	harness.WriteFile(t, filepath.Join(p.dir, "config.toml"), []byte(harness.ChatWire.Model("m", p.relay.URL)+
		"[general]\ndefault_model = \"m\"\n\n[retrieval]\nscope = \"all\"\n\n[tools]\nmode = \"enabled\"\nrun_commands = true\nfolders = ["+harness.Quoted(p.folder)+"]\n"))
	p.open(t)
	return p
}

// open opens the window with the data.
func (p *toolPage) open(t *testing.T) {
	t.Helper()
	p.page = openPage(t, p.dir)
	p.tools = serviceIn[*api.Tools](p.window)
}

// waitingCall waits until exactly one call waits for a decision, and returns it.
func (p *toolPage) waitingCall() api.WaitingCallView {
	p.t.Helper()
	var found api.WaitingCallView
	p.eventually("no call waits", func() bool {
		list := must[api.WaitingCalls](p.t)(p.tools.WaitingCalls())
		if len(list.Calls) == 1 {
			found = list.Calls[0]
		}
		return len(list.Calls) == 1
	})
	return found
}

// awaitAnswer waits until a turn is done, and returns the text of its answer.
func (p *toolPage) awaitAnswer(r api.SendResult) string {
	p.t.Helper()
	text := ""
	p.eventually("the turn was not finished", func() bool {
		v, err := p.sessions.Turn(r.BranchID, r.TurnID)
		if err != nil || v.Phase != chat.PhaseDone {
			return false
		}
		for _, b := range v.Assistant {
			if b.Kind == "text" {
				text = b.Text
			}
		}
		return true
	})
	return text
}

// The search tool runs without asking the user, and its result contains the earlier message.
func TestAModelSearchesMemory(t *testing.T) {
	p := newToolPage(t, textReply("Noted."), toolCall("c1", "search_memory", `{"query":"orchard gate code"}`), textReply("It is 4711."))
	p.say(api.SendRequest{Text: "The orchard gate code is 4711, remember it."})
	r := must[api.SendResult](t)(p.chat.Send(api.SendRequest{Text: "What opens the gate?"}))
	if got := p.awaitAnswer(r); got != "It is 4711." {
		t.Errorf("answered %q", got)
	}
	bodies := p.relay.Bodies()
	if !strings.Contains(string(bodies[0]), `"search_memory"`) || !strings.Contains(string(bodies[0]), p.folder) {
		t.Errorf("offered: %s", harness.Clip(string(bodies[0])))
	}
	if last := string(bodies[len(bodies)-1]); !strings.Contains(last, "gate code is 4711, remember it") || !strings.Contains(last, `turn #1`) {
		t.Errorf("the result did not reach the model: %s", harness.Clip(last))
	}
	calls := must[[]api.ToolCallView](t)(p.tools.Calls([]string{r.TurnID}))
	if len(calls) != 1 || calls[0].State != "done" || calls[0].Decision != "always" || calls[0].Effects || !strings.Contains(calls[0].Result, "gate code is 4711") || calls[0].Explanation != "" {
		t.Errorf("%+v", calls)
	}
	result := must[api.ToolResultView](t)(p.tools.Result(calls[0].ID))
	if len(result.Blocks) != 1 || result.IsError {
		t.Errorf("%+v", result)
	}
}

// A call that writes a file shows the change, survives a restart, and runs after the user has allowed it.
func TestAFileIsWrittenAfterTheUserAllowsIt(t *testing.T) {
	p := newToolPage(t, toolCall("c1", "write_file", `{"path":"list.txt","content":"milk\nbread\n"}`), textReply("Written."))
	if err := os.WriteFile(filepath.Join(p.folder, "list.txt"), []byte("milk\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := must[api.SendResult](t)(p.chat.Send(api.SendRequest{Text: "Add bread to my list."}))
	w := p.waitingCall()
	if w.Call.Preview != " milk\n+bread\n" || w.Definition == nil || !w.Call.Effects || w.Call.Explanation == "" || w.TurnSeq != 1 || w.Call.TurnID != r.TurnID {
		t.Errorf("%+v", w)
	}
	p.window.Close()
	p.open(t)
	w = p.waitingCall()
	if got, _ := os.ReadFile(filepath.Join(p.folder, "list.txt")); string(got) != "milk\n" {
		t.Fatalf("it was written without permission: %q", got)
	}
	for _, wrong := range []api.ToolDecisionRequest{{CallID: w.Call.ID, Choice: "perhaps", Hash: w.Definition.Hash}, {CallID: w.Call.ID, Choice: "once", Hash: "other"}} {
		if err := p.tools.Decide(wrong); err == nil {
			t.Errorf("%+v was accepted", wrong)
		}
	}
	if err := p.tools.Decide(api.ToolDecisionRequest{CallID: w.Call.ID, Choice: "once", Hash: w.Definition.Hash}); err != nil {
		t.Fatal(err)
	}
	if got := p.awaitAnswer(r); got != "Written." {
		t.Errorf("answered %q", got)
	}
	if got, _ := os.ReadFile(filepath.Join(p.folder, "list.txt")); string(got) != "milk\nbread\n" {
		t.Errorf("the file has %q", got)
	}
	if p := must[api.ToolsPanel](t)(p.tools.Panel()); len(p.Permissions) != 0 || p.Mode != "enabled" {
		t.Errorf("a decision for one call was stored as a permission: %+v", p.Permissions)
	}
}

// After a command has been allowed for the session, the user is not asked again if it runs in the sandbox.
func TestACommandRunsInItsFolder(t *testing.T) {
	var script []llmtest.Step
	for i := range 2 {
		script = append(script, toolCall(fmt.Sprintf("c%d", i), "run_command", `{"command":"echo here >> made.txt"}`), textReply("Done."))
	}
	p := newToolPage(t, script...)
	first := must[api.SendResult](t)(p.chat.Send(api.SendRequest{Text: "Make it."}))
	w := p.waitingCall()
	choice := chat.DecisionSession
	if w.Definition.AsksEachCall {
		choice = chat.DecisionOnce
	}
	if err := p.tools.Decide(api.ToolDecisionRequest{CallID: w.Call.ID, Choice: choice, Hash: w.Definition.Hash}); err != nil {
		t.Fatal(err)
	}
	p.awaitAnswer(first)
	second := must[api.SendResult](t)(p.chat.Send(api.SendRequest{SessionID: first.SessionID, Text: "Again."}))
	if w.Definition.AsksEachCall {
		w := p.waitingCall()
		if err := p.tools.Decide(api.ToolDecisionRequest{CallID: w.Call.ID, Choice: "once", Hash: w.Definition.Hash}); err != nil {
			t.Fatal(err)
		}
	}
	p.awaitAnswer(second)
	if got, _ := os.ReadFile(filepath.Join(p.folder, "made.txt")); string(got) != "here\nhere\n" {
		t.Errorf("the file has %q", got)
	}
}

// The tools mode of a session applies, and the other settings of the session do not change.
func TestToolsOfASession(t *testing.T) {
	p := newToolPage(t, textReply("One."), textReply("Two."), textReply("Three."))
	r := p.say(api.SendRequest{Text: "First."})
	if err := p.sessions.SetSessionSettings(r.SessionID, api.SessionSettings{SystemPrompt: "Be brief."}); err != nil {
		t.Fatal(err)
	}
	if err := p.tools.SetSessionMode(r.SessionID, "disabled"); err != nil {
		t.Fatal(err)
	}
	if err := p.tools.SetSessionMode(r.SessionID, "perhaps"); err == nil {
		t.Error("an unknown mode was accepted")
	}
	p.say(api.SendRequest{SessionID: r.SessionID, Text: "Second."})
	if body := string(p.relay.LastBody(t)); strings.Contains(body, `"search_memory"`) || !strings.Contains(body, "Be brief.") {
		t.Errorf("sent: %s", harness.Clip(body))
	}
	if err := p.sessions.SetSessionSettings(r.SessionID, api.SessionSettings{SystemPrompt: "Be long."}); err != nil {
		t.Fatal(err)
	}
	if mode := must[string](t)(p.tools.SessionMode(r.SessionID)); mode != "disabled" {
		t.Errorf("the mode is %q", mode)
	}
	if err := p.tools.SetPermission("builtin", "search_memory", "", "never", ""); err != nil {
		t.Fatal(err)
	}
	if err := p.tools.SetSessionMode(r.SessionID, ""); err != nil {
		t.Fatal(err)
	}
	p.say(api.SendRequest{SessionID: r.SessionID, Text: "Third."})
	if body := string(p.relay.LastBody(t)); strings.Contains(body, `"search_memory"`) || !strings.Contains(body, `"get_turn"`) {
		t.Errorf("sent: %s", harness.Clip(body))
	}
	if err := p.tools.Forget("builtin", "search_memory", ""); err != nil {
		t.Fatal(err)
	}
}

// The outcome of a cancelled call that may have had effects is unknown, and the user decides what the model receives.
func TestACommandIsCancelled(t *testing.T) {
	p := newToolPage(t, toolCall("c1", "run_command", `{"command":"touch begun; sleep 1000"}`), textReply("I see."))
	r := must[api.SendResult](t)(p.chat.Send(api.SendRequest{Text: "Make it."}))
	w := p.waitingCall()
	if err := p.tools.Cancel(w.Call.ID); err == nil {
		t.Error("a call that does not run was cancelled")
	}
	if err := p.tools.Decide(api.ToolDecisionRequest{CallID: w.Call.ID, Choice: "once", Hash: w.Definition.Hash}); err != nil {
		t.Fatal(err)
	}
	p.eventually("the command did not begin", func() bool {
		_, err := os.Stat(filepath.Join(p.folder, "begun"))
		return err == nil
	})
	if calls := must[[]api.ToolCallView](t)(p.tools.Calls([]string{r.TurnID})); !calls[0].Running || calls[0].State != "started" {
		t.Errorf("%+v", calls)
	}
	if _, err := p.tools.Result(w.Call.ID); err == nil {
		t.Error("a call that runs has a result")
	}
	if err := p.tools.Cancel(w.Call.ID); err != nil {
		t.Fatal(err)
	}
	w = p.waitingCall()
	if w.Call.State != "unknown" || w.Call.Reason != "cancelled" || !strings.Contains(w.Call.Explanation, "may have had effects") {
		t.Errorf("%+v", w.Call)
	}
	if err := p.tools.Resolve(api.ToolResolveRequest{CallID: w.Call.ID, Choice: "perhaps"}); err == nil {
		t.Error("an unknown choice was accepted")
	}
	if err := p.tools.Resolve(api.ToolResolveRequest{CallID: w.Call.ID, Choice: "enter", Text: "the file begun exists, nothing else"}); err != nil {
		t.Fatal(err)
	}
	if got := p.awaitAnswer(r); got != "I see." {
		t.Errorf("answered %q", got)
	}
	if body := string(p.relay.LastBody(t)); !strings.Contains(body, "the file begun exists, nothing else") {
		t.Errorf("the model was not informed: %s", harness.Clip(body))
	}
}
