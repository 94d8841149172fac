package projects

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
)

// Limits of a watched folder.
const (
	MaxFiles     = 2000
	MaxFileBytes = 20 << 20
	MaxBytes     = 500 << 20 // total
	maxDepth     = 16
	maxEntries   = 50_000 // names examined
	maxIgnore    = 64 << 10
	maxListed    = 100 // skipped files that are listed
)

// Reasons why a file is skipped.
const (
	reasonHidden  = "hidden"
	reasonSecret  = "may contain secrets"
	reasonLink    = "a link"
	reasonIgnored = "ignored by .gitignore"
	reasonPackage = "installed packages"
	reasonOwn     = "this program's own data"
	reasonSpecial = "not a file"
	reasonEmpty   = "empty"
	reasonLarge   = "larger than 20 MB"
	reasonDeep    = "too deep in the folder"
	reasonMany    = "beyond the number of files of a project (2,000)"
	reasonBytes   = "beyond the 500 MB of a project"
	reasonEntries = "beyond the limit of 50,000 names"
	reasonText    = "no readable text"
	reasonRead    = "cannot be read"
)

// foundFile is a file of a watched folder.
type foundFile struct {
	path     string
	size     int64
	modified time.Time
}

// walk is the state of one pass through a watched folder.
type walk struct {
	root     *os.Root
	own      []string // directories to skip, relative to the folder
	rules    []ignoreRule
	files    []foundFile
	maxFiles int      // maximum number of files
	unread   []string // paths that were not read, or not completely
	entries  int
	bytes    int64
	scan     *chat.ProjectScan
}

func (w *walk) skip(name, reason string) {
	w.scan.SkippedBy[reason]++
	if len(w.scan.Skipped) < maxListed {
		w.scan.Skipped = append(w.scan.Skipped, chat.SkippedFile{Path: name, Reason: reason})
	}
}

// dir walks through a directory in the order of names. If the watched folder itself cannot be read, that is an error;
// subdirectories that cannot be read are recorded as skipped.
func (w *walk) dir(name string, depth int) error {
	list, err := w.list(name)
	if err != nil {
		if name == "." {
			return err
		}
		w.unread = append(w.unread, name)
		w.skip(name, reasonRead)
		return nil
	}
	before := len(w.rules)
	w.rules = append(w.rules, ignoreRules(name, w.ignoreFile(name))...)
	defer func() { w.rules = w.rules[:before] }()
	for _, e := range list {
		if err := w.entry(path.Join(name, e.Name()), e, depth); err != nil {
			return err
		}
	}
	return nil
}

// list returns the entries of a directory, by name.
func (w *walk) list(name string) ([]fs.DirEntry, error) {
	d, err := w.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out []fs.DirEntry
	for w.entries < maxEntries {
		batch, err := d.ReadDir(min(1000, maxEntries-w.entries))
		out, w.entries = append(out, batch...), w.entries+len(batch)
		if errors.Is(err, io.EOF) {
			slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
	w.unread = append(w.unread, name)
	w.skip(name, reasonEntries)
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return out, nil
}

func (w *walk) ignoreFile(dir string) string {
	f, err := w.root.Open(path.Join(dir, ".gitignore"))
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIgnore))
	if err != nil {
		return ""
	}
	return string(text)
}

func (w *walk) entry(name string, e fs.DirEntry, depth int) error {
	if reason := w.skipReason(name, e, depth); reason != "" {
		w.skip(name, reason)
		return nil
	}
	if e.IsDir() {
		return w.dir(name, depth+1)
	}
	info, err := w.root.Lstat(name)
	switch {
	case err != nil:
		w.skip(name, reasonRead)
		w.unread = append(w.unread, name)
	case info.Size() == 0:
		w.skip(name, reasonEmpty)
	case info.Size() > MaxFileBytes:
		w.skip(name, reasonLarge)
	case len(w.files) >= w.maxFiles:
		w.skip(name, reasonMany)
	case w.bytes+info.Size() > MaxBytes:
		w.skip(name, reasonBytes)
	default:
		w.bytes += info.Size()
		w.files = append(w.files, foundFile{path: name, size: info.Size(), modified: info.ModTime().UTC().Truncate(time.Millisecond)})
	}
	return nil
}

// skipReason returns why an entry is skipped; empty if it is not.
func (w *walk) skipReason(name string, e fs.DirEntry, depth int) string {
	base := e.Name()
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return reasonLink
	case isSecret(base):
		return reasonSecret
	case strings.HasPrefix(base, "."):
		return reasonHidden
	case ignored(w.rules, name, e.IsDir()):
		return reasonIgnored
	case e.IsDir() && base == "node_modules":
		return reasonPackage
	case e.IsDir() && slices.Contains(w.own, name):
		return reasonOwn
	case e.IsDir() && depth >= maxDepth:
		return reasonDeep
	case !e.IsDir() && !e.Type().IsRegular():
		return reasonSpecial
	}
	return ""
}

// secretNames are name patterns of files that usually contain keys or passwords.
var secretNames = []string{
	".env", ".env.*", "*.env", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd",
	"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.ovpn",
	"credentials", "credentials.*", "secrets.*", "secret.*", "*.tfstate", "*.tfvars", "service-account*.json", "service_account*.json",
}

func isSecret(base string) bool {
	base = strings.ToLower(base)
	return slices.ContainsFunc(secretNames, func(pattern string) bool {
		ok, err := path.Match(pattern, base)
		return err == nil && ok
	})
}
