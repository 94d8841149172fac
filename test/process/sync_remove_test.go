package process

import (
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/test/harness"
)

// Of three machines, one removes another: it and the third one ask for the new key, which what opened the vault before does not give, and the
// third one continues with the new recovery code.
func TestAComputerIsRemoved(t *testing.T) {
	t.Parallel()
	bin := harness.Shipped(t)
	one, two, three := harness.NewHome(t, bin, ""), harness.NewHome(t, bin, ""), harness.NewHome(t, bin, "")
	folder, dir := t.TempDir(), t.TempDir()
	text := func(name, content string) string {
		path := filepath.Join(dir, name)
		harness.WriteFile(t, path, []byte(content+"\n"))
		return path
	}
	secret := text("secret.txt", "correct horse battery staple")
	for _, h := range []*harness.Home{one, two, three} {
		h.OK("send", "--new", "--model", "recall", "--wait", "indexed", "a question")
		h.Using(harness.Breakable(t)).OK("sync", "--vault", folder, "--passphrase-file", secret)
	}
	var list struct {
		Devices []struct {
			Log  string
			This bool
		}
	}
	three.OK("devices", "--json").Document(&list)
	remove := []string{"devices", "remove", list.Devices[0].Log, "--passphrase-file", secret, "--new-passphrase-file", text("next.txt", "another long passphrase")}
	if r := one.Run(remove...); r.Code != 2 || !strings.Contains(r.Stderr, "add --yes") {
		t.Errorf("without a question: %d, %s", r.Code, r.Stderr)
	}
	if r := one.Run("devices", "remove", "nobody", "--passphrase-file", secret, "--yes"); r.Code != 1 || !strings.Contains(r.Stderr, "0 other computers") {
		t.Errorf("nobody: %d, %s", r.Code, r.Stderr)
	}
	var removed struct {
		Removed string
		Code    string `json:"recovery_code"`
	}
	one.Using(harness.Breakable(t)).OK(append(remove, "--yes", "--json")...).Document(&removed)
	if removed.Removed != list.Devices[0].Log || len(removed.Code) < 32 {
		t.Fatalf("%+v", removed)
	}
	one.OK("send", "--new", "--model", "recall", "--wait", "indexed", "since zebra")
	one.OK("sync")
	for _, h := range []*harness.Home{two, three} {
		if r := h.Run("sync"); r.Code != 1 || !strings.Contains(r.Stderr, "was renewed on another computer") {
			t.Errorf("without the new key: %d, %s", r.Code, r.Stderr)
		}
		if r := h.Run("sync", "--vault", folder, "--passphrase-file", secret); r.Code != 1 || !strings.Contains(r.Stderr, "does not open the vault") {
			t.Errorf("with the passphrase before: %d, %s", r.Code, r.Stderr)
		}
	}
	two.OK("sync", "--vault", folder, "--passphrase-file", text("code.txt", removed.Code))
	if got := two.OK("search", "zebra").Stdout; !strings.Contains(got, "zebra") {
		t.Errorf("after it has the new key: %s", got)
	}
	two.OK("sync", "--check")
	two.Clean()
}
