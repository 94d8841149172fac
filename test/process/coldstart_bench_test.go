package process

import (
	"flag"
	"slices"
	"testing"
	"time"

	"contextinfinity/test/harness"
)

// cold is a data directory that BenchmarkColdStartData of backend/store created.
var cold = flag.String("cold", "", "data directory for the searches")

// BenchmarkSearchProcess runs the command `search` as a process with 1 000 sessions and 100 000 units: for words, and
// for a question that only vectors can answer.
func BenchmarkSearchProcess(b *testing.B) {
	if *cold == "" {
		b.Skip("needs -cold DIRECTORY")
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
			var durations []time.Duration
			var cpu time.Duration
			for b.Loop() {
				begun := time.Now()
				p := h.Start(nil, "--data-dir", *cold, "search", "--json", c.query)
				done := p.Wait().Exits(0)
				durations = append(durations, time.Since(begun))
				var found struct {
					Results []struct{} `json:"results"`
				}
				if done.Document(&found); (len(found.Results) > 0) != c.finds {
					b.Fatalf("%q finds %d passages", c.query, len(found.Results))
				}
				cpu += p.Cmd.ProcessState.UserTime() + p.Cmd.ProcessState.SystemTime()
			}
			slices.Sort(durations)
			b.ReportMetric(float64(cpu.Microseconds())/1000/float64(len(durations)), "cpu-ms")
			b.ReportMetric(float64(durations[len(durations)*95/100].Microseconds())/1000, "p95-ms")
		})
	}
}

// BenchmarkSignIn runs a command alternately on plain data and on a sealed copy of it whose key is in the keyring, and
// reports the medians.
func BenchmarkSignIn(b *testing.B) {
	ring := harness.NewKeyring(b)
	plain := harness.NewHome(b, harness.Shipped(b), "").With("DBUS_SESSION_BUS_ADDRESS=" + ring.Address)
	plain.OK("send", "--new", "--model", "recall", "Where is the xylocanary?")
	sealed := harness.NewHome(b, plain.Bin, "").With("DBUS_SESSION_BUS_ADDRESS=" + ring.Address)
	if err := plain.CopyTo(sealed.Dir); err != nil {
		b.Fatal(err)
	}
	sealed.OK("encrypt", "--sign-in", "--yes")
	var took [2][]time.Duration
	for b.Loop() {
		for i, h := range []*harness.Home{plain, sealed} {
			begun := time.Now()
			h.OK("sessions")
			took[i] = append(took[i], time.Since(begun))
		}
	}
	for i, name := range []string{"plain-ms", "sealed-ms"} {
		slices.Sort(took[i])
		b.ReportMetric(float64(took[i][len(took[i])/2].Microseconds())/1000, name)
	}
}
