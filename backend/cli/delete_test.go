package cli_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
)

// TestDeleteAsksForConfirmation: a deletion is confirmed by typing a word that any keyboard can type, and leaves a
// receipt.
func TestDeleteAsksForConfirmation(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.send("--new", "a matter of narwhals")
	h.run("sessions", "rename", s.SessionID, "Whales").exits(0)
	other := h.send("--new", "of nothing")
	for _, args := range [][]string{
		{"delete", s.SessionID}, {"delete", s.SessionID, "--yes"}, {"delete", s.SessionID, "--hard"}, {"delete", s.SessionID, "--hard", "--json"},
		{"delete", "--hard", "--yes"}, {"delete", s.SessionID, "--turn", s.TurnID, "--hard", "--yes"},
	} {
		h.run(args...).exits(2)
	}
	if r := h.run("delete", s.SessionID).exits(2); !strings.Contains(r.err, "archive") {
		t.Errorf("%s", r.err)
	}
	h.run("delete", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "--hard", "--yes").exits(1)
	if out := h.run("receipts").exits(0).out; !strings.Contains(out, "Nothing has been permanently deleted") {
		t.Errorf("%s", out)
	}
	ask := func(answer string, args ...string) result {
		app := h.app()
		var out, errs bytes.Buffer
		app.In, app.Out, app.Err, app.Terminals = strings.NewReader(answer), &out, &errs, &cli.Terminals{In: true}
		code := cli.Run(context.Background(), app, append([]string{"--data-dir", h.dir, "--config", h.config, "delete", "--hard"}, args...))
		return result{t, code, out.String(), errs.String()}
	}
	for _, answer := range []string{"", "y\n", "Whales\n"} {
		if r := ask(answer, s.SessionID).exits(1); !strings.Contains(r.err, "type delete") || strings.Contains(r.out, "Permanently deleted") {
			t.Errorf("%q: %s %s", answer, r.out, r.err)
		}
	}
	h.run("show", s.SessionID).exits(0)
	if r := ask("Delete \n", s.SessionID).exits(0); !strings.Contains(r.out, "Permanently deleted: session "+s.SessionID) {
		t.Errorf("%s", r.out)
	}
	h.run("show", s.SessionID).exits(1)

	doc := h.run("delete", "--turn", other.TurnID, "--hard", "--yes", "--json").exits(0).document()
	if r, _ := doc["receipt"].(map[string]any); r["kind"] != chat.DeletionTurn || r["subject"] != other.TurnID {
		t.Errorf("%v", doc)
	}
	if out := h.run("show", other.SessionID).exits(0).out; !strings.Contains(out, "[erased]") || strings.Contains(out, "nothing") {
		t.Errorf("%s", out)
	}
	if r := h.run("retry", other.TurnID).exits(1); !strings.Contains(r.err, "nothing to send again") {
		t.Errorf("what was deleted is sent: %s", r.err)
	}
	list, _ := h.run("receipts", "--json").exits(0).document()["receipts"].([]any)
	if len(list) != 2 {
		t.Errorf("%v", list)
	}
	if out := h.run("receipts").exits(0).out; strings.Count(out, "Receipt ") != 2 || strings.Contains(out, "Whales") {
		t.Errorf("%s", out)
	}
	h.run("verify").exits(0)

	kept := h.send("--new", "the vault opens with 4711")
	duplicate := func(title string) string {
		session, _ := h.run("sessions", "duplicate", kept.SessionID, "--title", title, "--json").exits(0).document()["session"].(map[string]any)
		id, _ := session["session_id"].(string)
		return id
	}
	first, second := duplicate("to try things in"), duplicate("another copy")
	h.send("--session", first, "only in the copy")
	if r := ask("no\n", kept.SessionID, "--copies").exits(1); !strings.Contains(r.err, `the whole copy "to try things in" (session `+first+`) with 2 turns, 1 of them only there.`) || !strings.Contains(r.err, second) || strings.Contains(r.err, "Not touched") {
		t.Errorf("the copies are not named: %s", r.err)
	}
	if r := ask("delete\n", "--turn", kept.TurnID, "--copies").exits(0); strings.Count(r.out, "Permanently deleted: turn") != 3 || !strings.Contains(r.err, `the same turn in the copy "another copy"`) {
		t.Errorf("%s %s", r.err, r.out)
	}
	if out := h.run("show", first).exits(0).out; !strings.Contains(out, "only in the copy") || strings.Contains(out, "4711") {
		t.Errorf("the copy shows %s", out)
	}
	h.run("verify").exits(0)
	again := h.send("--new", "the door opens with 1234")
	h.run("sessions", "duplicate", again.SessionID, "--title", "third copy").exits(0)
	r := h.run("delete", again.SessionID, "--copies", "--hard", "--yes").exits(0)
	if !strings.Contains(r.err, "third copy") || strings.Count(r.out, "Permanently deleted: session") != 2 {
		t.Errorf("%s %s", r.err, r.out)
	}
	w := h.writer()
	h.run("delete", other.SessionID, "--hard", "--yes").exits(1) // another process has the data open and accepts no requests
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
