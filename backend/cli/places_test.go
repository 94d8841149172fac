package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/cli"
)

// A path in the arguments that does not exist is a usage error, and nothing is opened or created.
func TestNamedPathsMustExist(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	none := filepath.Join(filepath.Dir(h.config), "none.toml")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--config", none, "sessions"}, none + ": there is no such configuration file"},
		{[]string{"sessions", "--config="}, "--config is empty"},
		{[]string{"--config", none}, "no such configuration file"},
		{[]string{"send", "--new", "hi", "--data-dir", ""}, "--data-dir is empty"},
		{[]string{"--data-dir="}, "--data-dir is empty"},
		{[]string{"search", "x", "-k", "abc"}, `--limit must be a whole number, not "abc"`},
	} {
		r := h.run(c.args...).exits(2)
		if !strings.Contains(r.err, c.want) || strings.Contains(r.err, "strconv") || r.out != "" {
			t.Errorf("%q: %q, %q", c.args, r.out, r.err)
		}
	}
	if _, err := os.Stat(h.dir); !os.IsNotExist(err) {
		t.Errorf("the data directory was created: %v", err)
	}
	h.run("--config", none, "config", "set", "budget.working_set_tokens", "40000").exits(0)
	h.run("--config", none, "config", "check").exits(0)
}

// TestAChangedSettingIsPrinted: config set and reset print the setting with its new value, also a field of a model.
func TestAChangedSettingIsPrinted(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.configure("[models.m]\nprovider = \"openai\"\nmodel_id = \"m-1\"\n")
	for args, want := range map[string]string{
		"set models.m.price_input 3":       "models.m.price_input = 3 (file)\n",
		"set models.m.context_limit 16384": "models.m.context_limit = 16384 (file)\n",
		"reset models.m.price_output":      "models.m.price_output = 0 (default)\n",
		"set budget.compact_at 0.8":        "budget.compact_at = 0.8 (file)\n",
	} {
		if r := h.run(append([]string{"config"}, strings.Fields(args)...)...).exits(0); r.out != want {
			t.Errorf("%s: %q, want %q", args, r.out, want)
		}
	}
}

// The usual configuration file may be missing.
func TestDefaultPathsMayBeMissing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	var out, errs bytes.Buffer
	app := h.app()
	app.In, app.Out, app.Err = strings.NewReader(""), &out, &errs
	if code := cli.Run(t.Context(), app, []string{"sessions", "--data-dir", h.dir}); code != 0 {
		t.Errorf("%d: %s", code, errs.String())
	}
}

// Arguments that look like files are reported as missing files, not as unknown commands.
func TestMissingFilesAreNotReportedAsCommands(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for args, want := range map[string]string{
		"places_test.go missing.json": "missing.json: no such file.", "missing.json": "missing.json: no such file.",
		"places_test.go missing": "missing: no such file.", "here/missing": "here/missing: no such file.",
		"nonsense": `There is no verb "nonsense".`, "nonsense more": `There is no verb "nonsense".`,
	} {
		if r := h.run(strings.Fields(args)...).exits(2); !strings.Contains(r.err, want) {
			t.Errorf("%s: %q", args, r.err)
		}
	}
}

// If nothing is found, search reports how much is not indexed yet.
func TestSearchReportsWhatIsNotIndexed(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.send("--new", "hi")
	h.send("hi again")
	var doc struct{ Unindexed int }
	h.run("search", "hi", "--json").exits(0).into(&doc)
	if r := h.run("search", "hi").exits(0); doc.Unindexed != 2 || !strings.Contains(r.out, "2 turns are not indexed yet") {
		t.Errorf("%+v, %q", doc, r.out)
	}
	h.run("reconcile").exits(0)
	h.run("search", "hi", "--json").exits(0).into(&doc)
	if r := h.run("search", "hi").exits(0); doc.Unindexed != 0 || strings.Contains(r.out, "indexed") {
		t.Errorf("%+v, %q", doc, r.out)
	}
}
