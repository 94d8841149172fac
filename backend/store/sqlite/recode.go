package sqlite

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"os"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/seal"
)

// AsNew reports whether a database is sealed as a new one would be: with the current key, or not at all. A file that
// cannot be read counts as such, and fails elsewhere.
func AsNew(path string) bool {
	h, _, err := headerAt(path)
	l, _, sealed := seal.Current()
	if err == nil {
		return sealed && h.Lock.Key == l.Key
	}
	return !isPlain(err) || !sealed
}

// pages are the pages of a closed database without a log.
type pages struct {
	file *os.File
	layout
	sealed bool
	count  int64
}

func openPages(path string) (*pages, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &pages{file: f}
	if err := p.measure(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (p *pages) measure() error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, seal.HeaderSize)
	n, err := p.file.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	h, k, err := seal.OpenHeader(head[:n])
	switch {
	case err == nil:
		p.layout, p.sealed = layoutOf(h, k, sealedDB), true
		p.count = p.seen(info.Size()) / p.unit
		return nil
	case !errors.Is(err, seal.ErrPlain):
		return err
	}
	p.kind, p.unit = sealedDB, int64(binary.BigEndian.Uint16(append(head[:n], make([]byte, 18)...)[16:]))
	if p.unit == 1 {
		p.unit = 1 << 16
	}
	if p.unit < 512 || p.unit&(p.unit-1) != 0 || info.Size()%p.unit != 0 {
		return chat.Errorf(chat.CodeCorrupt, "store.recode", "%s is not a whole database; nothing was changed.", p.file.Name())
	}
	p.count = info.Size() / p.unit
	return nil
}

// each yields the pages in order. A page that was never written is zeros.
func (p *pages) each(yield func(n int64, page []byte) error) error {
	page, unit := make([]byte, p.unit), make([]byte, p.unit+seal.Overhead)
	for n := range p.count {
		if !p.sealed {
			if _, err := p.file.ReadAt(page, n*p.unit); err != nil {
				return err
			}
		} else {
			if _, err := p.file.ReadAt(unit, p.place(n)); err != nil {
				return err
			}
			switch {
			case len(bytes.Trim(unit, "\x00")) == 0:
				clear(page)
			case !p.seal.Open(page, unit, sealedDB, uint64(n)): // n is not negative
				return chat.Errorf(chat.CodeCorrupt, "store.recode", "Page %d of %s is damaged; nothing was changed.", n+1, p.file.Name()).
					WithHint("run verify; a backup may contain what is in it")
			}
		}
		if err := yield(n, page); err != nil {
			return err
		}
	}
	return nil
}

// Recode copies a closed database without a log into a new file that is sealed as new ones are: with the current key, or
// not at all. The copy is durable, and is read back and compared.
func Recode(from, to string) error {
	in, err := openPages(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.file.Close() }()
	out, err := faultfs.OpenFile(faultfs.Backup, to, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = errors.Join(in.writeTo(out), out.Sync(), out.Close()); err != nil {
		return err
	}
	back, err := openPages(to)
	if err != nil {
		return err
	}
	defer func() { _ = back.file.Close() }()
	return in.compare(back)
}

func (p *pages) writeTo(out *faultfs.File) error {
	l, k, sealed := seal.Current()
	if !sealed {
		return p.each(func(n int64, page []byte) error {
			_, err := out.WriteAt(page, n*p.unit)
			return err
		})
	}
	h := seal.NewHeader(l, int(p.unit))
	to := layoutOf(h, k, sealedDB)
	if _, err := out.WriteAt(h.Bytes(k), 0); err != nil {
		return err
	}
	unit := make([]byte, p.unit+seal.Overhead)
	return p.each(func(n int64, page []byte) error {
		to.seal.Seal(unit, page, sealedDB, uint64(n)) // n is not negative
		_, err := out.WriteAt(unit, to.place(n))
		return err
	})
}

// compare returns an error unless the pages are the same.
func (p *pages) compare(copied *pages) error {
	differs := chat.Errorf(chat.CodeCorrupt, "store.recode", "The copy %s differs from the original; nothing was changed.", copied.file.Name()).
		WithHint("check the disk")
	if copied.count != p.count || copied.unit != p.unit {
		return differs
	}
	want, got := sha256.New(), sha256.New()
	err := p.each(func(_ int64, page []byte) error { _, err := want.Write(page); return err })
	if err == nil {
		err = copied.each(func(_ int64, page []byte) error { _, err := got.Write(page); return err })
	}
	if err == nil && !bytes.Equal(want.Sum(nil), got.Sum(nil)) {
		err = differs
	}
	return err
}
