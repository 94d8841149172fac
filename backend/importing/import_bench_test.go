package importing_test

import (
	"bufio"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/importing"
)

var full = flag.Bool("full", false, "import an export of 500 MB with 5 000 conversations, not of 10 MB with 100")

// prose writes text with a vocabulary in which some words are frequent.
type prose struct {
	*rand.Rand
	words []string
}

func newProse() prose {
	s := prose{Rand: rand.New(rand.NewPCG(1, 2))} // #nosec G404 -- the same on every run
	for range 4000 {
		word := make([]byte, 2+s.IntN(8))
		for i := range word {
			word[i] = "etaoinshrdlucmfwypvbgk"[s.IntN(22)]
		}
		s.words = append(s.words, string(word))
	}
	return s
}

// write appends about n bytes.
func (s prose) write(b *strings.Builder, n int) {
	for end := b.Len() + n; b.Len() < end; {
		b.WriteString(s.words[int(float64(len(s.words))*s.Float64()*s.Float64())])
		if b.WriteByte(' '); s.IntN(12) == 0 {
			b.WriteString("must be 42 ms in backend/store/open.go. ")
		}
	}
}

// bigExport writes a ChatGPT export with this many conversations, of 100 messages and about 100 kB each.
func bigExport(b *testing.B, conversations int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "conversations.json")
	file, err := os.Create(path) // #nosec G304 -- in the test's own directory
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(file, 1<<20)
	s := newProse()
	var text strings.Builder
	for i := range conversations {
		_, _ = fmt.Fprintf(w, "%c{\"id\":\"c%d\",\"title\":\"Conversation %d\",\"create_time\":%d.5,\"current_node\":\"n99\",\"mapping\":{", "[,"[min(i, 1)], i, i, 1700000000+i)
		for k := range 100 {
			parent, comma := fmt.Sprintf("\"n%d\"", k-1), ","
			if k == 0 {
				parent, comma = "null", ""
			}
			text.Reset()
			s.write(&text, 920)
			_, _ = fmt.Fprintf(w, "%s\"n%d\":{\"id\":\"n%d\",\"parent\":%s,\"message\":{\"author\":{\"role\":%q},\"content\":{\"content_type\":\"text\",\"parts\":[%q]}}}",
				comma, k, k, parent, [...]string{"user", "assistant"}[k%2], text.String())
		}
		_, _ = w.WriteString("}}\n")
	}
	_, _ = w.WriteString("]")
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := file.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkImportExport imports an export into a real store. peak-heap-MB is the peak heap size including garbage,
// which must stay below 500 for 500 MB.
func BenchmarkImportExport(b *testing.B) {
	conversations := 100
	if *full {
		conversations = 5_000
	}
	path := bigExport(b, conversations)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(info.Size())
	var peak uint64
	for b.Loop() {
		e := newEnv(b)
		var m runtime.MemStats
		started := time.Now()
		r, err := e.in.Import(b.Context(), path, importing.Options{Progress: func(importing.Progress) {
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapInuse)
		}})
		if err != nil || r.Sessions != conversations || r.Turns != 50*conversations || r.Problems() {
			b.Fatalf("%v, %+v", err, r)
		}
		b.ReportMetric(float64(r.Turns)/time.Since(started).Seconds(), "turns/s")
	}
	b.ReportMetric(float64(peak)/(1<<20), "peak-heap-MB")
	b.ReportMetric(float64(info.Size())/(1<<20), "file-MB")
}

// BenchmarkImportTiny imports an export with many conversations of one exchange each. conversations/min must stay
// above 10 000 on two cores.
func BenchmarkImportTiny(b *testing.B) {
	conversations := 2_000
	if *full {
		conversations = 20_000
	}
	path := filepath.Join(b.TempDir(), "conversations.json")
	var text strings.Builder
	for i := range conversations {
		_, _ = fmt.Fprintf(&text, `%c{"uuid":"c%d","name":"Conversation %d","created_at":"2024-05-01T10:00:00Z","updated_at":"2024-05-01T10:01:00Z","chat_messages":[`+
			`{"uuid":"q%d","sender":"human","text":"What is %d?","created_at":"2024-05-01T10:00:00Z"},`+
			`{"uuid":"a%d","sender":"assistant","text":"It is a number.","created_at":"2024-05-01T10:01:00Z"}]}`, "[,"[min(i, 1)], i, i, i, i, i)
	}
	text.WriteString("]")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		e := newEnv(b)
		started := time.Now()
		r, err := e.in.Import(b.Context(), path, importing.Options{})
		if err != nil || r.Sessions != conversations || r.Problems() {
			b.Fatalf("%v, %+v", err, r)
		}
		b.ReportMetric(float64(conversations)/time.Since(started).Minutes(), "conversations/min")
	}
}
