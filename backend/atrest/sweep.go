package atrest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"contextinfinity/backend/internal/faultfs"
)

// Sweep removes what dead processes left: with a data directory there, in the folders of its copies and in the
// temporary folder, and without one ("") only in the temporary folder. Only the writer of the data names its directory.
// It returns the paths that a living process holds, and that a receipt must name.
func Sweep(dataDir string) (named []string) {
	making.Lock()
	defer making.Unlock()
	return sweep(dataDir)
}

func sweep(dataDir string) (named []string) {
	for _, p := range Places {
		if p.Sweep != Dead {
			continue
		}
		for _, found := range p.matches(dataDir) {
			switch s, lock := examine(found, p.Age); s {
			case dead:
				err := os.RemoveAll(found) // under its lock: whoever is just making it waits, and finds it gone
				if _ = lock.Close(); err != nil {
					_ = os.RemoveAll(found) // Windows removes no open file. What stays is tried again at the next start.
				}
			case living:
				if p.Delete == Named && concerns(found, dataDir) {
					named = append(named, found)
				}
			}
		}
	}
	return named
}

// SweepStart removes what the writer alone creates and what is not kept from one start to the next. The writer calls it
// when it starts. Files that another program has open and that cannot be removed are kept.
func SweepStart(dataDir string) {
	for _, p := range Places {
		if p.Sweep != AtStart {
			continue
		}
		for _, found := range p.matches(dataDir) {
			RemoveTree(faultfs.Export, found)
		}
	}
}

// RemoveTree removes a folder with its content, as far as possible; links are not followed.
func RemoveTree(class faultfs.Class, folder string) {
	var paths []string
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			paths = append(paths, path)
		}
		return nil
	})
	for _, path := range slices.Backward(paths) {
		_ = faultfs.Remove(class, path)
	}
}

// Unfinished returns the copies of everything that dead processes left in the folders of the backups. It removes nothing.
func Unfinished(dataDir string) (left []string) {
	making.Lock()
	defer making.Unlock()
	for _, p := range Places {
		if p.Root != Copies || p.Sweep != Dead || p.Holds != Everything {
			continue
		}
		for _, found := range p.matches(dataDir) {
			s, lock := examine(found, p.Age)
			if lock != nil {
				_ = lock.Close()
			}
			if s == dead {
				left = append(left, found)
			}
		}
	}
	return left
}

// matches returns the existing files and folders of a place.
func (p Place) matches(dataDir string) []string {
	var folders []string
	switch p.Root {
	case Temp:
		folders = []string{os.TempDir()}
	case Data:
		folders = []string{dataDir}
	case Copies:
		folders = append([]string{filepath.Join(dataDir, Backups)}, Folders(dataDir)...)
	}
	var out []string
	for _, folder := range folders {
		if dataDir == "" && p.Root != Temp {
			continue
		}
		for _, pattern := range p.Patterns {
			found, _ := filepath.Glob(filepath.Join(globEscape(folder), filepath.FromSlash(pattern)))
			out = append(out, found...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// globEscape escapes a directory name for use in a pattern.
func globEscape(dir string) string {
	return strings.NewReplacer(`[`, `[[]`, `*`, `[*]`, `?`, `[?]`).Replace(dir)
}

// Of returns the place of a file, named by its path below the data directory, with slashes.
func Of(name string) (Place, bool) {
	for _, p := range Places {
		below := name
		switch p.Root {
		case Data:
		case Copies:
			rest, ok := strings.CutPrefix(name, Backups+"/")
			if !ok {
				continue
			}
			below = rest
		default:
			continue
		}
		for _, pattern := range p.Patterns {
			if covers(pattern, below) {
				return p, true
			}
		}
	}
	return Place{}, false
}

// covers reports whether a pattern matches a path or a folder above it.
func covers(pattern, name string) bool {
	n := strings.Count(pattern, "/") + 1
	parts := strings.SplitN(name, "/", n+1)
	if len(parts) < n {
		return false
	}
	ok, err := path.Match(pattern, strings.Join(parts[:n], "/"))
	return err == nil && ok
}

// Temporary reports whether a file of the data directory, named by its path below it, is one that is not part of the
// data: what is being written, was left behind, or is removed at the next start.
func Temporary(name string) bool {
	p, ok := Of(filepath.ToSlash(name))
	return ok && (p.Sweep == Dead || p.Sweep == AtStart)
}
