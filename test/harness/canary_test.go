package harness

import (
	"bytes"
	"compress/gzip"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// The search for a word finds it plain, in other letters, and in compressed parts between other bytes.
func TestFilesWith(t *testing.T) {
	text := []byte(strings.Repeat("where is the Xylocanary? ", 9))
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	packed := enc.EncodeAll(text, nil)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, _ = z.Write(text)
	_ = z.Close()
	around := func(b []byte) []byte {
		return slices.Concat([]byte("SQLite\x01\x28\xb5"), b, []byte("\x00\x1f\x8b\x08"))
	}
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"plain":   text,
		"zstd":    around(packed),
		"gzip":    around(zipped.Bytes()),
		"cut":     around(packed[:len(packed)/2]),
		"another": []byte("where is the canary?"),
	} {
		WriteFile(t, filepath.Join(dir, name), data)
	}
	found := FilesWith(t, dir, "xylocanary")
	for i := range found {
		found[i] = filepath.Base(found[i])
	}
	if !slices.Equal(found, []string{"gzip", "plain", "zstd"}) {
		t.Errorf("found in %q", found)
	}
}
