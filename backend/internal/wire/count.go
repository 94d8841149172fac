package wire

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"

	"contextinfinity/backend/chat"
)

// Count is a number of tokens in a provider's JSON: an integer, also written as 12.0 or "12". Anything else becomes
// chat.NoCount, so that the error is visible; null changes nothing.
type Count int

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (c *Count) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		return nil
	}
	*c = chat.NoCount
	text := Unquote(raw)
	text = cmp.Or(text, string(raw))
	if f, err := strconv.ParseFloat(text, 64); err == nil && f == math.Trunc(f) && math.Abs(f) <= 1e18 {
		*c = Count(f)
	}
	return nil
}

var _ json.Unmarshaler = (*Count)(nil)
