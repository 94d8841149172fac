package chunking_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
)

// BenchmarkChunk measures how fast ordinary texts are split, in bytes and chunks.
func BenchmarkChunk(b *testing.B) {
	for _, name := range []string{"reply.md", "service.go", "minutes.txt"} {
		text, err := os.ReadFile("testdata/golden/" + name)
		if err != nil {
			b.Fatal(err)
		}
		var long strings.Builder
		for i := 0; long.Len() < 1<<20; i++ { // numbered, because repeated text is kept only once
			long.WriteString(strings.ReplaceAll(string(text), " the ", fmt.Sprintf(" the %d. ", i)) + "\n")
		}
		benchmark(b, name, long.String(), name)
	}
	benchmark(b, "short reply", "All is well. We go on tomorrow.", "")
}

// BenchmarkHostile measures 1 MB of each text that was made to be slow.
func BenchmarkHostile(b *testing.B) {
	for name, text := range hostile(1 << 20) {
		benchmark(b, name, text, "")
	}
}

// benchmark chunks a text as an answer, or as a document with this name.
func benchmark(b *testing.B, name, text, file string) {
	b.Run(name, func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		chunks := 0
		for b.Loop() {
			if file == "" {
				chunks += len(chunking.Chunk(turnOf("q", text), chunking.Options{}))
			} else {
				f := chat.FileText{File: chat.File{ID: "F", Name: file}, Text: text}
				chunks += len(chunking.Chunk(turnOf("q", ""), chunking.Options{}, f))
			}
		}
		b.ReportMetric(float64(chunks)/b.Elapsed().Seconds(), "chunks/s")
	})
}
