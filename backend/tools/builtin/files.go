package builtin

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/plainfile"
	"contextinfinity/backend/tools"
)

// Limits of the file tools.
const (
	maxRead       = 64 << 10 // bytes per result
	maxFile       = 8 << 20  // size of a file that is read or searched
	maxEntries    = 1000     // listed entries of a folder
	maxWrite      = 4 << 20
	maxMatches    = 200
	maxMatchLine  = 300
	maxSearched   = 20_000    // files
	maxSearchSize = 256 << 20 // total size of searched files, in bytes
	maxPreviewed  = 512 << 10 // size of a file whose change is shown
)

// openRegular opens a file for reading. Anything but a regular file is refused: reading a pipe could block forever.
func openRegular(root *os.Root, rel string) (*os.File, fs.FileInfo, error) {
	f, err := root.OpenFile(rel, os.O_RDONLY|plainfile.NonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = refusal("it is not a file")
		if info.IsDir() {
			err = refusal("it is a folder: use list_directory")
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// readText returns the content of a text file.
func readText(root *os.Root, rel string) ([]byte, error) {
	f, info, err := openRegular(root, rel)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	if info.Size() > maxFile {
		return nil, refusal("the file has %d bytes; at most %d MB can be read", info.Size(), maxFile>>20)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err == nil && !isText(data) {
		err = refusal("the file is not text (%d bytes)", len(data))
	}
	return data, err
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

func (f *files) read(_ context.Context, c tools.Call) (string, error) {
	var a struct {
		Path     string `json:"path"`
		FromLine int    `json:"from_line"`
		Lines    int    `json:"lines"`
	}
	if err := arguments(c, &a); err != nil {
		return "", err
	}
	root, rel, err := f.open(a.Path)
	if err != nil {
		return "", err
	}
	defer root.Close() // nothing was written through it
	data, err := readText(root, rel)
	if err != nil {
		return "", err
	}
	lines := strings.SplitAfter(string(data), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	from := max(a.FromLine, 1)
	if from > len(lines) && len(lines) > 0 {
		return "", refusal("the file has %s", display.Count(len(lines), "line", "lines"))
	}
	var b strings.Builder
	next := from
	for ; next <= len(lines) && (a.Lines <= 0 || next < from+a.Lines); next++ {
		line := lines[next-1]
		if b.Len()+len(line) > maxRead {
			if b.Len() == 0 { // a single line exceeds the limit
				b.WriteString(display.Start(line, maxRead) + "\n[the rest of this line is left out]\n")
				next++
			}
			break
		}
		b.WriteString(line)
	}
	switch {
	case len(lines) == 0:
		return "[the file is empty]", nil
	case next <= len(lines):
		fmt.Fprintf(&b, "\n[lines %d to %d of %d; read on with from_line %d]", from, next-1, len(lines), next)
	}
	return b.String(), nil
}

func (f *files) list(_ context.Context, c tools.Call) (string, error) {
	var a struct {
		Path string `json:"path"`
	}
	if err := arguments(c, &a); err != nil {
		return "", err
	}
	if a.Path == "" && len(f.folders) > 1 {
		var b strings.Builder
		for _, dir := range f.folders {
			b.WriteString(dir.configured + string(filepath.Separator) + "\n")
		}
		return b.String(), nil
	}
	root, rel, err := f.open(a.Path)
	if err != nil {
		return "", err
	}
	defer root.Close() // nothing was written through it
	dir, err := root.OpenFile(rel, os.O_RDONLY|plainfile.NonBlocking, 0)
	if err != nil {
		return "", err
	}
	defer dir.Close() // it was only read
	if info, err := dir.Stat(); err != nil {
		return "", err
	} else if !info.IsDir() {
		return "", refusal("it is not a folder")
	}
	entries, err := dir.ReadDir(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var b strings.Builder
	for _, e := range entries[:min(len(entries), maxEntries)] {
		b.WriteString(entryLine(e) + "\n")
	}
	if len(entries) == 0 {
		b.WriteString("[the folder is empty]")
	}
	if len(entries) > maxEntries {
		fmt.Fprintf(&b, "[there are more than %d entries; not all are listed]", maxEntries)
	}
	return b.String(), nil
}

func entryLine(e fs.DirEntry) string {
	name := display.OneLine(e.Name())
	switch {
	case e.IsDir():
		return name + "/"
	case e.Type()&fs.ModeSymlink != 0:
		return name + " (link)"
	case !e.Type().IsRegular():
		return name + " (not a file)"
	}
	info, err := e.Info()
	if err != nil {
		return name
	}
	return fmt.Sprintf("%s (%d bytes)", name, info.Size())
}

func (f *files) search(ctx context.Context, c tools.Call) (string, error) {
	var a struct {
		Path  string `json:"path"`
		Text  string `json:"text"`
		Names string `json:"names"`
	}
	if err := arguments(c, &a); err != nil {
		return "", err
	}
	if a.Text == "" || len(a.Text) > maxMatchLine || strings.ContainsAny(a.Text, "\n\r") {
		return "", refusal("the text to find is one line of at most %d bytes", maxMatchLine)
	}
	if _, err := path.Match(a.Names, "x"); err != nil {
		return "", refusal("%s is not a valid pattern for names", shortPath(a.Names))
	}
	bases := f.folders
	rel := "."
	if a.Path != "" {
		base, r, err := locate(f.folders, a.Path)
		if err != nil {
			return "", err
		}
		bases, rel = []folder{base}, r
	}
	search := &fileSearch{ctx: ctx, text: strings.ToLower(a.Text), names: a.Names}
	for _, base := range bases {
		root, err := os.OpenRoot(base.real)
		if err != nil {
			return "", err
		}
		err = search.walk(root, base, rel)
		_ = root.Close() // nothing was written through it
		if err != nil {
			return "", err
		}
	}
	return search.result(), nil
}

// fileSearch is one search through files.
type fileSearch struct {
	ctx       context.Context //nolint:containedctx // it lives as long as one call
	text      string
	names     string
	found     strings.Builder
	matches   int
	files     int
	bytes     int64
	truncated bool // a limit was reached
}

// errLimit ends a walk at a limit.
var errLimit = errors.New("limit reached")

func (s *fileSearch) walk(root *os.Root, base folder, rel string) error {
	err := fs.WalkDir(root.FS(), filepath.ToSlash(rel), func(name string, e fs.DirEntry, err error) error {
		switch {
		case s.ctx.Err() != nil:
			return s.ctx.Err()
		case err != nil:
			if name == filepath.ToSlash(rel) {
				return err
			}
			return nil // a file that cannot be opened is skipped
		case e.IsDir():
			if e.Name() == ".git" || e.Name() == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if ok, _ := path.Match(s.names, e.Name()); s.names != "" && !ok || !e.Type().IsRegular() {
			return nil
		}
		if s.files++; s.files > maxSearched || s.bytes > maxSearchSize || s.matches >= maxMatches {
			s.truncated = true
			return errLimit
		}
		data, err := readText(root, filepath.FromSlash(name))
		if err != nil {
			return nil //nolint:nilerr // not text, or deleted: skipped
		}
		s.bytes += int64(len(data))
		s.match(filepath.Join(base.configured, filepath.FromSlash(name)), data)
		return nil
	})
	if errors.Is(err, errLimit) {
		return nil
	}
	return err
}

func (s *fileSearch) match(name string, data []byte) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, maxFile+1)
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		pos := strings.Index(strings.ToLower(line), s.text)
		if pos < 0 {
			continue
		}
		if s.matches++; s.matches > maxMatches {
			s.truncated = true
			return
		}
		if len(line) > maxMatchLine {
			from := display.CharacterStart(line, min(max(0, pos-maxMatchLine/3), len(line)-maxMatchLine))
			line = "…" + display.Start(line[from:], maxMatchLine) + "…"
		}
		fmt.Fprintf(&s.found, "%s:%d: %s\n", display.OneLine(name), n, line)
	}
}

func (s *fileSearch) result() string {
	switch {
	case s.matches == 0 && !s.truncated:
		return "[no file has this text]"
	case s.truncated:
		s.found.WriteString("[there is more to search; narrow it by path or names]")
	}
	return s.found.String()
}

// writeArguments are the arguments of write_file.
type writeArguments struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

func (f *files) write(_ context.Context, c tools.Call) (string, error) {
	var a writeArguments
	if err := arguments(c, &a); err != nil {
		return "", err
	}
	if len(a.Content) > maxWrite {
		return "", refusal("at most %d MB can be written at once", maxWrite>>20)
	}
	root, rel, err := f.open(a.Path)
	if err != nil {
		return "", err
	}
	defer root.Close() // the written file was closed separately
	mode, existed, err := writable(root, rel)
	if err != nil {
		return "", err
	}
	if err := root.MkdirAll(filepath.Dir(rel), 0o755); err != nil { // #nosec G301 -- a folder for the user's own files
		return "", err
	}
	if err := replace(root, rel, []byte(a.Content), mode); err != nil {
		return "", err
	}
	if existed {
		return fmt.Sprintf("The file was replaced; it has %s now.", display.Count(len(a.Content), "byte", "bytes")), nil
	}
	return fmt.Sprintf("The file was created; it has %s.", display.Count(len(a.Content), "byte", "bytes")), nil
}

// writable returns the mode of a file to be written. A link is refused, because the link would be replaced instead of
// its target.
func writable(root *os.Root, rel string) (fs.FileMode, bool, error) {
	info, err := root.Lstat(rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0o644, false, nil
	case err != nil:
		return 0, false, err
	case info.Mode()&fs.ModeSymlink != 0:
		return 0, false, refusal("it is a link: name the file that it points to")
	case !info.Mode().IsRegular():
		return 0, false, refusal("it is not a file")
	}
	return info.Mode().Perm(), true, nil
}

// replace writes a temporary file and renames it: after a crash either the old or the new file is complete.
func replace(root *os.Root, rel string, data []byte, mode fs.FileMode) error {
	var random [6]byte
	_, _ = rand.Read(random[:]) // it never fails
	temporary := filepath.Join(filepath.Dir(rel), ".contextinfinity-"+hex.EncodeToString(random[:])+".tmp")
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = root.Rename(temporary, rel)
	}
	if err != nil {
		_ = root.Remove(temporary) // the old file is unchanged
	}
	return err
}

// previewWrite shows what a call of write_file would change, as a line diff.
func (f *files) previewWrite(_ context.Context, c tools.Call) (string, error) {
	var a writeArguments
	if err := arguments(c, &a); err != nil {
		return "", err
	}
	if len(a.Content) > maxPreviewed {
		return "", nil
	}
	root, rel, err := f.open(a.Path)
	if err != nil {
		return "", err
	}
	defer root.Close() // nothing was written through it
	before, err := readText(root, rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return "", err
	case len(before) > maxPreviewed:
		return "", nil
	}
	return lineDiff(string(before), a.Content), nil
}
