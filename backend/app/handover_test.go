package app

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/api"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/cli"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store"
)

// sealVariable makes the test program seal a data directory, as a process that then ends with its key.
const sealVariable = "CONTEXTINFINITY_TEST_SEAL"

const testPassphrase = "correct horse"

func sealHere(dir string) error {
	key := seal.NewKey()
	lock, err := seal.NewLock(key, testPassphrase, seal.NewCode())
	if err != nil {
		return err
	}
	seal.Use(lock, key)
	_, err = store.NewArchive(store.ArchiveOptions{DataDir: dir}).Reseal(context.Background(), seal.Key{}, false)
	return err
}

func sealElsewhere(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), sealVariable+"="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
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

// TestSealingFromTheWindow: the window seals its data, replaces passphrase and code, renews the key, locks, and stores the
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
		for _, task := range must[[]api.TaskView](t)(work.Tasks()) {
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
	if err := sealing().Seal("first"); err != nil {
		t.Fatal(err)
	}
	if next(); len(filesContaining(t, data, "xylocanary")) > 0 {
		t.Error("a file is plain")
	}
	if v := must[api.SealingView](t)(sealing().View()); !v.Sealed || len(v.Plain) > 0 {
		t.Errorf("%+v", v)
	}
	if err := sealing().SetPassphrase("second"); err != nil {
		t.Fatal(err)
	}
	code := sealing().NewCode()
	if err := sealing().SetCode(); err != nil {
		t.Fatal(err)
	}
	lock, _, err := store.NewArchive(store.ArchiveOptions{DataDir: data}).Lock()
	for _, secret := range []string{"second", code} {
		if _, openErr := lock.Open(secret); err != nil || openErr != nil {
			t.Errorf("%q does not open it: %v, %v", secret, err, openErr)
		}
	}
	sealing().NewCode()
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
	if err := sealing().Unseal(); err != nil {
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
