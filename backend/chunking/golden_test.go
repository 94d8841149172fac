package chunking_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares how many kinds of texts are split. The sizes are small, so that a page of text is enough.
func TestGolden(t *testing.T) {
	opt := chunking.Options{MinTokens: 60, MaxTokens: 180, UnitMin: 30, UnitMax: 90}
	names, err := filepath.Glob("testdata/golden/*.*")
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".golden") {
			continue
		}
		tested++
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		turn := turnOf("Here it is.", "")
		turn.Assistant = nil
		file := chat.FileText{File: chat.File{ID: "F", Name: filepath.Base(name)}, Text: string(text)}
		got := outline(check(t, turn, opt, file)[1:])
		golden := name + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is split into\n%s\nwant\n%s", name, got, want)
		}
	}
	if tested < 10 {
		t.Errorf("only %d texts were tested", tested)
	}
}

func outline(chunks []chat.Chunk) string {
	var b strings.Builder
	for _, c := range chunks {
		fmt.Fprintf(&b, "======== %s, %d tokens: %s\n", c.Type, c.Tokens, c.Summary)
		for _, u := range c.Units {
			fmt.Fprintf(&b, "-------- %d tokens\n%s\n", u.Tokens, u.Text)
		}
	}
	return b.String()
}
