package vault

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
)

// TestFilesThatWaitAreTriedInTheirOrder: one that was tried alone and still waits stays before the later ones of its log,
// which may need it.
func TestFilesThatWaitAreTriedInTheirOrder(t *testing.T) {
	x := &exchange{Vault: New(Deps{}), state: state{Logs: map[string]position{}, Waiting: map[string][]waiting{}}}
	numbered := func(n int64) file { return file{fileHead: fileHead{Device: "a", Number: n}} }
	waits := []trial{{parts: 1}, {parts: 1}}
	x.passed("a", position{Number: 5, Sum: make([]byte, sha256.Size)}, []file{numbered(3), numbered(5)}, waits)
	x.passed("a", x.at("a"), []file{numbered(3)}, waits[:1])
	if list := x.state.Waiting["a"]; len(list) != 2 || list[0].Number != 3 || list[1].Number != 5 {
		t.Errorf("%+v", list)
	}
}

// hung is a folder that does not answer, whatever is cancelled.
type hung struct{ Place }

func (hung) Get(context.Context, string) ([]byte, error) { select {} }

// TestAHungFolderIsLeft: a call returns when its context ends, although the system does not answer.
func TestAHungFolderIsLeft(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := (unhanging{hung{Folder(t.TempDir())}}).Get(ctx, lockName); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
