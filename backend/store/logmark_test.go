package store

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/backup"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/store/verify"
)

// killed returns a copy of the data as a kill at this moment would leave it.
func (f *fixture) killed() string {
	f.Helper()
	dir := f.TempDir()
	for _, name := range []string{sqlite.DatabaseFile, sqlite.DatabaseFile + "-wal", backup.MarkFile, sqlite.ConfirmedFile} {
		data, err := os.ReadFile(filepath.Join(f.dir, name))
		f.ok(err)
		f.ok(os.WriteFile(filepath.Join(dir, name), data, 0o600))
	}
	return dir
}

// logFindings returns verify's findings about the write-ahead log and its mark.
func (f *fixture) logFindings(dir string) []chat.Finding {
	f.Helper()
	a := verify.NewAudit()
	a.Logs(dir)
	return a.Found
}

// TestADamagedLogIsFound: SQLite silently drops everything after a damaged frame. Verify reports the log, the program
// refuses to write over it, and dropping it keeps a copy of the files.
func TestADamagedLogIsFound(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	f.full(b.ID, "one", "first answer")
	end, err := sqlite.ReadConfirmed(f.dir)
	f.ok(err)
	if end.Frame == 0 {
		t.Fatal("nothing is confirmed")
	}
	const frame = sqlite.FrameHeader + 8192
	last := sqlite.LogHeader + int(end.Frame)*frame
	for name, damage := range map[string]func([]byte) []byte{
		"header's salt":            func(b []byte) []byte { b[17] ^= 1; return b },
		"byte order":               func(b []byte) []byte { b[3] ^= 1; return b },
		"first frame":              func(b []byte) []byte { b[sqlite.LogHeader+1000] ^= 4; return b },
		"salt of a frame":          func(b []byte) []byte { b[sqlite.LogHeader+frame+9] ^= 4; return b },
		"checksum of a frame":      func(b []byte) []byte { b[sqlite.LogHeader+2*frame+17] ^= 128; return b },
		"last confirmed byte":      func(b []byte) []byte { b[last-1] ^= 1; return b },
		"cut in its last frame":    func(b []byte) []byte { return b[:last-10] },
		"cut in its header":        func(b []byte) []byte { return b[:20] },
		"another log of this name": func(b []byte) []byte { copy(b[sqlite.LogHeader:], bytes.Repeat([]byte{7}, frame)); return b },
	} {
		t.Run(name, func(t *testing.T) {
			dir := f.killed()
			path := filepath.Join(dir, sqlite.DatabaseFile+"-wal")
			original, err := os.ReadFile(path)
			f.ok(err)
			damaged := damage(original)
			f.ok(os.WriteFile(path, damaged, 0o600))
			if found := f.logFindings(dir); len(found) != 1 || found[0].ID != sqlite.DatabaseFile+"-wal" {
				t.Fatalf("found %v", found)
			}
			_, err = Open(f.ctx, Options{DataDir: dir})
			f.refused(err, chat.CodeCorrupt)
			if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, damaged) {
				t.Fatalf("the log was changed: %v", err)
			}
			archive := NewArchive(backup.ArchiveOptions{DataDir: dir})
			if !archive.DamagedLog() {
				t.Fatal("the log is not reported as damaged")
			}
			kept, err := archive.DropLog(f.ctx)
			f.ok(err)
			if now, err := os.ReadFile(filepath.Join(kept, sqlite.DatabaseFile+"-wal")); err != nil || !bytes.Equal(now, damaged) {
				t.Fatalf("the damaged log was not kept: %v", err)
			}
			s, err := Open(f.ctx, Options{DataDir: dir})
			f.ok(err)
			f.ok(s.Close())
			if archive.DamagedLog() {
				t.Fatal("a dropped log is reported as damaged")
			}
			_, err = archive.DropLog(f.ctx)
			f.refused(err, chat.CodeNotFound)
		})
	}
}

// TestDroppingALogKeepsCheckpointedPages: pages that were checkpointed before the log was damaged are not replaced by
// older ones from its readable beginning.
func TestDroppingALogKeepsCheckpointedPages(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	for _, words := range []string{"one", "two", "three", "four"} {
		f.full(b.ID, words, strings.Repeat(words+" is answered. ", 2000))
	}
	f.ok(f.CheckpointSome(f.ctx))
	end, err := sqlite.ReadConfirmed(f.dir)
	f.ok(err)
	dir := f.killed()
	path := filepath.Join(dir, sqlite.DatabaseFile+"-wal")
	log, err := os.ReadFile(path)
	f.ok(err)
	log[sqlite.LogHeader+int(end.Frame)/2*(sqlite.FrameHeader+8192)+100] ^= 1
	f.ok(os.WriteFile(path, log, 0o600))
	_, err = Open(f.ctx, Options{DataDir: dir})
	f.refused(err, chat.CodeCorrupt)
	kept, err := NewArchive(backup.ArchiveOptions{DataDir: dir}).DropLog(f.ctx)
	f.ok(err)
	if left, err := filepath.Glob(filepath.Join(kept, "check-*")); err != nil || len(left) > 0 {
		t.Errorf("%v are left of the check: %v", left, err)
	}
	s, err := Open(f.ctx, Options{DataDir: dir})
	f.ok(err)
	defer func() { f.ok(s.Close()) }()
	n, err := sqlite.One[int](s.core.DB.Reader, "count", "", `SELECT count(*) FROM turns WHERE final_assistant_message_json IS NOT NULL`)
	f.ok(err)
	found, err := s.Verify(f.ctx)
	if f.ok(err); n != 4 || len(found) > 0 {
		t.Errorf("%d answers are left, and verify says %v", n, found)
	}
}

// TestAMarkThatCannotBeWritten: the data is written anyway, and a commit that ends while the store closes does no
// harm.
func TestAMarkThatCannotBeWritten(t *testing.T) {
	f := newFixture(t)
	dir := f.TempDir()
	f.ok(os.Mkdir(filepath.Join(dir, sqlite.ConfirmedFile), 0o700))
	s, err := Open(f.ctx, Options{DataDir: dir})
	f.ok(err)
	if _, _, err := s.CreateSession(f.ctx, chat.NewSession{Title: "t"}); err != nil {
		t.Error(err)
	}
	f.ok(s.Close())
	s.core.DB.Confirm()
}

// TestAnIntactLogIsNotReportedAsDamaged: this covers data that was never confirmed, a log that was restarted, and one that
// is gone because it was checkpointed.
func TestAnIntactLogIsNotReportedAsDamaged(t *testing.T) {
	plainOnly(t)
	f := newFixture(t)
	_, b := f.session("s")
	expectIntact := func(when string) {
		t.Helper()
		if found := f.logFindings(f.dir); len(found) > 0 {
			t.Fatalf("%s: %v", when, found)
		}
		dir := f.killed()
		s, err := Open(f.ctx, Options{DataDir: dir})
		if err != nil {
			t.Fatalf("%s, killed: %v", when, err)
		}
		f.ok(s.Close())
		if found := f.logFindings(dir); len(found) > 0 {
			t.Fatalf("%s, killed and opened: %v", when, found)
		}
	}
	f.full(b.ID, "one", "first answer")
	expectIntact("after a turn")
	before := f.killed()
	f.checkpoint()
	f.full(b.ID, "two", "second answer")
	expectIntact("after the log was emptied and used again")
	f.ok(f.CheckpointSome(f.ctx))
	f.full(b.ID, "three", "third answer")
	expectIntact("after the log was used from its beginning")

	end, err := sqlite.ReadConfirmed(f.dir)
	f.ok(err)
	dir := f.killed()
	path := filepath.Join(dir, sqlite.DatabaseFile+"-wal")
	log, err := os.ReadFile(path)
	f.ok(err)
	log = append(log[:sqlite.LogHeader+int(end.Frame)*(sqlite.FrameHeader+8192)], bytes.Repeat([]byte("torn"), 3000)...) // a commit that a power failure cut off
	f.ok(os.WriteFile(path, log, 0o600))
	if found := f.logFindings(dir); len(found) > 0 {
		t.Fatalf("a commit that was never confirmed: %v", found)
	}
	older, err := os.ReadFile(filepath.Join(before, sqlite.ConfirmedFile))
	f.ok(err)
	f.ok(os.WriteFile(filepath.Join(dir, sqlite.ConfirmedFile), older, 0o600))
	if found := f.logFindings(dir); len(found) > 0 {
		t.Fatalf("an older mark: %v", found)
	}
	f.ok(os.Remove(filepath.Join(dir, sqlite.ConfirmedFile)))
	if found := f.logFindings(dir); len(found) > 0 {
		t.Fatalf("no mark: %v", found)
	}
}

// TestADamagedMarkIsReported: it does not prevent writing.
func TestADamagedMarkIsReported(t *testing.T) {
	f := newFixture(t)
	f.session("s")
	dir := f.killed()
	path := filepath.Join(dir, sqlite.ConfirmedFile)
	text, err := os.ReadFile(path)
	f.ok(err)
	for at := range text {
		flipped := bytes.Clone(text)
		flipped[at] ^= 1
		f.ok(os.WriteFile(path, flipped, 0o600))
		if found := f.logFindings(dir); len(found) != 1 || found[0].ID != sqlite.ConfirmedFile {
			t.Errorf("byte %d: %v", at, found)
		}
	}
	s, err := Open(f.ctx, Options{DataDir: dir})
	f.ok(err)
	f.ok(s.Close())
	if found := f.logFindings(dir); len(found) > 0 {
		t.Errorf("the next start leaves %v", found)
	}
}
