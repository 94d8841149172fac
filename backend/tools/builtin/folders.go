package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
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
	given string // as configured, cleaned
	real  string // with links resolved
}

// folders returns the usable folders, and why others are not usable.
func (f *Folders) folders() (usable []folder, problems []tools.Problem) {
	given, _ := f.Settings()
	for _, path := range given {
		one, err := f.check(path)
		if err != nil {
			problems = append(problems, tools.Problem{Message: fmt.Sprintf("The folder %s of tools.folders is not used: %s.", shown(path), err)})
			continue
		}
		usable = append(usable, one)
	}
	return usable, problems
}

func (f *Folders) check(path string) (folder, error) {
	if !filepath.IsAbs(path) {
		return folder{}, errors.New("it is not a full path")
	}
	one := folder{given: filepath.Clean(path)}
	var err error
	if one.real, err = filepath.EvalSymlinks(one.given); err != nil {
		return one, errors.New("it cannot be opened")
	}
	info, err := os.Stat(one.real)
	if err != nil || !info.IsDir() {
		return one, errors.New("it is not a folder")
	}
	if filepath.Dir(one.real) == one.real {
		return one, errors.New("it is the root of the file system")
	}
	for _, own := range f.Protected() {
		if clean, err := filepath.EvalSymlinks(own); err == nil {
			own = clean
		}
		if holds(one.real, own) || holds(own, one.real) {
			return one, errors.New("the program keeps its own data or configuration there; choose a subfolder without them")
		}
	}
	return one, nil
}

// holds reports that a path is a folder or inside it. Both are clean.
func holds(dir, path string) bool {
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

// tools are the tools for the existing folders.
func (f *Folders) tools() []tool {
	usable, _ := f.folders()
	if len(usable) == 0 {
		return nil
	}
	where := lists.Map(usable, func(one folder) string { return one.given })
	in := " Only in: " + strings.Join(where, ", ") + "."
	t := &files{folders: usable}
	out := []tool{
		{definition: define("read_file", "Read a file", "Reads a text file; long files are read in parts."+in, readSchema, false), run: t.answering(t.read)},
		{definition: define("list_directory", "List a folder", "Lists the files and folders in a folder."+in, listSchema, false), run: t.answering(t.list)},
		{definition: define("search_files", "Search in files", "Finds the lines of text files that contain a text, ignoring case."+in, searchSchema, false), run: t.answering(t.search)},
		{definition: define("write_file", "Write a file", "Writes a complete text file and replaces its previous content. Missing folders are created."+in, writeSchema, true), run: t.answering(t.write), preview: t.previewWrite},
	}
	if _, commands := f.Settings(); commands && f.Commands != nil {
		out = append(out, f.Commands.tool(usable, in))
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

// answering converts the result of a file tool: an error here is known to have had no effect beyond what its message
// says.
func (f *files) answering(do func(context.Context, tools.Call) (string, error)) func(context.Context, tools.Call) (tools.Output, error) {
	return func(ctx context.Context, c tools.Call) (tools.Output, error) {
		said, err := do(ctx, c)
		if err == nil {
			return text(said), nil
		}
		if ctx.Err() != nil {
			return tools.Output{}, ctx.Err()
		}
		return failure("%s", display.Start(fileError(err), 1<<10)), nil
	}
}

// fileError describes an error. Its paths are those the model used.
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
	in, rel, err := locate(f.folders, path)
	if err != nil {
		return nil, "", err
	}
	root, err := os.OpenRoot(in.real)
	return root, rel, err
}

// locate finds the folder that contains a path, and the relative path.
func locate(folders []folder, path string) (folder, string, error) {
	switch {
	case strings.ContainsRune(path, 0):
		return folder{}, "", refusal("the path is invalid")
	case filepath.IsAbs(path):
		clean := filepath.Clean(path)
		for _, one := range folders {
			for _, dir := range []string{one.given, one.real} {
				if rel, err := filepath.Rel(dir, clean); err == nil && filepath.IsLocal(rel) {
					return one, rel, nil
				}
			}
		}
		return folder{}, "", refusal("%s is not in a folder that may be used", shown(path))
	case len(folders) > 1:
		return folder{}, "", refusal("there are several folders: give the full path")
	}
	rel := filepath.Clean(path) // "." for an empty path
	if !filepath.IsLocal(rel) {
		return folder{}, "", refusal("%s leads outside the folder", shown(path))
	}
	return folders[0], rel, nil
}

func shown(path string) string { return display.OneLine(display.Clip(path, 200)) }
