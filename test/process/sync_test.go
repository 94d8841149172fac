package process

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/test/harness"
)

type synced struct {
	Created  bool
	Code     string `json:"recovery_code"`
	Sent     struct{ Files, Events, Bytes, Values int }
	Received struct {
		Turns        int
		Sessions     []string
		Values       int
		DeletedTurns int `json:"deleted_turns"`
	}
	Problems []struct{ Message string }
}

// Two machines talk, together and without each other, and exchange through a folder: each then has the same sessions, finds
// what both said, and verify finds nothing. The folder tells nothing; without its files nothing is lost.
func TestTwoMachinesThroughAFolder(t *testing.T) {
	t.Parallel()
	bin := harness.Shipped(t)
	one, two := harness.NewHome(t, bin, ""), harness.NewHome(t, bin, "")
	homes := []*harness.Home{one, two}
	folder := t.TempDir()
	secret := filepath.Join(t.TempDir(), "secret.txt")
	harness.WriteFile(t, secret, []byte("correct horse battery staple\n"))
	sync := func(h *harness.Home, args ...string) (out synced) {
		h.OK(append([]string{"sync", "--json"}, args...)...).Document(&out)
		return out
	}
	say := func(h *harness.Home, session, word string) {
		h.OK("send", "--session", session, "--model", "recall", "--wait", "indexed", "say something about "+word)
	}
	asked := one.OK("send", "--new", "--model", "recall", "--wait", "indexed", "--json", "the first question about the canary garden").Sent()
	session := asked.SessionID
	first := sync(one.Using(harness.Breakable(t)), "--vault", folder, "--passphrase-file", secret)
	if !first.Created || len(first.Code) < 32 || first.Sent.Events == 0 {
		t.Fatalf("%+v", first)
	}
	wrong := filepath.Join(t.TempDir(), "wrong.txt")
	harness.WriteFile(t, wrong, []byte("another\n"))
	if r := two.Run("sync", "--vault", folder, "--passphrase-file", wrong); r.Code == 0 || !strings.Contains(r.Stderr, "does not open the vault") {
		t.Errorf("another passphrase: %d, %s", r.Code, r.Stderr)
	}
	code := filepath.Join(t.TempDir(), "code.txt")
	harness.WriteFile(t, code, []byte(first.Code+"\n"))
	if got := sync(two, "--vault", folder, "--passphrase-file", code); got.Created || got.Received.Turns != 1 {
		t.Fatalf("%+v", got)
	}
	words := []string{"zebraone", "zebratwo", "alone"}
	say(one, session, words[0]) // neither knows of the other's
	say(two, session, words[1])
	one.OK("assistants", "new", "Poet", "--instructions", "Rhyme well.")
	two.OK("prompts", "new", "Greeting", "Hello {{name}}")
	own := two.OK("send", "--new", "--model", "recall", "--wait", "indexed", "--json", "a session of my own, alone").Sent().SessionID
	for range 2 {
		for _, h := range homes {
			sync(h)
		}
	}
	for i, h := range homes {
		if got := sync(h); got.Sent.Events+got.Received.Turns+got.Sent.Values+got.Received.Values+len(got.Problems) > 0 {
			t.Errorf("machine %d still has something: %+v", i+1, got)
		}
		var list struct {
			Sessions []struct {
				ID string `json:"session_id"`
			}
		}
		h.OK("sessions", "--json").Document(&list)
		if len(list.Sessions) != 2 {
			t.Errorf("machine %d has %+v", i+1, list)
		}
		for _, word := range words {
			if got := h.OK("search", word).Stdout; !strings.Contains(got, word) {
				t.Errorf("machine %d does not find %q: %s", i+1, word, got)
			}
		}
		for command, want := range map[string]string{"assistants show Poet": "Rhyme well.", "prompts show Greeting": "Hello {{name}}"} {
			if got := h.OK(strings.Fields(command)...).Stdout; !strings.Contains(got, want) {
				t.Errorf("machine %d: %s: %s", i+1, command, got)
			}
		}
		for _, args := range [][]string{{"sync", "status", "--json"}, {"devices", "--json"}} {
			var devices struct{ Devices []struct{ Files, Known int } }
			h.OK(args...).Document(&devices)
			if len(devices.Devices) != 2 || devices.Devices[0].Known == 0 || devices.Devices[1].Known != devices.Devices[1].Files {
				t.Errorf("machine %d: %q %+v", i+1, args, devices)
			}
		}
		h.OK("sync", "--check")
		h.Clean()
	}
	one.OK("delete", "--turn", asked.TurnID, "--hard", "--yes")
	// With the deleted turn in its context, which each must drop, but not in its answer.
	two.OK("send", "--session", session, "--model", "recall", "--wait", "indexed", "xylophone")
	sync(two)
	sync(one)
	if got := one.OK("sync", "status").Stdout; !strings.Contains(got, "Deleted content of session "+session+" ("+asked.TurnID+"): in 0 files of the vault still, and not deleted yet by") {
		t.Errorf("before the other machine deleted it: %s", got)
	}
	if got := sync(two); got.Received.DeletedTurns != 1 {
		t.Errorf("%+v", got)
	}
	sync(one)
	for i, h := range homes {
		if got := h.OK("show", session).Stdout + h.OK("sync", "status").Stdout; strings.Contains(got, "canary garden") || strings.Contains(got, "Deleted content") {
			t.Errorf("machine %d after the deletion: %s", i+1, got)
		}
		h.Clean()
	}
	held := t.TempDir()
	if err := os.CopyFS(held, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"log", "content", "devices", "vault.json"} {
		if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	if r := two.Run("sync"); r.Code == 0 || !strings.Contains(r.Stderr, "vault.json is missing") {
		t.Errorf("an empty folder: %d, %s", r.Code, r.Stderr)
	}
	two.OK("show", own)
	if err := os.CopyFS(folder, os.DirFS(held)); err != nil {
		t.Fatal(err)
	}
	sync(two)
}
