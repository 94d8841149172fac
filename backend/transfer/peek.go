package transfer

import (
	"archive/zip"
	"io"
	"path"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/safezip"
)

// maxPeeked is how many files of an archive PeekArchive examines.
const maxPeeked = 200

// PeekArchive returns what an archive contains without reading it completely: a bundle, or the format of the first
// export in it. An error says why the archive cannot be imported.
func PeekArchive(name string, data io.ReaderAt, size int64) (Format, error) {
	z, err := openArchive(name, data, size)
	if err != nil {
		return "", err
	}
	if isBundle(z) {
		return FormatBundle, nil
	}
	files, err := checkArchive(name, z)
	if err != nil {
		return "", err
	}
	if packed, _ := packedBundles(data, files); len(packed) > 0 {
		return FormatZip, nil
	}
	reason := ""
	for _, f := range files[:min(len(files), maxPeeked)] {
		format, why := detectPacked(f)
		if format != "" && format != formatManifest {
			return format, nil
		}
		if why != "" && reason == "" {
			reason = path.Base(strings.ReplaceAll(f.Name, `\`, "/")) + ": " + why
		}
	}
	switch {
	case reason != "":
		return "", chat.Errorf(chat.CodeInvalid, "import.detect", "Nothing in %s can be read. %s", path.Base(name), reason)
	case len(files) > maxPeeked:
		return FormatZip, nil // the import detects it
	}
	return "", unknownFormat(name)
}

// PackedBundle is a bundle inside an archive.
type PackedBundle struct {
	Name string
	Data *io.SectionReader
}

// PackedBundles returns the uncompressed bundles in an archive, as in an export of all sessions, and the number of
// other files that might be importable.
func PackedBundles(name string, data io.ReaderAt, size int64) (bundles []PackedBundle, others int, err error) {
	z, err := openArchive(name, data, size)
	if err != nil {
		return nil, 0, err
	}
	files, err := checkArchive(name, z)
	if err != nil {
		return nil, 0, err
	}
	bundles, others = packedBundles(data, files)
	return bundles, others, nil
}

func packedBundles(data io.ReaderAt, files []*zip.File) (out []PackedBundle, others int) {
	for _, f := range files {
		at, err := f.DataOffset()
		isStored := err == nil && f.Method == zip.Store && f.Flags&1 == 0 && f.CompressedSize64 == f.UncompressedSize64
		if !isStored || !strings.EqualFold(path.Ext(f.Name), ".cinf") {
			others++
			continue
		}
		out = append(out, PackedBundle{f.Name, io.NewSectionReader(data, at, int64(f.UncompressedSize64))}) // #nosec G115 -- checkArchive bounds it
	}
	return out, others
}

// IsBundle reports whether an archive is a bundle of this program, whatever its name.
func IsBundle(data io.ReaderAt, size int64) bool {
	z, err := safezip.Open(data, size, MaxArchiveFiles)
	return err == nil && isBundle(z)
}

func isBundle(z *zip.Reader) bool {
	parts := 0
	for _, f := range z.File {
		if f.Name == "meta.json" || f.Name == "events.ndjson" {
			parts++
		}
	}
	return parts == 2
}
