package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/secrets"
	"contextinfinity/backend/store"
	"contextinfinity/backend/tasks"
	"contextinfinity/test/harness"
)

// sealVariable makes the test program seal a data directory, as a process that then ends with its key. With
// signInVariable there is no passphrase, and the key is printed.
const (
	sealVariable   = "CONTEXTINFINITY_TEST_SEAL"
	signInVariable = "CONTEXTINFINITY_TEST_SIGN_IN"
)

const testPassphrase = "correct horse"

func sealHere(dir string) error {
	key, passphrase := seal.NewKey(), testPassphrase
	if os.Getenv(signInVariable) != "" {
		passphrase = ""
		fmt.Print(base64.StdEncoding.EncodeToString(key[:]))
	}
	lock, err := seal.NewLock(key, passphrase, seal.NewCode())
	if err != nil {
		return err
	}
	seal.Use(lock, key)
	_, err = store.NewArchive(store.ArchiveOptions{DataDir: dir}).Reseal(context.Background())
	return err
}

func sealElsewhere(t *testing.T, dir string, env ...string) (printed string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), sealVariable+"="+dir), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// withKeyring gives the window a keyring.
func withKeyring(t *testing.T, ring secrets.Keyring) {
	t.Helper()
	before := systemKeys
	systemKeys = func() *secrets.Store { return secrets.NewWith(secrets.Options{Keyring: ring}) }
	t.Cleanup(func() { systemKeys = before })
}

// TestLockedStartWithoutTheKeyring: a window whose data opens with the sign-in says so if the keyring does not have its
// key, and asks the keyring again.
func TestLockedStartWithoutTheKeyring(t *testing.T) { // not parallel: keys are those of the process
	ring := keyring{new(sync.Map)}
	withKeyring(t, ring)
	p, o, data := openStoragePage(t)
	p.window.Close()
	key := sealElsewhere(t, data, signInVariable+"=1")
	t.Cleanup(func() { seal.Offer(""); seal.UseNone(); restartRequested.Store(nil) })

	locked := openPageWith(t, o)
	fatal := locked.settings.Startup().Fatal
	if fatal == nil || fatal.Code != chat.CodeSealed || !strings.Contains(fatal.Message.String(), "your sign-in") {
		t.Fatalf("it starts with %+v", fatal)
	}
	sealing := serviceIn[*api.Sealing](locked.window)
	if v := must[api.SealingView](t)(sealing.View()); !v.Sealed || !v.SignIn {
		t.Errorf("%+v", v)
	}
	lock, _, _ := store.NewArchive(store.ArchiveOptions{DataDir: data}).SealedWith()
	for _, wrong := range []string{"", base64.StdEncoding.EncodeToString(make([]byte, 32)), "?"} {
		_ = ring.Set("", "data-key-"+lock.Key, wrong)
		if chat.CodeOf(sealing.Unlock("")) != chat.CodeSealed || restartRequested.Load() != nil {
			t.Errorf("the keyring has %q: it restarts: %t", wrong, restartRequested.Load() != nil)
		}
	}
	_ = ring.Set("", "data-key-"+lock.Key, key)
	if err := sealing.Unlock(""); err != nil || restartRequested.Load() == nil {
		t.Fatalf("%v, restarts: %t", err, restartRequested.Load() != nil)
	}
	locked.window.Close()
	if v := openPageWith(t, o).settings.Startup(); v.Fatal != nil {
		t.Errorf("it does not open: %+v", v.Fatal)
	}
}

// lockedKeyring answers once it is unlocked.
type lockedKeyring struct {
	keyring
	unlocked chan struct{}
}

func (k lockedKeyring) Delete(service, user string) error {
	<-k.unlocked
	return k.keyring.Delete(service, user)
}

// TestALockedKeyringDoesNotDelayTheStart: the keys of an interrupted change are removed once the window is open.
func TestALockedKeyringDoesNotDelayTheStart(t *testing.T) { // not parallel: the keyring is that of the process
	ring := lockedKeyring{keyring{new(sync.Map)}, make(chan struct{})}
	_ = ring.Set("", "data-key-0123456789abcdef", "?")
	before := systemKeys
	systemKeys = func() *secrets.Store {
		return secrets.NewWith(secrets.Options{Keyring: ring, Timeout: 30 * time.Second})
	}
	t.Cleanup(func() { systemKeys = before })
	p, o, data := openStoragePage(t)
	p.window.Close()
	real, err := filepath.EvalSymlinks(data)
	if err != nil {
		t.Fatal(err)
	}
	harness.WriteFile(t, filepath.Join(data, "keyring.json"), fmt.Appendf(nil, `{"dir":%q,"keys":["0123456789abcdef"]}`, real))
	p = openPageWith(t, o)
	close(ring.unlocked)
	p.window.Close()
	if _, err := os.Lstat(filepath.Join(data, "keyring.json")); err == nil || len(ring.users()) > 0 {
		t.Errorf("the key was not removed: %v", ring.users())
	}
}

// TestSignInFromTheWindow: the window seals its data with the sign-in, renews the key, does not lock, and changes to a
// passphrase and back. The keyring has the key exactly while it opens the data.
func TestSignInFromTheWindow(t *testing.T) { // not parallel: keys are those of the process
	t.Cleanup(func() { seal.Offer(""); seal.UseNone(); restartRequested.Store(nil) })
	ring := keyring{new(sync.Map)}
	withKeyring(t, ring)
	p, o, data := openStoragePage(t)
	p.say(api.SendRequest{Text: "Where is the xylocanary?", Model: "m"})
	sealing := func() *api.Sealing { return serviceIn[*api.Sealing](p.window) }
	check := func(when string, sealed bool) {
		t.Helper()
		lock, _, _ := store.NewArchive(store.ArchiveOptions{DataDir: data}).SealedWith()
		kept, count := slices.Contains(ring.users(), "data-key-"+lock.Key), len(ring.users())
		if kept != lock.SignIn() && sealed || count > 1 || !lock.SignIn() && count > 0 {
			t.Errorf("%s: the keyring has %d keys, and the lock %+v", when, count, lock)
		}
		if found := filesContaining(t, data, "xylocanary"); (len(found) == 0) != sealed {
			t.Errorf("%s: found in %q", when, found)
		}
	}
	next := func() { // what the process that follows does
		t.Helper()
		h := restartRequested.Swap(nil)
		if h == nil {
			t.Fatal("it does not restart")
		}
		p.window.Close()
		o.Passphrase = h.Secret
		w := window(o, *h, nil)
		p = &page{t: t, window: w, settings: serviceIn[*api.Settings](w), work: serviceIn[*api.Work](w)}
		t.Cleanup(w.Close)
		if v := p.settings.Startup(); v.Fatal != nil {
			t.Fatalf("it does not open: %+v", v.Fatal)
		}
		p.awaitTask(tasks.Seal, tasks.Done) // no restart is accepted before
	}
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sealing().NewCode()
	try(sealing().SealSignIn())
	next()
	check("sealed", true)
	if err := sealing().Lock(); chat.CodeOf(err) != chat.CodeConflict || restartRequested.Load() != nil || locksNow() {
		t.Errorf("locked: %v", err)
	}
	sealing().NewCode()
	try(sealing().SealSignIn())
	next()
	check("renewed", true)
	try(sealing().SetPassphrase("", "first"))
	if check("with a passphrase", true); !locksNow() {
		t.Error("it does not lock")
	}
	sealing().NewCode()
	if err := sealing().SealSignIn(); chat.CodeOf(err) != chat.CodeSealed {
		t.Errorf("renewed without the passphrase: %v", err)
	}
	if err := sealing().SetSignIn("another"); chat.CodeOf(err) != chat.CodeSealed {
		t.Errorf("changed to the sign-in without the passphrase: %v", err)
	}
	try(sealing().SetSignIn("first"))
	check("again with the sign-in", true)
	try(sealing().Unseal(""))
	next()
	check("plain", false)
}

// TestLockedStart: a window whose data is sealed says so and opens it with the passphrase, which reaches the next process
// through its standard input, and neither its arguments nor its environment.
func TestLockedStart(t *testing.T) { // not parallel: keys are those of the process
	const passphrase = testPassphrase
	p, o, data := openStoragePage(t)
	p.window.Close()
	sealElsewhere(t, data)
	t.Cleanup(func() { seal.Offer(""); seal.UseNone(); restartRequested.Store(nil) })

	locked := openPageWith(t, o)
	if v := locked.settings.Startup(); v.Fatal == nil || v.Fatal.Code != chat.CodeSealed {
		t.Fatalf("it starts with %+v", v.Fatal)
	}
	for _, wrong := range []string{"", " ", "another"} {
		if err := serviceIn[*api.Sealing](locked.window).Unlock(wrong); chat.CodeOf(err) != chat.CodeSealed || restartRequested.Load() != nil {
			t.Errorf("%q: %v, restarts: %t", wrong, err, restartRequested.Load() != nil)
		}
	}
	if err := serviceIn[*api.Sealing](locked.window).Unlock(" " + passphrase + "\n"); err != nil || restartRequested.Load() == nil {
		t.Fatalf("%v, restarts: %t", err, restartRequested.Load() != nil)
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
	_ = takeHandover(&next)
	if next.Passphrase != passphrase || os.Getenv(handoverMark) != "" {
		t.Fatalf("handed over: %q", next.Passphrase)
	}
	if v := openPageWith(t, next).settings.Startup(); v.Fatal != nil {
		t.Errorf("it does not open: %+v", v.Fatal)
	}
}

// TestSealingFromTheWindow: the window seals its data, then a backup that is still plain, replaces passphrase and code, renews the key, locks, and stores the
// data plain again. Each conversion is done by the next process.
func TestSealingFromTheWindow(t *testing.T) { // not parallel: keys are those of the process
	t.Cleanup(func() { seal.Offer(""); seal.UseNone(); restartRequested.Store(nil) })
	p, o, data := openStoragePage(t)
	p.say(api.SendRequest{Text: "Where is the xylocanary?", Model: "m"})
	sealing := func() *api.Sealing { return serviceIn[*api.Sealing](p.window) }
	next := func() { // what the process that follows does
		t.Helper()
		h := restartRequested.Swap(nil)
		if h == nil {
			t.Fatal("it does not restart")
		}
		p.window.Close()
		o.Passphrase = h.Secret
		w := window(o, *h, nil)
		p = &page{t: t, window: w, storage: serviceIn[*api.Storage](w), settings: serviceIn[*api.Settings](w)}
		t.Cleanup(w.Close)
		if v := p.settings.Startup(); v.Fatal != nil {
			t.Fatalf("it does not open: %+v", v.Fatal)
		}
		work := serviceIn[*api.Work](w)
		list := must[[]api.TaskView](t)(work.Tasks())
		if len(list) == 0 || list[0].Kind != tasks.Seal || !list[0].Firm {
			t.Errorf("the page cannot say that it is done: %+v", list)
		}
		for _, task := range list {
			if task.Kind == "seal" {
				p.work = work
				if ended := p.awaitTaskEnd(task.ID); ended.Error != nil {
					t.Fatalf("%+v", ended.Error)
				}
			}
		}
	}
	if err := sealing().Seal("first"); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("without a code: %v", err)
	}
	sealing().NewCode()
	if err := sealing().Seal(" "); chat.CodeOf(err) != chat.CodeInvalid || restartRequested.Load() != nil {
		t.Errorf("without a passphrase: %v", err)
	}
	plain := filepath.Join(t.TempDir(), "plain.db")
	if _, err := store.NewArchive(store.ArchiveOptions{DataDir: data}).Backup(t.Context(), plain); err != nil {
		t.Fatal(err)
	}
	if err := sealing().Seal("first"); err != nil {
		t.Fatal(err)
	}
	if next(); len(filesContaining(t, data, "xylocanary")) > 0 {
		t.Error("a file is plain")
	}
	if v := must[api.SealingView](t)(sealing().View()); !v.Sealed || len(v.Left) > 0 {
		t.Errorf("%+v", v)
	}
	left := filepath.Join(data, store.BackupDir, "left.db")
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o700), os.Rename(plain, left)); err != nil {
		t.Fatal(err)
	}
	if v := must[api.SealingView](t)(sealing().View()); len(v.Left) != 1 {
		t.Errorf("%+v", v)
	}
	begun := must[api.TaskView](t)(sealing().SealLeft())
	if ended := p.awaitTaskEnd(begun.ID); ended.Error != nil || len(filesContaining(t, data, "xylocanary")) > 0 {
		t.Errorf("a backup is still plain: %+v", ended.Error)
	}
	code := sealing().NewCode()
	lockFile := filepath.Join(data, "lock.json")
	before := must[[]byte](t)(os.ReadFile(lockFile))
	for what, err := range map[string]error{ // an open window is not enough to change what opens the data
		"passphrase": sealing().SetPassphrase("", "third"), "code": sealing().SetCode(""), "sign-in": sealing().SetSignIn(""), "plain": sealing().Unseal(" "),
		"plain, with another": sealing().Unseal("another"),
	} {
		if chat.CodeOf(err) != chat.CodeSealed {
			t.Errorf("%s, without the passphrase: %v", what, err)
		}
	}
	if after := must[[]byte](t)(os.ReadFile(lockFile)); !bytes.Equal(before, after) || restartRequested.Load() != nil {
		t.Error("without the passphrase the lock is changed, or it restarts")
	}
	if err := sealing().SetPassphrase(" first\n", "second"); err != nil {
		t.Fatal(err)
	}
	if err := sealing().SetCode("second"); err != nil {
		t.Fatal(err)
	}
	lock, _, err := store.NewArchive(store.ArchiveOptions{DataDir: data}).Lock()
	for _, secret := range []string{"second", code} {
		if _, openErr := lock.Open(secret); err != nil || openErr != nil {
			t.Errorf("%q does not open it: %v, %v", secret, err, openErr)
		}
	}
	code = sealing().NewCode()
	if err := sealing().Seal("first"); chat.CodeOf(err) != chat.CodeSealed || restartRequested.Load() != nil {
		t.Errorf("renewed with the earlier passphrase: %v", err)
	}
	if err := sealing().Seal("second"); err != nil {
		t.Fatal(err)
	}
	next()
	if renewed, _, err := store.NewArchive(store.ArchiveOptions{DataDir: data}).Lock(); err != nil || renewed.Key == lock.Key {
		t.Errorf("the key is the same: %v", err)
	}
	if err := sealing().Lock(); err != nil || restartRequested.Swap(nil).Secret != "" {
		t.Errorf("locked with %v", err)
	}
	if err := sealing().Unseal(code); err != nil {
		t.Fatal(err)
	}
	if next(); len(filesContaining(t, data, "xylocanary")) == 0 {
		t.Error("it is still sealed")
	}
}

// TestUnusedFor: sealed data is locked after the minutes of the setting, and never with 0.
func TestUnusedFor(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for minutes, want := range map[int]bool{0: false, 4: true, 5: true, 6: false} {
		if got := unusedFor(now.Add(-5*time.Minute).UnixNano(), now, minutes); got != want {
			t.Errorf("%d minutes: %t", minutes, got)
		}
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
	if _ = takeHandover(&o); o.Passphrase != "" {
		t.Errorf("it has %q", o.Passphrase)
	}
}
