// Package sources makes go test's cache depend on the sources of a program that a test builds and runs.
//
// go test runs a test again if an import of its package has changed, or a file of the module that the test accessed.
// A program built by the test is neither.
package sources

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Track accesses each source file and each embedded file of the program whose main package is in dir, built with these
// tags, so that go test records them as inputs of the test.
func Track(dir, tags string) error {
	const files = `{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}
{{end}}{{$.Module.GoMod}}
{{end}}{{end}}`
	cmd := exec.Command("go", "list", "-buildvcs=false", "-deps", "-tags", tags, "-f", files, ".") // #nosec G204 -- the go command, of tests
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("go list: %w", err)
	}
	seen := map[string]bool{}
	for name := range strings.FieldsFuncSeq(string(out), func(r rune) bool { return r == '\n' }) {
		if seen[name] {
			continue
		}
		seen[name] = true
		if _, err := os.Stat(name); err != nil {
			return err
		}
	}
	if len(seen) == 0 {
		return fmt.Errorf("%s has no sources", dir)
	}
	return nil
}
