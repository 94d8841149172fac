package cli

import (
	"cmp"
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
)

type projectsReply struct {
	Projects []chat.Project `json:"projects"`
}

type projectReply struct {
	Project chat.Project `json:"project"`
}

type projectFilesReply struct {
	Project chat.ProjectID     `json:"project_id"`
	Files   []chat.ProjectFile `json:"files"`
}

type scanReply struct {
	Project chat.ProjectID   `json:"project_id"`
	Scan    chat.ProjectScan `json:"scan"`
}

func (c *call) projectsCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "projects", Short: "List projects: folders with instructions, pinned facts and files", Args: exactly(),
		Long: `A project is a folder of sessions with its own instructions, model, tools, pinned facts and files.
The sessions in the folder with its name belong to it and share memory, unless set otherwise for a session:
contextinfinity sessions scope. PROJECT is a name or an id.`,
	}
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		return c.readingAny(ctx, projectsAnswer(nil), func(s *Services) (reply, error) {
			list, err := s.Projects.Projects(ctx)
			return projectsAnswer(list), err
		})
	})
	cmd.AddCommand(c.projectShowCommand(), c.projectNewCommand(), c.projectSetCommand(), c.projectWatchCommand(), c.projectRescanCommand(),
		c.projectFilesCommand(), c.projectAddCommand(), c.projectRemoveCommand(), c.projectDeleteCommand())
	return cmd
}

func projectsAnswer(list []chat.Project) reply {
	list = append([]chat.Project{}, list...)
	return reply{doc: projectsReply{list}, text: func(o *output) {
		if len(list) == 0 {
			o.printf("No projects. contextinfinity projects new NAME creates one.\n")
			return
		}
		t := newTable("PROJECT", "NAME", "SESSIONS", "FACTS", "FILES", "MODEL", "WATCHES").numbers(2, 3, 4)
		for _, p := range list {
			t.add(string(p.ID), clip(p.Name, 40), count(p.Sessions), count(len(p.Facts)), count(p.Files), p.Model, clip(p.Watch, 48))
		}
		t.print(o)
	}}
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
	return chat.Project{}, chat.Errorf(chat.CodeNotFound, "cli.projects", "There is no project %q.", clip(typed, 60)).WithHint("contextinfinity projects lists them")
}

func projectAnswer(p chat.Project) reply {
	return reply{doc: projectReply{p}, text: func(o *output) {
		o.printf("%s  %s\n", p.ID, line(p.Name))
		t := newTable("", "")
		t.add("sessions", decimal(p.Sessions))
		t.add("model", cmp.Or(line(p.Model), "the default"))
		t.add("tools", cmp.Or(p.ToolsMode, "as configured"))
		t.add("offered tools", cmp.Or(line(strings.Join(p.Tools, ", ")), "all"))
		t.add("files", decimal(p.Files))
		t.add("watches", cmp.Or(line(p.Watch), "no folder"))
		t.print(o)
		if p.Instructions != "" {
			o.printf("\nInstructions\n%s\n", block(p.Instructions))
		}
		if len(p.Facts) > 0 {
			o.printf("\nPinned facts\n")
		}
		for _, f := range p.Facts {
			o.printf("- %s\n", line(f.Text))
		}
		if p.Scan != nil {
			o.printf("\n")
			printScan(o, *p.Scan)
		}
	}}
}

func (c *call) projectShowCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "show PROJECT", Short: "Show a project", Args: exactly("PROJECT")}
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		p, err := s.project(ctx, args[0])
		return projectAnswer(p), err
	})
	return cmd
}

// projectFlags are the settings of a project as flags.
type projectFlags struct {
	name, instructions, model, toolsMode string
	tools, facts                         []string
}

func (f *projectFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.instructions, "instructions", "", "instructions for all its sessions")
	cmd.Flags().StringVar(&f.model, "model", "", "the model of its new sessions")
	cmd.Flags().StringVar(&f.toolsMode, "tools-mode", "", "disabled, parse_only or enabled, for sessions without their own")
	cmd.Flags().StringArrayVar(&f.tools, "tool", nil, "offer only this `TOOL`, as SOURCE or SOURCE/TOOL (may be repeated)")
	cmd.Flags().StringArrayVar(&f.facts, "fact", nil, "a pinned fact, replacing the earlier ones (may be repeated)")
}

// apply returns the settings, changed by the flags that are set. A list of one empty string is cleared.
func (f projectFlags) apply(cmd *cobra.Command, v chat.ProjectSettings) (chat.ProjectSettings, error) {
	for name, text := range map[string]string{"name": f.name, "instructions": f.instructions, "model": f.model} {
		if err := checkText("cli.projects", name, text, true); err != nil {
			return v, err
		}
	}
	for _, fact := range f.facts {
		if err := checkText("cli.projects", "fact", fact, true); err != nil {
			return v, err
		}
	}
	set := func(flag string, do func()) {
		if cmd.Flags().Changed(flag) {
			do()
		}
	}
	set("name", func() { v.Name = f.name })
	set("instructions", func() { v.Instructions = f.instructions })
	set("model", func() { v.Model = f.model })
	set("tools-mode", func() { v.ToolsMode = f.toolsMode })
	set("tool", func() { v.Tools = f.tools })
	set("fact", func() { v.Facts = f.facts })
	return v, nil
}

// checkModel returns an error if the model is not configured.
func (s *Services) checkModel(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	_, err := s.Models.Resolve(ctx, name)
	return err
}

func (c *call) projectNewCommand() *cobra.Command {
	var f projectFlags
	cmd := &cobra.Command{
		Use: "new NAME", Short: "Create a project", Args: exactly("NAME"),
		Long: "An existing folder with this name becomes the project's, with its sessions. contextinfinity sessions folder SESSION NAME adds others.",
	}
	f.add(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		f.name = args[0]
		v, err := f.apply(cmd, chat.ProjectSettings{Name: args[0]})
		if err != nil {
			return reply{}, err
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			if err := s.checkModel(ctx, v.Model); err != nil {
				return reply{}, err
			}
			p, err := s.Projects.CreateProject(ctx, v)
			return projectAnswer(p), err
		})
	})
	return cmd
}

func (c *call) projectSetCommand() *cobra.Command {
	var f projectFlags
	cmd := &cobra.Command{
		Use: "set PROJECT", Short: "Change a project", Args: exactly("PROJECT"),
		Long: `Changes the given values and keeps the others. --fact and --tool replace all earlier ones; with ""
they remove them. A new --name renames the folder too.`,
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.name, "name", "", "another name")
	change := c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		p, err := s.project(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		v, err := f.apply(cmd, p.Settings())
		if err != nil {
			return reply{}, err
		}
		if err := s.checkModel(ctx, f.model); err != nil {
			return reply{}, err
		}
		p, err = s.Projects.SetProject(ctx, p.ID, v)
		return projectAnswer(p), err
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := requireChange(cmd); err != nil {
			return err
		}
		return change(cmd, args)
	}
	return cmd
}

func (c *call) projectWatchCommand() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use: "watch PROJECT [FOLDER]", Short: "Index the files of a folder, and again when they change", Args: atMost("PROJECT", "FOLDER"),
		Long: `The text files, PDFs and office documents below FOLDER become memory of the project's sessions. While the
window is open, the folder is checked once a minute; otherwise use contextinfinity projects rescan. Links,
hidden files, files that usually contain secrets, and files ignored by .gitignore are left out. --off stops
watching and removes what was indexed.`,
	}
	cmd.Flags().BoolVar(&off, "off", false, "stop watching a folder")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		dir := ""
		switch {
		case off && len(args) > 1:
			return reply{}, usagef("--off takes no folder.")
		case !off && (len(args) < 2 || strings.TrimSpace(args[1]) == ""):
			return reply{}, usagef("FOLDER is missing; --off stops watching.")
		case !off:
			var err error
			if dir, err = filepath.Abs(c.path(args[1])); err != nil {
				return reply{}, err
			}
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			p, err := s.project(ctx, args[0])
			if err != nil {
				return reply{}, err
			}
			if p, err = s.Projects.Watch(ctx, p.ID, dir); err != nil {
				return reply{}, err
			}
			return projectAnswer(p), s.indexFiles(ctx)
		})
	})
	return cmd
}

// indexFiles indexes files that were just read, so that they can be found.
func (s *Services) indexFiles(ctx context.Context) error {
	_, err := s.Jobs.Drain(ctx)
	return err
}

func (c *call) projectRescanCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "rescan PROJECT", Short: "Check the watched folder now", Args: exactly("PROJECT")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.onProject(ctx, args[0], func(s *Services, p chat.Project) (reply, error) {
			scan, err := s.Projects.Scan(ctx, p.ID)
			if err != nil {
				return reply{}, err
			}
			return reply{doc: scanReply{p.ID, scan}, text: func(o *output) { printScan(o, scan) }}, s.indexFiles(ctx)
		})
	})
	return cmd
}

// onProject opens the data for writing and finds a project.
func (c *call) onProject(ctx context.Context, typed string, do func(*Services, chat.Project) (reply, error)) (reply, error) {
	return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
		p, err := s.project(ctx, typed)
		if err != nil {
			return reply{}, err
		}
		return do(s, p)
	})
}

func printScan(o *output, s chat.ProjectScan) {
	o.printf("Checked %s: %s, %d new, %d changed, %d removed.\n", local(s.At), plural(s.Found, "file"), len(s.New), len(s.Changed), len(s.Removed))
	if s.Error != "" {
		o.printf("%s\n", line(s.Error))
	}
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

func (c *call) projectFilesCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "files PROJECT", Short: "List a project's documents and watched files", Args: exactly("PROJECT")}
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		p, err := s.project(ctx, args[0])
		if err != nil {
			return reply{}, err
		}
		files, err := s.Projects.ProjectFiles(ctx, p.ID)
		doc := projectFilesReply{p.ID, append([]chat.ProjectFile{}, files...)}
		return reply{doc: doc, text: doc.print}, err
	})
	return cmd
}

func (r projectFilesReply) print(o *output) {
	if len(r.Files) == 0 {
		o.printf("No files.\n")
		return
	}
	t := newTable("KIND", "PATH", "TOKENS", "BYTES", "INDEXED", "MODIFIED").numbers(2, 3)
	for _, f := range r.Files {
		t.add(string(f.Kind), clip(f.Path, 64), count(f.Tokens), decimal(f.Size), yesNo(f.Indexed), local(f.ModifiedAt))
	}
	t.print(o)
}

func (c *call) projectAddCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "add PROJECT FILE...", Short: "Give a project documents: text, Markdown, source code, PDF or office documents",
		Long: "A copy of each file is kept. A document replaces an earlier one of the same name.", Args: atLeast("PROJECT", "FILE"),
	}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		files, err := c.readAttachments(ctx, args[1:])
		if err != nil {
			return reply{}, err
		}
		return c.onProject(ctx, args[0], func(s *Services, p chat.Project) (reply, error) {
			for _, f := range files {
				if err := s.Projects.Add(ctx, p.ID, f.read.Name, f.content); err != nil {
					return reply{}, err
				}
			}
			return s.listFiles(ctx, p.ID)
		})
	})
	return cmd
}

func (c *call) projectRemoveCommand() *cobra.Command {
	cmd := &cobra.Command{Use: "remove PROJECT DOCUMENT...", Short: "Remove documents from a project", Args: atLeast("PROJECT", "DOCUMENT")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.onProject(ctx, args[0], func(s *Services, p chat.Project) (reply, error) {
			if err := s.Projects.Remove(ctx, p.ID, args[1:]); err != nil {
				return reply{}, err
			}
			return s.listFiles(ctx, p.ID)
		})
	})
	return cmd
}

// listFiles lists the files of a project after they were indexed.
func (s *Services) listFiles(ctx context.Context, id chat.ProjectID) (reply, error) {
	if err := s.indexFiles(ctx); err != nil {
		return reply{}, err
	}
	files, err := s.Projects.ProjectFiles(ctx, id)
	doc := projectFilesReply{id, append([]chat.ProjectFile{}, files...)}
	return reply{doc: doc, text: doc.print}, err
}

func (c *call) projectDeleteCommand() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use: "delete PROJECT", Short: "Delete a project permanently, with its files",
		Long: `Its instructions, pinned facts and files are deleted, and the requests that quoted its files. The
sessions stay in a plain folder with its name, with their messages; files on the disk are not changed. You are
asked first, unless --yes is given.`, Args: exactly("PROJECT"),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if !yes && (c.json || !c.in.terminal) {
			return reply{}, usageHint("add --yes", "delete is permanent and cannot ask for confirmation here; nothing was deleted.")
		}
		return c.onProject(ctx, args[0], func(s *Services, p chat.Project) (reply, error) {
			return c.deletePermanently(ctx, s, chat.DeletionProject, string(p.ID), yes)
		})
	})
	return cmd
}

func (c *call) scopeCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "scope SESSION [SCOPE]", Short: "Show or set the scope of a session's memory", Args: atMost("SESSION", "SCOPE"),
		Long: `lineage is the branch's own past, session is all branches, project is the sessions and files of its
project, all is every session. default uses the project's scope, otherwise retrieval.scope. If neither is set, the built-in
model recall, which sends nothing, searches every session.`,
	}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if len(args) < 2 {
			return c.reading(ctx, func(s *Services) (reply, error) { return s.scopeAnswer(ctx, args[0]) })
		}
		if args[1] != "default" && !slices.Contains(scopes, args[1]) {
			return reply{}, usagef("SCOPE must be one of %s, default, not %q.", strings.Join(scopes, ", "), clip(args[1], 40))
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			session, err := s.session(ctx, args[0])
			if err != nil {
				return reply{}, err
			}
			scope := chat.Scope(args[1])
			if args[1] == "default" {
				scope = ""
			}
			if err := s.Sessions.ChangeSettings(ctx, session.ID, func(v *chat.SessionSettings) { v.MemoryScope = scope }); err != nil {
				return reply{}, err
			}
			return s.scopeAnswer(ctx, string(session.ID))
		})
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

type scopeReply struct {
	Session chat.SessionID `json:"session_id"`
	Own     chat.Scope     `json:"own"`   // empty: not set
	Scope   chat.Scope     `json:"scope"` // in effect
}

func (s *Services) scopeAnswer(ctx context.Context, typed string) (reply, error) {
	session, err := s.session(ctx, typed)
	if err != nil {
		return reply{}, err
	}
	doc := scopeReply{Session: session.ID, Own: session.MemoryScope}
	_, doc.Scope, err = s.Turns.ProjectScope(ctx, session, "")
	return reply{doc: doc, text: func(o *output) {
		if doc.Own == "" {
			o.printf("%s (default)\n", doc.Scope)
			return
		}
		o.printf("%s\n", doc.Scope)
	}}, err
}
