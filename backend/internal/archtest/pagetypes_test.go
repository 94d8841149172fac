package archtest

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"contextinfinity/backend/internal/pagetypes"
)

// TestThePageHasTheTypesOfTheProgram compares the page's types with backend/api. -update writes them.
func TestThePageHasTheTypesOfTheProgram(t *testing.T) {
	root := moduleRoot(t)
	want, err := pagetypes.Generate(root)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(root, pagetypes.File)
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s does not match backend/api: run `make types` and commit it", pagetypes.File)
	}
}
