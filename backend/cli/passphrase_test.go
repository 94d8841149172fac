package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/cli"
	"contextinfinity/backend/vault"
)

// typed runs a command whose terminal is in another process.
func (h *home) typed(lines string, args ...string) result {
	h.t.Helper()
	var out, errs bytes.Buffer
	app := h.app()
	app.In, app.Out, app.Err, app.Terminals = strings.NewReader(lines), &out, &errs, &cli.Terminals{In: true}
	code := cli.Run(context.Background(), app, append([]string{"--data-dir", h.dir, "--config", h.config}, args...))
	return result{h.t, code, out.String(), errs.String()}
}

// TestAPassphraseOfAVault: it is typed twice for a vault that is to be created, and once for one that exists.
func TestAPassphraseOfAVault(t *testing.T) {
	h, dir := newHome(t), t.TempDir()
	if r := h.typed("one\nother\n", "sync", "--vault", dir); r.code != 2 || !strings.Contains(r.err, "differ") {
		t.Errorf("typed differently: %d %q", r.code, r.err)
	}
	if r := h.typed("a long passphrase\na long passphrase\n", "sync", "--vault", dir); r.code != 0 || !strings.Contains(r.out, "Recovery code") {
		t.Fatalf("typed: %d %q %q", r.code, r.out, r.err)
	}
	if r := h.typed("a long passphrase\n", "sync", "--vault", dir); r.code != 0 || strings.Contains(r.out, "Recovery code") {
		t.Errorf("there is one: %d %q %q", r.code, r.out, r.err)
	}
	if r := h.typed("", "sync", "--vault", filepath.Join(dir, "none")); r.code != 1 || !strings.Contains(r.err, "There is no folder") {
		t.Errorf("no folder: %d %q", r.code, r.err)
	}
	for lines, says := range map[string]string{
		"n\n":                          "Nothing was changed",
		"y\na long passphrase\na\nb\n": "differ",
		"y\na long passphrase\na\na\n": "0 other computers in the vault have this name",
	} {
		if r := h.typed(lines, "devices", "remove", "laptop"); r.code == 0 || !strings.Contains(r.err, says) {
			t.Errorf("%q: %d %q", lines, r.code, r.err)
		}
	}
	if r := newHome(t).typed("a long passphrase\n", "sync", "--vault", dir); r.code != 0 {
		t.Fatalf("another computer: %q", r.err)
	}
	var list struct{ Devices []vault.Device }
	if err := json.Unmarshal([]byte(h.run("devices", "--json").out), &list); err != nil || len(list.Devices) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	r := h.typed("y\na long passphrase\nanother one\nanother one\n", "devices", "remove", list.Devices[1].Log)
	_, code, _ := strings.Cut(r.out, "New recovery code: ")
	if code, _, _ = strings.Cut(code, "\n"); r.code != 0 || code == "" || !strings.Contains(r.err, "valid once the removal has succeeded: "+code) {
		t.Errorf("%d %q %q", r.code, r.out, r.err)
	}
}

// TestSealedBundle: a bundle that was exported with a passphrase is an age file without a plain word, and is imported
// with the passphrase alone.
func TestSealedBundle(t *testing.T) {
	h := newHome(t)
	h.provider.script(say("The canary sings."))
	first := h.send("--new", "Where is the canary?")
	dir := t.TempDir()
	secret, wrong, empty := filepath.Join(dir, "secret"), filepath.Join(dir, "wrong"), filepath.Join(dir, "empty")
	for path, text := range map[string]string{secret: "a long passphrase\nsecond line", wrong: "another\n", empty: "\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"--format", "md", "--passphrase-file", secret}, 2, "Only a bundle"},
		{[]string{"--turn", first.TurnID, "--passphrase-file", secret}, 2, "Only a bundle"},
		{[]string{"--passphrase"}, 2, "no terminal"},
		{[]string{"--passphrase-file", empty}, 2, "has no passphrase"},
		{[]string{"--passphrase-file", filepath.Join(dir, "none")}, 1, "cannot be read"},
	} {
		r := h.runIn(dir, append([]string{"export", first.SessionID}, c.args...)...)
		if r.code != c.code || !strings.Contains(r.err, c.says) {
			t.Errorf("%q: %d %q", c.args, r.code, r.err)
		}
	}
	if r := h.typed("one\nother\n", "export", first.SessionID, "--passphrase", "-o", dir); r.code != 2 || !strings.Contains(r.err, "differ") {
		t.Errorf("typed differently: %d %q", r.code, r.err)
	}
	if r := h.typed("a long passphrase\na long passphrase\n", "export", first.SessionID, "--passphrase", "-o", dir); r.code != 0 {
		t.Fatalf("typed: %d %q", r.code, r.err)
	}
	var all, one exported
	h.runIn(dir, "export", first.SessionID, "--passphrase-file", "secret", "-o", "one.cinf.age", "--json").into(&one)
	h.runIn(dir, "export", "--all", "--passphrase-file", "secret", "--json").into(&all)
	found, err := filepath.Glob(filepath.Join(dir, "*.age"))
	if err != nil || len(found) != 3 || one.Format != "bundle" || !strings.HasSuffix(all.Path, ".zip.age") {
		t.Fatalf("%q %+v %v", found, all, err)
	}
	for _, path := range found {
		if data := h.fileText(path); !strings.HasPrefix(data, "age-encryption.org/v1\n-> scrypt ") || strings.Contains(data, "meta.json") {
			t.Errorf("%s is not sealed", path)
		}
		to := newHome(t)
		if r := to.run("import", path); r.code == 0 || !strings.Contains(r.err, "sealed with a passphrase") {
			t.Errorf("%s without: %d %q", path, r.code, r.err)
		}
		var doc imported
		if to.run("import", path, "--passphrase-file", wrong, "--json").into(&doc); doc.Error == nil || doc.Error.Code != "sealed" {
			t.Errorf("%s with another: %+v", path, doc)
		}
		if r := to.typed("a long passphrase\n", "import", path); r.code != 0 || !strings.Contains(r.out, "1 session created") {
			t.Errorf("%s typed: %d %q %q", path, r.code, r.out, r.err)
		}
		if r := to.run("import", path, "--passphrase-file", secret); r.code != 0 || !strings.Contains(r.out, "1 already there") {
			t.Errorf("%s again: %d %q %q", path, r.code, r.out, r.err)
		}
		if r := to.run("show", first.SessionID); !strings.Contains(r.out, "The canary sings.") {
			t.Errorf("%s: %q", path, r.out)
		}
	}
}
