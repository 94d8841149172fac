package search

import (
	"strings"
	"sync"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/sqlite"
)

// unitCache caches what searches read of units: the place of each, which decides whether it is in scope, and the
// whole UnitRef of those that were used last. A unit never changes, and its number is not reused while the generation
// (vector_generation) stays the same. The scope is applied to cached units just as to those that are read.
type unitCache struct {
	mu         sync.Mutex
	generation int64
	places     []*placeBlock // by number
	ids        []placeIDs
	numbers    map[placeIDs]uint32
	young, old map[int64]chat.UnitRef // when young is half of the limit it becomes old, and the previous old is dropped
}

const (
	placesPerBlock = 1 << 8
	// maxPlaces limits the cached places to units with smaller numbers: 16 bytes each.
	maxPlaces = 1 << 20
	// maxUnits limits the cached UnitRefs: about 300 bytes each.
	maxUnits = 1 << 17
)

type placeBlock [placesPerBlock]packedPlace

// packedPlace is the place of a unit; ids is an index into unitCache.ids, from 1.
type packedPlace struct {
	seq int64
	ids uint32
}

type placeIDs struct {
	session chat.SessionID
	branch  chat.BranchID
	role    chat.Role
}

// place is the session, branch, turn and role of a unit.
type place struct {
	placeIDs
	seq int64
}

func placeOf(u chat.UnitRef) place { return place{placeIDs{u.Session, u.Branch, u.Role}, u.Seq} }

// open empties the cache if the generation is newer than its own, and reports whether it can be used: a reader with an
// older snapshot must not. The caller holds the lock.
func (c *unitCache) open(generation int64) bool {
	if generation > c.generation || c.numbers == nil {
		c.generation, c.places, c.ids = generation, nil, nil
		c.numbers, c.young, c.old = map[placeIDs]uint32{}, map[int64]chat.UnitRef{}, nil
	}
	return generation == c.generation
}

// place returns the place of a unit; false if it is not cached.
func (c *unitCache) place(n int64) (place, bool) {
	if n < 0 || n >= maxPlaces || int(n/placesPerBlock) >= len(c.places) || c.places[n/placesPerBlock] == nil {
		return place{}, false
	}
	at := c.places[n/placesPerBlock][n%placesPerBlock]
	if at.ids == 0 {
		return place{}, false
	}
	return place{c.ids[at.ids-1], at.seq}, true
}

func (c *unitCache) putPlace(n int64, at place) {
	if n < 0 || n >= maxPlaces {
		return
	}
	for int(n/placesPerBlock) >= len(c.places) {
		c.places = append(c.places, nil)
	}
	block := c.places[n/placesPerBlock]
	if block == nil {
		block = new(placeBlock)
		c.places[n/placesPerBlock] = block
	}
	block[n%placesPerBlock] = packedPlace{at.seq, c.number(at.placeIDs)}
}

// number returns the index of a session, branch and role in c.ids, from 1.
func (c *unitCache) number(ids placeIDs) uint32 {
	if k, ok := c.numbers[ids]; ok {
		return k
	}
	ids = placeIDs{chat.SessionID(strings.Clone(string(ids.session))), chat.BranchID(strings.Clone(string(ids.branch))), chat.Role(strings.Clone(string(ids.role)))}
	c.ids = append(c.ids, ids)
	c.numbers[ids] = uint32(len(c.ids))
	return c.numbers[ids]
}

// unit returns a unit; false if it is not cached.
func (c *unitCache) unit(n int64) (chat.UnitRef, bool) {
	if u, ok := c.young[n]; ok {
		return u, true
	}
	u, ok := c.old[n]
	if ok {
		c.keep(u)
	}
	return u, ok
}

// keep stores a unit among those that were used last.
func (c *unitCache) keep(u chat.UnitRef) {
	if len(c.young) >= maxUnits/2 {
		c.young, c.old = make(map[int64]chat.UnitRef, maxUnits/2), c.young
	}
	c.young[u.N] = u
}

// putUnits stores units. Their strings are copied: each is a part of one large text, which would stay in memory.
func (c *unitCache) putUnits(units []chat.UnitRef) {
	var last chat.UnitRef
	for _, u := range units {
		c.putPlace(u.N, placeOf(u))
		ids := c.ids[c.number(placeIDs{u.Session, u.Branch, u.Role})-1]
		u.Session, u.Branch, u.Role = ids.session, ids.branch, ids.role
		u.ID, u.Speaker, u.Type = chat.UnitID(strings.Clone(string(u.ID))), strings.Clone(u.Speaker), chat.ChunkType(strings.Clone(string(u.Type)))
		if u.Chunk == last.Chunk {
			u.Chunk, u.Turn, u.File, u.Type = last.Chunk, last.Turn, last.File, last.Type
		} else {
			u.Chunk, u.Turn, u.File = chat.ChunkID(strings.Clone(string(u.Chunk))), chat.TurnID(strings.Clone(string(u.Turn))), chat.FileID(strings.Clone(string(u.File)))
		}
		c.keep(u)
		last = u
	}
}

func generationOf(db *gorm.DB) (int64, error) {
	return sqlite.One[int64](db, "vector generation", "", `SELECT generation FROM vector_generation`)
}

// placesOf returns the places of units; deleted units are left out.
func (s *Search) placesOf(db *gorm.DB, generation int64, ns []int64) (map[int64]place, error) {
	out := make(map[int64]place, len(ns))
	var missing []int64
	c := &s.units
	c.mu.Lock()
	isOpen := c.open(generation)
	for _, n := range ns {
		if at, ok := c.place(n); ok && isOpen {
			out[n] = at
		} else {
			missing = append(missing, n)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	list, err := chat.MarshalJSON(missing)
	if err != nil {
		return nil, err
	}
	rows, err := db.Raw(`SELECT u.n, u.session_id, u.branch_id, u.message, u.turn_seq FROM json_each(?) j CROSS JOIN units u ON u.n = j.value`, string(list)).Rows()
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	read := make(map[int64]place, len(missing))
	for rows.Next() {
		var n int64
		var at place
		if err := rows.Scan(&n, &at.session, &at.branch, &at.role, &at.seq); err != nil {
			return nil, err
		}
		read[n], out[n] = at, at
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open(generation) {
		for n, at := range read {
			c.putPlace(n, at)
		}
	}
	return out, nil
}

// unitsOf returns units, whatever the scope; deleted units are left out.
func (s *Search) unitsOf(db *gorm.DB, generation int64, ns []int64) ([]chat.UnitRef, error) {
	out := make([]chat.UnitRef, 0, len(ns))
	var missing []int64
	c := &s.units
	c.mu.Lock()
	isOpen := c.open(generation)
	for _, n := range ns {
		if u, ok := c.unit(n); ok && isOpen {
			out = append(out, u)
		} else {
			missing = append(missing, n)
		}
	}
	c.mu.Unlock()
	if len(missing) == 0 {
		return out, nil
	}
	list, err := chat.MarshalJSON(missing)
	if err != nil {
		return nil, err
	}
	read, err := readUnits(db, condition{}, numbered, list)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open(generation) {
		c.putUnits(read)
	}
	return append(out, read...), nil
}
