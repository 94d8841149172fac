package transfer

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"contextinfinity/test/testtier"
)

// exportOf writes a ChatGPT export of this size, with conversations of about 100 kB each, and opens it.
func exportOf(t testing.TB, size int) Input {
	t.Helper()
	name := filepath.Join(t.TempDir(), fmt.Sprintf("conversations-%d.json", size))
	file, err := os.Create(name) // #nosec G304 -- in the test's own directory
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	w := bufio.NewWriterSize(file, 1<<20)
	written, paragraph := 0, strings.Repeat("It was said before and is said again. ", 26)
	for i := 0; written < size; i++ {
		n, _ := fmt.Fprintf(w, "%c{\"id\":\"c%d\",\"title\":\"Conversation %d\",\"create_time\":%d.5,\"current_node\":\"n99\",\"mapping\":{", "[,"[min(i, 1)], i, i, 1700000000+i)
		written += n
		for k := range 100 {
			role, parent, comma := "user", fmt.Sprintf("\"n%d\"", k-1), ","
			if k%2 == 1 {
				role = "assistant"
			}
			if k == 0 {
				parent, comma = "null", ""
			}
			n, _ = fmt.Fprintf(w, "%s\"n%d\":{\"id\":\"n%d\",\"parent\":%s,\"message\":{\"author\":{\"role\":\"%s\"},\"content\":{\"content_type\":\"text\",\"parts\":[\"%d %d %s\"]}}}",
				comma, k, k, parent, role, i, k, paragraph)
			written += n
		}
		n, _ = w.WriteString("}}\n")
		written += n
	}
	if _, err := w.WriteString("]"); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return Input{Name: name, Size: int64(written) + 1, Data: file}
}

// peakOf reads an export and returns the peak growth of the heap in bytes. Garbage is collected before each sample,
// so that the result does not depend on when the collector runs.
func peakOf(t testing.TB, in Input) (peak uint64, report Report) {
	t.Helper()
	heapSize := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heapSize()
	n := 0
	report, err := Read(context.Background(), in, Options{}, func(c Conversation) error {
		if n++; n%50 == 0 {
			current := heapSize()
			peak = max(peak, current-min(before, current))
		}
		runtime.KeepAlive(c)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return peak, report
}

// TestMemoryIsThatOfOneConversation: an export that is four times as large needs no more memory. Under the race detector
// the test runs itself without the detector, which needs more memory and ten times as long.
func TestMemoryIsThatOfOneConversation(t *testing.T) {
	if testtier.Race {
		cmd := exec.CommandContext(t.Context(), "go", "test", "-race=false", "-count=1", "-v", "-run", "^"+t.Name()+"$", ".") // #nosec G204 -- this test
		out, err := cmd.CombinedOutput()
		if t.Logf("%s", out); err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
			t.Error(err)
		}
		return
	}
	const mb = 1 << 20
	size := testtier.Size(8, 25)
	small, a := peakOf(t, exportOf(t, size*mb))
	large, b := peakOf(t, exportOf(t, 4*size*mb))
	if a.Conversations < 8*size || b.Conversations < 4*a.Conversations-4 || b.SkippedCount > 0 {
		t.Fatalf("read %d and %d conversations", a.Conversations, b.Conversations)
	}
	t.Logf("used at most %d kB reading %d MB and %d kB reading %d MB", small>>10, size, large>>10, 4*size)
	if large > small+small/2+2*mb || large > 8*mb {
		t.Errorf("%d MB need %d kB, %d MB need %d kB", size, small>>10, 4*size, large>>10)
	}
}

// BenchmarkRead reads exports of several sizes. peak-heap-MB is the peak heap size including garbage, which must not
// depend on the size.
func BenchmarkRead(b *testing.B) {
	for _, mb := range []int{25, 100} {
		b.Run(fmt.Sprintf("%dMB", mb), func(b *testing.B) {
			in := exportOf(b, mb<<20)
			b.SetBytes(in.Size)
			runtime.GC()
			var peak uint64
			b.ResetTimer()
			for b.Loop() {
				var m runtime.MemStats
				n := 0
				if _, err := Read(context.Background(), in, Options{}, func(Conversation) error {
					if n++; n%8 == 0 {
						runtime.ReadMemStats(&m)
						peak = max(peak, m.HeapInuse)
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(peak)/(1<<20), "peak-heap-MB")
		})
	}
}
