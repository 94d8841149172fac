package library

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

func TestVariables(t *testing.T) {
	got := Variables("{{ topic }} for {{audience:children}} on {{date}}; {{topic:space}}, {{clipboard}}{{selection}} {{}} {{1x}} {{a|b}} {x} {{größe-2 m:}}")
	want := []Variable{
		{"topic", "space", false}, {"audience", "children", false}, {"date", "", true}, {"clipboard", "", true}, {"selection", "", true}, {"größe-2 m", "", false},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v", got)
	}
	if got := Variables("none {at all}"); got == nil || len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestFill(t *testing.T) {
	for _, c := range []struct {
		text   string
		values map[string]string
		want   string
	}{
		{"{{a}} and {{a}}, {{b:two}}", map[string]string{"a": "{{b}}"}, "{{b}} and {{b}}, two"},
		{"{{b:two}}", map[string]string{"b": ""}, "two"},
		{"{{b}}!", map[string]string{"b": ""}, "!"}, // left empty on purpose
		{"{{a|b}} {{ }}", nil, "{{a|b}} {{ }}"},
	} {
		if got, err := Fill(c.text, c.values); err != nil || got != c.want {
			t.Errorf("%q: %q %v", c.text, got, err)
		}
	}
	if _, err := Fill("{{a}} {{b}} {{c:x}}", map[string]string{"a": "1"}); chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "value for b;") {
		t.Errorf("%v", err)
	}
	if _, err := Fill(strings.Repeat("{{a}}", 2000), map[string]string{"a": strings.Repeat("x", 1000)}); chat.CodeOf(err) != chat.CodeTooLarge {
		t.Errorf("%v", err)
	}
	l := New(nil, nil, nil)
	l.now = func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }
	if _, err := l.Fill(chat.SavedPrompt{Text: "{{language:English}}"}, map[string]string{"langauge": "French"}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("a value for a variable that the prompt does not have: %v", err)
	}
	if got, err := l.Fill(chat.SavedPrompt{Text: "on {{date}}"}, nil); err != nil || got != "on 2026-01-02" {
		t.Errorf("%q %v", got, err)
	}
}

func TestAssistantFile(t *testing.T) {
	warm := 1.5
	a := chat.Assistant{ID: "x", Name: "Poet", Instructions: "Rhyme.\n", Model: "big", Temperature: &warm, Effort: "high", ToolsMode: "disabled"}
	raw, err := EncodeAssistant(a)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeAssistant(strings.NewReader(string(raw)))
	a.ID = ""
	if err != nil || !reflect.DeepEqual(got, a) {
		t.Errorf("%+v %v", got, err)
	}
	for file, code := range map[string]chat.Code{
		"":                                  chat.CodeInvalid,
		"[]":                                chat.CodeInvalid,
		`{"name":"x"}`:                      chat.CodeInvalid,
		string(raw) + "{}":                  chat.CodeInvalid,
		"\xff\xfe":                          chat.CodeInvalid,
		strings.Repeat(" ", 300<<10) + "{}": chat.CodeTooLarge,
		`{"format":"contextinfinity-assistant","version":2,"name":"x"}`:                    chat.CodeInvalid,
		`{"format":"contextinfinity-assistant","version":1,"name":"x","temperature":9}`:    chat.CodeInvalid,
		`{"format":"contextinfinity-assistant","version":1,"name":"x","tools_mode":"all"}`: chat.CodeInvalid,
	} {
		if _, err := DecodeAssistant(strings.NewReader(file)); chat.CodeOf(err) != code {
			t.Errorf("%.60q: %v", file, err)
		}
	}
}

func TestPromptFiles(t *testing.T) {
	list := []chat.SavedPrompt{{Name: "One", Text: "about {{x}}"}, {Name: "Two", Text: "2"}}
	raw, err := EncodePrompts(list)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DecodePrompts(strings.NewReader(string(raw))); err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("%+v %v", got, err)
	}
	webUIExport := `[{"command":"/sum","user_id":"u","title":"Sum up","content":"{{CLIPBOARD}} on {{CURRENT_DATE}} for {{who | text:placeholder=\"x\"}}","timestamp":1,"access_control":null},
		{"command":"plain","name":"","content":"text"}]`
	want := []chat.SavedPrompt{{Name: "Sum up", Text: "{{clipboard}} on {{date}} for {{who}}"}, {Name: "plain", Text: "text"}}
	if got, err := DecodePrompts(strings.NewReader(webUIExport)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v %v", got, err)
	}
	many, _ := json.Marshal(make([]webUIPrompt, chat.MaxSavedPrompts+1))
	for file, code := range map[string]chat.Code{
		"": chat.CodeInvalid, "[]": chat.CodeInvalid, "[1]": chat.CodeInvalid, `{"prompts":[]}`: chat.CodeInvalid, string(many): chat.CodeTooLarge,
		`[{"command":"/x","content":""}]`:                                 chat.CodeInvalid,
		`{"format":"contextinfinity-prompts","version":7}`:                chat.CodeInvalid,
		`[{"content":"no name"}]`:                                         chat.CodeInvalid,
		`[{"title":"x","content":"` + strings.Repeat("x", 70<<10) + `"}]`: chat.CodeTooLarge,
	} {
		if _, err := DecodePrompts(strings.NewReader(file)); chat.CodeOf(err) != code {
			t.Errorf("%.60q: %v", file, err)
		}
	}
}

// memoryStore is a store in memory.
type memoryStore struct {
	Store
	prompts    []chat.SavedPrompt
	assistants []chat.Assistant
	session    chat.Session
	applied    chat.AssistantID
}

func (s *memoryStore) SavedPrompts(context.Context) ([]chat.SavedPrompt, error) {
	return s.prompts, nil
}
func (s *memoryStore) PutSavedPrompts(_ context.Context, list []chat.SavedPrompt) ([]chat.SavedPrompt, error) {
	s.prompts = append(s.prompts, list...)
	return list, nil
}
func (s *memoryStore) Assistants(context.Context) ([]chat.Assistant, error) { return s.assistants, nil }
func (s *memoryStore) Assistant(_ context.Context, id chat.AssistantID) (chat.Assistant, error) {
	for _, a := range s.assistants {
		if a.ID == id {
			return a, nil
		}
	}
	return chat.Assistant{}, chat.Errorf(chat.CodeNotFound, "", "none")
}

func (s *memoryStore) PutAssistant(_ context.Context, a chat.Assistant) (chat.Assistant, error) {
	a.ID = chat.AssistantID(fmt.Sprint("a", len(s.assistants)))
	s.assistants = append(s.assistants, a)
	return a, nil
}

func (s *memoryStore) Session(context.Context, chat.SessionID) (chat.Session, error) {
	return s.session, nil
}

func (s *memoryStore) ApplyAssistant(_ context.Context, _ chat.SessionID, id chat.AssistantID) error {
	s.applied = id
	return nil
}

// presetErrors are the results of CheckPreset by model.
type presetErrors map[string]error

func (c presetErrors) CheckPreset(_ context.Context, model, _ string) error { return c[model] }

func TestImports(t *testing.T) {
	s := &memoryStore{prompts: []chat.SavedPrompt{{Name: "One", Text: "1"}}}
	l := New(s, nil, func(chat.Change) {})
	raw, _ := EncodePrompts([]chat.SavedPrompt{{Name: "one", Text: "1"}, {Name: "ONE", Text: "another"}, {Name: "One", Text: "third"}})
	got, err := l.ImportPrompts(t.Context(), strings.NewReader(string(raw)))
	if err != nil || got.Known != 1 || len(got.Added) != 2 || got.Added[0].Name != "ONE (2)" || got.Added[1].Name != "One (3)" {
		t.Errorf("%+v %v", got, err)
	}
	long := strings.Repeat("é", chat.MaxLibraryNameRunes)
	first, err := l.addAssistant(t.Context(), chat.Assistant{Name: long})
	if err != nil {
		t.Fatal(err)
	}
	second, err := l.Duplicate(t.Context(), first.ID)
	if err != nil || second.Check() != nil || !strings.HasSuffix(second.Name, "é (2)") {
		t.Errorf("%+v %v", second, err)
	}
}

// The model that will answer is the assistant's or, if it has none, the session's.
func TestApplyChecksTheModelThatWillAnswer(t *testing.T) {
	refuses := chat.Errorf(chat.CodeConfig, "", "There is no such model.")
	s := &memoryStore{assistants: []chat.Assistant{{ID: "own", Name: "Own", Model: "small"}, {ID: "any", Name: "Any"}}, session: chat.Session{Model: "big"}}
	l := New(s, presetErrors{"big": refuses}, func(chat.Change) {})
	if err := l.Apply(t.Context(), "s", "any"); chat.CodeOf(err) != chat.CodeConfig || s.applied != "" {
		t.Errorf("%v", err)
	}
	if err := l.Apply(t.Context(), "s", "own"); err != nil || s.applied != "own" {
		t.Errorf("%v", err)
	}
	if a, err := l.AssistantNamed(t.Context(), "oWN"); err != nil || a.ID != "own" {
		t.Errorf("%v", err)
	}
	if _, err := l.AssistantNamed(t.Context(), "other"); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("%v", err)
	}
	if a, err := l.AssistantNamed(t.Context(), "any"); err != nil || a.ID != "any" {
		t.Errorf("%v", err)
	}
}
