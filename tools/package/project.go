package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"text/template"
	"time"
)

// project describes the program for packages: wails.json, in the shape that Wails' templates expect, with the version
// of this build.
type project struct {
	Name           string `json:"name"`
	OutputFilename string `json:"outputfilename"`
	Info           info   `json:"info"`

	root    string // of the repository
	version string // as scripts/version prints it
	date    time.Time
}

type info struct {
	CompanyName      string        `json:"companyName"`
	ProductName      string        `json:"productName"`
	ProductVersion   string        `json:"productVersion"` // three numbers, as Windows and macOS require
	Copyright        string        `json:"copyright"`
	Comments         string        `json:"comments"`
	FileAssociations []association `json:"fileAssociations"`
	Protocols        []struct{}    `json:"protocols"`
}

type association struct {
	Ext         string `json:"ext"`
	Name        string `json:"name"`
	Description string `json:"description"`
	IconName    string `json:"iconName"`
	Role        string `json:"role"`
}

func readProject(root, version string, date time.Time) (*project, error) {
	p := &project{root: root, version: version, date: date}
	data, err := os.ReadFile(filepath.Join(root, "wails.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("wails.json: %w", err)
	}
	if p.Info.ProductVersion, err = threeNumbers(version); err != nil {
		return nil, err
	}
	return p, nil
}

var leadingNumbers = regexp.MustCompile(`^(\d+\.\d+\.\d+)($|[-+])`)

// threeNumbers returns the numeric part of a version, which every system accepts.
func threeNumbers(version string) (string, error) {
	found := leadingNumbers.FindStringSubmatch(version)
	if found == nil {
		return "", fmt.Errorf("the version %q does not begin with three numbers", version)
	}
	return found[1], nil
}

func (p *project) path(parts ...string) string {
	return filepath.Join(append([]string{p.root}, parts...)...)
}

// render renders one of Wails' templates.
func (p *project) render(path string) ([]byte, error) {
	t, err := template.New(filepath.Base(path)).ParseFiles(path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (p *project) renderTo(target, path string) error {
	data, err := p.render(path)
	if err != nil {
		return err
	}
	return writeFile(target, data)
}

func writeFile(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
