package app

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// If a provider rejects requests for their size at half of the program's ceiling, each further request is smaller, in
// every protocol, and below the provider's limit if the provider names one. The steps are in the manifest, and the
// third attempt succeeds (SRD 7.2, 7.3).
func TestARequestRejectedForItsSizeIsMadeSmaller(t *testing.T) {
	t.Parallel()
	for _, w := range testtier.Size(harness.Wires[:1], harness.Wires) {
		for name, c := range map[string]struct {
			words    string
			refusals int32
			maxShare float64 // the largest allowed size of the last request, relative to the rejected one
		}{
			"without the limit": {"Your input exceeds the context window of this model.", 2, 0.81},
			"with the limit":    {"This model's maximum context length is 4000 tokens. However, your messages resulted in 5000 tokens.", 1, 0.8},
		} {
			t.Run(w.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				var refuse atomic.Int32
				r := harness.NewRelay(t, w, func(int) llmtest.Step {
					if refuse.Add(-1) >= 0 {
						return llmtest.JSON(http.StatusBadRequest, fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":%q}}`, c.words))
					}
					return llmtest.Stream(w.TextStream(true, strings.Repeat("Go on, it is noted. ", 60))...)
				}, nil)
				d := newFixture(t, w.Windowed("m", r.URL, 8192)+"[librarian]\nmodel = \"\"\n")
				session := ""
				for i := range 5 {
					session = d.send(session, chatter(i)+chatter(i+20), "--model", "m", "--wait", "committed").SessionID
				}
				before := r.Bodies()
				refuse.Store(c.refusals)
				sent := d.send(session, "What was said of the harbour?", "--model", "m")
				bodies := r.Bodies()[len(before):]
				if len(bodies) != int(c.refusals)+1 || sent.Outcome != "completed" {
					t.Fatalf("%d requests, %s", len(bodies), sent.Outcome)
				}
				for i := 1; i < len(bodies); i++ {
					if len(bodies[i]) >= len(bodies[i-1]) {
						t.Errorf("request %d has %d bytes after one of %d was refused", i+1, len(bodies[i]), len(bodies[i-1]))
					}
				}
				v := d.contextView(session, "--turn", sent.TurnID)
				refused := float64(len(bodies[0]))
				steps := strings.Join(v.Manifest.Shrink, "\n") + "\n"
				if n := strings.Count(steps, "the provider refused this request of "); n != int(c.refusals) || strings.Count(steps, "0: the cut") < n {
					t.Errorf("the steps of %d attempts are not listed: %q", c.refusals+1, v.Manifest.Shrink)
				}
				if m := v.Manifest; m.TotalTokens > m.Budget.Ceiling || float64(len(bodies[len(bodies)-1])) > c.maxShare*refused {
					t.Errorf("%d tokens of %d, %d of %.0f bytes: %q", m.TotalTokens, m.Budget.Ceiling, len(bodies[len(bodies)-1]), refused, m.Shrink)
				}
				if full := float64(v.Manifest.Budget.Ceiling) / v.Manifest.Inputs.Reduce; refused/4 > 0.6*full {
					t.Errorf("the refused request used %.0f of %.0f tokens, so the test proves too little", refused/4, full)
				}
				harness.EveryByteIsShown(t, w, v, bodies[len(bodies)-1], "the smaller request")
				d.Clean()
			})
		}
	}
}
