package api

import (
	"context"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
)

// smallModel resolves to a model with a ceiling of 6 810 tokens.
type smallModel struct{}

func (smallModel) Resolve(context.Context, string) (turn.Model, error) {
	return turn.Model{
		Endpoint: llm.Endpoint{Name: "small", Provider: "openai", ModelID: "small"},
		Limits:   prompt.Limits{ContextLimit: 8192, MaxOutput: 1000, ResponseReserve: 4000, SafetyMargin: 1500, StateTarget: 1200},
	}, nil
}

func (smallModel) Provider(string) (llm.Provider, bool) { return nil, false }

type bytesCounter struct{ wordCounter }

func (bytesCounter) Encoding(string) string { return "bytes" }

// Pins and instructions that are too large for the model are refused, and nothing changes.
func TestWindowRefusesPinsAndInstructionsOverTheirCaps(t *testing.T) {
	c, s, session := newTestChat(t)
	core := c.c
	branch := string(session.ActiveBranch)
	inspect, sessions := NewInspect(core), NewSessions(core)
	kept, err := inspect.AddPin(branch, strings.Repeat("fact ", 100))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("fact ", 600)
	for name, refuse := range map[string]func() error{
		"a fact":        func() error { _, err := inspect.AddPin(branch, long); return err },
		"a new version": func() error { _, err := inspect.EditPin(branch, kept.ID, long); return err },
		"an instruction": func() error {
			return sessions.SetSessionSettings(string(session.ID), SessionSettings{SystemPrompt: long})
		},
	} {
		if err := refuse(); chat.CodeOf(err) != chat.CodeOverBudget || !strings.Contains(err.Error(), "544") {
			t.Errorf("%s: %v", name, err)
		}
	}
	pins, err := s.Pins(t.Context(), session.ActiveBranch)
	if err != nil || len(pins) != 1 || string(pins[0].ID) != kept.ID {
		t.Errorf("%+v %v", pins, err)
	}
	if v, err := sessions.SessionSettings(string(session.ID)); err != nil || v.SystemPrompt != "" {
		t.Errorf("%+v %v", v, err)
	}
	if err := sessions.SetSessionSettings(string(session.ID), SessionSettings{SystemPrompt: "Be brief."}); err != nil {
		t.Error(err)
	}
}
