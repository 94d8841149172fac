package api

import (
	"strconv"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/library"
)

// Library manages the assistants and saved prompts.
type Library struct{ c *Core }

// NewLibrary returns the service.
func NewLibrary(c *Core) *Library { return &Library{c} }

// Panel returns the whole library.
func (s *Library) Panel() (LibraryPanel, error) {
	v := LibraryPanel{Rev: s.c.Hub.Rev()}
	assistants, err := s.c.Library.Assistants(s.c.ctx())
	if err != nil {
		return v, err
	}
	v.Assistants = lists.Map(assistants, assistantView)
	prompts, err := s.c.Library.SavedPrompts(s.c.ctx())
	v.Prompts = lists.Map(prompts, savedPromptView)
	return v, err
}

func assistantView(a chat.Assistant) AssistantView {
	v := AssistantView{ID: string(a.ID), Name: a.Name, Instructions: a.Instructions, Model: a.Model, Effort: a.Effort, ToolsMode: a.ToolsMode}
	if a.Temperature != nil {
		v.Temperature = strconv.FormatFloat(*a.Temperature, 'f', -1, 64)
	}
	return v
}

func savedPromptView(p chat.SavedPrompt) SavedPromptView {
	return SavedPromptView{
		ID: string(p.ID), Name: p.Name, Text: p.Text,
		Variables: lists.Map(library.Variables(p.Text), func(x library.Variable) PromptVariableView { return PromptVariableView(x) }),
	}
}

// parseTemperature parses a temperature as the user entered it; nil for none.
func parseTemperature(op, text string) (*float64, error) {
	if text = strings.TrimSpace(text); text == "" {
		return nil, nil //nolint:nilnil // nil is a value: the model's default
	}
	t, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", "."), 64)
	if err != nil || !(t >= 0 && t <= 2) {
		return nil, chat.Errorf(chat.CodeInvalid, op, "The temperature must be a number from 0 to 2, or empty; nothing was changed.")
	}
	return &t, nil
}

// SaveAssistant creates an assistant, or changes the one with its id. Sessions keep their settings.
func (s *Library) SaveAssistant(v AssistantView) (AssistantView, error) {
	t, err := parseTemperature("assistant.save", v.Temperature)
	if err != nil {
		return v, err
	}
	a, err := s.c.Library.PutAssistant(s.c.ctx(), chat.Assistant{
		ID: chat.AssistantID(v.ID), Name: strings.TrimSpace(v.Name), Instructions: v.Instructions, Model: v.Model, Temperature: t, Effort: v.Effort, ToolsMode: v.ToolsMode,
	})
	return assistantView(a), err
}

// DuplicateAssistant creates an assistant with the settings of another.
func (s *Library) DuplicateAssistant(id string) (AssistantView, error) {
	a, err := s.c.Library.Duplicate(s.c.ctx(), chat.AssistantID(id))
	return assistantView(a), err
}

// DeleteAssistant deletes an assistant. Sessions keep the settings copied from it.
func (s *Library) DeleteAssistant(id string) error {
	return s.c.Library.DeleteAssistant(s.c.ctx(), chat.AssistantID(id))
}

// ApplyAssistant gives a session the current settings of an assistant, starting with the next message.
func (s *Library) ApplyAssistant(sessionID, id string) error {
	return s.c.Library.Apply(s.c.ctx(), chat.SessionID(sessionID), chat.AssistantID(id))
}

// StartSession creates a session with the settings of an assistant.
func (s *Library) StartSession(id string) (SessionRow, error) {
	sess, _, err := s.c.Library.Start(s.c.ctx(), "", chat.AssistantID(id))
	if err != nil {
		return SessionRow{}, err
	}
	return s.c.row(s.c.ctx(), sess.ID)
}

// SessionAssistant returns the assistant that was last applied to a session.
func (s *Library) SessionAssistant(sessionID string) (SessionAssistantView, error) {
	sess, err := s.c.Sessions.Session(s.c.ctx(), chat.SessionID(sessionID))
	if err != nil || sess.Assistant == "" {
		return SessionAssistantView{}, err
	}
	v := SessionAssistantView{ID: string(sess.Assistant), Name: sess.AssistantName}
	a, err := s.c.Library.Assistant(s.c.ctx(), sess.Assistant)
	switch {
	case chat.CodeOf(err) == chat.CodeNotFound:
		return v, nil
	case err == nil:
		v.Name, v.Known, v.Differs = a.Name, true, a.Differs(sess)
	}
	return v, err
}

// AssistantFile returns the text of a file with an assistant, for ImportAssistant.
func (s *Library) AssistantFile(id string) (string, error) {
	a, err := s.c.Library.Assistant(s.c.ctx(), chat.AssistantID(id))
	if err != nil {
		return "", err
	}
	data, err := library.EncodeAssistant(a)
	return string(data), err
}

// ImportAssistant adds the assistant in the text of a file.
func (s *Library) ImportAssistant(text string) (AssistantView, error) {
	a, err := s.c.Library.ImportAssistant(s.c.ctx(), strings.NewReader(text))
	return assistantView(a), err
}

// SavePrompt saves a prompt, or changes the one with its id. Its variables are taken from its text.
func (s *Library) SavePrompt(v SavedPromptView) (SavedPromptView, error) {
	stored, err := s.c.Library.PutSavedPrompts(s.c.ctx(), []chat.SavedPrompt{{ID: chat.SavedPromptID(v.ID), Name: strings.TrimSpace(v.Name), Text: v.Text}})
	if err != nil {
		return v, err
	}
	return savedPromptView(stored[0]), nil
}

// DeletePrompt deletes a saved prompt.
func (s *Library) DeletePrompt(id string) error {
	return s.c.Library.DeleteSavedPrompt(s.c.ctx(), chat.SavedPromptID(id))
}

// FillPrompt fills in a saved prompt with values for its variables, by name. Today's date needs no value.
func (s *Library) FillPrompt(id string, values map[string]string) (string, error) {
	p, err := s.c.Library.PromptNamed(s.c.ctx(), id)
	if err != nil {
		return "", err
	}
	return s.c.Library.Fill(p, values)
}

// PromptsFile returns the text of a file with all saved prompts.
func (s *Library) PromptsFile() (string, error) {
	all, err := s.c.Library.SavedPrompts(s.c.ctx())
	if err != nil {
		return "", err
	}
	data, err := library.EncodePrompts(all)
	return string(data), err
}

// ImportPrompts adds the prompts in the text of a file: the program's own format, or an export of Open WebUI.
func (s *Library) ImportPrompts(text string) (PromptsImported, error) {
	done, err := s.c.Library.ImportPrompts(s.c.ctx(), strings.NewReader(text))
	return PromptsImported{Added: len(done.Added), Known: done.Known}, err
}
