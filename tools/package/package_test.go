package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/xml"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func testProject(t *testing.T, version string) *project {
	t.Helper()
	p, err := readProject("../..", version, time.Unix(1790000000, 0).UTC())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestVersions(t *testing.T) {
	for _, c := range []struct{ version, numbers, debian string }{
		{"1.2.3", "1.2.3", "1.2.3"},
		{"1.2.3+5.gabc1234", "1.2.3", "1.2.3+5.gabc1234"},
		{"0.1.0-dev.406+g5c67eb8.dirty", "0.1.0", "0.1.0~dev.406+g5c67eb8.dirty"},
		{"unknown", "", ""},
		{"1.2", "", ""},
		{"1.2.3.4", "", ""},
	} {
		numbers, err := threeNumbers(c.version)
		if numbers != c.numbers || (err == nil) != (c.numbers != "") {
			t.Errorf("threeNumbers(%q) = %q, %v", c.version, numbers, err)
		}
		if err == nil && debVersion(c.version) != c.debian {
			t.Errorf("debVersion(%q) = %q, want %q", c.version, debVersion(c.version), c.debian)
		}
	}
}

func TestDependenciesOfAProgram(t *testing.T) {
	symbols := []elf.ImportedSymbol{{Name: "a", Version: "GLIBC_2.9"}, {Name: "b", Version: "GLIBC_2.34"}, {Name: "c", Version: "GCC_3.0"}, {Name: "d"}}
	got, err := packagesOf([]string{"libgdk-3.so.0", "libwebkit2gtk-4.1.so.0", "libgtk-3.so.0", "libc.so.6"}, symbols)
	want := []string{"libc6 (>= 2.34)", "libgtk-3-0t64 | libgtk-3-0", "libwebkit2gtk-4.1-0"}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := packagesOf([]string{"libsurprise.so.1"}, nil); err == nil || !strings.Contains(err.Error(), "libsurprise.so.1") {
		t.Errorf("an unlisted library was accepted: %v", err)
	}
}

// The templates of the packages render to well-formed files with the version.
func TestTemplates(t *testing.T) {
	p := testProject(t, "7.8.9-dev.1+gabc")
	for path, wants := range map[string][]string{
		"build/darwin/Info.plist":          {"<string>7.8.9</string>", "<string>cinf</string>", "io.github.contextinfinity.cinf", "<string>ContextInfinity bundle</string>"},
		"build/windows/wails.exe.manifest": {`version="7.8.9.0"`, "asInvoker", "permonitorv2"},
	} {
		got, err := p.render(p.path(path))
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(bytes.NewReader(got)); err == nil; {
			_, err = d.Token()
		}
		if err != io.EOF {
			t.Errorf("%s is not XML: %v", path, err)
		}
		for _, want := range wants {
			if !bytes.Contains(got, []byte(want)) {
				t.Errorf("%s does not contain %s", path, want)
			}
		}
	}
}

func TestMacOSIcon(t *testing.T) {
	icon, err := testProject(t, "1.0.0").icns()
	if err != nil {
		t.Fatal(err)
	}
	if string(icon[:4]) != "icns" || int(binary.BigEndian.Uint32(icon[4:])) != len(icon) {
		t.Fatalf("the header is %q", icon[:8])
	}
	var found int
	for rest := icon[8:]; len(rest) > 0; found++ {
		size := binary.BigEndian.Uint32(rest[4:])
		picture, err := png.DecodeConfig(bytes.NewReader(rest[8:size]))
		if err != nil || picture.Width != icnsTypes[found].size || string(rest[:4]) != icnsTypes[found].name {
			t.Errorf("entry %d is %q of %d pixels: %v", found, rest[:4], picture.Width, err)
		}
		rest = rest[size:]
	}
	if found != len(icnsTypes) {
		t.Errorf("%d entries", found)
	}
}

func TestCopyrightContainsTheCompleteLicence(t *testing.T) {
	p := testProject(t, "1.0.0")
	licence, err := os.ReadFile(p.path("LICENSE"))
	if err != nil {
		t.Fatal(err)
	}
	got := string(p.copyright(string(licence)))
	for _, want := range []string{"Files: *\n", "License: Expat\n Permission is hereby granted, free of charge", "\n .\n", "DEALINGS IN THE"} {
		if !strings.Contains(got, want) {
			t.Errorf("the copyright file does not contain %q:\n%s", want, got)
		}
	}
	if strings.Count(got, "Permission is hereby granted") != 1 {
		t.Error("the copyright file contains the licence more than once")
	}
}

func TestAComponentWithoutALicenceFails(t *testing.T) {
	write := func(dir, name, text string) component {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return component{name: "x", dir: dir}
	}
	for _, c := range []struct{ name, text, want string }{
		{"LICENSE", "be kind\n", "be kind"},
		{"license.md", "be kind", "be kind"},
		{"COPYING", "be kind", "be kind"},
		{"package.json", `{"license":"MIT"}`, "declares the licence: MIT"},
		{"package.json", `{}`, ""},
		{"licence.go", "package x", ""},
		{"README", "MIT", ""},
	} {
		got, err := write(t.TempDir(), c.name, c.text).licences()
		if c.want == "" && err == nil || c.want != "" && (err != nil || !strings.Contains(strings.Join(got, ""), c.want)) {
			t.Errorf("%s with %q: %q, %v", c.name, c.text, got, err)
		}
	}
}
