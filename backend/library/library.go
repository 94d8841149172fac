// Package library keeps what a person uses in many sessions: assistants, which are named
// presets, and saved prompts, which are named texts with variables.
//
// An assistant is copied: a session has the settings that it had when it was applied, recorded
// in the session's own ledger. A saved prompt is filled in and becomes words of a message.
package library

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"time"

	"contextinfinity/backend/chat"
)

// Store is what the library is kept in.
type Store interface {
	Assistants(context.Context) ([]chat.Assistant, error)
	Assistant(context.Context, chat.AssistantID) (chat.Assistant, error)
	PutAssistant(context.Context, chat.Assistant) (chat.Assistant, error)
	DropAssistant(context.Context, chat.AssistantID) error
	ApplyAssistant(context.Context, chat.SessionID, chat.AssistantID) error
	SavedPrompts(context.Context) ([]chat.SavedPrompt, error)
	PutSavedPrompts(context.Context, []chat.SavedPrompt) ([]chat.SavedPrompt, error)
	DropSavedPrompt(context.Context, chat.SavedPromptID) error
	Session(context.Context, chat.SessionID) (chat.Session, error)
	CreateSession(context.Context, chat.NewSession) (chat.Session, chat.Branch, error)
}

// Models tells what a model can be given. It is turn.Engine.
type Models interface {
	// CheckPreset refuses a model that is not configured, and instructions over its cap; an
	// empty name is the default model.
	CheckPreset(ctx context.Context, model, instructions string) error
}

// Library is the service. Its methods may be called by several goroutines.
type Library struct {
	Store
	models  Models
	publish func(chat.Change)
	now     func() time.Time
}

// New returns the service. publish is called with what changed, after it is stored.
func New(store Store, models Models, publish func(chat.Change)) *Library {
	return &Library{Store: store, models: models, publish: publish, now: time.Now}
}

// PutAssistant makes an assistant where it has no id, and changes the one with its id.
func (l *Library) PutAssistant(ctx context.Context, a chat.Assistant) (chat.Assistant, error) {
	a, err := l.Store.PutAssistant(ctx, a)
	return a, l.changed(err)
}

// DropAssistant deletes an assistant. Sessions that have its settings keep them.
func (l *Library) DropAssistant(ctx context.Context, id chat.AssistantID) error {
	return l.changed(l.Store.DropAssistant(ctx, id))
}

// PutSavedPrompts stores prompts, all or none.
func (l *Library) PutSavedPrompts(ctx context.Context, list []chat.SavedPrompt) ([]chat.SavedPrompt, error) {
	out, err := l.Store.PutSavedPrompts(ctx, list)
	return out, l.changed(err)
}

// DropSavedPrompt deletes a saved prompt.
func (l *Library) DropSavedPrompt(ctx context.Context, id chat.SavedPromptID) error {
	return l.changed(l.Store.DropSavedPrompt(ctx, id))
}

func (l *Library) changed(err error) error {
	if err == nil {
		l.publish(chat.Change{Kind: chat.ChangeLibrary})
	}
	return err
}

// AssistantNamed is the assistant of a name, without regard to case, or of an id.
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

// PromptNamed is the saved prompt of a name, without regard to case, or of an id.
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

// Start makes a session with an assistant's settings.
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

// Apply gives a session the settings of an assistant, from the next message on.
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

// Duplicate makes an assistant with the settings of another.
func (l *Library) Duplicate(ctx context.Context, id chat.AssistantID) (chat.Assistant, error) {
	a, err := l.Assistant(ctx, id)
	if err != nil {
		return a, err
	}
	return l.addAssistant(ctx, a)
}

// ImportAssistant adds the assistant that a file holds.
func (l *Library) ImportAssistant(ctx context.Context, r io.Reader) (chat.Assistant, error) {
	a, err := DecodeAssistant(r)
	if err != nil {
		return a, err
	}
	return l.addAssistant(ctx, a)
}

// addAssistant stores an assistant as a new one, under a name that is free.
func (l *Library) addAssistant(ctx context.Context, a chat.Assistant) (chat.Assistant, error) {
	all, err := l.Assistants(ctx)
	if err != nil {
		return a, err
	}
	a.ID = ""
	a.Name = freeName(a.Name, func(name string) bool {
		_, taken := chat.ByName(all, name, func(a chat.Assistant) string { return a.Name })
		return taken
	})
	return l.PutAssistant(ctx, a)
}

// ImportedPrompts is what an import of prompts did.
type ImportedPrompts struct {
	Added []chat.SavedPrompt
	Known int // were there already, with the same name and text
}

// ImportPrompts adds the prompts that a file holds. One that is there with the same name and
// text is left out; one of a name that is taken gets a number after it.
func (l *Library) ImportPrompts(ctx context.Context, r io.Reader) (ImportedPrompts, error) {
	list, err := DecodePrompts(r)
	if err != nil {
		return ImportedPrompts{}, err
	}
	have, err := l.SavedPrompts(ctx)
	if err != nil {
		return ImportedPrompts{}, err
	}
	texts := make(map[string]string, len(have)+len(list))
	for _, p := range have {
		texts[strings.ToLower(p.Name)] = p.Text
	}
	var out ImportedPrompts
	add := []chat.SavedPrompt{}
	for _, p := range list {
		if text, ok := texts[strings.ToLower(p.Name)]; ok && text == p.Text {
			out.Known++
			continue
		}
		p.Name = freeName(p.Name, func(name string) bool { _, taken := texts[strings.ToLower(name)]; return taken })
		texts[strings.ToLower(p.Name)] = p.Text
		add = append(add, p)
	}
	if len(add) > 0 {
		out.Added, err = l.PutSavedPrompts(ctx, add)
	}
	return out, err
}

// numbered is a name with a number behind it.
var numbered = regexp.MustCompile(`^(.+) \(\d+\)$`)

// freeName is a name with a number behind it where it is taken.
func freeName(name string, taken func(string) bool) string {
	free := name
	if m := numbered.FindStringSubmatch(name); m != nil && taken(name) {
		name = m[1]
	}
	for n := 2; taken(free); n++ {
		end := fmt.Sprintf(" (%d)", n)
		if r := []rune(name); len(r)+len(end) > chat.MaxLibraryNameRunes {
			name = strings.TrimSpace(string(r[:chat.MaxLibraryNameRunes-len(end)]))
		}
		free = name + end
	}
	return free
}

// Fill is a saved prompt with values for its variables, as Fill has it; the date is today's where none is given.
func (l *Library) Fill(p chat.SavedPrompt, values map[string]string) (string, error) {
	all := map[string]string{Date: l.now().Format(time.DateOnly)}
	for name, value := range values {
		all[name] = value
	}
	return Fill(p.Text, all)
}
