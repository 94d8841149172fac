package cli

import (
	"cmp"
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/library"
)

func (c *call) promptsCommand() *cobra.Command {
	list := func(use, short string) *cobra.Command {
		cmd := &cobra.Command{
			Use: use, Short: short, Args: exactly(),
			Long: `A saved prompt is a named text. {{name}} is a variable that is filled in when the prompt is used,
{{name:default}} has a default, and {{date}} is today's date. send --prompt NAME --var name=VALUE sends one.`,
		}
		cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
			return c.readingAny(ctx, promptsAnswer(nil), func(s *Services) (reply, error) {
				all, err := s.Library.SavedPrompts(ctx)
				return promptsAnswer(all), err
			})
		})
		return cmd
	}
	cmd := list("prompts", "List, save and change reusable prompts")
	cmd.AddCommand(list("list", "List the saved prompts"), c.promptShow(), c.promptNew(), c.promptSet(), c.promptDelete(), c.promptExport(), c.promptImport())
	return cmd
}

// promptRow is a saved prompt with its variables.
type promptRow struct {
	chat.SavedPrompt
	Variables []library.Variable `json:"variables"`
}

func promptRowOf(p chat.SavedPrompt) promptRow { return promptRow{p, library.Variables(p.Text)} }

type promptReply struct {
	Prompt promptRow `json:"prompt"`
}

type promptsReply struct {
	Prompts []promptRow `json:"prompts"`
}

func promptsAnswer(all []chat.SavedPrompt) reply {
	doc := promptsReply{lists.Map(all, promptRowOf)}
	return reply{doc: doc, text: func(o *output) {
		if len(all) == 0 {
			o.printf("No saved prompts. Save one: contextinfinity prompts new NAME TEXT\n")
			return
		}
		t := newTable("NAME", "VARIABLES", "TEXT")
		for _, p := range doc.Prompts {
			names := lists.Map(p.Variables, func(v library.Variable) string { return v.Name })
			t.add(p.Name, clip(strings.Join(names, ", "), 40), clip(line(p.Text), 60))
		}
		t.print(o)
	}}
}

func promptDone(p chat.SavedPrompt, done string, err error) (reply, error) {
	return reply{doc: promptReply{promptRowOf(p)}, text: func(o *output) { o.printf("%s: %s\n", done, line(p.Name)) }}, err
}

func (c *call) promptShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show NAME", Short: "Print a saved prompt", Args: exactly("NAME")}
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		p, err := s.Library.PromptNamed(ctx, args[0])
		return reply{doc: promptReply{promptRowOf(p)}, text: func(o *output) {
			o.printf("%s\n%s\n", o.bold(line(p.Name)), block(p.Text))
		}}, err
	})
	cmd.ValidArgsFunction = c.completePrompt
	return cmd
}

func (c *call) promptNew() *cobra.Command {
	cmd := &cobra.Command{Use: "new NAME [TEXT|-]", Short: "Save a prompt", Args: atMost("NAME", "TEXT")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		text, err := c.promptText(args[1:])
		if err != nil {
			return reply{}, err
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			return s.putPrompt(ctx, chat.SavedPrompt{Name: args[0], Text: text}, "Saved")
		})
	})
	return cmd
}

func (c *call) promptText(args []string) (string, error) {
	text, err := c.argument(args, "text")
	if err == nil {
		err = checkText("cli.prompts", "text", text, false)
	}
	return text, err
}

func (s *Services) putPrompt(ctx context.Context, p chat.SavedPrompt, done string) (reply, error) {
	stored, err := s.Library.PutSavedPrompts(ctx, []chat.SavedPrompt{p})
	if err != nil {
		return reply{}, err
	}
	return promptDone(stored[0], done, nil)
}

func (c *call) promptSet() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "set NAME [TEXT|-]", Short: "Change a saved prompt", Args: atMost("NAME", "TEXT"),
		Long: "--name renames it; without TEXT, its text is kept.",
	}
	cmd.Flags().StringVar(&name, "name", "", "another name")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		var text string
		if len(args) > 1 || name == "" {
			var err error
			if text, err = c.promptText(args[1:]); err != nil {
				return reply{}, err
			}
		}
		return c.onPrompt(ctx, args[0], func(s *Services, p chat.SavedPrompt) (reply, error) {
			p.Text = cmp.Or(text, p.Text)
			p.Name = cmp.Or(name, p.Name)
			return s.putPrompt(ctx, p, "Changed")
		})
	})
	cmd.ValidArgsFunction = c.completePrompt
	return cmd
}

func (c *call) onPrompt(ctx context.Context, name string, do func(*Services, chat.SavedPrompt) (reply, error)) (reply, error) {
	return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
		p, err := s.Library.PromptNamed(ctx, name)
		if err != nil {
			return reply{}, err
		}
		return do(s, p)
	})
}

func (c *call) promptDelete() *cobra.Command {
	cmd := &cobra.Command{Use: "delete NAME", Short: "Delete a saved prompt", Args: exactly("NAME"), Long: "Backups keep it until they are pruned."}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.onPrompt(ctx, args[0], func(s *Services, p chat.SavedPrompt) (reply, error) {
			return promptDone(p, "Deleted", s.Library.DeleteSavedPrompt(ctx, p.ID))
		})
	})
	cmd.ValidArgsFunction = c.completePrompt
	return cmd
}

func (c *call) promptExport() *cobra.Command {
	var f fileFlags
	cmd := &cobra.Command{Use: "export [NAME]", Short: "Write a saved prompt, or all of them, to a file", Args: atMost("NAME")}
	f.add(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if err := f.check(c); err != nil {
			return reply{}, err
		}
		return c.reading(ctx, func(s *Services) (reply, error) {
			all, err := s.Library.SavedPrompts(ctx)
			if err == nil && len(args) > 0 {
				all = make([]chat.SavedPrompt, 1)
				all[0], err = s.Library.PromptNamed(ctx, args[0])
			}
			if err != nil {
				return reply{}, err
			}
			data, err := library.EncodePrompts(all)
			if err != nil {
				return reply{}, err
			}
			return f.write(c, data)
		})
	})
	cmd.ValidArgsFunction = c.completePrompt
	return cmd
}

type promptsImportedReply struct {
	Added []promptRow `json:"added"`
	Known int         `json:"known"`
}

func (c *call) promptImport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Add the prompts in a file", Args: exactly("FILE"),
		Long: `FILE was written by prompts export, or is a JSON export of Open WebUI's prompts; - reads stdin. A
prompt that exists with the same name and text is skipped; another one with the same name gets a number after
its name. All of them are added, or none.`,
	}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.importing(ctx, args[0], func(s *Services, file io.Reader) (reply, error) {
			done, err := s.Library.ImportPrompts(ctx, file)
			doc := promptsImportedReply{lists.Map(done.Added, promptRowOf), done.Known}
			return reply{doc: doc, text: func(o *output) {
				o.printf("Imported %s; %s already there.\n", plural(len(doc.Added), "prompt"), count(doc.Known))
			}}, err
		})
	})
	return cmd
}

// filledPrompt fills in a saved prompt with values for its variables.
func (c *call) filledPrompt(ctx context.Context, name string, assignments []string) (text string, err error) {
	values, err := variables(assignments)
	if err != nil {
		return "", err
	}
	piped := ""
	for variable, value := range values {
		switch {
		case value != "-":
			continue
		case piped != "":
			return "", usagef("Only one variable can be read from stdin, not %s and %s.", piped, variable)
		}
		piped = variable
	}
	if piped != "" {
		if values[piped], err = c.in.all(); err != nil {
			return "", err
		}
	}
	s, err := c.app.Open(ctx, c.options(true, silent{})) // messages about the data are printed when it is opened for sending
	if err != nil {
		return "", err
	}
	_, err = c.closing(s, func(s *Services) (reply, error) {
		p, err := s.Library.PromptNamed(ctx, name)
		if err == nil {
			text, err = s.Library.Fill(p, values)
		}
		return reply{}, err
	})
	return text, err
}

// variables parses NAME=VALUE.
func variables(assignments []string) (map[string]string, error) {
	out := map[string]string{}
	for _, assignment := range assignments {
		name, value, ok := strings.Cut(assignment, "=")
		if !ok || strings.TrimSpace(name) == "" {
			return nil, usagef("A value for a variable is written NAME=VALUE, not %q.", clip(assignment, 40))
		}
		out[strings.TrimSpace(name)] = value
	}
	return out, nil
}

func (c *call) completePrompt(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(func(ctx context.Context, s *Services) ([]string, error) {
		all, err := s.Library.SavedPrompts(ctx)
		return lists.Map(all, func(p chat.SavedPrompt) string { return candidate(p.Name, "") }), err
	})
}
