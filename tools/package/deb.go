package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goreleaser/nfpm/v2"
	"github.com/goreleaser/nfpm/v2/deb"
	"github.com/goreleaser/nfpm/v2/files"
)

const (
	maintainer = "ContextInfinity contributors <contextinfinity@users.noreply.github.com>"
	revision   = "1" // of the package, for one version of the program

	description = `LLM conversations with unlimited, crash-proof history
A desktop program, and a command line, for conversations with language
models. The whole transcript stays on this computer; the model sees a
bounded working set that is put together for every turn.

It talks to OpenAI, Anthropic and servers that speak their protocols, and
answers from the person's own history without any of them.`
)

// writeDeb packs the program for Debian and Ubuntu. The package has no maintainer scripts: triggers of other packages
// register icons, the desktop entry and the file type, and user data is never touched.
func writeDeb(p *project, in inputs, out string) error {
	needed, err := depends(in.binary)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "package-deb-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	contents, err := p.debContents(in, work)
	if err != nil {
		return err
	}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: p.Name, Arch: in.arch, Platform: "linux", Version: debVersion(p.version), VersionSchema: "none", Release: revision,
		Section: "net", Priority: "optional", Maintainer: maintainer, Description: description, License: "MIT",
		DisableGlobbing: true, MTime: p.date,
		Overridables: nfpm.Overridables{
			Depends: needed, Recommends: []string{"xdg-utils"}, Suggests: []string{"gnome-keyring | kwalletmanager"},
			Contents: contents, Umask: 0o022, Deb: nfpm.Deb{Compression: "xz"},
		},
	})
	if err := nfpm.PrepareForPackager(info, "deb"); err != nil {
		return err
	}
	return create(out, func(f *os.File) error { return deb.Default.Package(info, f) })
}

// debVersion converts a version to Debian's ordering: pre-releases begin with a tilde, and a hyphen only separates
// the package's revision.
func debVersion(version string) string { return strings.Replace(version, "-", "~", 1) }

func (p *project) debContents(in inputs, work string) (files.Contents, error) {
	var all files.Contents
	var failed error
	add := func(source, target string, mode os.FileMode) {
		all = append(all, &files.Content{Source: source, Destination: target, FileInfo: &files.ContentFileInfo{Mode: mode, MTime: p.date, Owner: "root", Group: "root"}})
	}
	zipped := func(name string, data []byte, err error) string {
		path := filepath.Join(work, name)
		if err == nil {
			err = writeZipped(path, data)
		}
		if err != nil && failed == nil {
			failed = err
		}
		return path
	}
	file := func(path string) ([]byte, error) { return os.ReadFile(path) }

	add(in.binary, "/usr/bin/contextinfinity", 0o755)
	add(p.path("build/linux/contextinfinity.desktop"), "/usr/share/applications/contextinfinity.desktop", 0o644)
	add(p.path("build/linux/contextinfinity.xml"), "/usr/share/mime/packages/contextinfinity.xml", 0o644)
	add(p.path("build/appicon.svg"), "/usr/share/icons/hicolor/scalable/apps/contextinfinity.svg", 0o644)
	for _, size := range iconSizes {
		add(p.path("build/linux/icons", fmt.Sprintf("%d.png", size)), fmt.Sprintf("/usr/share/icons/hicolor/%[1]dx%[1]d/apps/contextinfinity.png", size), 0o644)
	}
	add(filepath.Join(in.manual, "contextinfinity.bash"), "/usr/share/bash-completion/completions/contextinfinity", 0o644)
	add(filepath.Join(in.manual, "_contextinfinity"), "/usr/share/zsh/vendor-completions/_contextinfinity", 0o644)
	add(filepath.Join(in.manual, "contextinfinity.fish"), "/usr/share/fish/vendor_completions.d/contextinfinity.fish", 0o644)
	page, err := file(filepath.Join(in.manual, "contextinfinity.1"))
	add(zipped("contextinfinity.1.gz", page, err), "/usr/share/man/man1/contextinfinity.1.gz", 0o644)

	const doc = "/usr/share/doc/contextinfinity/"
	licence, err := file(p.path("LICENSE"))
	copyright := filepath.Join(work, "copyright")
	if err == nil {
		err = writeFile(copyright, p.copyright(string(licence)))
	}
	if err != nil {
		return nil, err
	}
	add(copyright, doc+"copyright", 0o644)
	changes, err := file(p.path("CHANGELOG.md"))
	add(zipped("changelog.gz", changes, err), doc+"changelog.gz", 0o644)
	add(zipped("changelog.Debian.gz", p.debChangelog(), nil), doc+"changelog.Debian.gz", 0o644)
	notices, err := file(in.notices)
	add(zipped("third-party-licences.txt.gz", notices, err), doc+"third-party-licences.txt.gz", 0o644)
	add(p.path("README.md"), doc+"README.md", 0o644)
	guide, err := filepath.Glob(p.path("docs/guide/*.md"))
	if err != nil || len(guide) == 0 {
		return nil, fmt.Errorf("there is no user guide in docs/guide (%v)", err)
	}
	for _, page := range guide {
		add(page, doc+"guide/"+filepath.Base(page), 0o644)
	}
	return all, failed
}

// iconSizes are the sizes in build/linux/icons.
var iconSizes = []int{16, 24, 32, 48, 64, 128, 256, 512}

// copyright returns the licence in Debian's format.
func (p *project) copyright(licence string) []byte {
	const beginning = "Permission is hereby granted"
	_, rest, _ := strings.Cut(licence, beginning)
	terms := strings.TrimSpace(beginning + rest)
	var b strings.Builder
	b.WriteString("Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n")
	b.WriteString("Upstream-Name: " + p.Info.ProductName + "\n")
	b.WriteString("Comment: The licences of the libraries that are compiled in are in\n third-party-licences.txt.gz next to this file.\n\n")
	b.WriteString("Files: *\nCopyright: 2026 " + p.Info.CompanyName + "\nLicense: Expat\n")
	for line := range strings.Lines(terms) {
		if line = strings.TrimSpace(line); line == "" {
			line = "."
		}
		b.WriteString(" " + line + "\n")
	}
	return []byte(b.String())
}

// debChangelog returns Debian's changelog, which only names the version; the changes are in changelog.gz.
func (p *project) debChangelog() []byte {
	return fmt.Appendf(nil, "%s (%s-%s) unstable; urgency=medium\n\n  * Version %s. What changed is in changelog.gz.\n\n -- %s  %s\n",
		p.Name, debVersion(p.version), revision, p.version, maintainer, p.date.Format("Mon, 02 Jan 2006 15:04:05 -0700"))
}

// writeZipped compresses without a name or date, so that equal content results in equal files.
func writeZipped(path string, data []byte) error {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return writeFile(path, out.Bytes())
}

func create(path string, fill func(*os.File) error) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := fill(f); err != nil {
		_ = f.Close()
		return err
	}
	return f.Close()
}
