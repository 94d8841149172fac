package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/filelock"
)

// Checking for a live writer never prevents one from starting: neither a single check at that moment, nor several
// that check continuously.
func TestCheckingForAWriterDoesNotPreventOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, err := LockWriter(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockWriter(dir, ""); chat.CodeOf(err) != chat.CodeLocked || !WriterAlive(dir) {
		t.Errorf("with a writer: %v, alive %v", err, WriterAlive(dir))
	}
	if err := l.Release(); err != nil || WriterAlive(dir) {
		t.Errorf("after the writer: %v, alive %v", err, WriterAlive(dir))
	}

	probe, err := os.Open(filepath.Join(dir, LockFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := filelock.TryShare(probe); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = probe.Close() })
	if l, err = LockWriter(dir, ""); err != nil {
		t.Fatalf("during a check: %v", err)
	}
	_ = l.Release()

	stop := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					WriterAlive(dir)
				}
			}
		})
	}
	for range 50 {
		l, err := LockWriter(dir, "")
		if err != nil {
			t.Errorf("during continuous checks: %v", err)
			break
		}
		if !WriterAlive(dir) {
			t.Error("a writer was not detected")
		}
		_ = l.Release()
	}
	close(stop)
	readers.Wait()
}
