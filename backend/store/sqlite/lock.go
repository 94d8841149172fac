package sqlite

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/filelock"
)

// FileLock is the writer's lock (SPEC 4). The operating system's lock decides; the pid in the file is only
// information for people, because pids are reused. The directory is locked too where possible, so that deleting the
// file does not allow a second lock.
type FileLock struct {
	file *faultfs.File
	dir  *os.File
}

// openLocks keeps every lock reachable until it is released: garbage collection would close the file and so drop the
// lock of a running writer.
var openLocks sync.Map

// LockWriter takes the lock of a data directory, or returns CodeLocked naming the holder. The address is where the
// holder accepts requests, empty if nowhere.
func LockWriter(dir, address string) (*FileLock, error) {
	const op = "store.lock"
	path := filepath.Join(dir, LockFile)
	if kind := notAFile(path); kind != "" { // a link's target would be emptied
		return nil, chat.Errorf(chat.CodeConfig, op, "%s is %s, where the lock of the data should be. Nothing was changed.", path, kind).
			WithHint("remove it")
	}
	f, err := faultfs.OpenFile(faultfs.Lock, path, os.O_RDWR|os.O_CREATE|faultfs.NoFollow, 0o600)
	if err != nil {
		return nil, MapError(op, err)
	}
	l := &FileLock{file: f}
	err = lockAgainstWriters(f)
	if err == nil {
		l.dir, err = filelock.TryDir(dir)
	}
	if err != nil {
		holder := ReadHolder(f).name()
		_ = f.Close()
		if !filelock.IsLocked(err) {
			return nil, chat.WrapError(chat.CodeInternal, op, err, "This file system cannot lock files, so the data cannot be opened safely.").
				WithHint("choose a local disk with --data-dir")
		}
		return nil, chat.WrapError(chat.CodeLocked, op, err, "Another process%s has this data open for writing.", holder).
			WithHint("use that window or terminal, or close it")
	}
	openLocks.Store(l, true)
	if err := l.writeHolder(address); err != nil {
		_ = l.Release()
		return nil, MapError(op, err)
	}
	return l, nil
}

// lockAgainstWriters takes the exclusive lock unless a writer holds it. WriterAlive shares the lock for an instant,
// which must not be mistaken for a writer: if the lock can be shared, the exclusive one is tried again.
func lockAgainstWriters(f filelock.Descriptor) error {
	const tries, pause = 200, 5 * time.Millisecond
	for i := 1; ; i++ {
		err := filelock.Try(f)
		if err == nil || !filelock.IsLocked(err) || i == tries {
			return err
		}
		if shared := filelock.TryShare(f); shared != nil {
			return err
		}
		if err := filelock.Unlock(f); err != nil {
			return err
		}
		time.Sleep(pause)
	}
}

// writeHolder replaces the file's text. Only the holder of the lock writes.
func (l *FileLock) writeHolder(address string) error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	text := strconv.Itoa(os.Getpid()) + "\n"
	if address != "" {
		text += address + "\n"
	}
	_, err := l.file.WriteAt([]byte(text), 0)
	return err
}

// Release drops the lock. The file stays: removing it would let a third process lock a new file while a second one
// waits for the old.
func (l *FileLock) Release() error {
	if l == nil || l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	openLocks.Delete(l)
	_ = f.Truncate(0)
	if l.dir != nil {
		_ = l.dir.Close() // also releases its lock
	}
	_ = filelock.Unlock(f)
	return f.Close()
}

// Holder is what a writer records about itself.
type Holder struct {
	Pid     int    // 0: unknown
	Address string // where it accepts requests; empty: nowhere
}

// MaxHolder limits what is read of a lock file, in bytes.
const MaxHolder = 4096

// ReadHolder reads what the writer recorded; the zero value if nothing.
func ReadHolder(f io.ReaderAt) Holder {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, MaxHolder))
	if err != nil {
		return Holder{}
	}
	first, rest, complete := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(strings.TrimSpace(first))
	if err != nil || pid <= 0 {
		return Holder{}
	}
	h := Holder{Pid: pid}
	if address, after, _ := strings.Cut(rest, "\n"); complete && strings.HasSuffix(rest, "\n") && after == "" {
		h.Address = address
	}
	return h
}

// name returns " (pid N)", or empty if the file does not contain it.
func (h Holder) name() string {
	if h.Pid == 0 {
		return ""
	}
	return " (pid " + strconv.Itoa(h.Pid) + ")"
}

// WriterAddress returns the address at which the writer of a data directory accepts requests, or "" if it recorded
// none. The writer may no longer be running: a killed one leaves its address.
func WriterAddress(dir string) string { return holderOf(dir).Address }

// WriterPid returns the process that recorded itself as the writer, or 0. It may have ended.
func WriterPid(dir string) int { return holderOf(dir).Pid }

func holderOf(dir string) Holder {
	f, err := os.Open(filepath.Join(dir, LockFile))
	if err != nil {
		return Holder{}
	}
	defer func() { _ = f.Close() }()
	return ReadHolder(f)
}

// WriterAlive reports whether a process has a data directory open for writing. It writes nothing, and shares the lock
// only for an instant: a writer that starts then takes it a moment later.
func WriterAlive(dir string) bool {
	path := filepath.Join(dir, LockFile)
	if notAFile(path) != "" {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }() // also drops the lock, if it was free
	return filelock.IsLocked(filelock.TryShare(f))
}
