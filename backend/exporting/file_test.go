package exporting

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
)

func TestSystemErrorsAreExplained(t *testing.T) {
	pathError := func(err error) error {
		return &fs.PathError{Op: "write", Path: "/home/a/.contextinfinity-export-1.tmp", Err: err}
	}
	for _, c := range []struct {
		err  error
		code chat.Code
		want string
	}{
		{pathError(syscall.ENOSPC), chat.CodeNoSpace, "disk is full"},
		{pathError(syscall.EACCES), chat.CodeInvalid, "is not writable"},
		{pathError(syscall.EROFS), chat.CodeInvalid, "is not writable"},
		{pathError(fs.ErrExist), chat.CodeConflict, "exists"},
		{pathError(fs.ErrNotExist), chat.CodeNotFound, "no folder"},
		{&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EIO}, chat.CodeInvalid, syscall.EIO.Error()},
		{chat.Errorf(chat.CodeBusy, "x", "of our own"), chat.CodeBusy, "of our own"},
	} {
		err := writeError("/home/a/x.md", c.err)
		if chat.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%v: %v", c.err, err)
		}
	}
}

// A full disk is noticed while the file is written, flushed or closed.
func TestAFailedWriteLeavesNoFile(t *testing.T) {
	dir := t.TempDir()
	f, err := faultfs.CreateTemp(faultfs.Export, dir, "closed")
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	if _, err := fillFile(f, "x", func(w io.Writer) error {
		_, err := w.Write(bytes.Repeat([]byte("x"), 1<<20))
		return err
	}); chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "could not be written") {
		t.Errorf("%v", err)
	}
	if _, err := save(context.Background(), "", filepath.Join(dir, "x"), false, func(io.Writer) error { return errors.New("x") }); err == nil {
		t.Error("an error is not returned")
	}
	if files, _ := os.ReadDir(dir); len(files) != 1 {
		t.Errorf("%d files are left", len(files)-1)
	}
}

// A file that another program created in the meantime is not replaced.
func TestANameThatWasTakenMeanwhile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	_, err := save(context.Background(), "", path, false, func(w io.Writer) error {
		return os.WriteFile(path, []byte("theirs"), 0o600)
	})
	if data, _ := os.ReadFile(path); chat.CodeOf(err) != chat.CodeConflict || string(data) != "theirs" {
		t.Errorf("%v, and it contains %q", err, data)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); len(files) != 1 {
		t.Errorf("%d files are left", len(files)-1)
	}
}
