package cli

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

func projectsVerb() verb {
	return shows(verb{
		use:   "projects",
		short: "List projects: folders with instructions, pinned facts and files",
		long: `A project is a folder of sessions with its own instructions, model, tools, pinned facts and files.
The sessions in the folder with its name belong to it and share memory, unless set otherwise for a session:
contextinfinity sessions scope. PROJECT is a name or an id.`,
		verbs: slices.Concat(settingsOfProjects(), filesOfProjects()),
	}, func(ctx context.Context, r *run) ([]chat.Project, error) { return r.s.Projects.Projects(ctx) }, projectList)
}

func settingsOfProjects() []verb {
	settings := []flag{
		textFlag("instructions", "instructions for all its sessions"),
		textFlag("model", "the model of its new sessions"),
		textFlag("tools-mode", "disabled, parse_only or enabled, for sessions without their own"),
		listFlag("tool", "offer only this `TOOL`, as SOURCE or SOURCE/TOOL (may be repeated)"),
		listFlag("fact", "a pinned fact, replacing the earlier ones (may be repeated)"),
	}
	return []verb{
		{
			use:   "show PROJECT",
			short: "Show a project",
			opens: reads,
			do:    func(_ context.Context, r *run) (reply, error) { return showProject(r.project), nil },
		},
		{
			use:   "new NAME",
			short: "Create a project",
			long: "An existing folder with this name becomes the project's, with its sessions. contextinfinity sessions " +
				"folder SESSION NAME adds others.",
			flags:   settings,
			prepare: checkProject,
			opens:   writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				v, err := r.projectSettings(ctx, chat.ProjectSettings{Name: r.args[0]})
				if err != nil {
					return reply{}, err
				}
				p, err := r.s.Projects.CreateProject(ctx, v)
				return showProject(p), err
			},
		},
		{
			use:   "set PROJECT",
			short: "Change a project",
			long: `Changes the given values and keeps the others. --fact and --tool replace all earlier ones; with ""
they remove them. A new --name renames the folder too.`,
			flags:   append(settings, textFlag("name", "another name")),
			changes: true,
			prepare: checkProject,
			opens:   writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				v, err := r.projectSettings(ctx, r.project.Settings())
				if err != nil {
					return reply{}, err
				}
				r.set("name", &v.Name)
				p, err := r.s.Projects.SetProject(ctx, r.project.ID, v)
				return showProject(p), err
			},
		},
		{
			use:   "delete PROJECT",
			short: "Delete a project permanently, with its files",
			long: `Its instructions, pinned facts and files are deleted, and the requests that quoted its files. The
sessions stay in a plain folder with its name, with their messages; files on the disk are not changed. You are
asked first, unless --yes is given.`,
			flags:   []flag{yesFlag},
			prepare: func(_ context.Context, r *run) error { return r.mustBeAsked(cannotAskToDelete) },
			opens:   writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				return r.deletePermanently(ctx, chat.DeletionProject, string(r.project.ID), nil)
			},
		},
	}
}

func filesOfProjects() []verb {
	return []verb{
		{
			use:   "watch PROJECT [FOLDER]",
			short: "Index the files of a folder, and again when they change",
			long: `The text files, PDFs and office documents below FOLDER become memory of the project's sessions. While the
window is open, the folder is checked once a minute; otherwise use contextinfinity projects rescan. Links,
hidden files, files that usually contain secrets, and files ignored by .gitignore are left out. --off stops
watching and removes what was indexed.`,
			flags:   []flag{boolFlag("off", "stop watching a folder")},
			prepare: readWatched,
			opens:   writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				p, err := r.s.Projects.Watch(ctx, r.project.ID, r.input)
				if err != nil {
					return reply{}, err
				}
				return showProject(p), r.s.indexFiles(ctx)
			},
		},
		{
			use:   "rescan PROJECT",
			short: "Check the watched folder now",
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				scan, err := r.s.Projects.Scan(ctx, r.project.ID)
				if err != nil {
					return reply{}, err
				}
				doc := fields{{"project_id", r.project.ID}, {"scan", scan}}
				return reply{doc: doc, text: func(o *output) { printScan(o, scan) }}, r.s.indexFiles(ctx)
			},
		},
		{
			use:   "files PROJECT",
			short: "List a project's documents and watched files",
			opens: reads,
			do:    listProjectFiles,
		},
		{
			use:   "add PROJECT FILE...",
			short: "Give a project documents: text, Markdown, source code, PDF or office documents",
			long:  "A copy of each file is kept. A document replaces an earlier one of the same name.",
			prepare: func(ctx context.Context, r *run) (err error) {
				r.files, err = r.readAttachments(ctx, r.args[1:])
				return err
			},
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				for _, f := range r.files {
					if err := r.s.Projects.Add(ctx, r.project.ID, f.read.Name, f.content); err != nil {
						return reply{}, err
					}
				}
				return indexedFiles(ctx, r)
			},
		},
		{
			use:   "remove PROJECT DOCUMENT...",
			short: "Remove documents from a project",
			opens: writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				if err := r.s.Projects.Remove(ctx, r.project.ID, r.args[1:]); err != nil {
					return reply{}, err
				}
				return indexedFiles(ctx, r)
			},
		},
	}
}

func projectList(all []chat.Project) reply {
	t := tableOf("PROJECT|NAME|>SESSIONS|>FACTS|>FILES|MODEL|WATCHES", all, func(p chat.Project) []any {
		name, watch := clip(p.Name, 40), clip(p.Watch, 48)
		return []any{p.ID, name, count(p.Sessions), count(len(p.Facts)), count(p.Files), p.Model, watch}
	})
	return listed(fields{{"projects", all}}, "No projects. contextinfinity projects new NAME creates one.", t)
}

// project finds a project by its name or id.
func (s *Services) project(ctx context.Context, typed string) (chat.Project, error) {
	all, err := s.Projects.Projects(ctx)
	if err != nil {
		return chat.Project{}, err
	}
	for _, p := range all {
		if p.Name == typed || strings.EqualFold(string(p.ID), typed) {
			return p, nil
		}
	}
	return chat.Project{}, chat.Errorf(chat.CodeNotFound, "cli.projects", "There is no project %q.", clip(typed, 60)).
		WithHint("contextinfinity projects lists them")
}

func showProject(p chat.Project) reply {
	return reply{doc: fields{{"project", p}}, text: func(o *output) {
		o.printf("%s  %s\n", p.ID, line(p.Name))
		t := newTable("|")
		t.add("sessions", p.Sessions)
		t.add("model", cmp.Or(p.Model, "the default"))
		t.add("tools", cmp.Or(p.ToolsMode, "as configured"))
		t.add("offered tools", cmp.Or(strings.Join(p.Tools, ", "), "all"))
		t.add("files", p.Files)
		t.add("watches", cmp.Or(p.Watch, "no folder"))
		t.print(o)
		o.printIf(p.Instructions != "", "\nInstructions\n%s\n", block(p.Instructions))
		o.printIf(len(p.Facts) > 0, "\nPinned facts\n")
		for _, f := range p.Facts {
			o.printf("- %s\n", line(f.Text))
		}
		if p.Scan != nil {
			o.printf("\n")
			printScan(o, *p.Scan)
		}
	}}
}

// checkProject checks the texts among the settings of a project.
func checkProject(_ context.Context, r *run) error {
	texts := append([]string{r.arg("NAME"), r.text("instructions"), r.text("model")}, r.list("fact")...)
	for _, text := range texts {
		if err := checkText("cli.projects", "setting", text, true); err != nil {
			return err
		}
	}
	return nil
}

// projectSettings returns the settings, changed by the flags that are given. A list of one empty string is cleared.
func (r *run) projectSettings(ctx context.Context, v chat.ProjectSettings) (chat.ProjectSettings, error) {
	r.set("instructions", &v.Instructions)
	r.set("model", &v.Model)
	r.set("tools-mode", &v.ToolsMode)
	if r.given("tool") {
		v.Tools = r.list("tool")
	}
	if r.given("fact") {
		v.Facts = r.list("fact")
	}
	if r.text("model") == "" {
		return v, nil
	}
	_, err := r.s.Models.Resolve(ctx, r.text("model"))
	return v, err
}

// set stores the value of a flag if it is given.
func (r *run) set(flag string, to *string) {
	if r.given(flag) {
		*to = r.text(flag)
	}
}

func readWatched(_ context.Context, r *run) (err error) {
	folder := r.arg("FOLDER")
	switch {
	case r.on("off") && len(r.args) > 1:
		return usagef("--off takes no folder.")
	case r.on("off"):
		return nil
	case strings.TrimSpace(folder) == "":
		return usagef("FOLDER is missing; --off stops watching.")
	}
	r.input, err = filepath.Abs(r.path(folder))
	return err
}

// indexFiles indexes files that were just read, so that they can be found.
func (s *Services) indexFiles(ctx context.Context) error {
	_, err := s.Jobs.Drain(ctx)
	return err
}

func printScan(o *output, s chat.ProjectScan) {
	o.printf("Checked %s: %s, %d new, %d changed, %d removed.\n",
		local(s.At), plural(s.Found, "file"), len(s.New), len(s.Changed), len(s.Removed))
	o.printIf(s.Error != "", "%s\n", line(s.Error))
	printPaths(o, "+", s.New, len(s.New))
	printPaths(o, "~", s.Changed, len(s.Changed))
	printPaths(o, "-", s.Removed, len(s.Removed))
	for _, reason := range slices.Sorted(maps.Keys(s.SkippedBy)) {
		o.printf("Skipped, %s: %d\n", reason, s.SkippedBy[reason])
		var paths []string
		for _, f := range s.Skipped {
			if f.Reason == reason {
				paths = append(paths, f.Path)
			}
		}
		printPaths(o, "!", paths, s.SkippedBy[reason])
	}
}

// printPaths prints some paths, and how many more there are.
func printPaths(o *output, mark string, paths []string, total int) {
	const maxShown = 20
	paths = paths[:min(len(paths), maxShown)]
	for _, path := range paths {
		o.printf("  %s %s\n", mark, line(path))
	}
	if more := total - len(paths); more > 0 {
		o.printf("  %s and %d more\n", mark, more)
	}
}

// indexedFiles lists the files of a project after they were indexed.
func indexedFiles(ctx context.Context, r *run) (reply, error) {
	if err := r.s.indexFiles(ctx); err != nil {
		return reply{}, err
	}
	return listProjectFiles(ctx, r)
}

func listProjectFiles(ctx context.Context, r *run) (reply, error) {
	files, err := r.s.Projects.ProjectFiles(ctx, r.project.ID)
	t := tableOf("KIND|PATH|>TOKENS|>BYTES|INDEXED|MODIFIED", files, func(f chat.ProjectFile) []any {
		return []any{f.Kind, clip(f.Path, 64), count(f.Tokens), f.Size, f.Indexed, f.ModifiedAt}
	})
	return listed(fields{{"project_id", r.project.ID}, {"files", files}}, "No files.", t), err
}
