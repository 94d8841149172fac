package cli

import "testing"

// TestMissingArguments: the verb agrees with the number of absent arguments.
func TestMissingArguments(t *testing.T) {
	for want, names := range map[string][]string{"FILE is missing.": {"FILE"}, "SESSION and PIN are missing.": {"SESSION", "PIN"}} {
		if got := missing(names); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
