package harness

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// FilesWith returns the files below a folder that contain a word of small letters: as it is, in any case, or in a part
// that zstd or gzip has compressed.
func FilesWith(t testing.TB, dir, word string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if contains(data, []byte(word)) {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// unpackers open what begins with some bytes.
var unpackers = map[string]func([]byte) (io.Reader, error){
	"\x1f\x8b\x08": func(b []byte) (io.Reader, error) { return gzip.NewReader(bytes.NewReader(b)) },
	"\x28\xb5\x2f\xfd": func(b []byte) (io.Reader, error) {
		return zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(64<<20))
	},
}

func contains(data, word []byte) bool {
	if bytes.Contains(bytes.ToLower(data), word) {
		return true
	}
	for begins, unpack := range unpackers {
		for rest := data; ; rest = rest[1:] {
			at := bytes.Index(rest, []byte(begins))
			if at < 0 {
				break
			}
			rest = rest[at:]
			if r, err := unpack(rest); err == nil {
				plain, _ := io.ReadAll(io.LimitReader(r, 16<<20)) // an error at the end: other bytes follow it
				if bytes.Contains(bytes.ToLower(plain), word) {
					return true
				}
			}
		}
	}
	return false
}
