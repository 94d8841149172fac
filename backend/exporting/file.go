package exporting

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
)

const opWrite = "export.write"

// save writes the output of fill to a file that only its owner can access, completely or not at all, and returns its
// size in bytes. It does not write through links. The folder is recorded in the data directory, so that what a killed
// program left there is found.
func save(ctx context.Context, dataDir, path string, replace bool, fill func(io.Writer) error) (int64, error) {
	path, err := checkTarget(path, replace)
	if err != nil {
		return 0, err
	}
	if err := remember(dataDir, path); err != nil {
		return 0, writeError(path, err)
	}
	folder, err := atrest.MakeFolder(filepath.Dir(path), atrest.ExportPrefix)
	if err != nil {
		return 0, writeError(path, err)
	}
	defer func() { _ = folder.Remove() }()
	f, err := faultfs.OpenFile(faultfs.Export, folder.File("new"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, writeError(path, err)
	}
	size, err := fillFile(f, path, fill)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err == nil {
		if err = rename(f.Name(), path, replace); err != nil {
			err = writeError(path, err)
		}
	}
	if err != nil {
		_ = faultfs.Remove(faultfs.Export, f.Name())
		return 0, cancelled(ctx, err)
	}
	err = errors.Join(faultfs.SyncDir(faultfs.Export, filepath.Dir(path)), faultfs.SyncDir(faultfs.Export, folder.Path))
	if err != nil && runtime.GOOS != "windows" {
		return 0, chat.WrapError(chat.CodeInternal, opWrite, err, "%s was written, but its folder could not be flushed to disk: a power cut may lose it.", path)
	}
	return size, nil
}

// remember records the folder of a file. Data that cannot be written can still be exported.
func remember(dataDir, path string) error {
	whole, err := filepath.Abs(path)
	if err == nil {
		err = atrest.Remember(dataDir, atrest.Remembered{Folder: filepath.Dir(whole)})
	}
	if faultfs.Full(err) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// SaveText writes a text to a file chosen by the user. An existing file is replaced, because the system's dialog
// asked for confirmation.
func SaveText(ctx context.Context, dataDir, path, text string) error {
	_, err := save(ctx, dataDir, path, true, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
	return err
}

// checkTarget returns an error if a file may not be written to the path because of what exists there.
func checkTarget(path string, replace bool) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return path, nil // problems of the folder are reported when the file is created
	}
	if !replace {
		return path, existsError(path)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return path, chat.Errorf(chat.CodeInvalid, opWrite, "%s is a symbolic link; neither it nor what it points to was changed.", path).
			WithHint("name the file itself, or choose another name")
	}
	if !info.Mode().IsRegular() {
		return path, chat.Errorf(chat.CodeInvalid, opWrite, "%s is not a file that can be replaced; nothing was written.", path).WithHint("choose another name")
	}
	return path, nil
}

func existsError(path string) error {
	return chat.Errorf(chat.CodeConflict, opWrite, "%s exists, and was not changed.", path).WithHint("choose another name, or replace it (--replace on the command line)")
}

// fillFile writes a file, syncs it and closes it.
func fillFile(f *faultfs.File, path string, fill func(io.Writer) error) (int64, error) {
	out := &countingWriter{w: f}
	buffered := bufio.NewWriterSize(out, 256<<10)
	err := fill(buffered)
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = f.Sync()
		out.err = err
	}
	if cerr := f.Close(); err == nil && cerr != nil {
		err, out.err = cerr, cerr
	}
	if out.err != nil {
		return 0, writeError(path, out.err)
	}
	return out.n, err
}

// rename renames a written file. Unless it replaces another, the name is reserved first, so that a file created in the
// meantime is not replaced.
func rename(from, to string, replace bool) error {
	if replace {
		return faultfs.Rename(faultfs.Export, from, to)
	}
	f, err := faultfs.OpenFile(faultfs.Export, to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err = f.Close(); err == nil {
		err = faultfs.Rename(faultfs.Export, from, to)
	}
	if err != nil {
		_ = faultfs.Remove(faultfs.Export, to)
	}
	return err
}

// countingWriter counts the bytes written, and remembers the first error.
type countingWriter struct {
	w   io.Writer
	n   int64
	err error
}

// Write implements io.Writer.
func (m *countingWriter) Write(p []byte) (int, error) {
	n, err := m.w.Write(p)
	m.n += int64(n)
	m.err = cmp.Or(err, m.err)
	return n, err
}

// writeError explains why a file could not be written.
func writeError(path string, err error) error {
	var coded *chat.Error
	folder := filepath.Dir(path)
	switch {
	case errors.As(err, &coded):
		return err
	case faultfs.Full(err):
		return chat.WrapError(chat.CodeNoSpace, opWrite, err, "The disk is full; %s was not written.", path).WithHint("free some space, or choose another folder")
	case errors.Is(err, fs.ErrExist):
		return existsError(path)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return chat.WrapError(chat.CodeNotFound, opWrite, err, "There is no folder %s; nothing was written.", folder).WithHint("create it, or choose another")
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return chat.WrapError(chat.CodeInvalid, opWrite, err, "The folder %s is not writable; nothing was written.", folder).WithHint("choose another folder")
	}
	return chat.WrapError(chat.CodeInvalid, opWrite, err, "%s could not be written: %s. Nothing was written.", path, cause(err)).WithHint("choose another folder or name")
}

// cause returns the operating system's message, without the temporary file's name.
func cause(err error) string {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		return pathErr.Err.Error()
	}
	if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		return linkErr.Err.Error()
	}
	return err.Error()
}

// cancelled replaces an error by the error of the cancellation, if ctx was cancelled.
func cancelled(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return chat.WrapError(chat.CodeCancelled, "export.cancel", err, "The export was cancelled.")
	}
	return err
}
