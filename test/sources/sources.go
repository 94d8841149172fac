// Package sources makes go test's cache depend on the sources of a program that a test builds and runs.
//
// go test runs a test again if an import of its package has changed, or a file of the module that it opened. A
// program made by go build is neither.
package sources

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// LookAt opens each source file and each embedded file of the program whose main package is in dir, built with these
// tags.
func LookAt(dir, tags string) error {
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
