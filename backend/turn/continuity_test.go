package turn_test

import (
	"context"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
	"contextinfinity/backend/tools"
)

// With previous_response_id enabled, a step sends only the new part while the provider still has the earlier context;
// if the provider has forgotten it, the complete context is sent. Without the setting nothing depends on the provider.
func TestStepsContinueTheProvidersContext(t *testing.T) {
	ended := func(id string) string { return event(wireEvent{T: "done", ID: id}) }
	forgotten := &llm.Error{Code: chat.CodeInvalid, Status: 400, Message: "no such response", Forgotten: true}
	for name, c := range map[string]struct {
		off     bool
		forgets bool
		differs bool // the earlier part can no longer be rebuilt identically
		refused bool // openai.store = false is configured
	}{"stored": {}, "off": {off: true}, "not to be stored": {off: true, refused: true}, "forgotten": {forgets: true}, "differs": {differs: true}} {
		t.Run(name, func(t *testing.T) {
			w := withTools(t)
			w.settings.Continuity, w.settings.StoreRefused = !c.off || c.refused, c.refused
			w.tools.allow("read")
			if c.differs {
				w.tools.do = func(_ context.Context, _ tools.Call) (tools.Output, error) {
					w.tools.mu.Lock()
					defer w.tools.mu.Unlock()
					w.tools.defs = w.tools.defs[1:]
					return tools.Output{Content: chat.Blocks{chat.Text{Text: "did read"}}}, nil
				}
			}
			w.provider.script(call{events: []string{callEvent("a", "box__read", `{}`), ended("resp_1")}})
			if c.forgets {
				w.provider.script(call{err: forgotten})
			}
			w.provider.script(call{events: []string{text("ok"), ended("resp_2")}})
			got := w.send("the question")
			w.is(got, chat.PhaseResponseFinalized, chat.OutcomeCompleted, "ok")
			sent := w.provider.requests()
			continued := strings.Contains(sent[1], `"continues":"resp_1"`)
			if continued != (!c.off && !c.differs) || continued == strings.Contains(sent[1], "the question") || strings.Contains(sent[0], `"store":true`) == c.off {
				t.Errorf("sent %q", sent)
			}
			last := sent[len(sent)-1]
			if c.forgets && (len(sent) != 3 || strings.Contains(last, "continues") || strings.Contains(last, "store") || !strings.Contains(last, "the question")) {
				t.Errorf("after it has forgotten: %q", last)
			}
			notes := strings.Join(w.manifest(got.ID).Notes, " ")
			if strings.Contains(notes, "Only what is new was sent") != (continued && !c.forgets) || strings.Contains(notes, "no longer had") != c.forgets ||
				strings.Contains(notes, "was asked to store") != (!c.off && !c.forgets) || strings.Contains(notes, "openai.store = false takes precedence") != c.refused {
				t.Errorf("the manifest says %q", notes)
			}
			w.clean()
		})
	}
}
