package store

import (
	"bytes"
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/vault"
	"contextinfinity/test/testtier"
)

const newPassphrase = "another passphrase"

// log is the name of a member's log.
func (m *member) log() string {
	m.Helper()
	status, err := m.vault.Status(m.ctx)
	m.ok(err)
	return status.Devices[slices.IndexFunc(status.Devices, func(d vault.Device) bool { return d.This })].Log
}

// removes removes a log from the vault, and returns the new recovery code.
func (m *member) removes(log, secret string) string {
	m.Helper()
	code := seal.NewCode()
	_, err := m.vault.Remove(m.ctx, vault.Removal{Device: log, Secret: secret, Passphrase: newPassphrase, Code: code})
	m.ok(err)
	return code
}

func (m *member) connects(secret string) error {
	_, err := m.vault.Connect(m.ctx, vault.Target{Address: m.folder}, secret)
	return err
}

// asks reports an error if the exchange does not ask for the new key, or does anything.
func (m *member) asks() {
	m.Helper()
	before := objects(m, m.folder)
	out, err := m.vault.Sync(m.ctx)
	if err == nil || !strings.Contains(err.Error(), "was renewed on another computer") || out.ReceivedEvents > 0 || len(added(before, objects(m, m.folder), "")) > 0 {
		m.Errorf("%s: %+v, %v", m.name, out, err)
	}
}

// problem returns the message of the only problem of an exchange; empty: there is none.
func (m *member) problem() string {
	m.Helper()
	out, err := m.vault.Sync(m.ctx)
	m.ok(err)
	if len(out.Problems) > 1 {
		m.Errorf("%s: %v", m.name, out.Problems)
	}
	for _, p := range out.Problems {
		return p.Error()
	}
	return ""
}

// exchanged are members in folders of their own that have exchanged everything, and one session of all.
func exchanged(t *testing.T, n int) ([]*member, chat.Session) {
	all, s := members(t, n, true)
	for i, m := range all {
		if i > 0 { // what is theirs is on branches of their own
			m.full(m.own(s.ActiveBranch, true), "before by "+m.name, "said")
		}
	}
	all[0].full(s.ActiveBranch, "before by A", "said")
	settle(t, all)
	return all, s
}

// TestARemovedDevice: what follows a removal is sealed with a new key. The other device asks for it; what it had read and written before counts
// once it has the key, and not before. The removed one reads nothing new, and what it writes is ignored. New devices join with what opens the
// newest lock only, and have everything. Given the passphrase, the removed one comes back under another name.
func TestARemovedDevice(t *testing.T) {
	all, s := exchanged(t, 3)
	a, b, c := all[0], all[1], all[2]
	code, _ := aVault()
	c.full(c.own(s.ActiveBranch, true), "known to B only", strings.Repeat("a long answer ", 10_000))
	c.sync()
	carry(t, c.folder, b.folder, nil)
	b.sync()
	b.full(b.own(s.ActiveBranch, true), "not known to A", strings.Repeat("a longer answer ", 10_000))
	b.sync()
	b.full(b.own(s.ActiveBranch, true), "sent, and not remembered", "said")
	k := &killed{Place: vault.Folder(b.folder), Store: b.Store, left: 2, after: true}
	_, err := b.with(k, func(vault.Target) (vault.Place, error) { return k, nil }).Sync(b.ctx)
	b.reopen()
	b.begin()
	if sent := added(nil, objects(t, b.folder), "log/"+b.log()); err == nil || len(sent) != 3 {
		t.Fatalf("%v, %q", err, sent)
	}
	ofC := c.log()
	if _, err := a.vault.Remove(a.ctx, vault.Removal{Device: ofC, Secret: "wrong", Passphrase: newPassphrase, Code: seal.NewCode()}); chat.CodeOf(err) != chat.CodeSealed {
		t.Errorf("a wrong passphrase: %v", err)
	}
	if _, err := a.vault.Remove(a.ctx, vault.Removal{Device: ofC, Secret: code, Code: seal.NewCode()}); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("no new passphrase: %v", err)
	}
	if _, err := a.vault.Remove(a.ctx, vault.Removal{Device: a.log(), Secret: code, Passphrase: newPassphrase, Code: seal.NewCode()}); chat.CodeOf(err) != chat.CodeNotFound {
		t.Errorf("itself: %v", err)
	}
	renewed := a.removes(ofC, code)
	a.full(a.own(s.ActiveBranch, true), "since the removal", "said since")
	a.sync()
	c.full(c.own(s.ActiveBranch, true), "by C, which does not know of it", "said")
	c.sync()
	carry(t, c.folder, a.folder, nil)
	carry(t, b.folder, a.folder, nil)
	if got := a.problem(); !strings.Contains(got, "is sealed with an older key of the vault") {
		t.Errorf("before B has the new key: %q", got)
	}

	carry(t, a.folder, b.folder, nil)
	carry(t, a.folder, c.folder, nil)
	b.asks()
	c.asks()
	for _, secret := range []string{code, "a passphrase"} {
		if err := b.connects(secret); chat.CodeOf(err) != chat.CodeSealed {
			t.Errorf("what opened the vault before: %v", err)
		}
	}
	b.asks()
	b.ok(b.connects(newPassphrase))
	settle(t, []*member{a, b})
	words := []string{"before by A", "before by B", "before by C", "known to B only", "not known to A", "sent, and not remembered", "since the removal"}
	late := "by C, which does not know of it"
	devs, _ := devices(t, 1)
	d := &member{device: devs[0], folder: t.TempDir(), place: vault.Places{}.Open}
	d.begin()
	carry(t, a.folder, d.folder, nil)
	if err := d.connects(code); chat.CodeOf(err) != chat.CodeSealed {
		t.Errorf("a new device with the code before: %v", err)
	}
	d.ok(d.connects(newPassphrase))
	d.ok(d.connects(renewed))
	settle(t, []*member{a, b, d})
	if got := d.said(s.ID, append(words, late)...); !slices.Equal(got, words) {
		t.Errorf("a new device has %q", got)
	}
	status, err := a.vault.Status(a.ctx)
	a.ok(err)
	for _, d := range status.Devices {
		if d.Removed != (d.Log == ofC) || d.Removed && d.Files <= d.Known {
			t.Errorf("%+v", d)
		}
	}

	carry(t, a.folder, c.folder, nil)
	c.ok(c.connects(newPassphrase))
	if out := c.sync(); !out.Departed || c.log() == ofC {
		t.Errorf("the removed one: %+v", out)
	}
	settle(t, []*member{a, b, c})
	if got := b.said(s.ID, late); len(got) != 1 {
		t.Error("what the removed one wrote meanwhile has not come")
	}
}

// TestAFileThatIsForgedWithAnOlderKey is named and not taken, whether it follows from the last file of a log or is in place of it.
func TestAFileThatIsForgedWithAnOlderKey(t *testing.T) {
	for instead, says := range map[bool]string{false: "is sealed with an older key of the vault", true: "is damaged, or is not the one that belongs there"} {
		all, s := exchanged(t, 3)
		a, b := all[0], all[1]
		code, _ := aVault()
		thief := b.from(b.saved(), false)
		thief.folder = t.TempDir()
		carry(t, b.folder, thief.folder, nil)
		thief.ok(thief.connects(code))
		if instead {
			b.full(b.own(s.ActiveBranch, true), "not known to the thief", "said")
			b.sync()
			carry(t, b.folder, a.folder, nil)
		}
		a.removes(all[2].log(), code)
		before := objects(t, a.folder)
		thief.full(thief.own(s.ActiveBranch, true), "forged", "said")
		thief.sync()
		forged := objects(t, thief.folder)
		for _, name := range added(nil, forged, "log/"+b.log()) {
			a.ok(os.WriteFile(filepath.Join(a.folder, filepath.FromSlash(name)), forged[name], 0o600))
		}
		checked, err := a.vault.Check(a.ctx)
		a.ok(err)
		if len(checked.Problems) != 1 || !strings.Contains(checked.Problems[0].Error(), says) {
			t.Errorf("%v", checked.Problems)
		}
		if got := a.problem(); instead != (got == "") || len(a.said(s.ID, "forged")) > 0 {
			t.Errorf("%q", got)
		}
		fill(t, a.folder, before)
		carry(t, a.folder, b.folder, nil)
		b.ok(b.connects(newPassphrase))
		settle(t, all[:2])
	}
}

// TestADeviceThatNeverTakesTheNewKey: what it wrote without the others counts when it is removed too.
func TestADeviceThatNeverTakesTheNewKey(t *testing.T) {
	all, s := exchanged(t, 3)
	a, b := all[0], all[1]
	code, _ := aVault()
	b.full(b.own(s.ActiveBranch, true), "not known to A", "said")
	b.sync()
	a.removes(all[2].log(), code)
	carry(t, b.folder, a.folder, nil)
	if got := a.problem(); !strings.Contains(got, "or remove it, if it does not exist") || len(a.said(s.ID, "not known to A")) > 0 {
		t.Errorf("%q", got)
	}
	place := &counting{Place: vault.Folder(a.folder)}
	a.place = func(vault.Target) (vault.Place, error) { return place, nil }
	if a.problem(); slices.ContainsFunc(place.read, func(name string) bool { return strings.HasPrefix(name, "log/"+b.log()) }) {
		t.Errorf("what does not count is read in each exchange: %q", place.read)
	}
	a.removes(b.log(), newPassphrase)
	a.sync()
	if len(a.said(s.ID, "not known to A")) != 1 {
		t.Error("it is lost")
	}
	settle(t, all[:1])
}

// renewing is a place to which something happens before a new key is stored. An error is returned although the key is there.
type renewing struct {
	vault.Place
	do  func()
	err error
}

func (p *renewing) PutNew(ctx context.Context, name string, b []byte) error {
	if do := p.do; do != nil && strings.HasPrefix(name, "keys/") {
		p.do = nil
		do()
	}
	if err := p.Place.PutNew(ctx, name, b); err != nil || !strings.HasPrefix(name, "keys/") {
		return err
	}
	return p.err
}

// TestTwoRemovalsAtOnce: the second is refused, and is done again with the key of the first. If a program that synchronizes folders lets both
// happen, and keeps one, the other device asks for its key, and nothing that was written with the other one is lost.
func TestTwoRemovalsAtOnce(t *testing.T) {
	code, _ := aVault()
	all, _ := exchanged(t, 4)
	a, b, ofC, ofD := all[0], all[1], all[2].log(), all[3].log()
	b.folder = a.folder
	b.ok(b.connects(code))
	place := &renewing{Place: vault.Folder(a.folder), do: func() { b.removes(ofC, code) }}
	a.place = func(vault.Target) (vault.Place, error) { return place, nil }
	if _, err := a.vault.Remove(a.ctx, vault.Removal{Device: ofD, Secret: code, Passphrase: newPassphrase, Code: seal.NewCode()}); chat.CodeOf(err) != chat.CodeConflict || !strings.Contains(err.Error(), "at the same time") {
		t.Errorf("%v", err)
	}
	a.asks()
	a.ok(a.connects(newPassphrase))
	a.removes(ofD, newPassphrase)
	b.asks()
	b.ok(b.connects(newPassphrase))
	settle(t, all[:2])
	status, err := b.vault.Status(b.ctx)
	b.ok(err)
	for _, d := range status.Devices {
		if d.Removed != (d.Log == ofC || d.Log == ofD) {
			t.Errorf("%+v", d)
		}
	}

	all, s := exchanged(t, 4)
	a, b = all[0], all[1]
	a.removes(all[2].log(), code)
	b.removes(all[3].log(), code)
	b.full(b.own(s.ActiveBranch, true), "with a key that is lost", "said")
	b.sync()
	a.ok(os.Remove(filepath.Join(b.folder, "keys", "2")))
	carry(t, a.folder, b.folder, nil)
	b.asks()
	b.ok(b.connects(newPassphrase))
	settle(t, all[:2])
	if len(a.said(s.ID, "with a key that is lost")) != 1 {
		t.Error("it is lost")
	}

	all, s = exchanged(t, 4)
	a, b, ofC, ofD = all[0], all[1], all[2].log(), all[3].log()
	a.removes(ofC, code)
	a.removes(ofD, newPassphrase)
	b.removes(ofC, code)
	b.full(b.own(s.ActiveBranch, true), "of two keys the first is lost", "said")
	b.sync()
	a.ok(os.Remove(filepath.Join(a.folder, "keys", "2")))
	settle(t, all[1:2])
	carry(t, b.folder, a.folder, nil)
	carry(t, a.folder, b.folder, nil)
	b.asks()
	b.ok(b.connects(newPassphrase))
	settle(t, all[:2])
	if len(a.said(s.ID, "of two keys the first is lost")) != 1 {
		t.Error("it is lost")
	}
}

// TestKeysThatWereSetBack: without a key that a device knows, nothing is exchanged, and nothing is written with an older one.
func TestKeysThatWereSetBack(t *testing.T) {
	all, s := exchanged(t, 2)
	a := all[0]
	code, _ := aVault()
	before := objects(t, a.folder)
	a.removes(all[1].log(), code)
	a.full(s.ActiveBranch, "since", "said")
	after := objects(t, a.folder)
	fill(t, a.folder, before)
	if out, err := a.vault.Sync(a.ctx); err == nil || !strings.Contains(err.Error(), "keys/2 is missing") || out.SentFiles > 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if err := a.connects(code); err == nil || !strings.Contains(err.Error(), "keys/2 is missing") {
		t.Errorf("connected again: %v", err)
	}
	if now := objects(t, a.folder); len(now) != len(before) {
		t.Errorf("%q were written", added(before, now, ""))
	}
	after["keys/2"] = flipped(after["keys/2"], len(after["keys/2"])-20)
	fill(t, a.folder, after)
	if _, err := a.vault.Sync(a.ctx); err == nil || !strings.Contains(err.Error(), "keys/2 in") {
		t.Errorf("a damaged one: %v", err)
	}
	after["keys/2"] = flipped(after["keys/2"], len(after["keys/2"])-20)
	fill(t, a.folder, after)
	if out := a.sync(); out.SentFiles != 1 {
		t.Errorf("%+v", out)
	}
}

// TestARemovalThatIsKilledContinues: killed before or after any write, a device either did not remove, or asks for the new key, of which the code
// that was kept is valid.
func TestARemovalThatIsKilledContinues(t *testing.T) {
	code, _ := aVault()
	for n, ended := 1, false; !ended; n += testtier.Size(3, 1) {
		for _, after := range []bool{false, true} {
			all, s := exchanged(t, 2)
			a, renewed := all[0], seal.NewCode()
			ofB := all[1].log()
			a.full(s.ActiveBranch, "more", "said")
			k := &killed{Place: vault.Folder(a.folder), Store: a.Store, left: n, after: after}
			_, err := a.with(k, func(vault.Target) (vault.Place, error) { return k, nil }).Remove(a.ctx, vault.Removal{Device: ofB, Secret: code, Passphrase: newPassphrase, Code: renewed})
			ended = err == nil
			a.reopen()
			a.begin()
			if objects(t, a.folder)["keys/2"] == nil {
				a.removes(ofB, code)
			} else if _, err := a.vault.Sync(a.ctx); err != nil {
				a.ok(a.connects(renewed))
			}
			a.full(s.ActiveBranch, "since", "said")
			a.sync()
			settle(t, all[:1])
			if devices, err := a.vault.Status(a.ctx); err != nil || !devices.Devices[1].Removed {
				t.Fatalf("point %d, after %v: %+v, %v", n, after, devices, err)
			}
			for _, m := range all {
				m.ok(m.Store.Close())
			}
		}
	}
}

// TestADeletionDoesNotWaitForARemovedDevice: its answer counts as given, and its files are written again.
func TestADeletionDoesNotWaitForARemovedDevice(t *testing.T) {
	all, s := exchanged(t, 2)
	a, b := all[0], all[1]
	code, _ := aVault()
	b.full(b.own(s.ActiveBranch, true), "canary of B", "said")
	b.sync()
	a.erased(s.ID)
	a.sync()
	carry(t, b.folder, a.folder, nil)
	a.sync()
	status, err := a.vault.Status(a.ctx)
	a.ok(err)
	if len(status.Deletions) != 1 || len(a.holding("canary of B")) != 1 {
		t.Fatalf("before the removal: %+v, in %q", status.Deletions, a.holding("canary of B"))
	}
	a.removes(b.log(), code)
	a.sync()
	status, err = a.vault.Status(a.ctx)
	a.ok(err)
	if len(status.Deletions) > 0 || len(a.holding("canary of B")) > 0 {
		t.Errorf("after the removal: %+v, in %q", status.Deletions, a.holding("canary of B"))
	}
}

// removesAny removes another device, if there is one, and tells the members the new code.
func (m *member) removesAny(r *rand.Rand, all []*member) bool {
	m.Helper()
	m.exchange()
	status, err := m.vault.Status(m.ctx)
	m.ok(err)
	others := slices.DeleteFunc(status.Devices, func(d vault.Device) bool { return d.This })
	if len(others) == 0 {
		return false
	}
	code := seal.NewCode()
	secret, _ := aVault()
	_, err = m.vault.Remove(m.ctx, vault.Removal{Device: others[r.Intn(len(others))].Log, Secret: secret, Passphrase: newPassphrase, Code: code, Anyway: true})
	m.ok(err)
	for _, other := range all {
		other.code = code
	}
	return true
}

// TestValuesAfterARemoval: what a removed device changed outside of sessions is not taken, and leaves the vault. What another one changed before it
// had the new key is, afterwards.
func TestValuesAfterARemoval(t *testing.T) {
	all, _ := exchanged(t, 3)
	a, b, c := all[0], all[1], all[2]
	b.assistant("", "Poet", "Rhyme.")
	settle(t, all)
	code, _ := aVault()
	ofC := c.log()
	a.removes(ofC, code)
	a.sync()
	c.assistant("", "Spy", "Listen.")
	c.sync()
	b.prompt("", "Greeting", "Hello")
	b.sync()
	carry(t, b.folder, a.folder, nil)
	carry(t, c.folder, a.folder, nil)
	a.sync()
	a.shows("assistant Poet: Rhyme.")
	if names := added(nil, objects(t, a.folder), "log/"+ofC+"/values-"); len(names) > 0 {
		t.Errorf("the vault has %q", names)
	}
	carry(t, a.folder, b.folder, nil)
	b.ok(b.connects(newPassphrase))
	settle(t, []*member{a, b})
	for _, m := range []*member{a, b} {
		m.shows("assistant Poet: Rhyme.", "prompt Greeting: Hello")
	}
}

// puts writes objects into a folder.
func (m *member) puts(objects map[string][]byte, names ...string) {
	m.Helper()
	for _, name := range names {
		path := filepath.Join(m.folder, filepath.FromSlash(name))
		m.ok(os.MkdirAll(filepath.Dir(path), 0o700))
		m.ok(os.WriteFile(path, objects[name], 0o600))
	}
}

// hides removes objects from a folder, and returns them.
func (m *member) hides(names ...string) map[string][]byte {
	m.Helper()
	all := objects(m, m.folder)
	for _, name := range names {
		m.ok(os.Remove(filepath.Join(m.folder, filepath.FromSlash(name))))
	}
	return all
}

// TestWhatCannotBeSealedAgain: a device that cannot seal again what perhaps only it has does not take a new key, and says why.
func TestWhatCannotBeSealedAgain(t *testing.T) {
	all, s := exchanged(t, 3)
	a, b, c := all[0], all[1], all[2]
	code, _ := aVault()
	c.full(c.own(s.ActiveBranch, true), "known to B only", "said")
	c.sync()
	carry(t, c.folder, b.folder, nil)
	b.sync()
	a.removes(c.log(), code)
	carry(t, a.folder, b.folder, nil)
	k := &killed{Place: vault.Folder(b.folder), left: 1}
	full := b.with(b.Store, func(vault.Target) (vault.Place, error) { return k, nil })
	if _, err := full.Connect(b.ctx, vault.Target{Address: b.folder}, newPassphrase); err == nil {
		t.Error("the key was taken although the folder is full")
	}
	b.asks()
	names := added(objects(t, a.folder), objects(t, b.folder), "log/"+c.log())
	taken := b.hides(names...)
	if err := b.connects(newPassphrase); err == nil || !strings.Contains(err.Error(), "file 2 of 2") {
		t.Errorf("the key was taken without %q: %v", names, err)
	}
	b.puts(taken, names...)
	b.asks()
	b.ok(b.connects(newPassphrase))
	settle(t, all[:2])
	if len(a.said(s.ID, "known to B only")) != 1 {
		t.Error("it is lost")
	}
}

// TestWhatARemovedDeviceHadSent is taken before, or the removal is refused, unless it is wanted anyway.
func TestWhatARemovedDeviceHadSent(t *testing.T) {
	code, _ := aVault()
	for _, missing := range []string{"file", "values"} {
		all, s := exchanged(t, 2)
		a, ofB := all[0], all[1].log()
		for _, words := range []string{"second", "third"} {
			all[1].full(all[1].own(s.ActiveBranch, true), words, "said")
			all[1].assistant("", words, "Rhyme.")
			all[1].sync()
		}
		carry(t, all[1].folder, a.folder, nil)
		names := added(nil, objects(t, a.folder), "log/"+ofB+"/")
		says := "file 2 of 3"
		if missing == "file" {
			a.hides(names[1])
		} else {
			a.puts(map[string][]byte{names[3]: []byte("garbage")}, names[3])
			says = "assistants and prompts cannot be read"
		}
		removal := vault.Removal{Device: ofB, Secret: code, Passphrase: newPassphrase, Code: seal.NewCode()}
		if renewed, err := a.vault.Remove(a.ctx, removal); renewed || err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q is missing: %v", names, err)
		}
		removal.Anyway = true
		_, err := a.vault.Remove(a.ctx, removal)
		a.ok(err)
		a.sync()
		status, err := a.vault.Status(a.ctx)
		a.ok(err)
		if d := status.Devices[1]; !d.Removed || (d.Files > d.Known) != (missing == "file") {
			t.Errorf("%+v", d)
		}
	}
}

// TestWhatOneRemovalCountsStaysInTheNext, although the device that does it has not read it yet.
func TestWhatOneRemovalCountsStaysInTheNext(t *testing.T) {
	all, s := exchanged(t, 4)
	a, b, c := all[0], all[1], all[2]
	code, _ := aVault()
	c.full(c.own(s.ActiveBranch, true), "known to A only", "said")
	c.sync()
	carry(t, c.folder, a.folder, nil)
	a.sync()
	a.removes(all[3].log(), code)
	names := added(objects(t, b.folder), objects(t, a.folder), "log/"+c.log())
	carry(t, a.folder, b.folder, nil)
	b.hides(names...)
	b.ok(b.connects(newPassphrase))
	b.removes(c.log(), newPassphrase)
	carry(t, a.folder, b.folder, nil) // A is lost before it has the newest key
	settle(t, all[1:2])
	if len(b.said(s.ID, "known to A only")) != 1 {
		t.Error("it is lost")
	}
}

// TestValuesOfALateDevice are taken when it is removed, except what they delete.
func TestValuesOfALateDevice(t *testing.T) {
	all, _ := exchanged(t, 3)
	a, b := all[0], all[1]
	code, _ := aVault()
	poet := b.assistant("", "Poet", "Rhyme.")
	settle(t, all)
	a.removes(all[2].log(), code)
	b.prompt("", "Greeting", "Hello")
	b.ok(b.DeleteAssistant(b.ctx, poet))
	b.sync()
	carry(t, b.folder, a.folder, nil)
	a.sync()
	a.shows("assistant Poet: Rhyme.")
	a.removes(b.log(), newPassphrase)
	a.sync()
	a.shows("assistant Poet: Rhyme.", "prompt Greeting: Hello")
}

// TestADeviceThatHasSentNothing can be removed.
func TestADeviceThatHasSentNothing(t *testing.T) {
	all, _ := exchanged(t, 1)
	a := all[0]
	code, _ := aVault()
	b := &device{fixture: newFixture(t), name: "B"}
	b.ok(b.core.Write(b.ctx, "test", b.core.RenewDevice))
	m := b.join("")
	m.sync()
	if out := m.sync(); out.SentBytes > 0 {
		t.Errorf("%+v", out)
	}
	carry(t, m.folder, a.folder, nil)
	a.removes(m.log(), code)
	carry(t, a.folder, m.folder, nil)
	m.asks()
}

// TestAKeyThatIsThereInSpiteOfAnError is taken as made.
func TestAKeyThatIsThereInSpiteOfAnError(t *testing.T) {
	all, _ := exchanged(t, 2)
	a, ofB := all[0], all[1].log()
	code, _ := aVault()
	place := &renewing{Place: vault.Folder(a.folder), err: errDied}
	a.place = func(vault.Target) (vault.Place, error) { return place, nil }
	a.removes(ofB, code)
	a.sync()
}

// TestADeletionThatIsForged with an older key is carried out neither by the device in whose name it is, nor when that is removed.
func TestADeletionThatIsForged(t *testing.T) {
	all, s := exchanged(t, 3)
	a, b, ofB := all[0], all[1], all[1].log()
	code, _ := aVault()
	thief := b.from(b.saved(), false)
	thief.folder = t.TempDir()
	carry(t, b.folder, thief.folder, nil)
	thief.ok(thief.connects(code))
	before := objects(t, thief.folder)
	a.removes(all[2].log(), code)
	thief.erased(s.ID)
	thief.sync()
	forged := objects(t, thief.folder)
	names := slices.DeleteFunc(added(before, forged, "log/"+ofB), func(name string) bool { return strings.Contains(filepath.Base(name), "-") })
	a.puts(forged, names...)
	carry(t, a.folder, b.folder, nil)
	b.ok(b.connects(newPassphrase))
	if out, err := b.vault.Sync(b.ctx); err != nil || !out.Departed || len(out.Deleted) > 0 || !b.has(s.ID) {
		t.Errorf("in its name: %+v, %v", out, err)
	}
	removal := vault.Removal{Device: ofB, Secret: newPassphrase, Passphrase: newPassphrase, Code: seal.NewCode()}
	if _, err := a.vault.Remove(a.ctx, removal); err == nil || !strings.Contains(err.Error(), "deletes something permanently") {
		t.Errorf("when it is removed: %v", err)
	}
	removal.Anyway = true
	_, err := a.vault.Remove(a.ctx, removal)
	a.ok(err)
	carry(t, a.folder, b.folder, nil)
	b.ok(b.connects(newPassphrase))
	if settle(t, all[:2]); !a.has(s.ID) || !b.has(s.ID) {
		t.Error("it was carried out")
	}
}

// TestKeysOfNobody: what somebody puts in place of the next key is named, with what to do.
func TestKeysOfNobody(t *testing.T) {
	all, _ := exchanged(t, 1)
	a := all[0]
	code, lock := aVault()
	for what, content := range map[string][]byte{
		"garbage": []byte("x"), "large": append(slices.Clone(lock), bytes.Repeat([]byte{' '}, 2<<20)...), "of another vault": []byte(strings.Replace(string(lock), `"id": "`, `"id": "0`, 1)), "the first again": lock,
	} {
		a.puts(map[string][]byte{"keys/2": content}, "keys/2")
		err := a.connects(code)
		if what != "the first again" {
			_, err = a.vault.Sync(a.ctx)
		}
		if e := chat.AsError(err); e == nil || !strings.Contains(e.Message, "keys/2 in") || !strings.Contains(e.Hint, "or delete it") {
			t.Errorf("%s: %v", what, err)
		}
	}
	a.hides("keys/2")
	a.sync()
}

// TestValuesWithoutANumber: no name is used that nobody reads.
func TestValuesWithoutANumber(t *testing.T) {
	all, _ := exchanged(t, 1)
	a := all[0]
	name := "log/" + a.log() + "/values-99999999"
	a.puts(map[string][]byte{name: []byte("garbage")}, name)
	a.assistant("", "Poet", "Rhyme.")
	out, err := a.vault.Sync(a.ctx)
	a.ok(err)
	if len(out.Problems) != 2 || !strings.Contains(out.Problems[1].Error(), "no number is left") || len(added(nil, objects(t, a.folder), "log/"+a.log()+"/values-")) != 1 {
		t.Errorf("%v", out.Problems)
	}
	a.hides(name)
	if out := a.sync(); out.SentBytes == 0 {
		t.Errorf("%+v", out)
	}
}

// TestValuesThatAreForgedUnderOnesOwnName are not taken back: who has only an older key writes them.
func TestValuesThatAreForgedUnderOnesOwnName(t *testing.T) {
	all, _ := exchanged(t, 2)
	a := all[0]
	code, _ := aVault()
	a.assistant("", "Poet", "Rhyme.")
	settle(t, all)
	thief := a.from(a.saved(), false)
	thief.folder = t.TempDir()
	carry(t, a.folder, thief.folder, nil)
	thief.ok(thief.connects(code))
	a.removes(all[1].log(), code)
	for _, name := range []string{"Spy", "Mole"} { // a's own next values have the next number
		thief.assistant("", name, "Listen.")
		thief.sync()
	}
	forged := objects(t, thief.folder)
	names := added(objects(t, a.folder), forged, "log/"+a.log()+"/values-")
	a.puts(forged, names...)
	a.sync()
	a.shows("assistant Poet: Rhyme.")
	if len(names) != 1 {
		t.Errorf("forged: %q", names)
	}
}
