package store

import (
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"contextinfinity/backend/chat"
)

// fileLock is the writer's lock (SPEC 4). The operating system's lock decides;
// the pid in the file is only for people, since pids are used again.
type fileLock struct{ file *os.File }

// held keeps every lock reachable until it is released: a file that is garbage
// collected is closed, and closing it would drop the lock of a living writer.
var held sync.Map

// lockFile takes the lock, or answers CodeLocked naming the holder.
func lockFile(path string) (*fileLock, error) {
	const op = "store.lock"
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, mapError(op, err)
	}
	if err := tryLock(f); err != nil {
		holder := readPid(f)
		_ = f.Close()
		if !isLocked(err) {
			return nil, chat.WrapError(chat.CodeInternal, op, err, "This file system cannot lock files, so the data cannot be opened safely.").
				WithHint("choose a local disk with --data-dir")
		}
		return nil, chat.WrapError(chat.CodeLocked, op, err, "Another process"+holder+" has this data open for writing.").
			WithHint("use that window, or close it")
	}
	l := &fileLock{file: f}
	held.Store(l, true)
	if err := l.writePid(); err != nil {
		_ = l.release()
		return nil, mapError(op, err)
	}
	return l, nil
}

// writePid replaces the file's text. Only the holder writes.
func (l *fileLock) writePid() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// release drops the lock. The file stays: removing it would let a third process
// lock a new file while a second one waits on the old.
func (l *fileLock) release() error {
	if l == nil || l.file == nil {
		return nil
	}
	f := l.file
	l.file = nil
	held.Delete(l)
	_ = f.Truncate(0)
	_ = unlock(f)
	return f.Close()
}

// readPid is " (pid N)", or nothing where the file does not tell.
func readPid(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 20))
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 {
		return ""
	}
	return " (pid " + strconv.Itoa(pid) + ")"
}
