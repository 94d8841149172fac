package core

import (
	"sync"

	"gorm.io/gorm"

	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// RecentValues caches recently decoded values for those packed against them: requests, and manifests used as a base.
// Once committed these never change, so a cache that receives only committed values is never stale. A transaction that
// packs values against those that it has written itself needs a cache of its own. A nil cache is empty.
type RecentValues struct {
	mu     sync.Mutex
	order  []string
	values map[string][]byte
	bytes  int
}

// maxRecent and maxRecentBytes limit RecentValues.
const (
	maxRecent      = 24
	maxRecentBytes = 16 << 20
)

func (r *RecentValues) Get(id string) ([]byte, bool) {
	if r == nil {
		return nil, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b, ok := r.values[id]
	return b, ok
}

func (r *RecentValues) Put(id string, value []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, ok := r.values[id]; ok || len(value) > maxRecentBytes {
		return
	}
	if r.values == nil {
		r.values = map[string][]byte{}
	}
	r.values[id] = value
	r.order = append(r.order, id)
	r.bytes += len(value)
	for len(r.order) > maxRecent || r.bytes > maxRecentBytes {
		r.bytes -= len(r.values[r.order[0]])
		delete(r.values, r.order[0])
		r.order = r.order[1:]
	}
}

func (r *RecentValues) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.order, r.values, r.bytes = nil, nil, 0
}

// Payload decodes an event's payload, using those decoded before.
func (r *RecentValues) Payload(db *gorm.DB, e schema.EventRow) ([]byte, error) {
	name := func(seq int64) string { return e.SessionID + "/" + sqlite.Itoa(seq) }
	var payload []byte
	var err error
	_, ref, based := codec.BaseOf(e.Payload)
	if base, ok := r.Get(name(ref)); based && ok {
		payload, err = codec.UnpackOn(base, e.Payload)
	} else {
		payload, err = UnpackPayload(db, e.SessionID, e.Payload)
	}
	if err == nil && payload != nil {
		r.Put(name(e.EventSeq), payload)
	}
	return payload, err
}
