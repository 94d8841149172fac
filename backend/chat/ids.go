package chat

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// Durable identifiers are ULIDs in their canonical 26 character form. They are distinct types, so that a turn cannot
// be confused with a branch.
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

// ids creates identifiers that sort by time, and by creation within one millisecond, across the whole process.
var ids struct {
	sync.Mutex
	entropy *ulid.MonotonicEntropy
	last    uint64
}

// NewID returns a new ULID for the given time. Within a process each is greater than the previous one, even if the
// clock is set back.
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

// FirstID returns an identifier that is not greater than any that NewID returns at this time or later.
func FirstID(at time.Time) string {
	var id ulid.ULID
	if at.UnixMilli() > 0 {
		_ = id.SetTime(ulid.Timestamp(at)) // fails only after the year 10889
	}
	return id.String()
}

// ValidID reports whether s has the form of an identifier.
func ValidID(s string) bool {
	_, err := ulid.ParseStrict(s)
	return err == nil
}

// ShortID returns the end of an identifier for display: random enough to be distinct, short enough to read aloud.
func ShortID[T ~string](id T) string {
	if len(id) < 4 {
		return string(id)
	}
	return string(id[len(id)-4:])
}

// TimeLayout is the format of all times: UTC, RFC 3339, milliseconds.
const TimeLayout = "2006-01-02T15:04:05.000Z"

// FormatTime writes t in TimeLayout.
func FormatTime(t time.Time) string { return t.UTC().Format(TimeLayout) }

// ParseTime parses TimeLayout.
func ParseTime(s string) (time.Time, error) { return time.Parse(TimeLayout, s) }
