package transfer

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/safezip"
)

// errBomb stops unpacking a file that exceeds its limit.
var errBomb = errors.New("it unpacks to far more than its declared or allowed size")

// notConversations are files of exports that look like conversations but contain none.
var notConversations = map[string]bool{
	"shared_conversations.json": true, "message_feedback.json": true, "user.json": true, "users.json": true,
	"projects.json": true, "memories.json": true, "group_chats.json": true, "model_comparisons.json": true,
}

// packedExtensions are the extensions of packed files that may contain conversations.
var packedExtensions = []string{".json", ".jsonl", ".ndjson", ".zip", ".cinf", ".zst"}

// noticeOfFile says what a file of an export contains that is not imported.
func noticeOfFile(name string) string {
	base, dir := strings.ToLower(path.Base(name)), strings.ToLower(path.Base(path.Dir(name)))
	switch {
	case base == "projects.json", dir == "projects":
		return "Projects of an export, with their instructions and files, were not imported."
	case strings.HasPrefix(base, "memor"), dir == "memories":
		return "What an assistant remembers about you was not imported."
	}
	return "Files in the archive contain no conversations; they were skipped."
}

// archive reads every export in a zip, streamed and without unpacking it to disk.
func (r *run) archive(in Input) error {
	z, err := openArchive(in.Name, in.Data, in.Size)
	if err != nil {
		return err
	}
	files, err := checkArchive(in.Name, z)
	if err != nil {
		return err
	}
	r.total = 0
	type found struct {
		file   *zip.File
		format Format
	}
	var exports []found
	isRead := map[string]bool{}
	r.beside = z
	for i, f := range files {
		format, reason := detectPacked(f)
		isRead[f.Name] = format != "" || reason != ""
		if reason != "" {
			r.file = f.Name
			r.skip(SkippedRow{Index: i, Reason: reason})
		}
		if format != "" {
			exports = append(exports, found{f, format})
			r.total += int64(f.UncompressedSize64) // #nosec G115 -- checkArchive bounds the sum
		}
	}
	for _, f := range z.File {
		if !isRead[f.Name] && !f.FileInfo().IsDir() && assetID(f.Name) == "" && path.Base(f.Name) != assetNames {
			r.noticeFile(noticeOfFile(f.Name), f.Name)
		}
	}
	if len(exports) == 0 && r.report.SkippedCount == 0 {
		return unknownFormat(in.Name)
	}
	order := ForkOrder(len(exports), func(i int) (id, parent string) {
		if exports[i].format != FormatCodex {
			return "", ""
		}
		return forkOfPacked(exports[i].file)
	})
	for _, i := range order {
		x := exports[i]
		r.file = x.file.Name
		if r.report.Format == FormatZip && x.format != formatManifest {
			r.report.Format = x.format
		}
		if err := r.packed(i, x.file, x.format); err != nil {
			return err
		}
	}
	return nil
}

// openArchive reads the file list of an archive, with a limit.
func openArchive(name string, data io.ReaderAt, size int64) (*zip.Reader, error) {
	z, err := safezip.Open(data, size, MaxArchiveFiles)
	switch {
	case errors.Is(err, safezip.ErrTooMany):
		return nil, refused(name, "it lists more than %d files", MaxArchiveFiles)
	case err != nil:
		return nil, chat.WrapError(chat.CodeCorrupt, "import.read", err, "%s is a damaged archive; nothing was imported from it.", path.Base(name)).
			WithHint("download or copy it again")
	}
	return z, nil
}

func refused(name, format string, args ...any) error {
	return chat.Errorf(chat.CodeInvalid, "import.read", "%s was rejected, and nothing was imported from it: %s.", path.Base(name), fmt.Sprintf(format, args...))
}

// checkArchive refuses a malicious archive before unpacking anything, and lists the files that may contain
// conversations.
func checkArchive(name string, z *zip.Reader) ([]*zip.File, error) {
	refuse := func(format string, args ...any) error { return refused(name, format, args...) }
	var files []*zip.File
	var total uint64
	bundle := 0
	for _, f := range z.File {
		if outside(f.Name) {
			return nil, refuse("it contains a file named %q, which would be unpacked outside of its folder", f.Name)
		}
		base := strings.ToLower(path.Base(f.Name))
		if base == "meta.json" || base == "events.ndjson" {
			bundle++
		}
		ext := path.Ext(base)
		if f.FileInfo().IsDir() || !slices.Contains(packedExtensions, ext) || notConversations[base] ||
			strings.HasPrefix(base, "._") {
			continue
		}
		if f.UncompressedSize64 > uint64(MaxFileBytes) {
			return nil, refuse("%s in it is larger than %s", f.Name, sizeText(MaxFileBytes))
		}
		if total += f.UncompressedSize64; total > uint64(MaxFileBytes) {
			return nil, refuse("it unpacks to more than %s", sizeText(MaxFileBytes))
		}
		if f.UncompressedSize64 > maxUnpacked(f) {
			return nil, refuse("%s in it becomes more than %d times as large", f.Name, MaxArchiveRatio)
		}
		files = append(files, f)
	}
	if bundle == 2 {
		return nil, bundleError(name)
	}
	return files, nil
}

// maxUnpacked is the maximum unpacked size of a packed file.
func maxUnpacked(f *zip.File) uint64 {
	return max(ArchiveRatioFloor, min(f.CompressedSize64, uint64(MaxFileBytes))*MaxArchiveRatio)
}

// outside reports whether a name leads outside of the directory into which it is unpacked, on any system.
func outside(name string) bool {
	name = strings.ReplaceAll(name, `\`, "/")
	if strings.HasPrefix(name, "/") || len(name) > 1 && name[1] == ':' || strings.ContainsRune(name, 0) {
		return true
	}
	return slices.Contains(strings.Split(name, "/"), "..")
}

// detectPacked detects the format of a packed file. It returns neither a format nor a reason for a file with nothing to
// import.
func detectPacked(f *zip.File) (format Format, reason string) {
	if f.Flags&1 != 0 {
		return "", "It is encrypted."
	}
	var content io.ReadCloser
	format, _, err := detect(uncompressedName(f.Name), func() (io.Reader, error) {
		if content != nil {
			_ = content.Close()
		}
		var err error
		if content, err = f.Open(); err != nil {
			return nil, err
		}
		return plainText(content)
	})
	if content != nil {
		_ = content.Close()
	}
	if _, coded := errors.AsType[*chat.Error](err); err != nil && !coded {
		return "", chat.Say("It cannot be unpacked: %s.", unpacking(err)).Packed()
	}
	switch {
	case err != nil:
		return "", ""
	case format == FormatBundle:
		return "", "It is a bundle inside an archive; unpack the archive, and import the folder."
	case format == FormatZip:
		return "", "It is an archive inside an archive; unpack the outer one, and import the inner one."
	}
	return format, ""
}

// forkOfPacked is ForkOf for a packed file.
func forkOfPacked(f *zip.File) (id, parent string) {
	content, err := f.Open()
	if err != nil {
		return "", "" // reported when it is read
	}
	defer func() { _ = content.Close() }()
	from, err := plainText(content)
	if err != nil {
		return "", ""
	}
	return forkIn(from)
}

// unpacking describes why a packed file cannot be read.
func unpacking(err error) string {
	switch {
	case errors.Is(err, errBomb):
		return "it unpacks to far more than its declared or allowed size"
	case errors.Is(err, zip.ErrAlgorithm):
		return "it is compressed with an unknown method"
	case errors.Is(err, zip.ErrChecksum):
		return "the unpacked data does not match its checksum"
	}
	return "it is damaged"
}

// packed reads one file of an archive. Damage in it affects only that file.
func (r *run) packed(i int, f *zip.File, format Format) error {
	content, err := f.Open()
	if err != nil {
		r.skip(SkippedRow{Index: i, Reason: chat.Say("It cannot be unpacked: %s.", unpacking(err)).Packed()})
		return nil
	}
	defer func() { _ = content.Close() }()
	from := &limitedReader{r: content, remaining: min(maxUnpacked(f), max(f.UncompressedSize64, 1))}
	before := r.read
	text := bufio.NewReader(from)
	head, _ := text.Peek(4) // an error occurs again when it is read
	if slices.Contains(streamed, format) && utf16Order(head) == nil {
		err = readers[format](r, Input{Name: f.Name}, r.count(text))
	} else { // line-based, or read twice: such a file is a single conversation, or small
		err = r.readInMemory(f, text, format)
	}
	if err == nil || r.ctx.Err() != nil || !from.failed() {
		return err
	}
	r.torn(r.read - before)
	r.skip(SkippedRow{Index: i, Offset: r.read - before, Reason: chat.Say("It cannot be unpacked to its end: %s.", unpacking(from.err)).Packed()})
	return nil
}

// readInMemory reads a packed file that must be kept in memory.
func (r *run) readInMemory(f *zip.File, from io.Reader, format Format) error {
	if f.UncompressedSize64 > MaxEntryBytes {
		r.skip(SkippedRow{Reason: tooLargeEntry(MaxEntryBytes)})
		return nil
	}
	text, err := plainText(from)
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(text, MaxEntryBytes+1))
	switch {
	case len(data) > MaxEntryBytes:
		r.skip(SkippedRow{Reason: tooLargeEntry(MaxEntryBytes)})
		return nil
	case err != nil && len(data) == 0:
		return err
	}
	if order := utf16Order(data); order != nil {
		data, _ = order.NewDecoder().Bytes(data) // invalid characters are replaced
	}
	if failed := r.readFile(format, Input{Name: uncompressedName(f.Name), Size: int64(len(data)), Data: bytes.NewReader(data)}); failed != nil {
		return failed
	}
	return err
}

// limitedReader returns errBomb if more than the remaining bytes are read, and remembers its error.
type limitedReader struct {
	r         io.Reader
	remaining uint64
	err       error
}

func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if uint64(n) > l.remaining { // #nosec G115 -- a count of bytes read
		n, err = int(l.remaining), errBomb // #nosec G115 -- less than n
	}
	l.remaining -= uint64(n) // #nosec G115 -- not negative
	l.err = cmp.Or(err, l.err)
	return n, err
}

// failed reports whether the file did not end normally.
func (l *limitedReader) failed() bool { return l.err != nil && !errors.Is(l.err, io.EOF) }
