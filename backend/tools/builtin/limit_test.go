package builtin

import (
	"encoding/json"
	"testing"
	"time"

	"contextinfinity/backend/tools"
)

// TestACommandHasItsOwnLimit: the limit of a call is longer than that of its command, so that the command's outcome is
// known.
func TestACommandHasItsOwnLimit(t *testing.T) {
	d := newFixture(t, &Commands{probe: func() (Confinement, string) { return ConfinedNot, "" }})
	for arguments, own := range map[string]time.Duration{
		`{"command":"x"}`: defaultTimeout, `{"command":"x","timeout_s":600}`: 10 * time.Minute, `{"command":"x","timeout_s":99999}`: maxTimeout,
	} {
		limit := d.CallLimit(tools.Call{Tool: "run_command", Arguments: json.RawMessage(arguments)})
		if limit <= own+terminationTime || limit > own+time.Minute {
			t.Errorf("%s: %s", arguments, limit)
		}
	}
	if limit := d.CallLimit(tools.Call{Tool: "read_file", Arguments: json.RawMessage(`{"path":"x"}`)}); limit != 0 {
		t.Errorf("a file: %s", limit)
	}
}
