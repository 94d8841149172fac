package codec

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestPackRoundTrip(t *testing.T) {
	for _, s := range []string{"", "x", strings.Repeat("the same again ", 10_000), randomText(1 << 16), "\x00\xff\x01"} {
		z := Pack([]byte(s))
		got, err := Unpack(z)
		if err != nil || string(got) != s || got == nil {
			t.Errorf("%d bytes: %v", len(s), err)
		}
		if len(z) > len(s)+1 {
			t.Errorf("%d bytes became %d", len(s), len(z))
		}
	}
	if Pack(nil) != nil {
		t.Error("nil is not NULL")
	}
	if z := Pack([]byte(strings.Repeat("the same again ", 10_000))); len(z) > 1000 {
		t.Errorf("150 KB of repetition takes %d bytes", len(z))
	}
}

func TestUnpackRefusesDamage(t *testing.T) {
	z := Pack([]byte(strings.Repeat("some text that compresses ", 100)))
	for name, b := range map[string][]byte{
		"empty": {}, "unknown format": {9, 1, 2}, "torn": z[:len(z)-4],
		"flipped": append(bytes.Clone(z[:len(z)-3]), 0xFF, 0xFF, 0xFF), "not zstd": {PackedZstd, 1, 2, 3},
	} {
		if _, err := Unpack(b); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add([]byte{PackedPlain, 'a'})
	f.Add(Pack([]byte(strings.Repeat("abc", 100))))
	f.Fuzz(func(t *testing.T, b []byte) {
		if got, err := Unpack(b); err == nil && b != nil && b[0] == PackedPlain && !bytes.Equal(got, b[1:]) {
			t.Error("plain bytes changed")
		}
	})
}

// randomText cannot be compressed.
func randomText(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.IntN(256))
	}
	return string(b)
}
