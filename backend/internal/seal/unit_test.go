package seal

import (
	"bytes"
	"crypto/sha3"
	"encoding/hex"
	"testing"
)

// sealWith seals with a given nonce.
func sealWith(key, nonce, content, aad []byte) []byte {
	return sealerOf(key).derive(nonce).Seal(nil, nonce[12:], content, aad)
}

// TestVectors are the test vectors of C2SP's specification, https://c2sp.org/XAES-256-GCM.
func TestVectors(t *testing.T) {
	nonce, content := []byte("ABCDEFGHIJKLMNOPQRSTUVWX"), []byte("XAES-256-GCM")
	for _, c := range []struct {
		key       byte
		aad, want string
	}{
		{1, "", "ce546ef63c9cc60765923609b33a9a1974e96e52daf2fcf7075e2271"},
		{3, "c2sp.org/XAES-256-GCM", "986ec1832593df5443a179437fd083bf3fdb41abd740a21f71eb769d"},
	} {
		if got := hex.EncodeToString(sealWith(bytes.Repeat([]byte{c.key}, 32), nonce, content, []byte(c.aad))); got != c.want {
			t.Errorf("key %d: %s, want %s", c.key, got, c.want)
		}
	}
	random, all := sha3.NewSHAKE128(), sha3.NewSHAKE128()
	read := func(n int) []byte {
		b := make([]byte, n)
		_, _ = random.Read(b)
		return b
	}
	for range 10_000 {
		key, nonce := read(32), read(24)
		content := read(int(read(1)[0]))
		aad := read(int(read(1)[0]))
		_, _ = all.Write(sealWith(key, nonce, content, aad))
	}
	sum := make([]byte, 32)
	_, _ = all.Read(sum)
	if got, want := hex.EncodeToString(sum), "e6b9edf2df6cec60c8cbd864e2211b597fb69a529160cd040d56c0c210081939"; got != want {
		t.Errorf("10 000 random ones: %s, want %s", got, want)
	}
}

// TestUnit: a unit opens only where it was sealed.
func TestUnit(t *testing.T) {
	h, k := NewHeader(Lock{}, 4096), NewKey()
	s := h.Sealer(k, "database")
	content, unit, got := []byte("canary"), make([]byte, 6+Overhead), make([]byte, 6)
	s.Seal(unit, content, 'd', 7)
	if !s.Open(got, unit, 'd', 7) || !bytes.Equal(got, content) || bytes.Contains(unit, content) {
		t.Fatalf("%q", got)
	}
	other := NewHeader(Lock{}, 4096)
	for name, opened := range map[string]bool{
		"another place":   s.Open(got, unit, 'd', 8),
		"another kind":    s.Open(got, unit, 'w', 7),
		"another purpose": h.Sealer(k, "log").Open(got, unit, 'd', 7),
		"another file":    other.Sealer(k, "database").Open(got, unit, 'd', 7),
		"another key":     h.Sealer(NewKey(), "database").Open(got, unit, 'd', 7),
	} {
		if opened || !bytes.Equal(got, make([]byte, 6)) {
			t.Errorf("%s: opened", name)
		}
	}
	for at := range unit {
		unit[at] ^= 1
		if s.Open(got, unit, 'd', 7) {
			t.Errorf("bit of byte %d: opened", at)
		}
		unit[at] ^= 1
	}
}
