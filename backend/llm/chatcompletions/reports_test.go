package chatcompletions

import (
	"encoding/json"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/llm/llmtest"
)

// textOf returns the text of an answer, and its reasoning in brackets before it.
func textOf(r llm.Result) string {
	thoughts := ""
	for _, b := range r.Blocks {
		if thought, ok := b.(chat.Reasoning); ok {
			thoughts += "(" + thought.Summary + ")"
		}
	}
	return thoughts + r.Text()
}

func chunks(choices ...string) []chat.RawEvent {
	var all []string
	for _, c := range choices {
		all = append(all, `{"id":"x","choices":[`+c+`]}`)
	}
	return llmtest.Events(append(all, "[DONE]")...)
}

const stop = `{"index":0,"delta":{},"finish_reason":"stop"}`

// Whatever a server repeats, and wherever it puts reasoning, one text is the answer, and nothing that arrived is lost.
func TestOneTextComesOut(t *testing.T) {
	text := func(s string) string { return `{"index":0,"delta":{"content":"` + s + `"}}` }
	both := func(delta, message string) string {
		return `{"index":0,"delta":{"content":"` + delta + `"},"message":{"content":"` + message + `"}}`
	}
	last := func(s string) string { return `{"index":0,"delta":{"content":"` + s + `"},"finish_reason":"stop"}` }
	for name, c := range map[string]struct {
		choices []string
		want    string
	}{
		"message beside the pieces":  {[]string{both("The ", "The "), both("tower", "The tower"), both("", "The tower"), stop}, "The tower"},
		"message after the pieces":   {[]string{text("Once "), text("only"), `{"index":0,"delta":{},"message":{"content":"Once only"},"finish_reason":"stop"}`}, "Once only"},
		"message with more":          {[]string{text("Once "), `{"index":0,"message":{"content":"Once more"},"finish_reason":"stop"}`}, "Once more"},
		"only a message":             {[]string{`{"index":0,"message":{"content":"All"},"finish_reason":"stop"}`}, "All"},
		"whole text in every piece":  {[]string{text("The"), text("The tower"), text("The tower opened"), text("The tower opened."), stop}, "The tower opened."},
		"whole text in the last one": {[]string{text("The "), text("tower"), last("The tower")}, "The tower"},
		"pieces that begin alike":    {[]string{text("ha"), text("ha!"), text(" So"), stop}, "haha! So"},
		"two pieces that are equal":  {[]string{text("ha"), text("ha"), stop}, "haha"},
		"equal pieces":               {[]string{text("ha "), text("ha "), text("ha "), stop}, "ha ha ha "},
		"equal long pieces":          {[]string{text("over and over again, "), text("over and over again, "), stop}, "over and over again, over and over again, "},
		"text of another choice":     {[]string{`{"index":0,"delta":{"reasoning_content":"Hm."}}`, `{"index":1,"delta":{"content":"One"}}`, stop}, "(Hm.)One"},
		"a second answer":            {[]string{text("One"), `{"index":1,"delta":{"content":"Two"}}`, stop}, "One"},
		"completions":                {[]string{`{"index":0,"text":"Old","finish_reason":"stop"}`}, "Old"},

		"think":                 {[]string{text("<thi"), text("nk>\\nHm.</th"), text("ink>\\n\\nYes."), stop}, "(\nHm.)Yes."},
		"think, one piece":      {[]string{text(" <think>Hm.</think>Yes."), stop}, "(Hm.)Yes."},
		"think that is cut":     {[]string{text("<think>Hm"), `{"index":0,"delta":{},"finish_reason":"length"}`}, "(Hm)"},
		"think without an end":  {[]string{text("<think> is a tag."), stop}, " is a tag."},
		"think in the middle":   {[]string{text("Write `<think>` or <think>x</think>."), stop}, "Write `<think>` or <think>x</think>."},
		"a mark of another tag": {[]string{text("<thing> it is"), stop}, "<thing> it is"},
		"only the start":        {[]string{text("<thi"), stop}, "<thi"},
		"Magistral":             {[]string{text("[THINK]Hm.[/THINK]Yes."), stop}, "(Hm.)Yes."},
		"harmony":               {[]string{text("<|channel|>analysis<|message|>Hm.<|e"), text("nd|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>"), stop}, "(Hm.)Yes."},
	} {
		r := llmtest.Play(t, New(nil), llm.ToolsEnabled, chunks(c.choices...)).Result
		if got := textOf(r); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// An answer that did not end as usual is not complete, and the provider's word says why.
func TestUnknownEndingsAreNotComplete(t *testing.T) {
	for reason, want := range map[string]chat.StepStatus{
		"stop": chat.StepCompleted, "eos": chat.StepCompleted, "STOP": chat.StepCompleted,
		"length": chat.StepIncomplete, "model_length": chat.StepIncomplete, "MAX_TOKENS": chat.StepIncomplete, "SAFETY": chat.StepIncomplete,
		"error": chat.StepFailed, "gremlins": chat.StepFailed,
	} {
		r := decode(t, stream(reason, content(`"Half"`)))
		if r.Status != want || r.Text() != "Half" {
			t.Errorf("%s: %s %q", reason, r.Status, r.Text())
		}
		if reason == "gremlins" && !strings.Contains(r.Err.Error(), reason) {
			t.Errorf("it says %v", r.Err)
		}
	}
	for name, event := range map[string]string{
		"vLLM":        `{"object":"error","message":"EngineCore died COCONUT","type":"InternalServerError","code":500}`,
		"nested":      `{"error":{"message":"EngineCore died COCONUT","code":502}}`,
		"with choice": `{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"message":"EngineCore died COCONUT"}}`,
	} {
		r := llmtest.Play(t, New(nil), llm.ToolsEnabled, llmtest.Events(`{"choices":[{"index":0,"delta":{"content":"Half"}}]}`, event, "[DONE]")).Result
		if r.Status != chat.StepFailed || r.Text() != "Half" || !strings.Contains(r.Err.Error(), "COCONUT") {
			t.Errorf("%s: %s %q %v", name, r.Status, r.Text(), r.Err)
		}
	}
}

// What is paid for is counted, as each provider reports it.
func TestUsageOfProviders(t *testing.T) {
	for name, c := range map[string]struct {
		usage string
		want  chat.Usage
	}{
		"OpenAI": {
			`{"prompt_tokens":1000,"completion_tokens":510,"total_tokens":1510,"prompt_tokens_details":{"cached_tokens":800},"completion_tokens_details":{"reasoning_tokens":500}}`,
			chat.Usage{InputTokens: 1000, OutputTokens: 510, CachedInputTokens: 800, ReasoningTokens: 500},
		},
		"xAI": {
			`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":610,"completion_tokens_details":{"reasoning_tokens":500}}`,
			chat.Usage{InputTokens: 100, OutputTokens: 510, ReasoningTokens: 500},
		},
		"Gemini":     {`{"prompt_tokens":100,"completion_tokens":10,"total_tokens":610}`, chat.Usage{InputTokens: 100, OutputTokens: 510}},
		"DeepSeek":   {`{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"prompt_cache_hit_tokens":800}`, chat.Usage{InputTokens: 1000, OutputTokens: 100, CachedInputTokens: 800}},
		"Kimi":       {`{"prompt_tokens":1000,"completion_tokens":100,"total_tokens":1100,"cached_tokens":800}`, chat.Usage{InputTokens: 1000, OutputTokens: 100, CachedInputTokens: 800}},
		"OpenRouter": {`{"prompt_tokens":1000,"completion_tokens":100,"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":500}}`, chat.Usage{InputTokens: 1000, OutputTokens: 100, CacheWriteTokens: 500}},
	} {
		r := decode(t, llmtest.Events(`{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}]}`, `{"choices":[],"usage":`+c.usage+`}`, "[DONE]"))
		if r.Usage == nil || *r.Usage != c.want {
			t.Errorf("%s: %+v", name, r.Usage)
		}
	}
	groq := decode(t, llmtest.Events(`{"choices":[{"index":0,"delta":{"content":"ok"},"finish_reason":"stop"}],"x_groq":{"usage":{"prompt_tokens":3,"completion_tokens":4}}}`, "[DONE]"))
	if groq.Usage == nil || groq.Usage.OutputTokens != 4 {
		t.Errorf("Groq: %+v", groq.Usage)
	}
}

// What a server has refused is not sent again: a member is left out, or has its other name or form.
func TestRefusedPartsAreNotSent(t *testing.T) {
	for part, check := range map[string]func(body string) bool{
		"max_tokens": func(b string) bool {
			return !strings.Contains(b, `"max_tokens"`) && strings.Contains(b, `"max_completion_tokens":1024`)
		},
		"max_tokens=500": func(b string) bool { return strings.Contains(b, `"max_tokens":500`) },
		"stream_options": func(b string) bool { return !strings.Contains(b, "stream_options") },
		"temperature":    func(b string) bool { return strings.Contains(b, `"temperature":0.5`) }, // set by the user's options
		llm.RefusedSystem: func(b string) bool {
			return !strings.Contains(b, `"system"`) && strings.Contains(b, `"Be brief.\n\nHello"`)
		},
		llm.RefusedNoThoughts: func(b string) bool { return strings.Contains(b, `"reasoning_content":""`) },
	} {
		c := llmtest.Prepare(t, llmtest.Context{System: []string{"Be brief."}, Messages: []chat.Message{
			chat.UserText("Hello"), chat.AssistantText("Hi."), chat.UserText("Again"),
		}})
		ep := llm.Endpoint{ModelID: "m", Stream: true, MaxOutput: 1024, Refused: []string{part}, Options: map[string]any{"temperature": 0.5}}
		body, err := New(nil).Encode(llm.Request{Endpoint: ep, Context: c})
		if err != nil || !check(string(body)) {
			t.Errorf("%s: %s, %v", part, body, err)
		}
	}
}

// Mistral accepts no message of the user after the results of calls, so their images are in the results.
func TestImagesOfResults(t *testing.T) {
	image := chat.NewImage("image/png", []byte("png"))
	call := chat.Message{Role: chat.RoleAssistant, Blocks: chat.Blocks{
		chat.ToolUse{ToolUseID: "c1", Name: "a", Input: []byte(`{}`)}, chat.ToolUse{ToolUseID: "c2", Name: "b", Input: []byte(`{}`)},
	}}
	results := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{
		chat.ToolResult{ToolUseID: "c1", Content: chat.Blocks{chat.Text{Text: "one"}, image}},
		chat.ToolResult{ToolUseID: "c2", Content: chat.Blocks{chat.Text{Text: "two"}}},
	}}
	c := llmtest.Prepare(t, llmtest.Context{Messages: []chat.Message{chat.UserText("Go"), call, results}, Cycle: 2})
	for base, want := range map[string]string{
		"https://api.mistral.ai/v1": "user assistant tool tool",
		"http://localhost:8080/v1":  "user assistant tool tool user",
	} {
		body, err := New(nil).Encode(llm.Request{Endpoint: llm.Endpoint{ModelID: "m", BaseURL: base, MaxOutput: 1024}, Context: c})
		var sent struct {
			Messages []struct {
				Role    string
				Content json.RawMessage
			}
		}
		if err != nil || json.Unmarshal(body, &sent) != nil {
			t.Fatal(err)
		}
		var roles []string
		images := 0
		for _, m := range sent.Messages {
			roles = append(roles, m.Role)
			images += strings.Count(string(m.Content), "image_url\":{")
		}
		if got := strings.Join(roles, " "); got != want || images != 1 {
			t.Errorf("%s: %s with %d images", base, got, images)
		}
	}
}

// A tool whose schema the server has refused is left out; the others are offered.
func TestARefusedToolIsLeftOut(t *testing.T) {
	c := llmtest.Prepare(t, llmtest.Context{
		Messages: []chat.Message{chat.UserText("Weather?")},
		Tools:    []chat.ToolDefinition{llmtest.Weather, llmtest.Search},
	})
	ep := llm.Endpoint{ModelID: "m", ToolsMode: llm.ToolsEnabled, Refused: []string{llm.RefusedTool + llmtest.Weather.Name}}
	body, err := New(nil).Encode(llm.Request{Endpoint: ep, Context: c})
	if err != nil || strings.Contains(string(body), `"name":"weather"`) || !strings.Contains(string(body), `"name":"`+llmtest.Search.Name+`"`) {
		t.Errorf("%s, %v", body, err)
	}
}
