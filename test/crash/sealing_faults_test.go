package crash

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/store"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// said is in everything that is stored of firstQuestion.
const said = "agreed first"

// plainForm is the form of files that are not sealed; that of others is the name of their key.
const plainForm = "plain"

// sealingBench is a home whose keyring may have the key of its data.
type sealingBench struct {
	faultBench
	ring *harness.Keyring
}

// copy returns a copy of the home, with a keyring of its own.
func (b sealingBench) copy(t *testing.T) sealingBench {
	t.Helper()
	c := sealingBench{b.faultBench.copy(t), b.ring.Copy(t)}
	c.Home = c.With("DBUS_SESSION_BUS_ADDRESS=" + c.ring.Address)
	return c
}

// key returns the name of the key of the data; empty: it is plain.
func (b sealingBench) key(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.DataDir(), "lock.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	var lock struct{ Key string }
	if err := errors.Join(err, json.Unmarshal(text, &lock)); err != nil || lock.Key == "" {
		t.Fatalf("%s: %v", text, err)
	}
	return lock.Key
}

// forms returns the files of each form. It counts a file as plain if it has what was said.
func (b sealingBench) forms(t *testing.T) map[string][]string {
	t.Helper()
	forms := map[string][]string{}
	if files := harness.FilesWith(t, b.Dir, said); len(files) > 0 {
		forms[plainForm] = files
	}
	err := filepath.WalkDir(b.DataDir(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if head, sealed := bytes.CutPrefix(data, []byte("CINFSEAL\n")); sealed {
			var header struct{ Lock struct{ Key string } }
			err = json.NewDecoder(bytes.NewReader(head)).Decode(&header)
			forms[header.Lock.Key] = append(forms[header.Lock.Key], path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return forms
}

// sealing is a verb that changes the form of the data.
type sealing struct {
	args   []string
	unseal bool
}

// checkForm checks that no file has another form than the one after the verb.
func (s sealing) checkForm(t *testing.T, when string, b sealingBench, before string) {
	t.Helper()
	key := b.key(t)
	if key == before || s.unseal != (key == "") {
		t.Fatalf("%s: the key is %q, before %q", when, key, before)
	}
	for form, files := range b.forms(t) {
		if form != cmp.Or(key, plainForm) {
			t.Errorf("%s: with the key %q, %q have the form %s", when, key, files, form)
		}
	}
}

// slowKeyring is what the program says of a keyring that does not answer within two seconds.
const slowKeyring = "system keyring did not"

// run runs the program, again while the keyring is too slow for it: nothing was changed then.
func (b sealingBench) run(args ...string) (r harness.Result) {
	b.T.Helper()
	for range 5 {
		if r = b.Run(args...); r.Code != 1 || !strings.Contains(r.Stdout+r.Stderr, slowKeyring) {
			break
		}
	}
	return r
}

// checkContent checks that the data opens and that nothing is missing: the first turn, and the answer that was arriving.
func (b sealingBench) checkContent(t *testing.T) {
	t.Helper()
	b.run("reconcile").Exits(0)
	b.run("verify").Exits(0)
	var shown harness.Shown
	b.run("show", b.session, "--json").Exits(0).Document(&shown)
	turns := shown.Turns
	if len(turns) != 2 || turns[0].Text() != firstAnswer || !strings.HasPrefix(firstAnswer, turns[1].Text()) || turns[1].Text() == "" {
		t.Fatalf("the turns are %+v", turns)
	}
}

// try runs the verb with a fault that ends it, and then whatever completes it.
func (s sealing) try(t *testing.T, b sealingBench, spec string, last bool) {
	before := b.key(t)
	faulty := b
	faulty.Home = b.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT=" + spec)
	r := faulty.run(s.args...)
	if r.Code != 137 && r.Code != 0 || last && r.Code != 137 {
		t.Fatalf("exit code %d: %s%s", r.Code, r.Stdout, r.Stderr)
	}
	if r.Code == 0 || last {
		s.checkForm(t, "at the end", b, before)
	}
	b.checkContent(t)
	if b.key(t) == before { // it had not been decided
		if r.Code == 0 {
			t.Fatal("it has done nothing")
		}
		b.run(s.args...).Exits(0)
		b.checkContent(t)
	}
	s.checkForm(t, "after the next start", b, before)
	want := ""
	if key := b.key(t); key != "" {
		want = "data-key-" + key + " "
	}
	for range 5 {
		if b.ring.Names() == want {
			return
		}
		b.run("reconcile") // the next start tries it again
	}
	t.Errorf("the keyring has %q, want %q", b.ring.Names(), want)
}

// Encrypt, keys rotate and decrypt are killed, or the power fails, at each of their disk operations and steps. Each time
// the data opens, complete; running the verb again completes it, unless the next start has done so; and once a verb is about
// to report that it is done, a loss of power brings back no file of the form before: none that is plain, none with the
// earlier key. The keyring then has exactly the key of the data.
func TestEveryLossOfPowerOfASealing(t *testing.T) {
	t.Parallel()
	bench := sealingBench{newFaultBench(t), harness.NewKeyring(t)}
	backup := filepath.Join(bench.DataDir(), store.BackupDir, "one.db")
	if err := os.Mkdir(filepath.Dir(backup), 0o700); err != nil {
		t.Fatal(err)
	}
	bench.OK("backup", backup)
	aside := filepath.Join(bench.DataDir(), "replaced", "20200102-030405")
	harness.WriteFile(t, filepath.Join(aside, store.DatabaseFile), harness.ReadFile(t, backup))
	bench.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT=turn.event:4:exit").Run("send", "--session", bench.session, faultQuestion).Exits(137)
	if len(bench.Journals()) != 1 || len(bench.forms(t)[plainForm]) < 3 {
		t.Fatalf("it begins with the journals %q and %q", bench.Journals(), bench.forms(t))
	}
	for _, s := range []sealing{
		{args: []string{"encrypt", "--sign-in", "--yes"}},
		{args: []string{"keys", "rotate", "--yes"}},
		{args: []string{"decrypt", "--yes"}, unseal: true},
	} {
		from := bench
		done := from.copy(t)
		trace := filepath.Join(done.Dir, "trace")
		traced := done
		traced.Home = done.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT_TRACE=" + trace)
		traced.run(s.args...).Exits(0)
		reached := mustReadHits(t, trace)
		specs := reached.each("power", "exit")
		steps := reached["restore.step"]
		if len(specs) < 100 || steps < 8 {
			t.Fatalf("%q reaches only %q, in %d steps", s.args, specs, steps)
		}
		for step := range steps - 1 {
			specs = append(specs, fmt.Sprintf("restore.step:%d:exit", step+1), fmt.Sprintf("restore.step:%d:power", step+1))
		}
		final := fmt.Sprintf("restore.step:%d:power", steps)
		if !testtier.Exhaustive() {
			specs = specs[:0]
			if s.args[0] == "encrypt" {
				specs = append(specs, fmt.Sprintf("restore.step:%d:power", steps/2))
			}
		}
		for _, spec := range append(specs, final) {
			t.Run(s.args[0]+" "+spec, func(t *testing.T) {
				t.Parallel()
				s.try(t, from.copy(t), spec, spec == final)
			})
		}
		if s.args[0] == "encrypt" {
			t.Run("without the fsync of folders", func(t *testing.T) { // the check sees what comes back
				t.Parallel()
				b := from.copy(t)
				b.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT=io.backup.syncdir:skip," + final).Run(s.args...).Exits(137)
				if forms := b.forms(t); len(forms[plainForm]) == 0 {
					t.Errorf("only %q", slices.Collect(maps.Keys(forms)))
				}
			})
			bench = done // the others begin with sealed data
		}
	}
}
