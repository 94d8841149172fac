package chat

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Durable identifiers are ULIDs in their canonical 26 character form. They are
// distinct types so that a turn is never taken for a branch.
type (
	SessionID    string
	BranchID     string
	TurnID       string
	StepID       string
	StateID      string
	ChunkID      string
	UnitID       string
	PinID        string
	SuggestionID string
	FileID       string
)

// ids makes identifiers that sort by time, and by creation within one
// millisecond, across the whole process.
var ids struct {
	sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    uint64
}

// NewID returns a fresh ULID for the given moment. Within one process each is
// greater than the one before, even when the clock steps back.
func NewID(now time.Time) string {
	ids.Lock()
	defer ids.Unlock()
	if ids.entropy == nil {
		ids.entropy = ulid.Monotonic(rand.Reader, 0)
	}
	ms := max(ulid.Timestamp(now), ids.last)
	id, err := ulid.New(ms, ids.entropy)
	if err != nil { // the monotonic counter of this millisecond overflowed
		ms++
		id = ulid.MustNew(ms, ids.entropy)
	}
	ids.last = ms
	return id.String()
}

// ValidID reports whether s has the form of an identifier.
func ValidID(s string) bool {
	_, err := ulid.ParseStrict(s)
	return err == nil
}

// ShortID is the tail of an identifier that people see: random enough to tell
// neighbours apart, short enough to read aloud.
func ShortID[T ~string](id T) string {
	if len(id) < 4 {
		return string(id)
	}
	return string(id[len(id)-4:])
}

// TimeLayout is how every moment is written: UTC, RFC 3339, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime writes t in TimeLayout.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// ParseTime reads what FormatTime wrote.
func ParseTime(s string) (time.Time, error) { return time.Parse(TimeLayout, s) }
