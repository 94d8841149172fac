package transfer

import (
	"archive/zip"
	"io"
	"path"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/zipdir"
)

// maxPeeked is how many files of an archive PeekArchive looks into.
const maxPeeked = 200

// PeekArchive says what an archive holds, without reading it through: a bundle, or the
// format of the first export in it. Its errors say why it would not be read.
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
	reason := ""
	for _, f := range files[:min(len(files), maxPeeked)] {
		format, why := lookInto(f)
		if format != "" {
			return format, nil
		}
		if why != "" && reason == "" {
			reason = path.Base(strings.ReplaceAll(f.Name, `\`, "/")) + " in it: " + why
		}
	}
	switch {
	case reason != "":
		return "", chat.Errorf(chat.CodeInvalid, "import.detect", "Nothing in %s can be read (%s).", path.Base(name), reason)
	case len(files) > maxPeeked:
		return FormatZip, nil // the import finds out
	}
	return "", unknownFormat(name)
}

// IsBundle reports whether an archive is a bundle of this program, whatever it is called.
func IsBundle(data io.ReaderAt, size int64) bool {
	z, err := zipdir.Open(data, size, MaxArchiveFiles)
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
