package process

import (
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// SPEC 16: an error in config.toml is reported with file, line and key, and everything that works without that setting
// continues.
func TestAFaultyConfigurationIsReportedAndStopsNothing(t *testing.T) {
	t.Parallel()
	cases := []struct {
		name, text string
		line       int
		key        string
	}{
		{"an unknown key", "[budget]\nworking_set = 5\n", 2, "budget.working_set"},
		{"a wrong type", "[budget]\n\nworking_set_tokens = \"many\"\n", 3, "budget.working_set_tokens"},
		{"out of range", "# mine\n[budget]\ncompact_at = 7.5\n", 3, "budget.compact_at"},
		{"a wrong choice", "[stream]\ndurability = \"sometimes\"\n", 2, "stream.durability"},
		{"an unknown table", "[nothing]\nx = 1\n", 1, "nothing"},
		{"no TOML", "[budget\n", 1, ""},
		{"a model without its server", "[models.mine]\nprovider = \"telepathy\"\nmodel_id = \"m\"\n", 2, "models.mine.provider"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := harness.NewHome(t, harness.Shipped(t), c.text)
			place := fmt.Sprintf("%s:%d:", h.ConfigFile(), c.line)
			f := h.Run("config", "check", "--json").Fails(1, chat.CodeConfig)
			if !strings.Contains(f.Message, place) || !strings.Contains(f.Message, c.key) {
				t.Errorf("config check says %q, want %s and %s", f.Message, place, c.key)
			}
			if r := h.Run("config", "check").Exits(1); !strings.HasPrefix(r.Stderr, "error: ") || !strings.Contains(r.Stderr, place) || r.Stdout != "" {
				t.Errorf("config check prints %q and %q", r.Stdout, r.Stderr)
			}
			h.OK("sessions")
			send := []string{"send", "--new", "Still here?"}
			if strings.HasPrefix(c.key, "models.") { // its messages are for that model, and for nobody else
				if f := h.Run(append(send, "--json")...).Fails(1, chat.CodeConfig); !strings.Contains(f.Message, c.key) {
					t.Errorf("send says %q", f.Message)
				}
				send = append(send, "--model", "recall")
			}
			for _, args := range [][]string{send, {"sessions", "--json"}} {
				if r := h.OK(args...); r.Stdout == "" || !strings.Contains(r.Stderr, place) {
					t.Errorf("%s continues without reporting it: %q, %q", args[0], harness.Clip(r.Stdout), r.Stderr)
				}
			}
			h.Clean()
		})
	}
}

// A command that changes a setting does not overwrite an invalid file.
func TestAFaultyConfigurationIsNotOverwritten(t *testing.T) {
	t.Parallel()
	const text = "[budget]\nworking_set = 5 # mine\n[librarian]\nafter_send_s = 1\n"
	h := harness.NewHome(t, harness.Shipped(t), text)
	r := h.Run("config", "set", "budget.compact_at", "0.9", "--json")
	after := string(harness.ReadFile(t, h.ConfigFile()))
	if r.Code == 0 && !strings.Contains(after, "working_set = 5 # mine") || r.Code != 0 && after != text {
		t.Errorf("exit %d, and the file is now %q", r.Code, after)
	}
}
