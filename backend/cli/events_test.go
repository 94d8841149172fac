package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

// printedEvent is a line of --events.
type printedEvent struct {
	sent
	Schema    int
	Event     string
	Step      string `json:"step_id"`
	Number    int64  `json:"seq"`
	Kind      string
	Displayed int64 `json:"displayed_bytes"`
	Durable   int64 `json:"durable_bytes"`
}

// events decodes each line of stdout.
func (r result) events() []printedEvent {
	r.t.Helper()
	var out []printedEvent
	for _, line := range strings.Split(strings.TrimSuffix(r.out, "\n"), "\n") {
		var e printedEvent
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Schema != 1 || e.Event == "" {
			r.t.Fatalf("no event (%v): %q", err, line)
		}
		out = append(out, e)
	}
	return out
}

func TestEventsReportWhatIsDurable(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer  answer
		exit    int
		text    string
		outcome string
	}{
		"whole":     {say("Grüße, ", "世界"), 0, "Grüße, 世界", "completed"},
		"reasoning": {answer{events: []string{ev("reasoning", 0, "hm"), ev("text", 1, "yes"), ev("done", 0, "")}}, 0, "yes", "completed"},
		"cut":       {cut("Half of ", "it"), 1, "Half of it", "incomplete"},
		"failed":    {refuse(&llm.Error{Code: chat.CodeAuth, Status: 401, Message: "no such key"}), 1, "", "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			h.provider.script(c.answer)
			r := h.run("send", "--events", "--new", "hi").exits(c.exit)
			all := r.events()
			first, last := all[0], all[len(all)-1]
			if first.Event != "accepted" || first.Seq != 1 || first.TurnID == "" || last.TurnID != first.TurnID || first.SessionID != last.SessionID {
				t.Errorf("accepted: %+v, settled: %+v", first, last)
			}
			if last.Event != "settled" || last.Text != c.text || last.Outcome != c.outcome || (last.Error != nil) != (c.exit != 0) {
				t.Errorf("settled: %+v", last)
			}
			var text string
			shown := 0 // of every kind: reasoning counts as it arrives
			var previous printedEvent
			for _, e := range all[1 : len(all)-1] {
				if e.Event != "frame" || e.Number != previous.Number+1 || e.Durable > e.Displayed || e.Durable < previous.Durable || e.TurnID != first.TurnID || e.Step == "" {
					t.Errorf("after %+v comes %+v", previous, e)
				}
				if shown += len(e.Text); e.Kind == "text" {
					text += e.Text
				}
				previous = e
			}
			if text != c.text || previous.Displayed != int64(shown) || previous.Durable != previous.Displayed {
				t.Errorf("the frames contain %q, the last is %+v", text, previous)
			}
		})
	}
}

// A failure before the message is stored is a single line; a usage error prints none.
func TestEventsOfAFailureBeforeTheMessage(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for want, args := range map[string][]string{
		"invalid": {"send", "--events", " "}, "config": {"send", "--events", "--model", "nope", "hi"},
	} {
		all := h.run(args...).exits(map[string]int{"invalid": 2, "config": 1}[want]).events()
		if len(all) != 1 || all[0].Event != "settled" || all[0].TurnID != "" || all[0].Error == nil || all[0].Error.Code != want {
			t.Errorf("%q: %+v", args, all)
		}
	}
	if f := h.run("send", "--json", "--events", "hi").exits(2).failure(); f.Code != string(chat.CodeInvalid) {
		t.Errorf("%+v", f)
	}
	if r := h.run("pin", "--events", "x").exits(2); r.out != "" || r.err == "" {
		t.Errorf("stdout %q, stderr %q", r.out, r.err)
	}
}

// retry and continue report only their own frames.
func TestEventsOfTheDecisions(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.provider.script(cut("Half. "), say("And the rest."), say("Again."))
	all := h.run("send", "--events", "--new", "hi").exits(1).events()
	id := all[len(all)-1].TurnID
	for _, c := range []struct{ verb, frames, text string }{{"continue", "And the rest.", "Half. And the rest."}, {"retry", "Again.", "Again."}} {
		all := h.run(c.verb, "--events", id).exits(0).events()
		text := ""
		for _, e := range all {
			if e.Event == "frame" {
				text += e.Text
			}
		}
		if last := all[len(all)-1]; all[0].Event != "accepted" || last.Event != "settled" || text != c.frames || last.Text != c.text {
			t.Errorf("%s: %+v", c.verb, all)
		}
	}
}
