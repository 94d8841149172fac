package app

import (
	"strings"
	"testing"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
)

// Assistants and saved prompts in the window, and what a session shows of its assistant.
func TestWindowLibrary(t *testing.T) {
	p := openPage(t, t.TempDir())
	lib := serviceIn[*api.Library](p.window)
	assistant := must[api.AssistantView](t)(lib.SaveAssistant(api.AssistantView{Name: " Poet ", Instructions: "Rhyme.", Temperature: "0,5", Effort: "low", ToolsMode: "disabled"}))
	if assistant.Name != "Poet" || assistant.Temperature != "0.5" || assistant.ID == "" {
		t.Errorf("%+v", assistant)
	}
	if _, err := lib.SaveAssistant(api.AssistantView{Name: "Hot", Temperature: "3"}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("%v", err)
	}
	row := must[api.SessionRow](t)(lib.StartSession(assistant.ID))
	if v := must[api.SessionAssistantView](t)(lib.SessionAssistant(row.ID)); v.Name != "Poet" || !v.Known || v.Differs {
		t.Errorf("%+v", v)
	}
	if err := p.sessions.SetSessionSettings(row.ID, api.SessionSettings{SystemPrompt: "Be brief.", Temperature: "0.5", Effort: "low"}); err != nil {
		t.Fatal(err)
	}
	if v := must[api.SessionAssistantView](t)(lib.SessionAssistant(row.ID)); v.ID != assistant.ID || !v.Differs {
		t.Errorf("%+v", v) // the session still has it, and shows that it differs
	}
	if err := lib.ApplyAssistant(row.ID, assistant.ID); err != nil {
		t.Fatal(err)
	}
	file := must[string](t)(lib.AssistantFile(assistant.ID))
	if imported := must[api.AssistantView](t)(lib.ImportAssistant(file)); imported.Name != "Poet (2)" || imported.Instructions != "Rhyme." {
		t.Errorf("%+v", imported)
	}
	if err := lib.DeleteAssistant(assistant.ID); err != nil {
		t.Fatal(err)
	}
	if v := must[api.SessionAssistantView](t)(lib.SessionAssistant(row.ID)); v.Name != "Poet" || v.Known {
		t.Errorf("%+v", v)
	}
	if v := must[api.SessionSettings](t)(p.sessions.SessionSettings(row.ID)); v.SystemPrompt != "Rhyme." {
		t.Errorf("%+v", v)
	}

	prompt := must[api.SavedPromptView](t)(lib.SavePrompt(api.SavedPromptView{Name: "Translate", Text: "{{text}} in {{language:English}}"}))
	if len(prompt.Variables) != 2 || prompt.Variables[1].Default != "English" {
		t.Errorf("%+v", prompt)
	}
	if text := must[string](t)(lib.FillPrompt(prompt.ID, map[string]string{"text": "{{x}}", "language": ""})); text != "{{x}} in English" {
		t.Errorf("%q", text)
	}
	if done := must[api.PromptsImported](t)(lib.ImportPrompts(must[string](t)(lib.PromptsFile()))); done.Added != 0 || done.Known != 1 {
		t.Errorf("%+v", done)
	}
	if _, changes := p.seen(); !anyKind(changes, chat.ChangeLibrary) {
		t.Error("nothing was reported to the page")
	}
	panel := must[api.LibraryPanel](t)(lib.Panel())
	if len(panel.Assistants) != 1 || len(panel.Prompts) != 1 || panel.Rev == 0 {
		t.Errorf("%+v", panel)
	}

	known := must[api.KnownPage](t)(p.memory.Known("instructions", "RHYME", 0, 0))
	if known.Total != 1 || known.Items[0].SessionID != row.ID || !strings.Contains(known.Items[0].Text, "Rhyme.") {
		t.Errorf("%+v", known)
	}
	if _, err := p.memory.Known("all", "", 0, 0); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("%v", err)
	}
}
