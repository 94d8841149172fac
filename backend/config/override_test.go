package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func openWith(t *testing.T, file, env string, set ...string) (*Store, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	return Open(Options{Path: path, DataDir: t.TempDir(), Set: set, Getenv: func(name string) string {
		if name == "CONTEXTINFINITY" {
			return env
		}
		return ""
	}})
}

const overriddenFile = `[budget]
compact_to = 0.3
[context]
infinity = false
[models."m.1"]
provider = "chatcompletions"
base_url = "http://127.0.0.1:1/v1"
model_id = "m"
`

// A setting for one run overrides the file and is never written to it; other settings are not affected.
func TestOverrides(t *testing.T) {
	s, err := openWith(t, overriddenFile, "0", "budget.compact_at=0.6", "budget.compact_at = 0.7", "context.infinity=true",
		`redaction.patterns=["x+"]`, "models.m.1.context_limit=4096", "retrieval.embedding_base_url=http://localhost:1/v1")
	if err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		c := s.Config()
		if c.Budget.CompactAt != 0.7 || c.Budget.CompactTo != 0.3 || !c.Context.Infinity || len(c.Redaction.Patterns) != 1 ||
			c.Configured[0].ContextLimit != 4096 || c.Retrieval.EmbeddingBaseURL != "http://localhost:1/v1" {
			t.Errorf("%+v", c)
		}
		if c.Origin("budget.compact_at") != OriginCommandLine || c.Origin("budget.compact_to") != OriginFile {
			t.Errorf("origins %s, %s", c.Origin("budget.compact_at"), c.Origin("budget.compact_to"))
		}
	}
	check()
	if err := s.Set("librarian.timeout_s", "7"); err != nil {
		t.Fatal(err)
	}
	check()
	data, err := os.ReadFile(s.Path())
	if err != nil || strings.Contains(string(data), "compact_at") || !strings.Contains(string(data), "timeout_s = 7") {
		t.Errorf("the file is\n%s, %v", data, err)
	}
}

// Overrides are checked like the file, separately and in combination with it.
func TestWrongOverrides(t *testing.T) {
	for set, want := range map[string]string{
		"budget.compact_at":              "has no value",
		"budget.compact_att=1":           "no setting of that name",
		"budget.compact_at=soon":         "must be a number",
		"budget.compact_at=7":            "must be between",
		"budget.compact_at=0.2":          "budget.compact_to must be below budget.compact_at",
		"tools.mode=all":                 "must be one of",
		"general.default_model=nothing":  "names no model",
		"models.m.1.context_limit=-1":    "must be between",
		"models.other.context_limit=100": "no setting of that name",
		"redaction.patterns=x":           "must be a list",
	} {
		s, err := openWith(t, overriddenFile, "", set)
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "config.toml") {
			t.Errorf("%s: %v", set, err)
		}
		if s.Config() == nil {
			t.Errorf("%s: no configuration", set)
		}
	}
	s, err := openWith(t, "[budget]\ncompact_to = 7", "", "budget.compact_at=0.9")
	if chat.CodeOf(err) != chat.CodeConfig || s.Config().Budget.CompactAt != 0.9 {
		t.Errorf("over a faulty file: %v, %v", err, s.Config().Budget.CompactAt)
	}
}

// CONTEXTINFINITY turns memory on or off and overrides the file.
func TestMemoryByTheEnvironment(t *testing.T) {
	for _, c := range []struct {
		file, env string
		want      bool
	}{
		{"", "", true}, {"", "0", false}, {"", "1", true}, {"[context]\ninfinity = false", "1", true}, {"[context]\ninfinity = false", "", false},
		{"[context]\ninfinity = true", "0", false}, {"[context]\ninfinity = false", "yes", false},
	} {
		s, err := openWith(t, c.file, c.env)
		if err != nil || s.Config().Context.Infinity != c.want {
			t.Errorf("%q, %q: %v, %v", c.file, c.env, s.Config().Context.Infinity, err)
		}
		if env := s.Config().Origin("context.infinity") == OriginEnvironment; env != (c.env == "0" || c.env == "1") {
			t.Errorf("%q, %q: the origin is %s", c.file, c.env, s.Config().Origin("context.infinity"))
		}
	}
}
