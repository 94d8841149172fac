package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/tc-hib/winres"
	"github.com/tc-hib/winres/version"
)

var archs = map[string]winres.Arch{"amd64": winres.ArchAMD64, "arm64": winres.ArchARM64}

// writeWindowsObject writes the object file that Go's linker includes in the exe. It has the same resources with the
// same ids as the file that Wails creates, because the window looks up its icon by id.
func writeWindowsObject(p *project, in inputs, out string) error {
	arch, ok := archs[in.arch]
	if !ok {
		return fmt.Errorf("no Windows build for %s", in.arch)
	}
	set := winres.ResourceSet{}
	if err := setIcon(&set, p.path("build/windows/icon.ico")); err != nil {
		return err
	}
	manifest, err := p.render(p.path("build/windows/wails.exe.manifest"))
	if err != nil {
		return err
	}
	parsed, err := winres.AppManifestFromXML(manifest)
	if err != nil {
		return fmt.Errorf("wails.exe.manifest: %w", err)
	}
	set.SetManifest(parsed)
	if err := setVersion(&set, p); err != nil {
		return err
	}
	return create(out, func(f *os.File) error { return set.WriteObject(f, arch) })
}

func setIcon(set *winres.ResourceSet, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	icon, err := winres.LoadICO(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return set.SetIcon(winres.RT_ICON, icon)
}

func setVersion(set *winres.ResourceSet, p *project) error {
	data, err := p.render(p.path("build/windows/info.json"))
	if err != nil {
		return err
	}
	var v version.Info
	if err := v.UnmarshalJSON(data); err != nil {
		return fmt.Errorf("info.json: %w", err)
	}
	// The fixed version fields only take numbers; this is the version that a user sees.
	if err := v.Set(version.LangNeutral, version.ProductVersion, p.version); err != nil {
		return err
	}
	set.SetVersionInfo(v)
	return nil
}

// writeInstallerParts writes the files that `wails build --nsis` puts next to the installer script: the macros that it
// uses, with this project's names, and Microsoft's WebView2 installer, for systems without it.
func writeInstallerParts(p *project, in inputs, dir string) error {
	if err := p.renderTo(filepath.Join(dir, "wails_tools.nsh"), filepath.Join(in.wails, "pkg/buildassets/build/windows/installer/wails_tools.nsh")); err != nil {
		return err
	}
	const bootstrapper = "MicrosoftEdgeWebview2Setup.exe"
	data, err := os.ReadFile(filepath.Join(in.wails, "internal/webview2runtime", bootstrapper))
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(dir, "tmp", bootstrapper), data)
}
