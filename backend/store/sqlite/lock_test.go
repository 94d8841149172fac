package sqlite

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// Looking whether a writer lives never keeps one from starting: neither one that looks at that moment, nor many that
// never stop looking.
func TestALookDoesNotRefuseAWriter(t *testing.T) {
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

	look, err := os.Open(filepath.Join(dir, LockFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := tryShare(look); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = look.Close() })
	if l, err = LockWriter(dir, ""); err != nil {
		t.Fatalf("while somebody looks: %v", err)
	}
	_ = l.Release()

	stop := make(chan struct{})
	var lookers sync.WaitGroup
	for range 2 {
		lookers.Go(func() {
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
			t.Errorf("while many look: %v", err)
			break
		}
		if !WriterAlive(dir) {
			t.Error("a writer was not seen")
		}
		_ = l.Release()
	}
	close(stop)
	lookers.Wait()
}
