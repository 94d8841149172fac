package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/tools"
)

// Folders are the tools for files and commands in configured folders.
type Folders struct {
	// Settings returns tools.folders and tools.run_commands; without folders there are no such tools.
	Settings func() (folders []string, commands bool)
	// Protected are the program's own directories: a folder that contains one, or is inside one, is refused, because
	// a model could then change the decisions about it.
	Protected func() []string
	// Commands runs commands.
	Commands *Commands
}

// folder is a usable folder.
type folder struct {
	configured string   // the path in the configuration, cleaned
	real       string   // the path with links resolved
	through    []string // the directories in which the components of the path were looked up
}

// folders returns the usable folders, and why others are not usable.
func (f *Folders) folders() (usable []folder, problems []tools.Problem) {
	paths, _ := f.Settings()
	for _, path := range paths {
		dir, err := f.check(path)
		if err != nil {
			problems = append(problems, tools.Problem{Message: fmt.Sprintf("The folder %s of tools.folders is not used: %s.", shortPath(path), err)})
			continue
		}
		usable = append(usable, dir)
	}
	return withoutNested(usable, &problems), problems
}

// withoutNested leaves out folders whose path leads through another one: a command there could replace a component of the
// path by a link to any place. The outer folder, from which no link leads out, covers what is inside it.
func withoutNested(all []folder, problems *[]tools.Problem) (usable []folder) {
	for i, dir := range all {
		outer := slices.IndexFunc(all, func(other folder) bool {
			return slices.ContainsFunc(dir.through, func(at string) bool { return contains(other.real, at) })
		})
		twice := slices.IndexFunc(all, func(other folder) bool { return other.real == dir.real }) < i
		switch {
		case outer < 0 && !twice:
			usable = append(usable, dir)
		case outer >= 0 && !contains(all[outer].configured, dir.configured):
			*problems = append(*problems, tools.Problem{Message: fmt.Sprintf(
				"The folder %s of tools.folders is not used: a link in %s leads to it, and commands can change that.",
				shortPath(dir.configured), shortPath(all[outer].configured))})
		}
	}
	return usable
}

func (f *Folders) check(path string) (folder, error) {
	if !filepath.IsAbs(path) {
		return folder{}, errors.New("it is not a full path")
	}
	candidate := folder{configured: filepath.Clean(path)}
	var err error
	if candidate.real, candidate.through, err = resolve(candidate.configured); err != nil {
		return candidate, errors.New("it cannot be opened")
	}
	info, err := os.Stat(candidate.real)
	if err != nil || !info.IsDir() {
		return candidate, errors.New("it is not a folder")
	}
	if filepath.Dir(candidate.real) == candidate.real {
		return candidate, errors.New("it is the root of the file system")
	}
	for _, own := range f.Protected() {
		if clean, err := filepath.EvalSymlinks(own); err == nil {
			own = clean
		}
		if contains(candidate.real, own) || contains(own, candidate.real) {
			return candidate, errors.New("the program keeps its own data or configuration there; choose a subfolder without them")
		}
	}
	return candidate, nil
}

// maxLinks is how many links a path may lead through.
const maxLinks = 40

// resolve returns a clean, absolute path with its links resolved, and the directories in which its components were looked
// up, those of links included: whoever may write in one of them decides where the path leads.
func resolve(path string) (real string, through []string, err error) {
	const separator = string(filepath.Separator)
	rest := strings.Split(filepath.Clean(path), separator)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		if real == "" { // the root, after the volume on Windows
			real = name + separator
			continue
		}
		if name == "" || name == "." {
			continue
		}
		if name == ".." {
			real = filepath.Dir(real)
			continue
		}
		through = append(through, real)
		next := filepath.Join(real, name)
		info, err := os.Lstat(next)
		if err != nil {
			return "", nil, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			real = next
			continue
		}
		target, err := os.Readlink(next)
		if links++; err != nil || links > maxLinks {
			return "", nil, errors.Join(errors.New("too many links"), err)
		}
		if filepath.IsAbs(target) {
			real = ""
		}
		rest = append(strings.Split(filepath.Clean(target), separator), rest...)
	}
	return real, through, nil
}

// contains reports whether path is dir or inside it. Both must be clean.
func contains(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// Problems implements tools.Complaining.
func (s *Source) Problems() []tools.Problem {
	var out []tools.Problem
	for _, p := range s.problems {
		out = append(out, p()...)
	}
	return out
}

func (f *Folders) problems() []tools.Problem {
	_, problems := f.folders()
	return problems
}

// tools returns the tools for the usable folders.
func (f *Folders) tools() []tool {
	usable, _ := f.folders()
	if len(usable) == 0 {
		return nil
	}
	paths := lists.Map(usable, func(dir folder) string { return dir.configured })
	onlyIn := " Only in: " + strings.Join(paths, ", ") + "."
	t := &files{folders: usable}
	out := []tool{
		{definition: define("read_file", "Read a file", "Reads a text file; long files are read in parts."+onlyIn, readSchema, false), run: t.toOutput(t.read)},
		{definition: define("list_directory", "List a folder", "Lists the files and folders in a folder."+onlyIn, listSchema, false), run: t.toOutput(t.list)},
		{definition: define("search_files", "Search in files", "Finds the lines of text files that contain a text, ignoring case."+onlyIn, searchSchema, false), run: t.toOutput(t.search)},
		{definition: define("write_file", "Write a file", "Writes a complete text file and replaces its previous content. Missing folders are created."+onlyIn, writeSchema, true), run: t.toOutput(t.write), preview: t.previewWrite},
	}
	if _, commands := f.Settings(); commands && f.Commands != nil {
		out = append(out, f.Commands.tool(usable, onlyIn))
	}
	return out
}

const (
	pathSchema = `"path":{"type":"string","description":"The full path, or one that begins in the folder if there is only one folder."}`
	readSchema = `{"type":"object","properties":{` + pathSchema + `,
		"from_line":{"type":"integer","minimum":1,"description":"The first line to read; default 1."},
		"lines":{"type":"integer","minimum":1,"description":"At most this many lines."}},"required":["path"],"additionalProperties":false}`
	listSchema   = `{"type":"object","properties":{` + pathSchema + `},"additionalProperties":false}`
	searchSchema = `{"type":"object","properties":{` + pathSchema + `,
		"text":{"type":"string","description":"The text to find."},
		"names":{"type":"string","description":"Only files whose name matches this pattern, such as *.go."}},"required":["text"],"additionalProperties":false}`
	writeSchema = `{"type":"object","properties":{` + pathSchema + `,
		"content":{"type":"string","description":"The complete new content of the file."}},"required":["path","content"],"additionalProperties":false}`
)

// files implements the file tools. A folder is opened as an os.Root, so no link leads out of it.
type files struct{ folders []folder }

// toOutput turns a file operation into the function that runs a tool. The operation's errors become results, because
// the outcome of a failed operation is known.
func (f *files) toOutput(do func(context.Context, tools.Call) (string, error)) func(context.Context, tools.Call) (tools.Output, error) {
	return func(ctx context.Context, c tools.Call) (tools.Output, error) {
		result, err := do(ctx, c)
		if err == nil {
			return text(result), nil
		}
		if ctx.Err() != nil {
			return tools.Output{}, ctx.Err()
		}
		return failure("%s", display.Start(fileError(err), 1<<10)), nil
	}
}

// fileError describes an error without the real path of the file.
func fileError(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file or folder"
	case errors.Is(err, fs.ErrPermission):
		return "the system does not permit it"
	case errors.As(err, &path):
		return path.Err.Error()
	}
	return err.Error()
}

// open finds and opens the folder that contains a path. The caller closes it.
func (f *files) open(path string) (*os.Root, string, error) {
	base, rel, err := locate(f.folders, path)
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(base.real)
	return root, rel, err
}

// locate finds the folder that contains a path, and returns it with the path relative to it.
func locate(folders []folder, path string) (folder, string, error) {
	switch {
	case strings.ContainsRune(path, 0):
		return folder{}, "", refusal("the path is invalid")
	case filepath.IsAbs(path):
		clean := filepath.Clean(path)
		for _, dir := range folders {
			for _, form := range []string{dir.configured, dir.real} {
				if rel, err := filepath.Rel(form, clean); err == nil && filepath.IsLocal(rel) {
					return dir, rel, nil
				}
			}
		}
		return folder{}, "", refusal("%s is not in a folder that may be used", shortPath(path))
	case len(folders) > 1:
		return folder{}, "", refusal("there are several folders: give the full path")
	}
	rel := filepath.Clean(path) // "." for an empty path
	if !filepath.IsLocal(rel) {
		return folder{}, "", refusal("%s leads outside the folder", shortPath(path))
	}
	return folders[0], rel, nil
}

func shortPath(path string) string { return display.OneLine(display.Clip(path, 200)) }
