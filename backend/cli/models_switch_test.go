package cli_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestSwitchPreview shows what another model would change before it is chosen, and that a switch needs summarization
// if turns without a summary would no longer fit.
func TestSwitchPreview(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure(configText + `
[models.small]
provider = "chatcompletions"
base_url = "http://127.0.0.1:1/v1"
model_id = "small-1"
context_limit = 5000
max_output = 500

[models.tiny]
provider = "chatcompletions"
base_url = "http://127.0.0.1:1/v1"
model_id = "tiny-1"
context_limit = 400
max_output = 100
`)
	h.run("models", "--switch-preview", "small").exits(1)
	s := h.send("--new", "Turn 1: "+strings.Repeat("the ledger of the harbour is kept in Gion. ", 60))
	for i := 2; i <= 9; i++ {
		h.send("--session", s.SessionID, fmt.Sprintf("Turn %d: ", i)+strings.Repeat("the ledger of the harbour is kept in Gion. ", 60))
	}
	var doc struct {
		Dropped            int    `json:"dropped"`
		Kind               string `json:"kind"`
		OldCeiling         int    `json:"old_ceiling"`
		NewCeiling         int    `json:"new_ceiling"`
		OldTokens          int    `json:"old_tokens"`
		NewTokens          int    `json:"new_tokens"`
		Compressed         int    `json:"compressed"`
		NeedsSummarization bool   `json:"needs_summarization"`
		Unsummarized       int    `json:"unsummarized"`
		Fits               bool   `json:"fits"`
		Message            string `json:"message"`
	}
	h.run("models", "--switch-preview", "small", "--json").into(&doc)
	if doc.Dropped == 0 || !doc.NeedsSummarization || !strings.Contains(doc.Message, "left out until") {
		t.Errorf("pending: %+v", doc)
	}
	h.talk("/switch "+s.SessionID, "/commit", "/quit")
	h.run("models", "--switch-preview", "small", "--json").into(&doc)
	if doc.Kind != "shrinking" || doc.NewCeiling >= doc.OldCeiling || doc.NewTokens >= doc.OldTokens || doc.Compressed == 0 ||
		!doc.NeedsSummarization || doc.Unsummarized < doc.Compressed || !doc.Fits {
		t.Errorf("%+v", doc)
	}
	if r := h.run("models", "--switch-preview", "small", "--session", s.SessionID); !strings.Contains(r.out, "needs summarization: ") || !strings.Contains(r.out, "with small") {
		t.Errorf("as text: %s%s", r.out, r.err)
	}
	if r := h.run("models", "--switch-preview", "test"); !strings.Contains(r.out, "Nothing changes") {
		t.Errorf("the same model: %s%s", r.out, r.err)
	}
	h.run("models", "--switch-preview", "tiny", "--json").into(&doc)
	if doc.Fits || doc.Kind != "shrinking" || doc.Message == "" {
		t.Errorf("too small: %+v", doc)
	}
	h.run("models", "--switch-preview", "unknown").exits(1)
	h.run("models", "--session", s.SessionID).exits(2)

	stderr := h.talk("/switch "+s.SessionID, "/model small", "/quit").err
	warning, chosen := strings.Index(stderr, "needs summarization"), strings.Index(stderr, "From now on small answers")
	if warning < 0 || chosen < warning {
		t.Errorf("/model: %s", stderr)
	}
}
