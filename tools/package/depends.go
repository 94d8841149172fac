package main

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// librariesOf maps each library that the program may be linked with to its Debian package. Any other library makes the
// build fail, because the package would lack a dependency and the program would not start. Debian and Ubuntu renamed
// some packages in 2024 (t64), when time became 64 bits wide on other architectures.
var librariesOf = map[string]string{
	"libgtk-3.so.0":                 "libgtk-3-0t64 | libgtk-3-0",
	"libgdk-3.so.0":                 "libgtk-3-0t64 | libgtk-3-0",
	"libglib-2.0.so.0":              "libglib2.0-0t64 | libglib2.0-0",
	"libgobject-2.0.so.0":           "libglib2.0-0t64 | libglib2.0-0",
	"libgio-2.0.so.0":               "libglib2.0-0t64 | libglib2.0-0",
	"libgdk_pixbuf-2.0.so.0":        "libgdk-pixbuf-2.0-0",
	"libcairo.so.2":                 "libcairo2",
	"libcairo-gobject.so.2":         "libcairo-gobject2",
	"libpango-1.0.so.0":             "libpango-1.0-0",
	"libpangocairo-1.0.so.0":        "libpangocairo-1.0-0",
	"libatk-1.0.so.0":               "libatk1.0-0t64 | libatk1.0-0",
	"libharfbuzz.so.0":              "libharfbuzz0b",
	"libz.so.1":                     "zlib1g",
	"libsoup-3.0.so.0":              "libsoup-3.0-0",
	"libwebkit2gtk-4.1.so.0":        "libwebkit2gtk-4.1-0",
	"libjavascriptcoregtk-4.1.so.0": "libjavascriptcoregtk-4.1-0",
	"libX11.so.6":                   "libx11-6",
}

// systemLibraries are parts of the C library's package, for which a minimum version is declared.
var systemLibraries = []string{"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "librt.so.1", "libresolv.so.2", "ld-linux-x86-64.so.2"}

// depends returns the Debian packages that a program needs: its libraries, and the minimum version of the C library.
func depends(path string) ([]string, error) {
	f, err := elf.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s is not a program for Linux: %w", path, err)
	}
	defer f.Close()
	libraries, err := f.ImportedLibraries()
	if err != nil {
		return nil, err
	}
	symbols, err := f.ImportedSymbols()
	if err != nil {
		return nil, err
	}
	return packagesOf(libraries, symbols)
}

func packagesOf(libraries []string, symbols []elf.ImportedSymbol) ([]string, error) {
	var out []string
	for _, library := range libraries {
		if slices.Contains(systemLibraries, library) {
			continue
		}
		name, ok := librariesOf[library]
		if !ok {
			return nil, fmt.Errorf("the program needs %s: name its Debian package in depends.go", library)
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return append([]string{"libc6 (>= " + newestC(symbols) + ")"}, out...), nil
}

// newestC returns the highest version of the C library that a symbol needs.
func newestC(symbols []elf.ImportedSymbol) string {
	best := [2]int{2, 17} // the minimum on every machine that Go 1.26 supports
	for _, s := range symbols {
		version, ok := strings.CutPrefix(s.Version, "GLIBC_")
		if !ok {
			continue
		}
		parts := strings.Split(version, ".")
		if len(parts) < 2 {
			continue
		}
		major, _ := strconv.Atoi(parts[0])
		minor, _ := strconv.Atoi(parts[1])
		if got := [2]int{major, minor}; slices.Compare(got[:], best[:]) > 0 {
			best = got
		}
	}
	return fmt.Sprintf("%d.%d", best[0], best[1])
}
