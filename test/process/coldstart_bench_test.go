package process

import (
	"flag"
	"slices"
	"testing"
	"time"

	"contextinfinity/test/harness"
)

// cold is a data directory that was made by BenchmarkColdStartData of backend/store.
var cold = flag.String("cold", "", "data directory for the searches")

// BenchmarkSearchProcess runs the command `search` as a process with 1 000 sessions and 100 000 units: for words, and
// for a question that only vectors can answer.
func BenchmarkSearchProcess(b *testing.B) {
	if *cold == "" {
		b.Skip("-cold DIRECTORY is not given")
	}
	h := harness.NewHome(b, harness.Shipped(b), "")
	for _, c := range []struct {
		name, query string
		finds       bool
	}{
		{"words", "Where did rare17 and rare42 meet odd3, and who saw odd11?", true},
		{"common-words", "What are the common words of every day?", true},
		{"vectors-alone", "everydayish commonplaces", false}, // nothing is similar enough, so all vectors are compared
	} {
		b.Run(c.name, func(b *testing.B) {
			var took []time.Duration
			var used time.Duration
			for b.Loop() {
				begun := time.Now()
				p := h.Start(nil, "--data-dir", *cold, "search", "--json", c.query)
				done := p.Wait().Exits(0)
				took = append(took, time.Since(begun))
				var found struct {
					Results []struct{} `json:"results"`
				}
				if done.Document(&found); (len(found.Results) > 0) != c.finds {
					b.Fatalf("%q finds %d passages", c.query, len(found.Results))
				}
				used += p.Cmd.ProcessState.UserTime() + p.Cmd.ProcessState.SystemTime()
			}
			slices.Sort(took)
			b.ReportMetric(float64(used.Microseconds())/1000/float64(len(took)), "cpu-ms")
			b.ReportMetric(float64(took[len(took)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}
