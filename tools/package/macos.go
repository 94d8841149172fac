package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
)

// writeBundle lays out ContextInfinity.app as Wails does. The program itself can only be compiled on macOS, because
// it needs Apple's frameworks.
func writeBundle(p *project, in inputs, dir string) error {
	contents := filepath.Join(dir, p.Info.ProductName+".app", "Contents")
	if err := p.renderTo(filepath.Join(contents, "Info.plist"), p.path("build/darwin/Info.plist")); err != nil {
		return err
	}
	icon, err := p.icns()
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(contents, "Resources", "iconfile.icns"), icon); err != nil {
		return err
	}
	for _, association := range p.Info.FileAssociations {
		if err := writeFile(filepath.Join(contents, "Resources", association.IconName+".icns"), icon); err != nil {
			return err
		}
	}
	notices, err := os.ReadFile(in.notices)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(contents, "Resources", "third-party-licences.txt"), notices); err != nil {
		return err
	}
	if in.binary == "" {
		return nil
	}
	program, err := os.ReadFile(in.binary)
	if err != nil {
		return err
	}
	path := filepath.Join(contents, "MacOS", p.OutputFilename)
	if err := writeFile(path, program); err != nil {
		return err
	}
	return os.Chmod(path, 0o755)
}

// icnsTypes are the sizes in pixels that the format accepts as PNG, with their type names; 32 and 64 are also 16 and 32
// points on a high-resolution display.
var icnsTypes = []struct {
	name string
	size int
}{{"ic11", 32}, {"ic12", 64}, {"ic07", 128}, {"ic13", 256}, {"ic08", 256}, {"ic14", 512}, {"ic09", 512}, {"ic10", 1024}}

// icns puts the PNG files into the macOS icon format: a header, then for each file its type, the length including
// these eight bytes (big endian), and the data.
func (p *project) icns() ([]byte, error) {
	var body bytes.Buffer
	for _, entry := range icnsTypes {
		path := p.path("build/linux/icons", fmt.Sprintf("%d.png", entry.size))
		if entry.size == 1024 {
			path = p.path("build/appicon.png")
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		picture, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil || picture.Width != entry.size || picture.Height != entry.size {
			return nil, fmt.Errorf("%s is not a PNG of %d pixels (%v)", path, entry.size, err)
		}
		body.WriteString(entry.name)
		_ = binary.Write(&body, binary.BigEndian, uint32(8+len(data)))
		body.Write(data)
	}
	out := append([]byte("icns"), binary.BigEndian.AppendUint32(nil, uint32(8+body.Len()))...)
	return append(out, body.Bytes()...), nil
}
