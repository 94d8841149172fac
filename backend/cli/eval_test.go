package cli

import (
	"os"
	"path/filepath"
	"testing"

	"contextinfinity/backend/chat"
)

func TestEvalNeverOverwritesItsInput(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	corpus, queries := file("corpus"), file("queries")
	link := filepath.Join(dir, "link")
	if err := os.Link(queries, link); err != nil {
		t.Fatal(err)
	}
	for out, refused := range map[string]bool{corpus: true, queries: true, link: true, file("other"): false, filepath.Join(dir, "new"): false} {
		err := checkOutput(out, corpus, queries)
		if (err != nil) != refused || err != nil && chat.CodeOf(err) != chat.CodeOf(usagef("")) {
			t.Errorf("--out %s: %v", filepath.Base(out), err)
		}
	}
}
