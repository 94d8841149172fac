package builtin

import (
	"encoding/json"
	"testing"
	"time"

	"contextinfinity/backend/tools"
)

// TestACommandHasItsOwnLimit: a call is not given up before its command was ended, so that its outcome is known.
func TestACommandHasItsOwnLimit(t *testing.T) {
	d := newFixture(t, &Commands{look: func() (Confinement, string) { return ConfinedNot, "" }})
	for arguments, own := range map[string]time.Duration{
		`{"command":"x"}`: usualTime, `{"command":"x","timeout_s":600}`: 10 * time.Minute, `{"command":"x","timeout_s":99999}`: longestTime,
	} {
		limit := d.CallLimit(tools.Call{Tool: "run_command", Arguments: json.RawMessage(arguments)})
		if limit <= own+endingTime || limit > own+time.Minute {
			t.Errorf("%s: %s", arguments, limit)
		}
	}
	if limit := d.CallLimit(tools.Call{Tool: "read_file", Arguments: json.RawMessage(`{"path":"x"}`)}); limit != 0 {
		t.Errorf("a file: %s", limit)
	}
}
