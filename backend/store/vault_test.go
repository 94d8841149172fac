package store

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"maps"
	"math/rand"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/transfer/bundle"
	"contextinfinity/backend/vault"
	"contextinfinity/test/places"
	"contextinfinity/test/testtier"
)

// aVault is a vault.json and its recovery code, which is opened much faster than a passphrase.
var aVault = sync.OnceValues(func() (string, []byte) {
	dir, err := os.MkdirTemp("", "vault")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	d, err := Open(context.Background(), Options{DataDir: filepath.Join(dir, "data"), Scratch: true})
	if err != nil {
		panic(err)
	}
	defer d.Close()
	v := vault.New(vault.Deps{Store: d, Now: d.core.Clock, Place: vault.Places{}.Open})
	out, err := v.Connect(context.Background(), vault.Target{Address: dir}, "a passphrase")
	if err != nil {
		panic(err)
	}
	lock, err := os.ReadFile(filepath.Join(dir, "vault.json"))
	if err != nil {
		panic(err)
	}
	return out.Code, lock
})

// member is a device with a vault, in a folder of its own, as a program that synchronizes folders would fill it, or on a
// server.
type member struct {
	*device
	folder string
	server *places.Server
	vault  *vault.Vault
	place  func(vault.Target) (vault.Place, error)
	keys   *secrets.Store
	code   string // opens the vault since a device was removed
}

// join connects a device to a vault in an existing folder, or in one of its own.
func (d *device) join(folder string) *member {
	d.Helper()
	code, lock := aVault()
	if folder == "" {
		folder = d.TempDir()
	}
	d.ok(os.WriteFile(filepath.Join(folder, "vault.json"), lock, 0o600))
	m := &member{device: d, folder: folder, place: vault.Places{}.Open}
	m.begin()
	_, err := m.vault.Connect(d.ctx, vault.Target{Address: folder}, code)
	d.ok(err)
	return m
}

// begin uses the vault as a program that was started again.
func (m *member) begin() {
	if m.keys == nil {
		m.keys = secrets.NewWith(secrets.Options{Keyring: memory{}})
	}
	m.vault = m.with(m.Store, func(t vault.Target) (vault.Place, error) { return m.place(t) })
}

func (m *member) with(store vault.Store, place func(vault.Target) (vault.Place, error)) *vault.Vault {
	return vault.New(vault.Deps{
		Store: store, Records: m.Store, Secrets: m.keys, Now: m.clock.Now, Place: place,
		Delete: func(ctx context.Context, s chat.SessionID, seen map[string]int64) (chat.Receipt, error) {
			return m.DeleteAsSeen(ctx, s, seen)
		},
		Deletable: m.Deletable, Undeleted: m.Undeleted, Uncertified: m.Uncertified,
		DeleteTurn: m.DeleteTurnAs,
	})
}

// sync exchanges, without problems.
func (m *member) sync() vault.Report {
	m.Helper()
	out, err := m.vault.Sync(m.ctx)
	m.ok(err)
	for _, p := range out.Problems {
		m.Fatalf("%s: %v", m.name, p)
	}
	return out
}

// exchange exchanges, and takes the new key of the vault if it is asked for it.
func (m *member) exchange() vault.Report {
	m.Helper()
	out, err := m.vault.Sync(m.ctx)
	if m.code != "" && chat.CodeOf(err) == chat.CodeConflict {
		m.ok(m.connects(m.code))
		out, err = m.vault.Sync(m.ctx)
	}
	m.ok(err)
	return out
}

// objects are the files of a folder, by name.
func objects(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err == nil {
			out[filepath.ToSlash(name)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// carry copies files that are missing from one folder to another: all, or each with a chance of one half. Values that were
// replaced are removed.
func carry(t testing.TB, from, to string, r *rand.Rand) {
	t.Helper()
	there := objects(t, to)
	for name, content := range objects(t, from) {
		toss := rand.Intn
		if r != nil && !strings.Contains(name, "/values-") { // so that they do not change the rest of a history
			toss = r.Intn
		}
		if there[name] != nil || r != nil && toss(2) == 0 || outdated(name, there) {
			continue
		}
		for other := range there {
			if outdated(other, map[string][]byte{name: nil}) {
				if err := os.Remove(filepath.Join(to, filepath.FromSlash(other))); err != nil {
					t.Fatal(err)
				}
				delete(there, other)
			}
		}
		there[name] = content
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// outdated reports whether an object has values that others replace.
func outdated(name string, by map[string][]byte) bool {
	dir, own, ok := strings.Cut(name, "/values-")
	for other := range by {
		if device, number, is := strings.Cut(other, "/values-"); ok && is && device == dir && number > own {
			return true
		}
	}
	return false
}

// members are devices that share a session, which all have already or get from the vault.
func members(t *testing.T, n int, known bool) ([]*member, chat.Session) {
	t.Helper()
	var all []*member
	var devs []*device
	var s chat.Session
	if known {
		devs, s = devices(t, n)
	} else {
		devs, s = devices(t, 1)
		for i := 1; i < n; i++ {
			extra, _ := devices(t, 1)
			extra[0].name = string(rune('A' + i))
			devs = append(devs, extra[0])
		}
	}
	for _, d := range devs {
		all = append(all, d.join(""))
	}
	return all, s
}

// has reports whether a device has a session.
func (d *device) has(s chat.SessionID) bool {
	_, err := d.Session(d.ctx, s)
	return err == nil
}

// settle exchanges everything until nothing changes, and checks that all devices have the same. kept are the copies of
// sessions that were deleted elsewhere, departed the devices that got a name of their own.
func settle(t *testing.T, all []*member) (kept, departed int) {
	t.Helper()
	// What one device found of a deleted turn, the others delete, and answer: that takes more rounds if several find something.
	for round, sent := 0, 1; round < 3 || sent > 0; round++ {
		if sent = 0; round == 8 {
			t.Errorf("there is no end")
			break
		}
		for _, m := range all {
			for _, other := range all {
				carry(t, other.folder, m.folder, nil)
			}
			out := m.exchange()
			sent += out.SentFiles + out.SentValues
			kept += len(out.Kept)
			if out.Departed {
				departed++
			}
		}
	}
	sessions, want := all[0].conversations(), map[chat.SessionID]*ledger.State{}
	for _, s := range sessions {
		want[s] = all[0].state(s)
	}
	for _, m := range all {
		if !maps.EqualFunc(m.values(), all[0].values(), func(a, b bundle.Value) bool { return a.Compare(b) == 0 && a.Deleted == b.Deleted }) {
			t.Errorf("%s has the values %s, and A has %s", m.name, m.names(), all[0].names())
		}
		if out := m.sync(); out.SentFiles+out.ReceivedEvents+len(out.Deleted)+out.SentValues+out.ReceivedValues > 0 {
			t.Errorf("%s: %+v after everything was exchanged", m.name, out)
		}
		m.verifyClean()
		if got := m.conversations(); !slices.Equal(got, sessions) {
			t.Errorf("%s has the sessions %v, and A has %v", m.name, got, sessions)
			continue
		}
		for _, s := range sessions {
			if got := m.lanes(s); !maps.Equal(got, all[0].lanes(s)) {
				t.Errorf("%s has %v of %s, and A has %v", m.name, got, s, all[0].lanes(s))
			}
			for _, x := range ledger.Compare(m.state(s), want[s]) {
				if !m.deletedAlike(s, x) {
					t.Errorf("%s: %s: %+v", m.name, s, x)
				}
			}
		}
		out, err := m.vault.Check(m.ctx)
		m.ok(err)
		for _, p := range out.Problems {
			t.Errorf("%s: %v", m.name, p)
		}
	}
	return kept, departed
}

// deletedAlike reports whether a difference is one that a permanent deletion may leave: the requests that contained the text are on
// one device only.
func (m *member) deletedAlike(s chat.SessionID, x ledger.Difference) bool {
	if x.Table != "steps" || !slices.Equal(x.Fields, []string{"request"}) {
		return false
	}
	found, err := core.All[int](m.ctx, m.core, "test", `SELECT 1 FROM events WHERE session_id = ? AND type = ?`, s, ledger.EventContentDeleted)
	m.ok(err)
	return len(found) > 0
}

// conversations are a device's sessions without documents of projects.
func (d *device) conversations() []chat.SessionID {
	d.Helper()
	return slices.DeleteFunc(d.allSessions(), func(s chat.SessionID) bool { return !d.has(s) })
}

// anyOf returns one of the device's sessions; empty: it has none.
func (d *device) anyOf(r *rand.Rand) chat.SessionID {
	d.Helper()
	ids := append(d.conversations(), "")
	return ids[r.Intn(max(1, len(ids)-1))]
}

// sent reports whether the vault is known to have a session.
func (m *member) sent(s chat.SessionID) bool {
	m.Helper()
	known, err := core.All[int](m.ctx, m.core, "test", `SELECT 1 FROM settings WHERE key = ?`, core.InVaultKey+string(s))
	m.ok(err)
	return len(known) > 0
}

// written are the texts that a step writes.
var written = regexp.MustCompile(`\b(?:question|answer|title|fact|folder|prompt|set|branch) by [A-Z]2* [0-9]+\b`)

// texts are those in some sessions that steps wrote.
func (d *device) texts(sessions ...chat.SessionID) map[string]bool {
	d.Helper()
	out := map[string]bool{}
	for _, s := range sessions {
		if !d.has(s) {
			continue
		}
		b := d.give(s)
		r, err := bundle.Open(bytes.NewReader(b), int64(len(b)))
		d.ok(err)
		_, err = r.Read(func(e ledger.Event, contents []bundle.Content) error {
			for _, c := range append(contents, bundle.Content{Bytes: e.Payload}) {
				for _, text := range written.FindAllString(string(c.Bytes), -1) {
					out[text] = true
				}
			}
			return nil
		})
		d.ok(err)
	}
	return out
}

// left returns the objects of the vault with a text that is in no session: of one that was deleted. What a deletion did not
// know stays in the files of a device that cannot answer any more.
func left(all []*member, there map[string]bool) (out []string) {
	answers := map[string]bool{}
	for _, m := range all {
		status, err := m.vault.Status(m.ctx)
		m.ok(err)
		for _, d := range status.Devices {
			answers[d.Log] = answers[d.Log] || d.This
		}
	}
	for _, m := range all {
		for name, content := range m.opened() {
			for _, text := range written.FindAllString(content, -1) {
				if parts := strings.Split(name, "/"); !there[text] && (parts[0] != "log" || answers[parts[1]]) {
					out = append(out, m.name+": "+name+": "+text)
				}
			}
		}
	}
	return out
}

// TestNothingCanBeReadInAVault: no text, title, id or key is in any object or name.
func TestNothingCanBeReadInAVault(t *testing.T) {
	all, s := members(t, 1, true)
	m := all[0]
	m.ok(m.RenameSession(m.ctx, s.ID, "canary title"))
	m.full(s.ActiveBranch, "canary question", "canary answer "+strings.Repeat("with many words ", 10_000))
	m.sync()
	code, _ := aVault()
	state, err := m.VaultState(m.ctx)
	m.ok(err)
	_, key, _ := strings.Cut(string(state), `"key":"`)
	key, _, _ = strings.Cut(key, `"`)
	contents := 0
	for name, b := range objects(t, m.folder) {
		if strings.HasPrefix(name, "content/") {
			contents++
		}
		for _, secret := range []string{"canary", "question", "shared", "many words", string(s.ID), m.core.Device().ID, "machine A", code, key} {
			if strings.Contains(name+"\n"+string(b), secret) {
				t.Errorf("%s contains %q", name, secret)
			}
		}
	}
	if contents == 0 || len(key) < 40 {
		t.Errorf("%d contents apart, a key of %d letters", contents, len(key))
	}
}

// fill makes a folder contain these files and no others.
func fill(t testing.TB, folder string, files map[string][]byte) {
	t.Helper()
	for name := range objects(t, folder) {
		if err := os.Remove(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range files {
		path := filepath.Join(folder, filepath.FromSlash(name))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// added returns the names of files that are in one of two lists only, in order.
func added(before, after map[string][]byte, prefix string) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if before[name] == nil && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}

// hostility is what may happen to a vault, whoever did it. Its device A wrote file 1, which is known here, then 2 and 3 with a
// long answer; C wrote file 1.
type hostility struct {
	name string
	do   func(files map[string][]byte, a, contents, c []string)
	// says is a part of what is reported; everything else arrives, unless fails.
	says  string
	fails bool
}

func flipped(b []byte, at int) []byte {
	b = slices.Clone(b)
	b[at] ^= 4
	return b
}

var hostilities = []hostility{
	{"nothing", func(map[string][]byte, []string, []string, []string) {}, "", false},
	{"a bit of a log", func(f map[string][]byte, a, _, _ []string) { f[a[1]] = flipped(f[a[1]], 100) }, "file 2 of 3 is damaged", false},
	{"a cut log", func(f map[string][]byte, a, _, _ []string) { f[a[1]] = f[a[1]][:len(f[a[1]])-1] }, "file 2 of 3 is damaged", false},
	{"an empty file", func(f map[string][]byte, a, _, _ []string) { f[a[1]] = []byte{} }, "file 2 of 3 is damaged", false},
	{"a missing file", func(f map[string][]byte, a, _, _ []string) { delete(f, a[1]) }, "file 2 of 3, or a document", false},
	{"exchanged files", func(f map[string][]byte, a, _, _ []string) { f[a[1]], f[a[2]] = f[a[2]], f[a[1]] }, "file 2 of 3 is damaged", false},
	{"a doubled file", func(f map[string][]byte, a, _, _ []string) { f[a[1]] = f[a[0]] }, "file 2 of 3 is damaged", false},
	{"a file of another device", func(f map[string][]byte, a, _, c []string) { f[a[1]] = f[c[0]] }, "file 2 of 3 is damaged", false},
	{"a missing content", func(f map[string][]byte, _, contents, _ []string) { delete(f, contents[0]) }, "or a document that it names, is missing", false},
	{"a bit of a content", func(f map[string][]byte, _, contents, _ []string) {
		f[contents[0]] = flipped(f[contents[0]], 99)
	}, "is damaged", false},
	{"a log that was emptied", func(f map[string][]byte, a, _, _ []string) {
		for _, name := range a {
			delete(f, name)
		}
	}, "had 1: it was emptied or set back", false},
	{"copies of conflicts", func(f map[string][]byte, a, _, c []string) {
		f[a[1]+".sync-conflict-20260101-000000-ABCDEFG"], f[a[1]+" (conflicted copy)"] = f[c[0]], []byte("x")
		f["notes.txt"], f["log/readme"] = []byte("x"), []byte("x")
	}, "", false},
	{"an empty folder", func(f map[string][]byte, _, _, _ []string) { clear(f) }, "its vault.json is missing", true},
	{"another vault", func(f map[string][]byte, _, _, _ []string) {
		f["vault.json"] = []byte(strings.Replace(string(f["vault.json"]), `"id": "`, `"id": "0`, 1))
	}, "has another vault than before", true},
	{"no lock", func(f map[string][]byte, _, _, _ []string) { f["vault.json"] = []byte("{") }, "vault.json in", true},
	{"a newer version", func(f map[string][]byte, _, _, _ []string) {
		f["vault.json"] = []byte(strings.Replace(string(f["vault.json"]), `"version": 1`, `"version": 2`, 1))
	}, "newer version", true},
}

// TestNothingIsConcludedFromAHostileVault: whatever is missing, old, changed or exchanged in a vault is named, and waits;
// everything else arrives, no session disappears, and once the vault is as it was, nothing is missing.
func TestNothingIsConcludedFromAHostileVault(t *testing.T) {
	t.Parallel()
	writers, s := members(t, 2, true)
	a, c := writers[0], writers[1]
	a.sync()
	first := objects(t, a.folder)
	for _, words := range []string{"second", "third"} {
		a.full(s.ActiveBranch, words, strings.Repeat("a long answer ", 10_000))
		a.sync()
	}
	other, branch := c.session("of C")
	c.full(branch.ID, "by C", "said by C")
	c.sync()
	files := objects(t, a.folder)
	carry(t, c.folder, a.folder, nil)
	all := objects(t, a.folder)
	logs, contents, ofC := added(nil, files, "log/"), added(nil, all, "content/"), added(files, all, "log/")
	if len(logs) != 3 || len(contents) == 0 || len(ofC) != 1 {
		t.Fatalf("%d files, %d contents, %d of C", len(logs), len(contents), len(ofC))
	}
	type trial struct {
		hostility
		place string
		join  func(*device) *member
	}
	var trials []trial
	for _, h := range hostilities {
		trials = append(trials, trial{h, "folder", func(d *device) *member { return d.join("") }})
		if slices.Contains([]string{"a missing file", "a log that was emptied", "another vault"}, h.name) {
			for place, server := range servers(t) {
				trials = append(trials, trial{h, place, func(d *device) *member { return d.joinServer(server) }})
			}
		}
	}
	for _, h := range trials {
		t.Run(h.name+" in "+h.place, func(t *testing.T) {
			b := h.join(&device{fixture: newFixture(t), name: "B"})
			b.ok(b.core.Write(b.ctx, "test", b.core.RenewDevice))
			own, mine := b.session("of B")
			b.full(mine.ID, "by B", "said by B")
			b.fill(first)
			b.sync()
			ofB := added(first, b.objects(), "")
			now := maps.Clone(all)
			for _, name := range ofB {
				now[name] = b.objects()[name]
			}
			damaged := maps.Clone(now)
			h.do(damaged, logs, contents, ofC)
			b.fill(damaged)
			out, err := b.vault.Sync(b.ctx)
			said := []string{}
			for _, p := range append(out.Problems, err) {
				if p != nil {
					said = append(said, chat.AsError(p).Message)
				}
			}
			if text := strings.Join(said, " | "); len(said) > 1 || (h.says == "") != (text == "") || !strings.Contains(text, h.says) || (err != nil) != h.fails {
				t.Errorf("%d problems: %s", len(said), text)
			}
			if !b.has(s.ID) || !b.has(own.ID) || b.has(other.ID) == h.fails {
				t.Errorf("the session of A: %v, of B: %v, of C: %v", b.has(s.ID), b.has(own.ID), b.has(other.ID))
			}
			if checked, err := b.vault.Check(b.ctx); (h.says == "") != (len(checked.Problems) == 0 && err == nil) {
				t.Errorf("check: %v, %v", checked.Problems, err)
			}
			b.fill(now)
			b.sync()
			b.verifyClean()
			if !maps.Equal(b.lanes(s.ID), a.lanes(s.ID)) || !b.has(other.ID) {
				t.Errorf("afterwards %v, and A has %v", b.lanes(s.ID), a.lanes(s.ID))
			}
			b.ok(b.Store.Close())
		})
	}
}

// TestOwnFilesThatAreGone: a device whose files are missing sends nothing more there, reads on, and sends everything to another
// vault.
func TestOwnFilesThatAreGone(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	a.full(s.ActiveBranch, "more", "said")
	a.sync()
	a.full(s.ActiveBranch, "even more", "said")
	a.sync()
	files := objects(t, a.folder)
	delete(files, added(nil, files, "log/")[0])
	fill(t, a.folder, files)
	b.ok(b.RenameSession(b.ctx, s.ID, "by B"))
	b.sync()
	carry(t, b.folder, a.folder, nil)
	a.full(s.ActiveBranch, "later", "said later")
	out, err := a.vault.Sync(a.ctx)
	a.ok(err)
	if len(out.Problems) != 1 || out.SentFiles > 0 || out.ReceivedEvents == 0 || !strings.Contains(out.Problems[0].Error(), "is missing in the vault") {
		t.Errorf("%+v", out)
	}
	code, lock := aVault()
	for _, m := range all {
		m.folder = t.TempDir()
		fill(t, m.folder, map[string][]byte{"vault.json": []byte(strings.Replace(string(lock), `"id": "`, `"id": "1`, 1))})
		_, err := m.vault.Connect(m.ctx, vault.Target{Address: m.folder}, code)
		m.ok(err)
	}
	settle(t, all)
}

// saved copies the data of a member, as a file manager or a backup would; the member continues.
func (m *member) saved() string {
	m.Helper()
	dir := m.TempDir()
	m.ok(m.Store.Close())
	m.ok(os.CopyFS(dir, os.DirFS(m.dir)))
	m.open()
	m.begin()
	return dir
}

// from begins a member with data that was saved, and the vault of the one that it was saved of.
func (m *member) from(dir string, restored bool) *member {
	m.Helper()
	own := m.TempDir()
	m.ok(os.CopyFS(own, os.DirFS(dir)))
	f := &fixture{TB: m.TB, ctx: m.ctx, clock: clock.NewFake(m.clock.Now()), dir: own}
	f.open()
	m.Cleanup(func() { _ = f.Store.Close() })
	out := &member{device: &device{fixture: f, name: m.name + "2"}, folder: m.folder, place: m.place, code: m.code}
	if restored {
		out.ok(out.core.Write(out.ctx, "test", out.core.RenewDevice))
	}
	out.begin()
	return out
}

// said reports which of some words are in the messages of a session.
func (d *device) said(s chat.SessionID, words ...string) (out []string) {
	d.Helper()
	rows, err := core.All[string](d.ctx, d.core, "test", `SELECT user_message_json || coalesce(final_assistant_message_json, '') FROM turns WHERE session_id = ?`, s)
	d.ok(err)
	for _, w := range words {
		if strings.Contains(strings.Join(rows, " "), w) {
			out = append(out, w)
		}
	}
	return out
}

// TestACopyThatWritesToo: data that was copied beside the original gets a name of its own when both write to the vault: both
// go on, each keeps its part as a branch, and everything is on both, whichever was first.
func TestACopyThatWritesToo(t *testing.T) {
	for _, first := range []string{"original", "copy"} {
		t.Run(first, func(t *testing.T) {
			all, s := members(t, 1, true)
			a := all[0]
			a.sync()
			a.full(s.ActiveBranch, "not sent yet", "said")
			a.say(s.ActiveBranch, "not in a state yet", "said")
			b := a.from(a.saved(), false)
			id := a.core.Device().ID
			a.full(s.ActiveBranch, "in the original", "said there")
			a.full(s.ActiveBranch, "more in the original", "said there")
			b.full(s.ActiveBranch, "in the copy", "said in the copy")
			_, err := b.AddPin(b.ctx, s.ActiveBranch, "a fact", 5)
			b.ok(err)
			b.ok(b.RenameSession(b.ctx, s.ID, "by the copy"))
			own, branch := b.session("of the copy")
			b.full(branch.ID, "by the copy", "said")
			now, later := a, b
			if first == "copy" {
				now, later = b, a
			}
			if out := now.sync(); out.Departed {
				t.Errorf("%+v", out)
			}
			before := objects(t, a.folder)
			if out := later.sync(); !out.Departed || later.core.Device().ID == id || now.core.Device().ID != id {
				t.Errorf("%+v", out)
			}
			after := objects(t, a.folder)
			for name, content := range before {
				if !slices.Equal(after[name], content) {
					t.Errorf("%s was overwritten", name)
				}
			}
			for _, m := range []*member{a, b} {
				active, err := m.Session(m.ctx, s.ID)
				m.ok(err)
				m.full(m.own(active.ActiveBranch, true), "after it", "said after it")
			}
			settle(t, []*member{a, b})
			words := []string{"not sent yet", "not in a state yet", "in the original", "more in the original", "in the copy"}
			for _, m := range []*member{a, b} {
				if got := m.said(s.ID, words...); !slices.Equal(got, words) || !m.has(own.ID) || len(m.allSessions()) != 2 {
					t.Errorf("%s has %q, %d sessions", m.name, got, len(m.allSessions()))
				}
			}
		})
	}
}

// TestRestoredWhileTheFirstContinues: data that was restored from an older backup, elsewhere or in place, works beside the
// first: nothing diverges, and everything is on both.
func TestRestoredWhileTheFirstContinues(t *testing.T) {
	all, s := members(t, 1, true)
	a := all[0]
	a.sync()
	a.say(s.ActiveBranch, "not in a state yet", "said")
	old := a.saved()
	a.commitAll(s.ActiveBranch)
	a.full(s.ActiveBranch, "since the backup", "said")
	a.sync()
	b := a.from(old, true)
	if due, err := b.PendingIDs(b.ctx); err != nil || len(due) > 0 {
		t.Errorf("%d turns of the first are finished twice (%v)", len(due), err)
	}
	b.full(b.own(s.ActiveBranch, true), "in the restored one", "said")
	a.full(s.ActiveBranch, "meanwhile", "said")
	settle(t, []*member{a, b})
	words := []string{"since the backup", "in the restored one", "meanwhile"}
	for _, m := range []*member{a, b} {
		if got := m.said(s.ID, words...); !slices.Equal(got, words) {
			t.Errorf("%s has %q", m.name, got)
		}
	}
}

// counting counts what is read of a place.
type counting struct {
	vault.Place
	read []string
}

func (c *counting) Get(ctx context.Context, name string) ([]byte, error) {
	c.read = append(c.read, name)
	return c.Place.Get(ctx, name)
}

// TestAWaitingPartIsReadAlone: while a part of a session waits for another device's, only the file with it is read again, when
// something came to the session, after an hour or by hand, and it is applied once the other is here.
func TestAWaitingPartIsReadAlone(t *testing.T) {
	all, s := members(t, 3, true)
	a, b, c := all[0], all[1], all[2]
	a.full(s.ActiveBranch, "by A", "said")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	b.sync()
	b.full(b.own(s.ActiveBranch, true), "after A", "said")
	b.sync()
	other, branch := b.session("another")
	for range 3 {
		b.full(branch.ID, "by B", "said")
		b.sync()
	}
	carry(t, b.folder, c.folder, nil)
	for name := range objects(t, c.folder) {
		if objects(t, a.folder)[name] != nil && strings.HasPrefix(name, "log/") {
			c.ok(os.Remove(filepath.Join(c.folder, filepath.FromSlash(name))))
		}
	}
	ofA := objects(t, a.folder)
	ofB := slices.DeleteFunc(added(nil, objects(t, b.folder), "log/"), func(name string) bool { return ofA[name] != nil || strings.Contains(name, "/values-") })
	place := &counting{Place: vault.Folder(c.folder)}
	c.place = func(vault.Target) (vault.Place, error) { return place, nil }
	ownOther, own := c.session("of C")
	for _, step := range []struct {
		what string
		do   func()
		read []string
	}{
		{"at first", func() {}, ofB},
		{"nothing happened", func() {}, nil},
		{"another session went on", func() { c.full(own.ID, "by C", "said") }, nil},
		{"the session went on", func() { c.ok(c.RenameSession(c.ctx, s.ID, "by C")) }, ofB[:1]},
		{"nothing happened since", func() {}, nil},
		{"by hand", c.vault.TryAll, ofB[:1]},
		{"an hour passed", func() { c.clock.Advance(time.Hour) }, ofB[:1]},
		{"afterwards", func() {}, nil},
	} {
		step.do()
		place.read = nil
		out, err := c.vault.Sync(c.ctx)
		c.ok(err)
		if len(out.Problems) != 1 || !strings.Contains(out.Problems[0].Error(), "1 parts of sessions wait") || !c.has(other.ID) || !c.has(ownOther.ID) {
			t.Errorf("%s: %+v", step.what, out)
		}
		if read := slices.DeleteFunc(place.read, func(name string) bool { return !slices.Contains(ofB, name) }); !slices.Equal(read, step.read) {
			t.Errorf("%s: %q were read", step.what, read)
		}
	}
	carry(t, a.folder, c.folder, nil)
	c.sync()
	if got := c.said(s.ID, "by A", "after A"); len(got) != 2 {
		t.Errorf("C has %q", got)
	}
}

// hanging is a place that does not answer when a file of a log is read.
type hanging struct {
	vault.Place
	asked chan context.Context
}

func (h *hanging) Get(ctx context.Context, name string) ([]byte, error) {
	if !strings.HasPrefix(name, "log/") {
		return h.Place.Get(ctx, name)
	}
	h.asked <- ctx
	<-ctx.Done()
	return nil, ctx.Err()
}

// noticed is a context that tells when somebody begins to wait for its end.
type noticed struct {
	context.Context
	once  sync.Once
	asked chan struct{}
}

func (n *noticed) Done() <-chan struct{} {
	n.once.Do(func() { close(n.asked) })
	return n.Context.Done()
}

// TestNobodyWaitsForAVaultThatDoesNotAnswer: what waits for a running exchange can be cancelled, and choosing another vault or
// none ends the exchange, and what waits for it.
func TestNobodyWaitsForAVaultThatDoesNotAnswer(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	a.full(s.ActiveBranch, "by A", "said")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	h := &hanging{vault.Folder(b.folder), make(chan context.Context, 10)}
	b.place = func(vault.Target) (vault.Place, error) { return h, nil }
	code, _ := aVault()
	at := vault.Target{Address: b.folder}
	ended := make(chan error, 2)
	begin := func() context.Context {
		go func() { _, err := b.vault.Sync(b.ctx); ended <- err }()
		for {
			if asked := <-h.asked; asked.Err() == nil { // the exchange before may have asked again before it ended
				return asked
			}
		}
	}
	for _, change := range []func() error{
		func() error { _, err := b.vault.Connect(b.ctx, at, code); return err },
		func() error { return b.vault.Disconnect(b.ctx) },
	} {
		exchange := begin()
		soon, cancel := context.WithTimeout(b.ctx, 10*time.Millisecond)
		if _, err := b.vault.Check(soon); chat.CodeOf(err) != chat.CodeCancelled {
			t.Errorf("the check: %v", err)
		}
		cancel()
		if status, err := b.vault.Status(b.ctx); err != nil || len(status.Devices) < 2 {
			t.Errorf("the status: %+v, %v", status, err)
		}
		if _, err := b.vault.Connect(b.ctx, at, "wrong"); chat.CodeOf(err) != chat.CodeSealed || exchange.Err() != nil {
			t.Errorf("a wrong passphrase: %v, and the exchange: %v", err, exchange.Err())
		}
		waiting := &noticed{Context: b.ctx, asked: make(chan struct{})}
		go func() { _, err := b.vault.Check(waiting); ended <- err }()
		<-waiting.asked
		b.ok(change())
		for range 2 {
			if err := <-ended; err == nil {
				t.Error("it went on")
			}
		}
	}
	if l, err := b.vault.Latest(b.ctx); err != nil || l.Connected || l.Busy {
		t.Errorf("%+v, %v", l, err)
	}
}

// opened are the objects of the vault, as whoever has its key reads them.
func (m *member) opened() map[string]string {
	m.Helper()
	raw, err := m.VaultState(m.ctx)
	m.ok(err)
	var state struct {
		Key []byte `json:"key"`
	}
	m.ok(json.Unmarshal(raw, &state))
	z, err := zstd.NewReader(nil)
	m.ok(err)
	defer z.Close()
	out := map[string]string{}
	for name, sealed := range objects(m, m.folder) {
		if name == "vault.json" || strings.HasPrefix(name, "keys/") {
			continue
		}
		var packed []byte
		ok := false
		for key := range slices.Chunk(state.Key, len(seal.Key{})) {
			if !ok {
				packed, ok = seal.Key(key).OpenObject(name, sealed)
			}
		}
		if !ok {
			m.Fatalf("%s cannot be opened", name)
		}
		text, err := z.DecodeAll(packed, nil)
		m.ok(err)
		out[name] = string(text)
	}
	return out
}

// holding returns the objects of the vault with a text.
func (m *member) holding(text string) (names []string) {
	m.Helper()
	for name, content := range m.opened() {
		if strings.Contains(content, text) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// erased deletes a session permanently.
func (m *member) erased(s chat.SessionID) {
	m.Helper()
	_, err := m.Delete(m.ctx, chat.DeletionSession, string(s))
	m.ok(err)
}

// TestADeletionTravels: a session that is permanently deleted on one device is deleted on the others, each with a receipt of its
// own, and its text is in no object of the vault. Until then the status says who has not answered. It does not come back.
func TestADeletionTravels(t *testing.T) {
	all, _ := members(t, 3, true)
	a, b, c := all[0], all[1], all[2]
	b.folder, c.folder = a.folder, a.folder
	secret, branch := a.session("canary title")
	a.full(branch.ID, "canary question", "canary answer "+strings.Repeat("with many words ", 10_000))
	old := a.give(secret.ID)
	for range 2 {
		for _, m := range all {
			code, _ := aVault()
			_, err := m.vault.Connect(m.ctx, vault.Target{Address: a.folder}, code)
			m.ok(err)
			m.sync()
		}
	}
	b.full(b.own(branch.ID, true), "canary of B", "said")
	b.sync()
	c.sync()
	a.sync()
	if len(a.holding("canary")) < 3 {
		t.Fatalf("%q", a.holding("canary"))
	}
	a.erased(secret.ID)
	if out := a.sync(); out.SentFiles != 1 {
		t.Errorf("%+v", out)
	}
	if names := a.holding("canary"); len(names) > 0 {
		t.Errorf("the vault still has it in %q", names)
	}
	if n := len(added(nil, objects(t, a.folder), "content/")); n != 0 {
		t.Errorf("%d contents are left", n)
	}
	status, err := a.vault.Status(a.ctx)
	a.ok(err)
	if len(status.Deletions) != 1 || len(status.Deletions[0].Waiting) == 0 || status.Deletions[0].Files != 0 {
		t.Errorf("%+v", status.Deletions)
	}
	for _, m := range []*member{b, c} {
		if out := m.sync(); !slices.Equal(out.Deleted, []chat.SessionID{secret.ID}) || len(out.Kept) > 0 || m.has(secret.ID) {
			t.Errorf("%s: %+v", m.name, out)
		}
		receipts, err := m.Receipts(m.ctx)
		m.ok(err)
		if len(receipts) != 1 || receipts[0].Subject != string(secret.ID) || len(receipts[0].Deleted) == 0 {
			t.Errorf("%s has the receipts %+v", m.name, receipts)
		}
	}
	for _, m := range all {
		m.sync()
	}
	status, err = a.vault.Status(a.ctx)
	a.ok(err)
	if len(status.Deletions) != 0 {
		t.Errorf("afterwards %+v", status.Deletions)
	}
	if out := b.take(old); out.Session == secret.ID || !b.has(out.Session) || out.Outcome != chat.ImportCopied {
		t.Errorf("the bundle: %+v", out)
	}
	settle(t, all)
	for _, m := range all {
		if m.has(secret.ID) || len(m.allSessions()) != 2 {
			t.Errorf("%s has %d sessions", m.name, len(m.allSessions()))
		}
	}
}

// TestADeletedSessionThatWentOn: what was deleted on one device and continued on another becomes a session of its own on all, and
// so does what was restored from an older backup.
func TestADeletedSessionThatWentOn(t *testing.T) {
	for _, how := range []string{"continued", "restored"} {
		all, _ := members(t, 2, true)
		a, b := all[0], all[1]
		s, branch := a.session("deleted")
		a.full(branch.ID, "a question", "an answer")
		for range 2 {
			a.sync()
			carry(t, a.folder, b.folder, nil)
			b.sync()
			carry(t, b.folder, a.folder, nil)
		}
		old := b.saved()
		if how == "continued" {
			b.full(b.own(branch.ID, true), "continued here", "said")
		} else {
			b.ok(b.Store.Close())
			b = b.from(old, true)
			all[1] = b
		}
		a.erased(s.ID)
		a.sync()
		carry(t, a.folder, b.folder, nil)
		out := b.sync()
		if len(out.Deleted) != 1 || len(out.Kept) != 1 || b.has(s.ID) || !b.has(out.Kept[0]) {
			t.Fatalf("%s: %+v", how, out)
		}
		settle(t, all)
		for _, m := range all {
			if m.has(s.ID) || !m.has(out.Kept[0]) || how == "continued" && len(m.said(out.Kept[0], "continued here")) != 1 {
				t.Errorf("%s: %s does not have what was kept", how, m.name)
			}
		}
	}
}

// TestWhatCameAfterADeletionIsKept: a session that was deleted elsewhere before this data was connected to the vault or
// before it was imported here, becomes a session of its own.
func TestWhatCameAfterADeletionIsKept(t *testing.T) {
	for _, how := range []string{"connected", "imported"} {
		all, _ := members(t, 1, true)
		a := all[0]
		s, branch := a.session("deleted")
		a.full(branch.ID, "a question", "an answer")
		old := a.give(s.ID)
		a.sync()
		a.erased(s.ID)
		a.sync()
		others, _ := devices(t, 1)
		d := others[0]
		d.clock.Advance(time.Minute)
		var b *member
		if how == "connected" {
			d.take(old)
			b = d.join("")
		} else {
			b = d.join("")
			b.sync()
			b.clock.Advance(time.Minute)
			b.take(old)
		}
		carry(t, a.folder, b.folder, nil)
		if out := b.sync(); len(out.Kept) != 1 || b.has(s.ID) || len(b.said(out.Kept[0], "a question")) != 1 {
			t.Errorf("%s: %+v", how, out)
		}
	}
}

// TestADeletionMeetsAnAnswer: a session that is continued after it was looked at is not deleted, and while an answer is
// written no copy of it is made.
func TestADeletionMeetsAnAnswer(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	s, branch := a.session("deleted")
	a.full(branch.ID, "a question", "an answer")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	b.sync()
	a.erased(s.ID)
	a.sync()
	carry(t, a.folder, b.folder, nil)
	var own chat.BranchID
	carryOut := b.vault.Delete
	b.vault.Delete = func(ctx context.Context, id chat.SessionID, seen map[string]int64) (chat.Receipt, error) {
		own = b.own(branch.ID, true)
		b.full(own, "meanwhile", "said")
		return carryOut(ctx, id, seen)
	}
	out, err := b.vault.Sync(b.ctx)
	b.ok(err)
	if len(out.Deleted) > 0 || len(out.Problems) == 0 || len(b.said(s.ID, "meanwhile")) != 1 {
		t.Fatalf("%+v", out)
	}
	b.vault.Delete = carryOut
	turn := b.accept(own, "being answered")
	before := len(b.allSessions())
	b.core.SetRunning(turn.ID, true)
	if out, err = b.vault.Sync(b.ctx); err != nil || len(out.Deleted) > 0 || len(b.allSessions()) != before {
		t.Fatalf("%+v, %v, %d sessions of %d", out, err, len(b.allSessions()), before)
	}
	b.finalize(turn, "an answer")
	b.core.SetRunning(turn.ID, false)
	if out := b.sync(); len(out.Kept) != 1 || b.has(s.ID) || len(b.said(out.Kept[0], "meanwhile", "being answered")) != 2 {
		t.Errorf("%+v", out)
	}
}

// meanwhile is a place to which something happens before a file of a log is written.
type meanwhile struct {
	vault.Place
	do func()
}

func (m *meanwhile) PutNew(ctx context.Context, name string, b []byte) error {
	if do := m.do; do != nil && strings.HasPrefix(name, "log/") {
		m.do = nil
		do()
	}
	return m.Place.PutNew(ctx, name, b)
}

// TestDeletedWhileItIsSent: a session that is deleted while its file is written is deleted in the vault too; one that
// was deleted before the vault knew it stays on the others.
func TestDeletedWhileItIsSent(t *testing.T) {
	all, _ := members(t, 2, true)
	a, b := all[0], all[1]
	s, branch := a.session("canary title")
	a.full(branch.ID, "canary question", "canary answer")
	first := &meanwhile{vault.Folder(a.folder), func() { a.erased(s.ID) }}
	a.place = func(vault.Target) (vault.Place, error) { return first, nil }
	a.sync()
	a.sync()
	if names := a.holding("canary"); len(names) > 0 {
		t.Errorf("the vault has it in %q", names)
	}
	carry(t, a.folder, b.folder, nil)
	if b.sync(); b.has(s.ID) {
		t.Error("it was delivered")
	}

	c, branch := b.session("of both")
	b.full(branch.ID, "a question", "an answer")
	a.take(b.give(c.ID))
	b.sync()
	a.ok(a.vault.Disconnect(a.ctx))
	a.erased(c.ID)
	code, _ := aVault()
	_, err := a.vault.Connect(a.ctx, vault.Target{Address: a.folder}, code)
	a.ok(err)
	carry(t, b.folder, a.folder, nil)
	if out := a.sync(); out.DeletedHere == 0 {
		t.Errorf("%+v", out)
	}
	carry(t, a.folder, b.folder, nil)
	if out := b.sync(); len(out.Deleted) > 0 || !b.has(c.ID) {
		t.Errorf("what was deleted in one place only: %+v", out)
	}
}

// TestWhatADeletionDidNotKnow: the vault keeps what the deleting device did not know until its writer has kept it, and a
// content that is gone with the session does not block that writer's log.
func TestWhatADeletionDidNotKnow(t *testing.T) {
	all, _ := members(t, 2, true)
	a, c := all[0], all[1]
	long := strings.Repeat("with many words ", 10_000)
	s, branch := a.session("deleted")
	a.full(branch.ID, "a question", long)
	a.sync()
	carry(t, a.folder, c.folder, nil)
	c.sync()
	c.full(c.own(branch.ID, true), "canary of C", long)
	c.sync()
	a.erased(s.ID)
	a.sync()
	carry(t, c.folder, a.folder, nil)
	for _, name := range added(nil, objects(t, a.folder), "content/") {
		a.ok(os.Remove(filepath.Join(a.folder, filepath.FromSlash(name))))
	}
	a.sync()
	if names := a.holding("canary of C"); len(names) != 1 {
		t.Errorf("before C answered, it is in %q", names)
	}
	carry(t, a.folder, c.folder, nil)
	if out := c.sync(); len(out.Kept) != 1 || len(c.said(out.Kept[0], "canary of C")) != 1 {
		t.Errorf("%+v", out)
	}
	carry(t, c.folder, a.folder, nil)
	a.sync()
	status, err := a.vault.Status(a.ctx)
	a.ok(err)
	if len(status.Deletions) != 0 {
		t.Errorf("afterwards %+v", status.Deletions)
	}
}

// TestAFileIsNotDeletedForADamagedOne: of a file that was written again, the original stays until the other can be
// read.
func TestAFileIsNotDeletedForADamagedOne(t *testing.T) {
	all, _ := members(t, 1, true)
	a := all[0]
	s, branch := a.session("deleted")
	a.full(branch.ID, "a question", "an answer")
	a.sync()
	own := added(nil, objects(t, a.folder), "log/")[0]
	next := filepath.Join(a.folder, filepath.FromSlash(own)) + "-1"
	a.ok(os.WriteFile(next, []byte("of a disk that was full"), 0o600))
	a.full(branch.ID, "more", "said")
	_, err := a.vault.Sync(a.ctx)
	a.ok(err)
	if objects(t, a.folder)[own] == nil {
		t.Fatal("the original was deleted")
	}
	a.ok(os.Remove(next))
	a.sync()
	a.erased(s.ID)
	a.sync()
	if objects(t, a.folder)[own] != nil {
		t.Error("it was not written again")
	}
}

// TestADeletionThatIsKilledContinues: killed before or after any write, a deletion in the vault is completed by the next exchange.
func TestADeletionThatIsKilledContinues(t *testing.T) {
	for _, kind := range []string{chat.DeletionSession, chat.DeletionTurn} {
		t.Run(kind, func(t *testing.T) { deletionIsKilled(t, kind) })
	}
}

func deletionIsKilled(t *testing.T, kind string) {
	for n, points := 1, 0; ; n += testtier.Size(2, 1) {
		ended := 0
		for _, after := range []bool{false, true} {
			all, _ := members(t, 1, true)
			a := all[0]
			s, branch := a.session("canary title")
			turn := a.full(branch.ID, "canary question", "canary answer "+strings.Repeat("with many words ", 10_000))
			a.sync()
			if kind == chat.DeletionTurn {
				a.deleteTurn(turn.ID)
			} else {
				a.erased(s.ID)
			}
			k := &killed{Place: vault.Folder(a.folder), Store: a.Store, left: n, after: after}
			if _, err := a.with(k, func(vault.Target) (vault.Place, error) { return k, nil }).Sync(a.ctx); err == nil {
				ended++
			}
			a.reopen()
			a.begin()
			a.sync()
			if names := append(a.holding("canary"), added(nil, objects(t, a.folder), "content/")...); len(names) > 0 {
				t.Fatalf("point %d, after %v: the vault has %q", n, after, names)
			}
			a.ok(a.Store.Close())
		}
		if points++; ended == 2 {
			if points < testtier.Size(3, 6) {
				t.Errorf("only %d points", points)
			}
			return
		}
	}
}

// TestACopyInAnotherFolder: of two copies with folders of their own, whose program keeps the other's file, the one that
// lost its file sends nothing after it: nobody could read on from there.
func TestACopyInAnotherFolder(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	a.full(s.ActiveBranch, "in the original", "said")
	a.sync()
	own := added(nil, objects(t, a.folder), "log/")
	b.full(b.own(s.ActiveBranch, true), "by B", "said")
	b.sync()
	last := own[len(own)-1]
	a.ok(os.WriteFile(filepath.Join(a.folder, filepath.FromSlash(last)), []byte("of another"), 0o600))
	a.full(s.ActiveBranch, "more", "said")
	out, err := a.vault.Sync(a.ctx)
	a.ok(err)
	if len(out.Problems) == 0 || out.SentFiles > 0 {
		t.Errorf("%+v", out)
	}
}

// TestAVaultBehindALink: a folder that is a symbolic link is a vault like any other, and what was sent is known as sent.
func TestAVaultBehindALink(t *testing.T) {
	all, s := members(t, 1, true)
	a, link := all[0], filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(a.folder, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	code, _ := aVault()
	_, err := a.vault.Connect(a.ctx, vault.Target{Address: link}, code)
	a.ok(err)
	for _, words := range []string{"first", "second"} {
		a.full(s.ActiveBranch, words, "said")
		if out := a.sync(); out.SentFiles != 1 {
			t.Errorf("%+v", out)
		}
		status, err := a.vault.Status(a.ctx)
		a.ok(err)
		if status.Unsent || len(status.Devices) != 1 {
			t.Errorf("%+v", status)
		}
	}
	a.full(s.ActiveBranch, "third", "said")
	status, err := a.vault.Status(a.ctx)
	a.ok(err)
	if !status.Unsent {
		t.Error("what was not sent is not said")
	}
}

// killed is a place and a store that stop working after a number of operations, before or after the last one took effect.
type killed struct {
	vault.Place
	vault.Store
	left  int
	after bool
}

var errDied = chat.Errorf(chat.CodeInternal, "test", "killed")

func (k *killed) step(do func() error) error {
	if k.left--; k.left < 0 || k.left == 0 && !k.after {
		return errDied
	}
	err := do()
	if k.left == 0 {
		return errDied
	}
	return err
}

func (k *killed) PutNew(ctx context.Context, name string, b []byte) error {
	return k.step(func() error { return k.Place.PutNew(ctx, name, b) })
}

func (k *killed) Delete(ctx context.Context, name string) error {
	return k.step(func() error { return k.Place.Delete(ctx, name) })
}

func (k *killed) PutGone(ctx context.Context, more bundle.Gone) error {
	return k.step(func() error { return k.Store.PutGone(ctx, more) })
}

func (k *killed) Erased(ctx context.Context, s chat.SessionID, of, file string) error {
	return k.step(func() error { return k.Store.Erased(ctx, s, of, file) })
}

func (k *killed) PutVault(ctx context.Context, state []byte, segments []bundle.Segment) error {
	return k.step(func() error { return k.Store.PutVault(ctx, state, segments) })
}

func (k *killed) Receive(ctx context.Context, s chat.SessionID, p []bundle.Parcel) (out chat.Imported, err error) {
	err = k.step(func() (err error) { out, err = k.Store.Receive(ctx, s, p); return err })
	return out, err
}

// TestAnExchangeThatIsKilledContinues: killed before or after any write, in the vault or here, an exchange is continued by the
// next one: nothing is lost, and nothing is sent twice.
func TestAnExchangeThatIsKilledContinues(t *testing.T) {
	points := 0
	for n := 1; ; n += testtier.Size(6, 1) {
		ended := 0
		for _, after := range []bool{false, true} {
			all, s := members(t, 2, true)
			a, b := all[0], all[1]
			b.full(b.own(s.ActiveBranch, true), "by B", "said by B")
			b.assistant("", "Poet", "by B")
			b.sync()
			carry(t, b.folder, a.folder, nil)
			a.assistant("", "Poet", "by A") // one of them gets a number
			for range 2 {
				a.full(s.ActiveBranch, "by A", strings.Repeat("a long answer ", 10_000))
			}
			k := &killed{Place: vault.Folder(a.folder), Store: a.Store, left: n, after: after}
			dying := a.with(k, func(vault.Target) (vault.Place, error) { return k, nil })
			if _, err := dying.Sync(a.ctx); err == nil {
				ended++
			}
			a.reopen()
			a.begin()
			settle(t, all)
			events := 0
			for _, m := range all {
				checked, err := m.vault.Check(m.ctx)
				m.ok(err)
				events = checked.Events
			}
			there := 0
			for _, n := range a.lanes(s.ID) {
				there += n
			}
			if got := a.names(); len(got) != 2 || got[0] != "assistant Poet (2): by A" {
				t.Errorf("point %d, after %v: %q", n, after, got)
			}
			if events != there {
				t.Errorf("point %d, after %v: %d events in the vault, and %d here", n, after, events, there)
			}
			for _, m := range all {
				m.ok(m.Store.Close())
			}
			if t.Failed() {
				t.Fatalf("point %d, after %v", n, after)
			}
		}
		points++
		if ended == 2 {
			break
		}
	}
	if points < testtier.Size(2, 6) {
		t.Errorf("only %d points", points)
	}
}

// TestAVaultIsSmall: a vault is less than one and a half times as large as the packed ledgers, and a turn adds one or two objects.
func TestAVaultIsSmall(t *testing.T) {
	d := &device{fixture: newFixture(t), name: "A"}
	s, b := d.sessionWithRequests(testtier.Size(60, 1000))
	m := d.join("")
	began := time.Now()
	m.sync()
	all := time.Since(began)
	stored := 0
	before := objects(t, m.folder)
	for _, content := range before {
		stored += len(content)
	}
	rows, err := core.All[int](d.ctx, d.core, "test", `SELECT sum(length(payload) + length(hash) * 3) FROM events WHERE session_id = ?`, s.ID)
	d.ok(err)
	if stored*2 > rows[0]*3 {
		t.Errorf("%d bytes in the vault, and %d of events", stored, rows[0])
	}
	d.full(b.ID, "one more", "said")
	began = time.Now()
	out := m.sync()
	if n := len(objects(t, m.folder)) - len(before); out.SentFiles != 1 || n > 2 {
		t.Errorf("%d objects for one turn, %+v", n, out)
	}
	t.Logf("%d bytes in the vault, %d of events here; all in %v, one turn in %v", stored, rows[0], all, time.Since(began))
}

// What the window shows of an exchange: what came is passed on as it comes, an idle exchange writes nothing, and trouble that
// may pass by itself is no news at first.
func TestWhatIsKnownOfAnExchange(t *testing.T) {
	all, s := members(t, 2, true)
	a, b := all[0], all[1]
	var came []chat.SessionID
	noted, most := 0, vault.Latest{}
	latest := func() vault.Latest {
		l, err := b.vault.Latest(b.ctx)
		b.ok(err)
		return l
	}
	b.vault.Changed = func(ids []chat.SessionID) { came = append(came, ids...) }
	b.vault.Noted = func() {
		noted++
		if l := latest(); l.Busy && l.Report.ReceivedTurns > most.Report.ReceivedTurns {
			most = l
		}
	}
	a.full(a.own(s.ActiveBranch, false), "from the other one", "said")
	a.sync()
	carry(t, a.folder, b.folder, nil)
	b.sync()
	l := latest()
	if !slices.Contains(came, s.ID) || noted == 0 || most.Report.ReceivedTurns == 0 || l.Busy || !l.Connected || l.Address != b.folder ||
		len(l.Devices) < 2 || l.Exchanged.IsZero() || l.Attention(l.Exchanged.Add(100*time.Hour)) {
		t.Fatalf("came %v, %d notes, at most %+v, now %+v", came, noted, most, l)
	}

	before, err := b.Changes(b.ctx)
	b.ok(err)
	b.sync()
	if after, err := b.Changes(b.ctx); err != nil || after != before {
		t.Errorf("an exchange of nothing wrote to the database: %d, %d, %v", before, after, err)
	}

	b.ok(os.Rename(b.folder, b.folder+".away"))
	if _, err := b.vault.Sync(b.ctx); err == nil {
		t.Fatal("exchanged with a folder that is not there")
	}
	l = latest()
	if l.Err == nil || l.Attention(l.Exchanged.Add(time.Minute)) || !l.Attention(l.Exchanged.Add(2*time.Hour)) {
		t.Errorf("a folder that is not there: %+v", l)
	}
	b.begin() // another run remembers when it was
	if again := latest(); again.Exchanged.IsZero() || !again.Connected {
		t.Errorf("after a restart: %+v", again)
	}
	b.ok(os.Rename(b.folder+".away", b.folder))
	b.ok(b.vault.Disconnect(b.ctx))
	if l := latest(); l.Connected {
		t.Errorf("disconnected: %+v", l)
	}
	noted = 0
	_, err = b.vault.Sync(b.ctx)
	if chat.CodeOf(err) != chat.CodeNotFound || !b.has(s.ID) || noted > 0 {
		t.Errorf("an exchange without a vault: %v, %d notes", err, noted)
	}
}

// TestTheCodeOfAVaultThatWasCreated: whoever was shown a recovery code learns that it is the vault's, also if creating the
// vault failed after it was written.
func TestTheCodeOfAVaultThatWasCreated(t *testing.T) {
	all, _ := devices(t, 1)
	m := &member{device: all[0], folder: t.TempDir(), place: vault.Places{}.Open}
	m.begin()
	code, at := seal.NewCode(), vault.Target{Address: m.folder}
	place, err := m.place(at)
	m.ok(err)
	dying := m.with(m.Store, func(vault.Target) (vault.Place, error) { return &killed{Place: place, left: 1, after: true}, nil })
	if _, err := dying.ConnectWith(m.ctx, at, "a passphrase", code); err == nil {
		t.Fatal("did not fail")
	}
	out, err := m.vault.ConnectWith(m.ctx, at, "a passphrase", code)
	if err != nil || out != (vault.Connected{Created: true, Code: code}) {
		t.Errorf("created before: %+v, %v", out, err)
	}
	out, err = m.vault.ConnectWith(m.ctx, at, code, seal.NewCode())
	if err != nil || out.Created {
		t.Errorf("opened with a code that is not its own: %+v, %v", out, err)
	}
}
