package vault

import (
	"testing"

	"contextinfinity/backend/transfer/bundle"
)

// TestTheLargestValuesAreLeftOut: what was deleted and what is small is sent.
func TestTheLargestValuesAreLeftOut(t *testing.T) {
	all := []bundle.Value{{ID: "large", Body: make([]byte, 5000)}, {ID: "gone", Deleted: true}, {ID: "small", Body: make([]byte, 100)}, {ID: "larger", Body: make([]byte, 6000)}}
	for most, want := range map[int]string{20_000: "large gone small larger ", 7000: "large small gone ", 2000: "small gone "} {
		got := ""
		for _, v := range fitting(all, most) {
			got += v.ID + " "
		}
		if got != want {
			t.Errorf("of at most %d bytes: %q, not %q", most, got, want)
		}
	}
}
