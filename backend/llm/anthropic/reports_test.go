package anthropic

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

const (
	opened  = `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}`
	stopped = `{"type":"message_stop"}`
)

func played(t *testing.T, events ...string) llm.Result {
	t.Helper()
	return llmtest.Play(t, New(nil), llm.ToolsEnabled, llmtest.Events(events...)).Result
}

func ends(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"}}`
}

// A gateway may number blocks as it likes: content that arrived is not dropped because its index was not expected.
func TestBlocksWithUnexpectedIndexes(t *testing.T) {
	block := func(b string) string { return `{"type":"content_block_start","index":0,"content_block":` + b + `}` }
	delta := func(d string) string { return `{"type":"content_block_delta","index":0,"delta":` + d + `}` }
	end := `{"type":"content_block_stop","index":0}`
	text, thinking := block(`{"type":"text","text":""}`), block(`{"type":"thinking","thinking":""}`)
	says := func(s string) string { return delta(`{"type":"text_delta","text":"` + s + `"}`) }
	thinks := delta(`{"type":"thinking_delta","thinking":"Hm."}`)
	for name, c := range map[string]struct {
		events []string
		want   string
	}{
		"an index used twice":           {[]string{text, says("First "), end, text, says("second"), end}, "First second"},
		"thinking, then text":           {[]string{thinking, thinks, end, text, says("Yes."), end}, "(Hm.)Yes."},
		"text in a block of thinking":   {[]string{thinking, thinks, says("Yes."), end}, "(Hm.)Yes."},
		"thinking in a block of text":   {[]string{text, thinks, says("Yes."), end}, "(Hm.)Yes."},
		"an open block announced twice": {[]string{text, says("Yes"), text, says("."), end}, "Yes."},
	} {
		r := played(t, append(append([]string{opened}, c.events...), ends("end_turn"), stopped)...)
		got := ""
		for _, b := range r.Blocks {
			if thought, ok := b.(chat.Reasoning); ok {
				got += "(" + thought.Summary + ")"
			}
		}
		if got += r.Text(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	call := func(id, name string) string {
		return block(`{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{}}`)
	}
	input := func(s string) string { return delta(`{"type":"input_json_delta","partial_json":` + s + `}`) }
	for name, between := range map[string][]string{"ended": {end}, "not ended": nil} {
		events := append([]string{opened, call("t1", "a"), input(`"{\"q\":1}"`)}, between...)
		events = append(events, call("t2", "b"), input(`"{}"`), end, ends("tool_use"), stopped)
		r := played(t, events...)
		if len(r.Blocks) != 2 || string(r.Blocks[0].(chat.ToolUse).Input) != `{"q":1}` || string(r.Blocks[1].(chat.ToolUse).Input) != `{}` {
			t.Errorf("two calls at one index, %s: %+v", name, r.Blocks)
		}
	}
}

// An answer that did not end as usual is not complete.
func TestUnknownEndingsAreNotComplete(t *testing.T) {
	text := `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Half"}}`
	for reason, want := range map[string]chat.StepStatus{
		"end_turn": chat.StepCompleted, "stop": chat.StepCompleted, "length": chat.StepIncomplete, "max_tokens": chat.StepIncomplete,
		"error": chat.StepFailed, "gremlins": chat.StepFailed,
	} {
		r := played(t, opened, text, ends(reason), stopped)
		if r.Status != want || r.Text() != "Half" || reason == "gremlins" && !strings.Contains(r.Err.Error(), reason) {
			t.Errorf("%s: %s %q %v", reason, r.Status, r.Text(), r.Err)
		}
	}
	r := played(t, opened, text, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded APRICOT"}}`)
	if r.Status != chat.StepFailed || !strings.Contains(r.Err.Error(), "APRICOT") {
		t.Errorf("%s %v", r.Status, r.Err)
	}
}
