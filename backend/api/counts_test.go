package api

import "testing"

func TestGroupedCounts(t *testing.T) {
	for text, want := range map[string]string{
		"The message is 12345 tokens too long.":     "The message is 12\u202f345 tokens too long.",
		"1234567 bytes of 1000 bytes are missing.":  "1\u202f234\u202f567 bytes of 1\u202f000 bytes are missing.",
		"(1 of 48211 turns)":                        "(1 of 48\u202f211 turns)",
		"999 turns since 2024, at 127.0.0.1:8000.":  "999 turns since 2024, at 127.0.0.1:8000.",
		"/data/20261122 files, id-1234 records":     "/data/20261122 files, id-1234 records",
		"A file of 0.12345 MB, port 8080 is in use": "A file of 0.12345 MB, port 8080 is in use",
	} {
		if got := groupedCounts(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
