package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// Value is something outside of sessions, as a device knows it: an assistant, a saved prompt, a project, or a document's place
// in one.
type Value struct {
	Kind string `json:"kind"`
	ID   string `json:"id"`
	// Revision counts its changes, and Device made the last one. The highest of both counts, without a clock.
	Revision int64           `json:"revision"`
	Device   string          `json:"device"`
	Deleted  bool            `json:"deleted,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"`
}

// Compare orders the versions of a value. Only copies of data that have one name make two that differ in their bodies alone.
func (v Value) Compare(other Value) int {
	return cmp.Or(cmp.Compare(v.Revision, other.Revision), cmp.Compare(v.Device, other.Device), bytes.Compare(v.Body, other.Body))
}

// TakenValues is what became of the values of other devices.
type TakenValues struct {
	Changed  int      // records here
	Projects []string // are to be deleted, because they were deleted elsewhere
	Left     []error  // why some values were not taken
}
