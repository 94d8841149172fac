package wire

import (
	"encoding/json"
	"testing"

	"contextinfinity/backend/chat"
)

func TestCount(t *testing.T) {
	for raw, want := range map[string]Count{
		`12`: 12, `0`: 0, `-3`: -3, `12.0`: 12, `1e3`: 1000, `"12"`: 12, `null`: 7, `1000000000000000000`: 1e18,
		`"ten"`: chat.NoCount, `3.5`: chat.NoCount, `1e300`: chat.NoCount, `{}`: chat.NoCount, `[1]`: chat.NoCount, `true`: chat.NoCount, `""`: chat.NoCount,
	} {
		c := Count(7)
		if err := json.Unmarshal([]byte(raw), &c); err != nil || c != want {
			t.Errorf("%s is %d, %v; want %d", raw, c, err, want)
		}
	}
}
