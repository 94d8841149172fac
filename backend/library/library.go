// Package library stores what a user uses in many sessions: assistants, which are named presets, and saved prompts,
// which are named texts with variables.
//
// An assistant is copied into a session: the session keeps the settings that the assistant had when it was applied,
// recorded in the session's own ledger. A saved prompt is filled in and becomes part of a message.
package library

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
)

// Store is the database that the library uses.
type Store interface {
	Assistants(context.Context) ([]chat.Assistant, error)
	Assistant(context.Context, chat.AssistantID) (chat.Assistant, error)
	PutAssistant(context.Context, chat.Assistant) (chat.Assistant, error)
	DeleteAssistant(context.Context, chat.AssistantID) error
	ApplyAssistant(context.Context, chat.SessionID, chat.AssistantID) error
	SavedPrompts(context.Context) ([]chat.SavedPrompt, error)
	PutSavedPrompts(context.Context, []chat.SavedPrompt) ([]chat.SavedPrompt, error)
	DeleteSavedPrompt(context.Context, chat.SavedPromptID) error
	Session(context.Context, chat.SessionID) (chat.Session, error)
	CreateSession(context.Context, chat.NewSession) (chat.Session, chat.Branch, error)
}

// Models checks the settings of a preset. It is turn.Engine.
type Models interface {
	// CheckPreset rejects a model that is not configured, and instructions that are too long. An empty model means
	// the default model.
	CheckPreset(ctx context.Context, model, instructions string) error
}

// Library is the service. Its methods are safe for concurrent use.
type Library struct {
	Store
	models  Models
	publish func(chat.Change)
	now     func() time.Time
}

// New returns the service. publish is called after each change has been stored.
func New(store Store, models Models, publish func(chat.Change)) *Library {
	return &Library{Store: store, models: models, publish: publish, now: time.Now}
}

// PutAssistant creates an assistant if it has no id, and otherwise updates the one with its id.
func (l *Library) PutAssistant(ctx context.Context, a chat.Assistant) (chat.Assistant, error) {
	a, err := l.Store.PutAssistant(ctx, a)
	return a, l.changed(err)
}

// DeleteAssistant deletes an assistant. Sessions keep the settings they got from it.
func (l *Library) DeleteAssistant(ctx context.Context, id chat.AssistantID) error {
	return l.changed(l.Store.DeleteAssistant(ctx, id))
}

// PutSavedPrompts stores all of the prompts, or none.
func (l *Library) PutSavedPrompts(ctx context.Context, list []chat.SavedPrompt) ([]chat.SavedPrompt, error) {
	out, err := l.Store.PutSavedPrompts(ctx, list)
	return out, l.changed(err)
}

// DeleteSavedPrompt deletes a saved prompt.
func (l *Library) DeleteSavedPrompt(ctx context.Context, id chat.SavedPromptID) error {
	return l.changed(l.Store.DeleteSavedPrompt(ctx, id))
}

func (l *Library) changed(err error) error {
	if err == nil {
		l.publish(chat.Change{Kind: chat.ChangeLibrary})
	}
	return err
}

// AssistantNamed finds an assistant by name, ignoring case, or by id.
func (l *Library) AssistantNamed(ctx context.Context, name string) (chat.Assistant, error) {
	all, err := l.Assistants(ctx)
	if err != nil {
		return chat.Assistant{}, err
	}
	found, ok := chat.ByName(all, name, func(a chat.Assistant) string { return a.Name })
	if !ok {
		found, ok = chat.ByName(all, name, func(a chat.Assistant) string { return string(a.ID) })
	}
	if !ok {
		return found, chat.Errorf(chat.CodeNotFound, "assistant.find", "There is no assistant named %q.", name).
			WithHint("contextinfinity assistants lists them")
	}
	return found, nil
}

// PromptNamed finds a saved prompt by name, ignoring case, or by id.
func (l *Library) PromptNamed(ctx context.Context, name string) (chat.SavedPrompt, error) {
	all, err := l.SavedPrompts(ctx)
	if err != nil {
		return chat.SavedPrompt{}, err
	}
	found, ok := chat.ByName(all, strings.TrimPrefix(name, "/"), func(p chat.SavedPrompt) string { return p.Name })
	if !ok {
		found, ok = chat.ByName(all, name, func(p chat.SavedPrompt) string { return string(p.ID) })
	}
	if !ok {
		return found, chat.Errorf(chat.CodeNotFound, "prompt.find", "There is no saved prompt named %q.", name).
			WithHint("contextinfinity prompts lists them")
	}
	return found, nil
}

// Start creates a session with an assistant's settings.
func (l *Library) Start(ctx context.Context, title string, id chat.AssistantID) (chat.Session, chat.Branch, error) {
	a, err := l.Assistant(ctx, id)
	if err == nil {
		err = l.models.CheckPreset(ctx, a.Model, a.Instructions)
	}
	if err != nil {
		return chat.Session{}, chat.Branch{}, err
	}
	s, b, err := l.CreateSession(ctx, chat.NewSession{Title: title, Assistant: id})
	if err == nil {
		l.changedSession(s.ID)
	}
	return s, b, err
}

// Apply gives a session the settings of an assistant, starting with the next message.
func (l *Library) Apply(ctx context.Context, session chat.SessionID, id chat.AssistantID) error {
	s, err := l.Session(ctx, session)
	if err != nil {
		return err
	}
	a, err := l.Assistant(ctx, id)
	if err == nil {
		err = l.models.CheckPreset(ctx, cmp.Or(a.Model, s.Model), a.Instructions)
	}
	if err != nil {
		return err
	}
	if err := l.ApplyAssistant(ctx, session, id); err != nil {
		return err
	}
	l.changedSession(session)
	return nil
}

func (l *Library) changedSession(id chat.SessionID) {
	l.publish(chat.Change{Kind: chat.ChangeSessions, ID: string(id), Session: id})
	l.publish(chat.Change{Kind: chat.ChangeSession, ID: string(id), Session: id})
}

// Duplicate creates an assistant with the settings of another.
func (l *Library) Duplicate(ctx context.Context, id chat.AssistantID) (chat.Assistant, error) {
	a, err := l.Assistant(ctx, id)
	if err != nil {
		return a, err
	}
	return l.addAssistant(ctx, a)
}

// ImportAssistant adds the assistant in a file.
func (l *Library) ImportAssistant(ctx context.Context, r io.Reader) (chat.Assistant, error) {
	a, err := DecodeAssistant(r)
	if err != nil {
		return a, err
	}
	return l.addAssistant(ctx, a)
}

// addAssistant stores an assistant as a new one, under a free name.
func (l *Library) addAssistant(ctx context.Context, a chat.Assistant) (chat.Assistant, error) {
	all, err := l.Assistants(ctx)
	if err != nil {
		return a, err
	}
	a.ID = ""
	a.Name = chat.FreeName(a.Name, func(name string) bool {
		_, taken := chat.ByName(all, name, func(a chat.Assistant) string { return a.Name })
		return taken
	})
	return l.PutAssistant(ctx, a)
}

// ImportedPrompts is the outcome of an import of prompts.
type ImportedPrompts struct {
	Added []chat.SavedPrompt
	Known int // existed already with the same name and text
}

// ImportPrompts adds the prompts in a file. A prompt that exists with the same name and text is skipped; one whose
// name is taken gets a number after its name.
func (l *Library) ImportPrompts(ctx context.Context, r io.Reader) (ImportedPrompts, error) {
	list, err := DecodePrompts(r)
	if err != nil {
		return ImportedPrompts{}, err
	}
	existing, err := l.SavedPrompts(ctx)
	if err != nil {
		return ImportedPrompts{}, err
	}
	texts := make(map[string]string, len(existing)+len(list))
	for _, p := range existing {
		texts[strings.ToLower(p.Name)] = p.Text
	}
	var out ImportedPrompts
	add := []chat.SavedPrompt{}
	for _, p := range list {
		if text, ok := texts[strings.ToLower(p.Name)]; ok && text == p.Text {
			out.Known++
			continue
		}
		p.Name = chat.FreeName(p.Name, func(name string) bool { _, taken := texts[strings.ToLower(name)]; return taken })
		texts[strings.ToLower(p.Name)] = p.Text
		add = append(add, p)
	}
	if len(add) > 0 {
		out.Added, err = l.PutSavedPrompts(ctx, add)
	}
	return out, err
}

// Fill fills in a saved prompt as the function Fill does; the date defaults to today's.
func (l *Library) Fill(p chat.SavedPrompt, values map[string]string) (string, error) {
	all, variables := map[string]string{Date: l.now().Format(time.DateOnly)}, Variables(p.Text)
	for name, value := range values {
		if !slices.ContainsFunc(variables, func(v Variable) bool { return v.Name == name }) {
			return "", chat.Errorf(chat.CodeInvalid, "prompt.fill", "The prompt has no variable %q; nothing was sent.", name)
		}
		all[name] = value
	}
	return Fill(p.Text, all)
}
