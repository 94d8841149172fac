package process

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
)

// TestDataThatOpensWithTheSignIn: the keyring keeps the key, and every verb works without a passphrase. With a keyring that
// is gone, has another key or none, refuses, or is locked and does not answer, verbs refuse in words; the code opens the data
// and a lone backup. A passphrase and the sign-in replace each other; the keyring never keeps a key that opens nothing, and
// what it refuses to remove is removed at the next start.
func TestDataThatOpensWithTheSignIn(t *testing.T) {
	t.Parallel()
	const word = "xylocanary"
	ring := harness.NewKeyring(t)
	h := harness.NewHome(t, harness.Shipped(t), "").With("DBUS_SESSION_BUS_ADDRESS=" + ring.Address)
	h.OK("send", "--new", "--model", "recall", "Where is the "+word+"?")
	session := h.LastSession()
	backups := filepath.Join(h.DataDir(), "backups")
	if err := os.MkdirAll(backups, 0o700); err != nil {
		t.Fatal(err)
	}
	h.OK("backup", filepath.Join(backups, "mine.db"))
	ring.Set(t, harness.KeyringRefuses)
	h.Run("encrypt", "--sign-in", "--yes", "--json").Fails(1, chat.CodeUnavailable)
	h.OK("show", session)
	ring.Set(t, harness.KeyringOpen)

	var done struct {
		Code string `json:"recovery_code"`
	}
	h.OK("encrypt", "--sign-in", "--yes", "--json").Document(&done)
	first := ring.Names()
	if found := harness.FilesWith(t, h.Dir, word); len(found) > 0 || strings.Count(first, "data-key-") != 1 {
		t.Fatalf("found in %q; the keyring has %q", found, first)
	}
	code := filepath.Join(t.TempDir(), "code")
	keep := func() { harness.WriteFile(t, code, []byte(done.Code+"\n")) }
	keep()
	h.OK("send", "--session", session, "--model", "recall", "The "+word+" sings.")
	h.OK("verify")
	h.OK("keys", "rotate", "--yes", "--json").Document(&done)
	keep()
	if names := ring.Names(); names == first || strings.Count(names, "data-key-") != 1 {
		t.Errorf("after a new key the keyring has %q, before %q", names, first)
	}
	h.OK("verify")

	lone := filepath.Join(t.TempDir(), "lone.db")
	harness.WriteFile(t, lone, harness.ReadFile(t, filepath.Join(backups, "mine.db")))
	other := harness.NewHome(t, harness.Shipped(t), "")
	other.Run("restore", lone, "--yes", "--json").Fails(1, chat.CodeSealed)
	other.OK("restore", lone, "--yes", "--passphrase-file", code)
	other.OK("show", session, "--passphrase-file", code)

	refused := func(when string) {
		t.Helper()
		begun := time.Now()
		r := h.Run("show", session, "--json")
		r.Fails(1, chat.CodeSealed)
		if text := r.Stdout + r.Stderr; !strings.Contains(text, "with your sign-in") || !strings.Contains(text, "not damaged") {
			t.Errorf("%s: %s", when, text)
		}
		if took := time.Since(begun); took > 30*time.Second { // 2 s, on a busy machine
			t.Errorf("%s: it waits %v", when, took)
		}
		if r := h.OK("show", session, "--passphrase-file", code); !strings.Contains(r.Stdout, word) {
			t.Errorf("%s: %s", when, r.Stdout)
		}
	}
	for state, when := range map[harness.KeyringState]string{
		harness.KeyringGone: "gone", harness.KeyringRefuses: "refuses", harness.KeyringLocked: "locked",
	} {
		ring.Set(t, state)
		refused(when)
	}
	ring.Set(t, harness.KeyringOpen)
	ring.Replace(base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{1}, 32)))
	refused("another key")
	ring.Replace("")
	refused("no key")
	h.OK("keys", "sign-in", "--passphrase-file", code)
	h.OK("show", session)

	secret := filepath.Join(t.TempDir(), "secret")
	harness.WriteFile(t, secret, []byte("correct horse\n"))
	ring.Set(t, harness.KeyringRefuses)
	for range 2 { // each time it is said that the keyring still has the key
		h.Using(harness.Breakable(t)).Run("keys", "passphrase", "--new-passphrase-file", secret, "--passphrase-file", code, "--json").Fails(1, chat.CodeUnavailable)
	}
	ring.Set(t, harness.KeyringOpen)
	h.OK("reconcile", "--passphrase-file", code)
	if names := ring.Names(); names != "" {
		t.Errorf("with a passphrase the keyring has %q", names)
	}
	if hint := h.Run("encrypt", "--sign-in", "--yes", "--json").Fails(1, chat.CodeConflict).Hint; !strings.Contains(hint, "keys sign-in") {
		t.Errorf("data with a passphrase: %q", hint)
	}
	h.Run("show", session, "--json").Fails(1, chat.CodeSealed)
	h.OK("show", session, "--passphrase-file", secret)
	h.OK("keys", "sign-in", "--passphrase-file", secret)
	h.OK("show", session)
	h.Run("show", session, "--json", "--passphrase-file", secret).Fails(1, chat.CodeSealed) // it has none any more
	h.OK("decrypt", "--yes")
	if names := ring.Names(); names != "" {
		t.Errorf("of plain data the keyring has %q", names)
	}
	h.OK("verify")
	h.Clean()
}
