package seal

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
)

// forget makes no key known, now and after the test.
func forget(t *testing.T) {
	known.Store(nil)
	t.Cleanup(func() { known.Store(nil) })
}

func locked(t *testing.T) (Lock, Key, string) {
	t.Helper()
	cheap(t)
	k, code := NewKey(), NewCode()
	l, err := NewLock(k, "a passphrase", code)
	if err != nil {
		t.Fatal(err)
	}
	return l, k, code
}

// TestLock: either secret opens the key, and the program age does with either file.
func TestLock(t *testing.T) {
	l, k, code := locked(t)
	sloppy := strings.ToLower(strings.ReplaceAll(code, "-", " "))
	for _, secret := range []string{"a passphrase", code, sloppy, " " + strings.ReplaceAll(code, "-", "")} {
		if got, err := l.Open(secret); err != nil || got != k {
			t.Errorf("%q: %v", secret, err)
		}
	}
	for _, secret := range []string{"", "another", NewCode()} {
		if _, err := l.Open(secret); !errors.Is(err, ErrPassphrase) {
			t.Errorf("%q: %v", secret, err)
		}
	}
	for secret, file := range map[string][]byte{"a passphrase": l.Passphrase, code: l.Recovery} {
		as, err := age.NewScryptIdentity(secret)
		if err != nil {
			t.Fatal(err)
		}
		r, err := age.Decrypt(bytes.NewReader(file), as)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, k[:]) {
			t.Errorf("age: %v", err)
		}
	}
	l.Key = NewKey().ID()
	if _, err := l.Open("a passphrase"); !errors.Is(err, ErrDamaged) {
		t.Errorf("of another key: %v", err)
	}
}

// TestHeader: every bit of a header is covered, and without its key nothing is opened.
func TestHeader(t *testing.T) {
	l, k, _ := locked(t)
	forget(t)
	b := NewHeader(l, 8192).Bytes(k)
	if len(b) != HeaderSize || !IsHeader(b) {
		t.Fatalf("%d bytes", len(b))
	}
	if _, _, err := OpenHeader(b); !errors.Is(err, ErrNoKey) {
		t.Errorf("without the key: %v", err)
	}
	Know(k)
	h, got, err := OpenHeader(b)
	if err != nil || got != k || h.Unit != 8192 || !bytes.Equal(h.Lock.Recovery, l.Recovery) {
		t.Errorf("%+v, %v", h, err)
	}
	for at := range b {
		b[at] ^= 1
		if _, _, err := OpenHeader(b); err == nil {
			t.Errorf("bit of byte %d: opened", at)
		}
		b[at] ^= 1
	}
	if _, _, err := OpenHeader(b[:100]); !errors.Is(err, ErrDamaged) {
		t.Errorf("cut: %v", err)
	}
	if _, _, err := OpenHeader([]byte("SQLite format 3\x00")); !errors.Is(err, ErrPlain) {
		t.Errorf("plain: %v", err)
	}
	l.Version++
	if _, err := ReadHeader(NewHeader(l, 8192).Bytes(k)); !errors.Is(err, ErrNewer) {
		t.Errorf("newer: %v", err)
	}
}

// TestRecords: what was appended is read, up to a cut or a changed record, and a plain file is read as it is.
func TestRecords(t *testing.T) {
	l, k, _ := locked(t)
	forget(t)
	Use(l, k)
	var file bytes.Buffer
	w, err := NewRecords(&file, "journal one")
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"canary one\n", strings.Repeat("long ", maxRecord/4) + "\n", "last\n"}
	for _, line := range lines {
		if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
			t.Fatal(n, err)
		}
	}
	read := func(b []byte, name string) (string, error) {
		r, err := ReadRecords(bytes.NewReader(b), name)
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(r)
		return string(text), err
	}
	b := file.Bytes()
	if text, err := read(b, "journal one"); err != nil || text != strings.Join(lines, "") || bytes.Contains(b, []byte("canary")) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if text, err := read(b[:len(b)-1], "journal one"); !errors.Is(err, ErrCut) || !strings.HasPrefix(text, lines[0]+lines[1]) {
		t.Errorf("cut: %d bytes, %v", len(text), err)
	}
	if text, err := read(b, "journal two"); !errors.Is(err, ErrDamaged) || text != "" {
		t.Errorf("of another journal: %q, %v", text, err)
	}
	first := 4 + len(lines[0]) + Overhead
	without := append(bytes.Clone(b[:HeaderSize]), b[HeaderSize+first:]...)
	if text, err := read(without, "journal one"); !errors.Is(err, ErrDamaged) || text != "" {
		t.Errorf("without the first record: %d bytes, %v", len(text), err)
	}
	b[HeaderSize+first+100] ^= 1
	if text, err := read(b, "journal one"); !errors.Is(err, ErrDamaged) || text != lines[0] {
		t.Errorf("changed: %d bytes, %v", len(text), err)
	}
	if text, err := read([]byte("plain"), "any"); err != nil || text != "plain" {
		t.Errorf("plain: %q, %v", text, err)
	}
}
