package store

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/store/migrations"
	"contextinfinity/backend/store/schema"
)

var update = flag.Bool("update", false, "write testdata again")

// firstVersion is a database that the first version of the schema wrote. It never changes: every later migration must
// be able to open it.
const firstVersion = "testdata/v1.db.gz"

func TestWriteFirstVersion(t *testing.T) {
	if !*update {
		t.Skip("writes " + firstVersion + " with -update only")
	}
	if v := schema.NewestVersion(migrations.Files); v != 1 {
		t.Fatalf("the schema is at version %d; %s is kept as the first one wrote it", v, firstVersion)
	}
	f := newFixture(t)
	seed(f)
	f.verifyClean()
	path := filepath.Join(t.TempDir(), "v1.db")
	f.backup(path)
	data, err := os.ReadFile(path)
	f.ok(err)
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	f.ok(err)
	_, err = z.Write(data)
	f.ok(err)
	f.ok(z.Close())
	f.ok(os.MkdirAll("testdata", 0o755))
	f.ok(os.WriteFile(firstVersion, packed.Bytes(), 0o644))
}

// unpacked decompresses a stored database into a file of its own.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	packed, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	master := filepath.Join(t.TempDir(), "v1.db")
	if err := os.WriteFile(master, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return master
}

func TestFirstVersionStillOpens(t *testing.T) {
	master := unpacked(t, firstVersion)
	f := copied(t, master)
	f.verifyClean()
	backups, err := f.backupPart.Archive.Backups(f.ctx, true)
	f.ok(err)
	if len(backups) != 1 || !strings.Contains(backups[0].Path, "-v1-") {
		t.Errorf("backups %+v", backups)
	}
	phases := map[chat.Phase]int{}
	for _, archived := range []bool{false, true} {
		sessions, err := f.Sessions(f.ctx, chat.SessionQuery{Archived: archived})
		f.ok(err)
		for _, s := range sessions {
			f.readSession(s.ID, phases)
		}
	}
	want := map[chat.Phase]int{
		chat.PhaseAccepted: 1, chat.PhaseContextPrepared: 1, chat.PhaseResponding: 2, chat.PhaseResponseFinalized: 2,
		chat.PhaseStateCommitted: 3, chat.PhaseDone: 4, chat.PhaseFailed: 2,
	}
	for phase, n := range want {
		if phases[phase] != n {
			t.Errorf("%d turns are %s, want %d", phases[phase], phase, n)
		}
	}
	hits := f.find(everywhere, 20, "数据库")
	if len(hits) != 2 {
		t.Errorf("%d hits", len(hits))
	}
	old, err := f.Branches(f.ctx, hits[0].Session)
	f.ok(err)
	f.clock = clock.NewFake(start)
	f.full(old[1].ID, "and it goes on", "as before")
	f.verifyClean()
	if n, err := f.RequeueOlder(f.ctx, 2, 100); n != 5 || err != nil {
		t.Errorf("%d turns are to be cut again, %v", n, err)
	}
	for {
		job, ok, err := f.ClaimJob(f.ctx, time.Minute, chat.JobIndexTurn)
		f.ok(err)
		if !ok {
			break
		}
		f.ok(f.Index(f.ctx, recut(f.indexing(job.TurnID, chat.IndexOK), 2)))
	}
	if n, err := f.RequeueOlder(f.ctx, 2, 100); n != 0 || err != nil {
		t.Errorf("%d turns are still to be cut again, %v", n, err)
	}
	f.fill(embedder, 50)
	f.verifyClean()
}

// readSession reads each turn of each branch once, with its steps and payloads.
func (f *fixture) readSession(id chat.SessionID, phases map[chat.Phase]int) {
	f.Helper()
	branches, err := f.Branches(f.ctx, id)
	f.ok(err)
	for _, b := range branches {
		turns, err := f.Lineage(f.ctx, chat.LineageQuery{Branch: b.ID})
		f.ok(err)
		for _, t := range turns {
			if t.BranchID != b.ID {
				continue // is read with its own branch
			}
			phases[t.Phase]++
			if t.User.RenderedText() == "" || t.Phase.Finalized() != (t.Assistant != nil) || t.Failure != nil && t.Failure.Code == chat.CodeCorrupt {
				f.Errorf("turn %+v", t)
			}
			steps, err := f.Steps(f.ctx, t.ID)
			f.ok(err)
			for _, step := range steps {
				p, err := f.StepPayload(f.ctx, step.ID)
				f.ok(err)
				if len(p.Request) == 0 {
					f.Errorf("step %s lost its request", step.ID)
				}
			}
		}
	}
}
