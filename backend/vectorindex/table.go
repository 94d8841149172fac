package vectorindex

import (
	"math"

	"contextinfinity/backend/chat"
)

// table contains the data that a scope filters by, one row per vector, in the order of n.
type table struct {
	n       []int64
	place   []uint32 // index in places
	seq     []int32
	places  []chat.VectorPlace // without duplicates
	placeOf map[chat.VectorPlace]uint32
}

// window is the part of a branch in a scope: after < seq <= upTo.
type window struct{ after, upTo int64 }

func newTable() *table { return &table{placeOf: map[chat.VectorPlace]uint32{}} }

func (t *table) add(r chat.VectorRow) {
	t.n = append(t.n, r.N)
	t.place = append(t.place, t.placeAt(chat.VectorPlace{Session: r.Session, Branch: r.Branch}))
	t.seq = append(t.seq, int32(min(r.Seq, math.MaxInt32)))
}

// addBlock adds the rows of a block.
func (t *table) addBlock(b chat.VectorBlock) {
	places := make([]uint32, len(b.Places))
	for i, p := range b.Places {
		places[i] = t.placeAt(p)
	}
	t.n = append(t.n, b.N...)
	for i, seq := range b.Seq {
		t.place = append(t.place, places[b.Place[i]])
		t.seq = append(t.seq, int32(min(seq, math.MaxInt32)))
	}
}

// placeAt returns the index of a place, which is added if it is new.
func (t *table) placeAt(p chat.VectorPlace) uint32 {
	at, ok := t.placeOf[p]
	if !ok {
		at = uint32(len(t.places)) // there are fewer than 2^32 branches
		t.placeOf[p] = at
		t.places = append(t.places, p)
	}
	return at
}

// windows evaluates the scope once per branch. unrestricted is true if it includes everything.
func (t *table) windows(s chat.ScopeFilter) (w []window, unrestricted bool) {
	if s == nil {
		return nil, true
	}
	w = make([]window, len(t.places))
	for i, p := range t.places {
		if after, upTo, ok := s.Span(p.Session, p.Branch); ok {
			w[i] = window{after, upTo}
		}
	}
	return w, false
}

// filter is a scope resolved for one search.
type filter struct {
	t            *table
	windows      []window
	unrestricted bool
}

func (f filter) passes(i int) bool {
	if f.unrestricted {
		return true
	}
	w, seq := f.windows[f.t.place[i]], int64(f.t.seq[i])
	return seq > w.after && seq <= w.upTo
}

// count is the number of rows in scope.
func (f filter) count() int {
	if f.unrestricted {
		return len(f.t.n)
	}
	total := 0
	for i := range f.t.n {
		if f.passes(i) {
			total++
		}
	}
	return total
}

// tableRow is the memory taken by a row of a table.
const tableRow = 8 + 4 + 4

// bytes is about the memory taken by a table of this length.
func (t *table) bytes() int64 { return int64(cap(t.n)) * tableRow }
