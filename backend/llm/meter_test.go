package llm

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// TestMeter: each of the limits ends an answer, and an answer within all of them is not ended.
func TestMeter(t *testing.T) {
	textDelta := func(text string) []Delta { return []Delta{{Kind: DeltaText, Text: text}} }
	words := func(s string) int { return len(strings.Fields(s)) }
	for name, c := range map[string]struct {
		meter  Meter
		event  chat.RawEvent
		deltas []Delta
		want   int // number of events, including the one over the limit
	}{
		"bytes":             {Meter{MaxBytes: 100}, chat.RawEvent{}, textDelta("0123456789"), 11},
		"reasoning":         {Meter{MaxBytes: 100}, chat.RawEvent{}, []Delta{{Kind: DeltaReasoning, Text: "0123456789"}}, 11},
		"arguments":         {Meter{MaxBytes: 100}, chat.RawEvent{}, []Delta{{Kind: DeltaTool, Text: "0123456789"}}, 11},
		"tokens":            {Meter{MaxTokens: 10, Count: words}, chat.RawEvent{}, textDelta("one two "), 6},
		"pings":             {Meter{MaxBytes: 100}, chat.RawEvent{Type: "ping", Data: make([]byte, 1<<20)}, nil, 17},
		"signatures":        {Meter{}, chat.RawEvent{Data: make([]byte, 4<<20)}, []Delta{{Block: 1}}, 5},
		"tokens, not words": {Meter{MaxBytes: 1000, MaxTokens: 900, Count: words}, chat.RawEvent{}, textDelta("0123456789"), 101},
	} {
		t.Run(name, func(t *testing.T) {
			n, err := 0, error(nil)
			for ; err == nil && n < 1000; n++ {
				err = c.meter.Add(c.event, c.deltas, 1)
			}
			if !IsTooLong(err) || n != c.want {
				t.Fatalf("after %d events, want %d: %v", n, c.want, err)
			}
		})
	}
}

func TestMeterCountsParts(t *testing.T) {
	var m Meter
	if err := m.Add(chat.RawEvent{}, nil, MaxParts); err != nil {
		t.Errorf("as many as allowed: %v", err)
	}
	if err := m.Add(chat.RawEvent{}, nil, MaxParts+1); !IsTooLong(err) {
		t.Errorf("one more: %v", err)
	}
}
