package process

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/test/harness"
)

// TestAnIndependentReaderOpensSealedData: Node's own cryptography and age open the lock, pages, frames of the log, a
// journal and a bundle, by docs/encryption.md alone.
func TestAnIndependentReaderOpensSealedData(t *testing.T) {
	t.Parallel()
	const word, passphrase = "xylocanary", "correct horse"
	whole := harness.NewHeldServer(t, false, harness.ChatWire.TextStream(true, "It sings.")...)
	held := harness.NewHeldServer(t, true, harness.ChatWire.TextStream(false, "The "+word, " sings")...)
	models := harness.ChatWire.Model("m", whole.URL) + harness.ChatWire.Model("held", held.URL)
	h := harness.NewHome(t, harness.Shipped(t), "[general]\ndefault_model = \"m\"\n\n"+models)
	if err := h.Seal(); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	harness.WriteFile(t, secret, []byte(passphrase))
	bundle := filepath.Join(t.TempDir(), "talk.cinf.age")
	h.OK("send", "--new", "Where is the "+word+"?")
	session := h.LastSession()
	h.OK("export", session, "-o", bundle, "--passphrase-file", secret)
	p := h.Start(nil, "send", "--session", session, "--model", "held", "--events", "And then?")
	p.AwaitOutput(word)
	p.Kill()

	reader := harness.Installed(t, "test", "reader", "read.mjs")
	code := strings.TrimSpace(string(harness.ReadFile(t, h.Secret)))
	var failures bytes.Buffer
	cmd := exec.Command("node", reader, h.DataDir(), bundle, passphrase, code)
	cmd.Stderr = &failures
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, failures.String())
	}
	var read struct {
		ID                             bool
		Begins, Text, Journals, Bundle string
		Frames                         int
	}
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatal(err)
	}
	if !read.ID || read.Begins != "SQLite format 3" || read.Bundle != "PK" || read.Frames == 0 {
		t.Errorf("key: %t, page: %q, bundle: %q, frames: %d", read.ID, read.Begins, read.Bundle, read.Frames)
	}
	if !strings.Contains(read.Text, "Where is the "+word) || !strings.Contains(read.Journals, word) {
		t.Error("the message or the answer was not read")
	}
}
