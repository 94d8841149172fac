package app

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/test/harness"
)

// sealWindow seals the closed data of a window with a passphrase, as a process that then forgets it.
func sealWindow(t *testing.T, o cli.OpenOptions, passphrase string) {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "secret")
	harness.WriteFile(t, secret, []byte(passphrase))
	h := harness.NewHome(t, harness.Shipped(t), "")
	h.OK("--config", o.ConfigPath, "encrypt", "--passphrase-file", secret, "--yes")
	t.Cleanup(func() { seal.Offer(""); seal.UseNone(); restartRequested.Store(false) })
}

// TestLockedStart: a window whose data is sealed says so and opens it with the passphrase, which reaches the next process
// through its standard input, and neither its arguments nor its environment.
func TestLockedStart(t *testing.T) { // not parallel: keys are those of the process
	const passphrase = "correct horse"
	p, o, _ := openStoragePage(t)
	p.window.Close()
	sealWindow(t, o, passphrase)

	locked := openPageWith(t, o)
	if v := locked.settings.Startup(); v.Fatal == nil || v.Fatal.Code != chat.CodeSealed {
		t.Fatalf("it starts with %+v", v.Fatal)
	}
	for _, wrong := range []string{"", " ", "another"} {
		if err := locked.storage.Unlock(wrong); chat.CodeOf(err) != chat.CodeSealed || restartRequested.Load() {
			t.Errorf("%q: %v, restarts: %t", wrong, err, restartRequested.Load())
		}
	}
	if err := locked.storage.Unlock(" " + passphrase + "\n"); err != nil || !restartRequested.Load() {
		t.Fatalf("%v, restarts: %t", err, restartRequested.Load())
	}
	h := handedOver()
	in, env, err := h.pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	if slices.ContainsFunc(env, func(entry string) bool { return strings.Contains(entry, passphrase) }) {
		t.Error("the environment has the passphrase")
	}
	seal.Offer("")
	locked.window.Close()

	stdin := os.Stdin
	os.Stdin = in
	t.Cleanup(func() { os.Stdin = stdin })
	t.Setenv(handoverMark, "1")
	next := o
	takeHandover(&next)
	if next.Passphrase != passphrase || os.Getenv(handoverMark) != "" {
		t.Fatalf("handed over: %q", next.Passphrase)
	}
	if v := openPageWith(t, next).settings.Startup(); v.Fatal != nil {
		t.Errorf("it does not open: %+v", v.Fatal)
	}
}

// TestHandoverThatCannotBeRead: the next process begins locked.
func TestHandoverThatCannotBeRead(t *testing.T) {
	t.Setenv(handoverMark, "1")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	stdin := os.Stdin
	os.Stdin = r
	t.Cleanup(func() { os.Stdin = stdin })
	o := cli.OpenOptions{Passphrase: "of a file"}
	if takeHandover(&o); o.Passphrase != "" {
		t.Errorf("it has %q", o.Passphrase)
	}
}
