package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// component is third-party code that is compiled in.
type component struct{ name, version, dir string }

// writeNotices collects the licences of everything that is compiled into the program, as they require. A component
// fails the build if it has neither a licence file nor a package.json that declares its licence.
func writeNotices(p *project, in inputs, out string) error {
	modules, err := p.goModules(in.tags)
	if err != nil {
		return err
	}
	packages, err := p.npmPackages()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s includes third-party software under the following licences.\n", p.Info.ProductName)
	for _, c := range slices.Concat(modules, packages) {
		texts, err := c.licences()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "\n%s\n%s %s\n\n%s\n", strings.Repeat("=", 80), c.name, c.version, strings.Join(texts, "\n\n"))
	}
	return writeFile(out, b.Bytes())
}

// goModules returns the modules of the packages that the program is linked from, and Go itself.
func (p *project) goModules(tags string) ([]component, error) {
	cmd := exec.Command("go", "list", "-deps", "-json=Module", "-tags", tags, ".")
	cmd.Dir, cmd.Stderr = p.root, os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	out := []component{{"Go", "", strings.TrimSpace(string(goroot))}}
	for d := json.NewDecoder(bytes.NewReader(output)); ; {
		var listed struct {
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		if err := d.Decode(&listed); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		if m := listed.Module; m != nil && !m.Main {
			out = append(out, component{m.Path, m.Version, m.Dir})
		}
	}
	return sorted(out), nil
}

// npmPackages returns the packages of the frontend: those that the lock file marks neither as development dependencies
// nor as optional.
func (p *project) npmPackages() ([]component, error) {
	data, err := os.ReadFile(p.path("frontend/package-lock.json"))
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version                    string
			Dev, DevOptional, Optional bool
		}
	}
	if err := json.Unmarshal(data, &lock); err != nil {
		return nil, err
	}
	var out []component
	for path, pkg := range lock.Packages {
		if path == "" || pkg.Dev || pkg.DevOptional || pkg.Optional {
			continue
		}
		name := path[strings.LastIndex(path, "node_modules/")+len("node_modules/"):]
		out = append(out, component{name, pkg.Version, p.path("frontend", path)})
	}
	return sorted(out), nil
}

func sorted(all []component) []component {
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.name+" "+a.version, b.name+" "+b.version) })
	return slices.Compact(all)
}

var licenceName = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|ofl)([-.].*)?$`)

func (c component) licences() ([]string, error) {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.name, err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() || !licenceName.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(c.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		out = append(out, strings.TrimSpace(string(data)))
	}
	if len(out) > 0 {
		return out, nil
	}
	if name := c.declaredLicence(); name != "" {
		return []string{"Its package contains no licence text. It declares the licence: " + name}, nil
	}
	return nil, fmt.Errorf("%s %s has no licence file in %s", c.name, c.version, c.dir)
}

// declaredLicence returns the licence that an npm package declares in package.json; empty for other components.
func (c component) declaredLicence() string {
	data, err := os.ReadFile(filepath.Join(c.dir, "package.json"))
	if err != nil {
		return ""
	}
	var manifest struct{ License string }
	if err := json.Unmarshal(data, &manifest); err != nil {
		return ""
	}
	return manifest.License
}
