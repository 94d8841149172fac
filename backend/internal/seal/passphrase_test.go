package seal

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
)

func cheap(t *testing.T) {
	usual := Work
	Work = 8
	t.Cleanup(func() { Work = usual })
}

func sealed(t *testing.T, text, passphrase string) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := WithPassphrase(&out, passphrase)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func open(data []byte, passphrase string) (string, error) {
	r, size, err := OpenWithPassphrase(bytes.NewReader(data), int64(len(data)), passphrase)
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.NewSectionReader(r, 0, size))
	return string(text), err
}

// TestPassphrase: what is sealed is a plain age file, opens with its passphrase and with nothing else, and every change
// of it is noticed.
func TestPassphrase(t *testing.T) {
	cheap(t)
	const passphrase = "correct horse"
	text := strings.Repeat("canary in the mine. ", 10_000) // several chunks of 64 KB
	data := sealed(t, text, passphrase)
	if bytes.Contains(data, []byte("canary")) || !IsSealed(data) || IsSealed([]byte(text)) {
		t.Fatal("not sealed")
	}
	if got, err := open(data, passphrase); err != nil || got != text {
		t.Errorf("opened: %d bytes, %v", len(got), err)
	}
	as, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	if r, err := age.Decrypt(bytes.NewReader(data), as); err != nil {
		t.Errorf("age itself: %v", err)
	} else if got, err := io.ReadAll(r); err != nil || string(got) != text {
		t.Errorf("age itself: %d bytes, %v", len(got), err)
	}
	for _, wrong := range []string{"", "correct  horse", "Correct horse"} {
		if _, err := open(data, wrong); !errors.Is(err, ErrPassphrase) {
			t.Errorf("%q: %v", wrong, err)
		}
	}
	for _, n := range []int{0, 1, 100, len(data) / 2, len(data) - 1} {
		if _, err := open(data[:n], passphrase); !errors.Is(err, ErrDamaged) {
			t.Errorf("cut after %d: %v", n, err)
		}
	}
	for _, at := range []int{3, 60, 130, 200, 300, len(data) / 2, len(data) - 1} {
		changed := bytes.Clone(data)
		changed[at] ^= 1
		if got, err := open(changed, passphrase); err == nil {
			t.Errorf("bit of byte %d: opened, %v", at, got == text)
		}
	}
}

// TestSealedOtherwise: a file for keys is told apart, and one that demands too much memory is refused before it gets it.
func TestSealedOtherwise(t *testing.T) {
	key, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w, err := age.Encrypt(&out, key.Recipient())
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := open(out.Bytes(), "any"); !errors.Is(err, ErrRecipients) {
		t.Errorf("for a key: %v", err)
	}
	cheap(t)
	data := bytes.Replace(sealed(t, "x", "any"), []byte(" 8\n"), []byte(" 30\n"), 1)
	if _, err := open(data, "any"); !errors.Is(err, ErrDamaged) {
		t.Errorf("2^30: %v", err)
	}
}
