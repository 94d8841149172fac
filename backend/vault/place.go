package vault

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/plainfile"
)

// Place is where a vault is. Its objects are written once and never changed. Names have the form a/b/c.
type Place interface {
	// PutNew stores an object completely or not at all, durably; ErrExists if there is one of this name.
	PutNew(ctx context.Context, name string, content []byte) error
	// Get returns an object; ErrMissing if there is none of this name.
	Get(ctx context.Context, name string) ([]byte, error)
	// List returns the objects whose names begin with a prefix that ends with a slash, or all; others may be among them.
	List(ctx context.Context, prefix string) ([]Object, error)
	// Delete removes an object, if there is one of this name.
	Delete(ctx context.Context, name string) error
}

// Object is an entry of a list.
type Object struct {
	Name    string
	Size    int64
	Changed time.Time
}

var (
	ErrExists  = errors.New("it exists already")
	ErrMissing = errors.New("it does not exist")
)

// Limits of what a place may answer, in bytes: an object, which is at most the largest document and a little more;
// vault.json, and the name of a device; keys/N; a page of a list. maxPages limits the pages of a list.
const (
	maxObject = 640 << 20
	maxSmall  = 64 << 10
	maxKey    = 1 << 20
	maxPage   = 32 << 20
	maxPages  = 1000
)

func limitOf(name string) int {
	switch {
	case name == lockName || strings.HasPrefix(name, devicesDir):
		return maxSmall
	case strings.HasPrefix(name, keysDir):
		return maxKey
	}
	return maxObject
}

// Folder is a Place: a folder that another program may copy elsewhere, such as Syncthing, Dropbox or a network drive.
type Folder string

func (f Folder) path(name string) string { return filepath.Join(string(f), filepath.FromSlash(name)) }

// PutNew implements Place.
func (f Folder) PutNew(_ context.Context, name string, content []byte) (err error) {
	path := f.path(name)
	dir := filepath.Dir(path)
	if _, err := os.Stat(string(f)); err != nil { // a drive that is not there is not replaced by a new folder
		return err
	}
	if _, missing := os.Stat(dir); missing != nil {
		if err := faultfs.MkdirAll(faultfs.Export, dir, 0o700); err != nil {
			return err
		}
		for up := dir; up != string(f) && up != filepath.Dir(up); up = filepath.Dir(up) {
			if err := faultfs.SyncDir(faultfs.Export, filepath.Dir(up)); err != nil {
				return err
			}
		}
	}
	temp, err := faultfs.CreateTemp(faultfs.Export, dir, ".new-*")
	if err != nil {
		return err
	}
	defer func() { _ = faultfs.Remove(faultfs.Export, temp.Name()) }()
	_, err = temp.Write(content)
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err := place(temp.Name(), path); err != nil {
		return err
	}
	return faultfs.SyncDir(faultfs.Export, dir)
}

// place gives a complete file its name, if that is free. Where a second name is not possible, as on USB sticks, the name
// is looked up before.
func place(temp, path string) error {
	err := os.Link(temp, path)
	if err == nil || errors.Is(err, fs.ErrExist) {
		return existing(err)
	}
	if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return existing(errors.Join(err, fs.ErrExist))
	}
	return faultfs.Rename(faultfs.Export, temp, path)
}

func existing(err error) error {
	if errors.Is(err, fs.ErrExist) {
		return ErrExists
	}
	return err
}

// Get implements Place.
func (f Folder) Get(_ context.Context, name string) ([]byte, error) {
	file, err := plainfile.Open(f.path(name)) // does not wait for a pipe
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrMissing
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("it is not a file"))
	}
	limit := limitOf(name)
	content, err := io.ReadAll(io.LimitReader(file, int64(limit)+1))
	if err == nil && len(content) > limit {
		err = errTooLarge
	}
	return content, err
}

// Delete implements Place.
func (f Folder) Delete(_ context.Context, name string) error {
	err := faultfs.Remove(faultfs.Export, f.path(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return errors.Join(err, faultfs.SyncDir(faultfs.Export, filepath.Dir(f.path(name))))
}

// List implements Place.
func (f Folder) List(ctx context.Context, prefix string) ([]Object, error) {
	if _, err := os.Stat(string(f)); err != nil {
		return nil, err
	}
	root, err := filepath.EvalSymlinks(string(f)) // a walk does not follow a link that it begins with
	if err != nil {
		return nil, err
	}
	var out []Object
	err = filepath.WalkDir(Folder(root).path(prefix), func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile, or nothing of this prefix
			return nil
		}
		if err = errors.Join(err, ctx.Err()); err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err == nil && !strings.HasPrefix(d.Name(), ".") {
			out = append(out, Object{Name: filepath.ToSlash(rel), Size: info.Size(), Changed: info.ModTime()})
		}
		return err
	})
	return out, err
}

// unhanging is a place whose calls return when their context ends. A folder on a network may not answer, and what waits for
// it cannot be interrupted: it is left behind.
type unhanging struct{ place Place }

func (u unhanging) PutNew(ctx context.Context, name string, content []byte) error {
	_, err := orLeft(ctx, func() (struct{}, error) { return struct{}{}, u.place.PutNew(ctx, name, content) })
	return err
}

func (u unhanging) Get(ctx context.Context, name string) ([]byte, error) {
	return orLeft(ctx, func() ([]byte, error) { return u.place.Get(ctx, name) })
}

func (u unhanging) List(ctx context.Context, prefix string) ([]Object, error) {
	return orLeft(ctx, func() ([]Object, error) { return u.place.List(ctx, prefix) })
}

func (u unhanging) Delete(ctx context.Context, name string) error {
	_, err := orLeft(ctx, func() (struct{}, error) { return struct{}{}, u.place.Delete(ctx, name) })
	return err
}

func orLeft[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	ended := make(chan result, 1)
	go func() {
		value, err := do()
		ended <- result{value, err}
	}()
	select {
	case r := <-ended:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}
