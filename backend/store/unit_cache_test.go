package store

import (
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// TestAReusedNumberBelongsToTheNewUnit: when units of another session get the numbers of deleted ones, the deleted
// units are no longer cached.
func TestAReusedNumberBelongsToTheNewUnit(t *testing.T) {
	f := newFixture(t)
	_, kept := f.session("kept")
	f.full(kept.ID, "zebra kept", "yes")
	gone, branch := f.session("gone")
	f.full(branch.ID, "zebra gone", "yes")
	all := chat.Within{Scope: chat.ScopeAll, Branch: kept.ID}
	before := f.numbered(all)
	if _, err := f.Delete(f.ctx, chat.DeletionSession, string(gone.ID)); err != nil {
		t.Fatal(err)
	}
	_, other := f.session("new")
	turn := f.full(other.ID, "zebra new", "yes")
	again := 0
	for n, u := range f.numbered(all) {
		if was, ok := before[n]; ok && was.Session == gone.ID {
			again++
			if u.Turn != turn.ID || u.ID == was.ID {
				t.Errorf("unit %d is %+v, want one of turn %s", n, u, turn.ID)
			}
		}
	}
	if again == 0 {
		t.Fatal("no number was reused")
	}
	mine := chat.Within{Scope: chat.ScopeLineage, Branch: other.ID}
	if hits := f.find(mine, 20, "zebra"); len(hits) != 1 {
		t.Errorf("the new session finds %d of its units", len(hits))
	}
}

// numbered returns all units in scope, by number.
func (f *fixture) numbered(in chat.Within) map[int64]chat.UnitRef {
	f.Helper()
	ns, err := sqlite.All[int64](f.core.DB.Reader, `SELECT n FROM units`)
	f.ok(err)
	units, err := f.Units(f.ctx, in, ns)
	f.ok(err)
	out := map[int64]chat.UnitRef{}
	for _, u := range units {
		out[u.N] = u
	}
	return out
}
