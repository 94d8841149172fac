package cli_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
)

// --set applies to one run, is checked before anything is opened, and is not stored.
func TestSetForOneRun(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var doc struct {
		Settings []struct{ Key, Value, Origin string }
	}
	value := func(args ...string) (string, string) {
		h.run(append(args, "config", "show", "--json")...).exits(0).into(&doc)
		for _, s := range doc.Settings {
			if s.Key == "budget.working_set_tokens" {
				return s.Value, s.Origin
			}
		}
		return "", ""
	}
	if v, origin := value("--set", "budget.working_set_tokens=12345", "--set", "librarian.timeout_s=9"); v != "12345" || origin != "command line" {
		t.Errorf("%s, origin %s", v, origin)
	}
	if v, origin := value(); v != "50000" || origin != "default" {
		t.Errorf("in the next run: %s, origin %s", v, origin)
	}
	for _, wrong := range []string{"budget.working_set_tokens", "budget.working_set_tokenss=1", "budget.working_set_tokens=x", "budget.compact_to=0.99"} {
		if r := h.run("send", "--new", "hi", "--set", wrong).exits(2); r.out != "" || !strings.Contains(r.err, "budget.") && !strings.Contains(r.err, "no setting") {
			t.Errorf("%s: %q", wrong, r.err)
		}
	}
	h.configure("[budget")
	if r := h.run("send", "--new", "hi", "--set", "general.data_dir="+t.TempDir(), "--set", "models.test.effort=low").exits(2); !strings.Contains(r.err, "has an error too") {
		t.Errorf("beside a file with an error: %q", r.err)
	}
	if _, err := os.Stat(h.dir); !os.IsNotExist(err) {
		t.Error("an invalid --set created the data directory")
	}
}

// A program that has the data open uses its own settings, so a command with --set is not forwarded to it.
func TestSetIsNotForwarded(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.send("--new", "hi")
	h.writer()
	app := h.app()
	app.HandOver = func(context.Context, cli.OpenOptions, cli.Handover) (int, bool, error) { return 0, true, nil }
	var out, errs strings.Builder
	app.In, app.Out, app.Err = strings.NewReader(""), &out, &errs
	args := []string{"--data-dir", h.dir, "--config", h.config, "send", "again", "--json"}
	if code := cli.Run(t.Context(), app, append(args, "--set", "librarian.timeout_s=9")); code != 1 || !strings.Contains(out.String(), string(chat.CodeLocked)) ||
		!strings.Contains(out.String(), "--set cannot apply") {
		t.Errorf("%d: %s", code, out.String())
	}
	out.Reset()
	if code := cli.Run(t.Context(), app, args); code != 0 {
		t.Errorf("without --set: %d: %s", code, errs.String())
	}
}
