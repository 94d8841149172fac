package safezip

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func archive(t testing.TB, files int, name string) *bytes.Reader {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := range files {
		h := &zip.FileHeader{Name: fmt.Sprintf(name, i)} // stored without compression
		create := w.CreateRaw
		if i == 0 {
			create = w.CreateHeader
		}
		f, err := create(h)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			continue
		}
		if _, err := io.WriteString(f, "content"); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(out.Bytes())
}

// counting counts the bytes that are read.
type counting struct {
	io.ReaderAt
	read int
}

func (c *counting) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.read += n
	return n, err
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		files, most int
		name        string
		fits        bool
	}{
		{0, 3, "", true}, {3, 3, "%d.json", true}, {4, 3, "%d.json", false}, {3000, 3000, "%d/" + strings.Repeat("long ", 30) + ".json", true},
		{8_000, 100, "%d.json", false}, {200, 200, "%d" + strings.Repeat("n", 9_000), false}, {2, 3, "../%d.json", true},
	} {
		from := archive(t, c.files, c.name)
		z, err := Open(from, from.Size(), c.most)
		if c.fits && (err != nil || len(z.File) != c.files) || !c.fits && !errors.Is(err, ErrTooMany) {
			t.Errorf("%d files called %.20q, of %d: %v", c.files, c.name, c.most, err)
		}
		if err != nil || c.files == 0 {
			continue
		}
		f, err := z.File[0].Open()
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(f); err != nil || string(text) != "content" {
			t.Errorf("the file contains %q, %v", text, err)
		}
	}
	if _, err := Open(strings.NewReader("no archive"), 10, 5); !errors.Is(err, zip.ErrFormat) {
		t.Errorf("no archive: %v", err)
	}
}

func TestALongListIsNotReadToItsEnd(t *testing.T) {
	long := archive(t, 30_000, "%d.json")
	c := &counting{ReaderAt: long}
	if _, err := Open(c, long.Size(), 1_000); !errors.Is(err, ErrTooMany) || int64(c.read) > long.Size()/4 {
		t.Errorf("%d of %d bytes were read: %v", c.read, long.Size(), err)
	}
}
