package process

import (
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/test/harness"
	"contextinfinity/test/places"
)

// Two machines exchange through an object store and through a WebDAV server, while some requests fail. The password is in no
// output and no file.
func TestTwoMachinesThroughServers(t *testing.T) {
	t.Parallel()
	bin := harness.Shipped(t)
	for name, server := range map[string]*places.Server{"s3": places.S3(t), "webdav": places.WebDAV(t)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one, two := harness.NewHome(t, bin, ""), harness.NewHome(t, bin, "")
			files := t.TempDir()
			file := func(name, text string) string {
				harness.WriteFile(t, filepath.Join(files, name), []byte(text+"\n"))
				return filepath.Join(files, name)
			}
			printed := ""
			run := func(h *harness.Home, password string, args ...string) harness.Result {
				r := h.With("VAULT_PASSWORD=" + password).Run(args...)
				printed += r.Stdout + r.Stderr
				return r
			}
			connect := []string{"sync", "--json", "--vault", server.Address, "--user", places.User, "--password-env", "VAULT_PASSWORD", "--passphrase-file"}
			session := one.OK("send", "--new", "--model", "recall", "--wait", "indexed", "--json", "the first question about the canary garden").Sent().SessionID
			secret := file("secret", "correct horse battery staple")
			run(one, "wrong-canary", append(connect, secret)...).Fails(1, chat.CodeAuth)
			if len(server.Objects()) > 0 {
				t.Fatal("something was stored with a wrong password")
			}
			var first, got synced
			run(one.Using(harness.Breakable(t)), places.Password, append(connect, secret)...).Exits(0).Document(&first)
			if !first.Created || first.Sent.Events == 0 {
				t.Fatalf("%+v", first)
			}
			run(two, places.Password, append(connect, file("code", first.Code))...).Exits(0).Document(&got)
			if got.Created || got.Received.Turns != 1 {
				t.Fatalf("%+v", got)
			}
			server.Unreliable(7, places.Refuse, places.Cut)
			one.OK("send", "--session", session, "--model", "recall", "--wait", "indexed", "say something about zebraone")
			two.OK("send", "--session", session, "--model", "recall", "--wait", "indexed", "say something about zebratwo")
			for range 2 {
				for _, h := range []*harness.Home{one, two} {
					run(h, places.Password, "sync").Exits(0)
				}
			}
			server.Fail(nil)
			for h, word := range map[*harness.Home]string{one: "zebratwo", two: "zebraone"} { // what the other said
				if found := h.OK("search", word).Stdout; !strings.Contains(found, word) {
					t.Errorf("%q is not found: %s", word, found)
				}
				if found := harness.FilesWith(t, h.Dir, places.Password); len(found) > 0 {
					t.Errorf("the password is in %v", found)
				}
			}
			run(one, places.Password, "sync", "--check").Exits(0)
			if status := run(one, places.Password, "sync", "status").Exits(0).Stdout; !strings.Contains(status, server.Address) {
				t.Errorf("the status is %s", status)
			}
			one.Clean()
			server.Close()
			if r := run(two, places.Password, "sync"); r.Code == 0 || !strings.Contains(r.Stderr, "cannot be reached; nothing is lost") {
				t.Errorf("nobody there: %d, %s", r.Code, r.Stderr)
			}
			if strings.Contains(printed, "canary+password") || strings.Contains(printed, "wrong-canary") {
				t.Errorf("the password is printed: %s", printed)
			}
		})
	}
}
