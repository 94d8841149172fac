package store

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/imports"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer"
)

// TestTwoImportsAtOnce: if several imports of one conversation run at the same time, for example from the window and
// the command line, it is imported once.
func TestTwoImportsAtOnce(t *testing.T) {
	f := newFixture(t)
	turns := []string{}
	for i := range 3 * imports.ImportTurns {
		turns = append(turns, fmt.Sprintf("t%d %s question%d answer%d", i, map[bool]string{true: "-", false: fmt.Sprint("t", i-1)}[i == 0], i, i))
	}
	c := foreign(fmt.Sprint("t", len(turns)-1), turns...)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			if im, err := f.ImportConversation(f.ctx, c, byRule); err != nil {
				t.Errorf("%+v, %v", im, err)
			}
		})
	}
	workers.Wait()
	list, err := f.Sessions(f.ctx, chat.SessionQuery{})
	f.ok(err)
	if len(list) != 1 || list[0].Turns != len(turns) {
		t.Errorf("%d sessions, %+v", len(list), list)
	}
	f.expectConversation(list[0].ID, c)
	if jobs, err := f.Jobs(f.ctx, chat.JobQuery{Type: chat.JobSummarizeTurn}); err != nil || len(jobs) > 0 {
		t.Errorf("%d jobs to summarize turns that have a summary, %v", len(jobs), err)
	}
	f.verifyClean()
}

// TestImportOfExtremes: very long titles and folders, and dates far in the past and future.
func TestImportOfExtremes(t *testing.T) {
	f := newFixture(t)
	plain := foreign("a", "a - q r")
	long := plain
	long.ID, long.Key, long.Title, long.Folder = "long", "long", strings.Repeat("ß title ", 1<<17), strings.Repeat("f", 1<<20)
	old := foreign("a", "a - q r")
	old.ID, old.Key, old.CreatedAt, old.UpdatedAt = "old", "old", time.Date(1888, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(1901, 1, 1, 0, 0, 0, 0, time.UTC)
	old.Turns[0].ContentKey, old.Turns[0].CreatedAt, old.Turns[0].AnsweredAt = "o", old.CreatedAt, old.CreatedAt
	late := foreign("a", "a - q r")
	late.ID, late.Key, late.CreatedAt, late.UpdatedAt = "late", "late", time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC)
	late.Turns[0].ContentKey, late.Turns[0].CreatedAt, late.Turns[0].AnsweredAt = "l", late.CreatedAt, late.UpdatedAt
	long.Turns = append([]transfer.Turn{}, plain.Turns...)
	long.Turns[0].ContentKey = "x"
	elsewhere := foreign("a", "a - q r")
	elsewhere.Source = transfer.SourceClaude // the same ids in another program
	for _, c := range []transfer.Conversation{plain, long, old, late, elsewhere} {
		im := f.imports(c)
		if im.Outcome != chat.ImportCreated || im.Turns != 1 {
			t.Errorf("%.10q: %+v", c.ID, im)
		}
		s, err := f.Session(f.ctx, im.Session)
		f.ok(err)
		if now := f.clock.Now(); s.UpdatedAt.After(now) || s.CreatedAt.After(now) || s.CreatedAt.Year() < 1970 || chat.BoundTitle(s.Title) != s.Title || chat.BoundTitle(s.Folder) != s.Folder {
			t.Errorf("%.10q: made %v, changed %v, a title of %d bytes", c.ID, s.CreatedAt, s.UpdatedAt, len(s.Title))
		}
	}
	f.verifyClean()
}

// TestImportOfAThousandAnswers: one question may have a thousand answers.
func TestImportOfAThousandAnswers(t *testing.T) {
	f := newFixture(t)
	turns := []string{"root - hello there"}
	for i := range 1000 {
		turns = append(turns, fmt.Sprintf("s%d root same answer%d", i, i))
	}
	c := foreign("s500", turns...)
	im := f.imports(c)
	if im.Turns != len(turns) || im.Branches != 999 {
		t.Errorf("%+v", im)
	}
	f.expectConversation(im.Session, c)
	f.verifyClean()
}

// TestTheSameConversationInTwoFiles: the older file may be imported before or after the newer one.
func TestTheSameConversationInTwoFiles(t *testing.T) {
	older, newer := foreign("b", "a - q r", "b a q2 r2"), foreign("d", "a - q r", "b a q2 r2", "c b q3 r3", "d b q3 r4")
	for name, files := range map[string][]transfer.Conversation{"grown": {older, newer}, "stale": {newer, older}, "mixed": {older, newer, older, newer}} {
		f := newFixture(t)
		for _, c := range files {
			f.imports(c)
		}
		list, err := f.Sessions(f.ctx, chat.SessionQuery{})
		f.ok(err)
		if len(list) != 1 {
			t.Fatalf("%s: %d sessions", name, len(list))
		}
		f.expectConversation(list[0].ID, newer)
		if n, err := sqlite.All[int](f.core.DB.Reader, `SELECT count(*) FROM turns`); err != nil || n[0] != 4 {
			t.Errorf("%s: %v turns, %v", name, n, err)
		}
		f.verifyClean()
	}
}

// TestADeletedTurnIsNotImportedAgain: importing the same file again does not restore the turn.
func TestADeletedTurnIsNotImportedAgain(t *testing.T) {
	f := newFixture(t)
	c := foreign("b", "a - q r", "b a "+canary+" told")
	im := f.imports(c)
	turns, err := sqlite.All[string](f.core.DB.Reader, `SELECT id FROM turns ORDER BY n`)
	f.ok(err)
	_, err = f.Delete(f.ctx, chat.DeletionTurn, turns[1])
	f.ok(err)
	grown := foreign("d", "a - q r", "b a "+canary+" told", "d b more said")
	if again := f.imports(grown); again.Session != im.Session || again.Turns != 1 {
		t.Errorf("%+v", again)
	}
	f.expectNoTrace(canary)
	f.verifyClean()
}

// TestASessionDeletedDuringItsImport: no further part is written.
func TestASessionDeletedDuringItsImport(t *testing.T) {
	f := newFixture(t)
	turns := []string{}
	for i := range 3 * imports.ImportTurns {
		turns = append(turns, fmt.Sprintf("t%d %s question%d %s", i, map[bool]string{true: "-", false: fmt.Sprint("t", i-1)}[i == 0], i, canary))
	}
	c := foreign(fmt.Sprint("t", len(turns)-1), turns...)
	rules, n := byRule, 0
	rules.Summarize = func(previous string, pins []chat.Pin, turns []chat.Turn) chat.State {
		if n++; n == 2 {
			ids, err := sqlite.All[string](f.core.DB.Reader, `SELECT id FROM sessions`)
			f.ok(err)
			_, err = f.Delete(f.ctx, chat.DeletionSession, ids[0])
			f.ok(err)
		}
		return byRule.Summarize(previous, pins, turns)
	}
	_, err := f.ImportConversation(f.ctx, c, rules)
	f.refused(err, chat.CodeNotFound)
	f.expectNoTrace(canary)
	f.verifyClean()
}
