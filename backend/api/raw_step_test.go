package api

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// longStep is a step with many events or a long response.
type longStep struct {
	events   int
	data     string
	response string
}

func (s longStep) each(yield func(chat.RawEvent) error) error {
	for range s.events {
		if err := yield(chat.RawEvent{Type: "delta", Data: []byte(s.data)}); err != nil {
			return err
		}
	}
	return nil
}

// For a long step, the window gets the beginning, the end, and the size of the part that is left out.
func TestARawStepIsBounded(t *testing.T) {
	for name, step := range map[string]longStep{
		"short":        {events: 3, data: "abc"},
		"many events":  {events: 40_000, data: strings.Repeat("x", 1000)},
		"a long event": {events: 3, data: strings.Repeat("x", 40<<20)},
		"a long body":  {response: strings.Repeat("é", 20<<20)},
	} {
		t.Run(name, func(t *testing.T) {
			raw, err := rawStep(chat.StepPayload{Request: []byte(`{"model":"m"}`), Response: []byte(step.response)}, step.each)
			if err != nil {
				t.Fatal(err)
			}
			size := len(raw.Request) + len(raw.Response)
			for _, e := range raw.Events {
				size += len(e.Data)
			}
			if size > 8*rawPart {
				t.Errorf("%d bytes are returned", size)
			}
			if len(raw.Events)+raw.LeftOut != step.events {
				t.Errorf("%d events and %d left out, want %d in all", len(raw.Events), raw.LeftOut, step.events)
			}
			if long := step.events*len(step.data) > 4*rawPart; long != (raw.LeftOut > 0) || long != (raw.LeftOutBytes > 0) || long && raw.LeftOutAfter >= len(raw.Events) {
				t.Errorf("%d events (%d bytes) are left out after the first %d", raw.LeftOut, raw.LeftOutBytes, raw.LeftOutAfter)
			}
			if long := len(step.response) > 0; long != strings.Contains(raw.Response, "bytes are left out here") {
				t.Errorf("the note about bytes left out is wrong for a response of %d bytes", len(raw.Response))
			}
		})
	}
}
