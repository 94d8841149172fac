package bundle

import (
	"bytes"
	"cmp"
	"encoding/json"
)

// Value is something outside of sessions, as a device knows it: an assistant or a saved prompt.
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
