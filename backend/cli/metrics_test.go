package cli_test

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

type measuredDoc struct {
	Turns []struct {
		Seq        int64      `json:"turn_seq"`
		Usage      chat.Usage `json:"usage"`
		Estimate   int        `json:"estimate_tokens"`
		Stream     *int64     `json:"stream_ms"`
		Embed      *int64     `json:"embed_ms"`
		Candidates *int       `json:"candidates"`
		Tries      *int       `json:"validation_tries"`
		Index      string     `json:"index_status"`
		Attempts   int
		Steps      []struct {
			Status    string
			Code      string `json:"error_code"`
			Displayed int64  `json:"displayed_bytes"`
			Durable   int64  `json:"durable_bytes"`
		}
	}
	Sum struct {
		Turns       int
		Usage       chat.Usage `json:"usage"`
		Estimate    int        `json:"estimate_tokens"`
		Indexed     int
		Steps       int
		StepsFailed int   `json:"steps_failed"`
		Displayed   int64 `json:"displayed_bytes"`
	}
	Backlog struct{ Queued, Unindexed int }
}

// metrics prints the figures of SRD 15.1 for each turn, for each call, and in total.
func TestMetrics(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if r := h.run("metrics").exits(1); !strings.Contains(r.err, "error") {
		t.Errorf("without data: %q", r.err)
	}
	h.provider.script(refuse(&llm.Error{Code: chat.CodeUnavailable, Message: "connection reset", Retry: true}), say("One more"), say("Two"))
	h.run("send", "--new", "--wait", "indexed", "first").exits(0)
	h.run("send", "second").exits(0)
	var doc measuredDoc
	h.run("metrics", "--json").exits(0).into(&doc)
	if len(doc.Turns) != 2 || doc.Turns[0].Seq != 2 || doc.Turns[1].Seq != 1 {
		t.Fatalf("%+v", doc)
	}
	first := doc.Turns[1]
	if first.Usage.InputTokens != 10 || first.Usage.OutputTokens != 5 || first.Estimate == 0 || first.Index != "ok" || first.Attempts != 2 ||
		first.Stream == nil || first.Embed == nil || first.Candidates == nil || first.Tries == nil {
		t.Errorf("%+v", first)
	}
	if len(first.Steps) != 2 || first.Steps[0].Status != "failed" || first.Steps[0].Code != "unavailable" || first.Steps[1].Status != "completed" ||
		first.Steps[1].Displayed != int64(len("One more")) || first.Steps[1].Durable != first.Steps[1].Displayed {
		t.Errorf("%+v", first.Steps)
	}
	sum := doc.Sum
	if sum.Turns != 2 || sum.Usage.InputTokens != 20 || sum.Estimate != doc.Turns[0].Estimate+first.Estimate || sum.Indexed != 1 || sum.Steps != 3 || sum.StepsFailed != 1 ||
		doc.Backlog.Unindexed != 1 || doc.Backlog.Queued == 0 {
		t.Errorf("%+v, %+v", sum, doc.Backlog)
	}
	r := h.run("metrics", "--limit", "1").exits(0)
	for _, want := range []string{"#2", "sum", "1 turn not indexed"} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in\n%s", want, r.out)
		}
	}
	if strings.Contains(r.out, "#1") {
		t.Errorf("--limit 1 prints\n%s", r.out)
	}
	if r := h.run("metrics", "--all").exits(0); !strings.Contains(r.out, "#1: attempt 1 failed (unavailable)") {
		t.Errorf("the failed call is not named:\n%s", r.out)
	}
	h.run("metrics", "--limit", "-1").exits(2)
	h.run("metrics", "--all", "--branch", "x").exits(2)
}
