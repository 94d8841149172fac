package search

import (
	"testing"

	"contextinfinity/backend/chat"
)

// TestUnitCacheIsLimited: it keeps a limited number of units, including those used last, and returns none for an
// older generation or snapshot.
func TestUnitCacheIsLimited(t *testing.T) {
	var c unitCache
	if !c.open(1) {
		t.Fatal("a new cache cannot be used")
	}
	at := func(n int64) chat.UnitRef {
		return chat.UnitRef{N: n, Session: "s", Branch: "b", Role: chat.RoleUser, Chunk: "c", Turn: "t", Seq: n}
	}
	for n := range int64(2*maxUnits + maxPlaces/2) {
		c.putUnits([]chat.UnitRef{at(n)})
		if _, ok := c.unit(0); !ok {
			t.Fatalf("a used unit is gone after %d others", n)
		}
	}
	if cached := len(c.young) + len(c.old); cached > maxUnits {
		t.Errorf("%d units are cached", cached)
	}
	if u, ok := c.unit(1); ok {
		t.Errorf("a unit that was long unused is still cached: %+v", u)
	}
	if p, ok := c.place(1); !ok || p.seq != 1 || p.session != "s" || p.role != chat.RoleUser {
		t.Errorf("place %+v %t", p, ok)
	}
	c.putPlace(maxPlaces, place{})
	c.putPlace(-1, place{})
	if len(c.places)*placesPerBlock > maxPlaces {
		t.Errorf("%d blocks", len(c.places))
	}
	if c.open(2); c.generation != 2 || len(c.young)+len(c.places) > 0 {
		t.Error("units of an older generation are cached")
	}
	if c.open(1) {
		t.Error("a reader with an older snapshot may use the cache")
	}
}
