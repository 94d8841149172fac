package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"testing"

	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/transfer/bundle"
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

// TestWhatIsReplacedInAFile: a payload that is not the one of its event counts as replaced by a deletion if the file was written again,
// or has the event that says so. Otherwise it was damaged where it was written. A file with one is not for earlier programs.
func TestWhatIsReplacedInAFile(t *testing.T) {
	original, now := sha256.Sum256([]byte(`{"v":1,"data":{"text":"secret"}}`)), []byte(`{"v":1,"data":{"text":"[erased]"}}`)
	replaced := ledger.Event{SessionID: "s", Seq: 1, Type: ledger.EventSessionRenamed, Entity: "s", CreatedAt: "2026-01-02T03:04:05.000Z", Payload: now, PayloadHash: original[:], PrevHash: ledger.Genesis().Hash}
	replaced.Hash = replaced.Sum()
	sum := sha256.Sum256(now)
	says, err := ledger.Payload(ledger.ContentDeleted{Receipt: "r", Events: []ledger.DeletedEvent{{Seq: 1, SHA256: hex.EncodeToString(sum[:])}}})
	if err != nil {
		t.Fatal(err)
	}
	sum = sha256.Sum256(says)
	certificate := ledger.Event{SessionID: "s", Seq: 2, Type: ledger.EventContentDeleted, Entity: "t", CreatedAt: replaced.CreatedAt, Payload: says, PayloadHash: sum[:], PrevHash: replaced.Hash}
	certificate.Hash = certificate.Sum()
	b := box{place: Folder(t.TempDir()), keys: []seal.Key{seal.NewKey()}}
	device, ctx := b.deviceName("A"), t.Context()
	for n, c := range []struct {
		name   string
		events []ledger.Event
		want   bool
	}{
		{logName(device, 1), []ledger.Event{replaced}, false},
		{rewritten(device, 2, 1), []ledger.Event{replaced}, true},
		{logName(device, 3), []ledger.Event{replaced, certificate}, true},
	} {
		f := file{fileHead: fileHead{Device: "A", Number: int64(n + 1)}, segments: []bundle.Segment{{Session: "s"}}}
		for _, e := range c.events {
			f.segments[0].Parcels = append(f.segments[0].Parcels, bundle.Parcel{Event: e})
		}
		if _, err := b.write(ctx, c.name, f); err != nil {
			t.Fatal(err)
		}
		got, err := b.read(ctx, c.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := got.segments[0].Parcels; p[0].Replaced != c.want || got.Version != deletionVersion {
			t.Errorf("%s: %v, version %d", c.name, p[0].Replaced, got.Version)
		}
	}
}

// TestTheSumOfADeletion: files that say different deletions are different.
func TestTheSumOfADeletion(t *testing.T) {
	sums := map[string]bool{}
	for _, of := range []string{"", "t", "u"} {
		sums[string(file{segments: []bundle.Segment{{Session: "s", Of: of}}}.sum())] = true
	}
	if len(sums) != 3 {
		t.Errorf("%d sums", len(sums))
	}
}
