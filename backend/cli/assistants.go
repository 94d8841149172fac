package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/library"
)

func (c *call) assistantsCommand() *cobra.Command {
	list := func(use, short string) *cobra.Command {
		cmd := &cobra.Command{
			Use: use, Short: short, Args: exactly(),
			Long: `An assistant is a named preset. send --assistant NAME and chat --assistant NAME start a session with it. Its
settings are copied into the session: later changes of the assistant affect no session until it is applied
again.`,
		}
		cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
			return c.readingAny(ctx, assistantsAnswer(nil), func(s *Services) (reply, error) {
				all, err := s.Library.Assistants(ctx)
				return assistantsAnswer(all), err
			})
		})
		return cmd
	}
	cmd := list("assistants", "List, create and change assistants: named instructions, model and settings")
	cmd.AddCommand(list("list", "List the assistants"), c.assistantShow(), c.assistantNew(), c.assistantSet(), c.assistantDuplicate(), c.assistantDelete(),
		c.assistantApply(), c.assistantExport(), c.assistantImport())
	return cmd
}

type assistantReply struct {
	Assistant chat.Assistant `json:"assistant"`
}

type assistantsReply struct {
	Assistants []chat.Assistant `json:"assistants"`
}

func assistantsAnswer(all []chat.Assistant) reply {
	doc := assistantsReply{append([]chat.Assistant{}, all...)}
	return reply{doc: doc, text: func(o *output) {
		if len(all) == 0 {
			o.printf("No assistants. Create one: contextinfinity assistants new NAME --instructions TEXT\n")
			return
		}
		t := newTable("NAME", "MODEL", "TEMPERATURE", "EFFORT", "TOOLS", "INSTRUCTIONS")
		for _, a := range all {
			t.add(a.Name, cmp.Or(a.Model, "the session's"), temperature(a.Temperature), cmp.Or(a.Effort, "default"), cmp.Or(a.ToolsMode, "default"), clip(line(a.Instructions), 48))
		}
		t.print(o)
	}}
}

func temperature(t *float64) string {
	if t == nil {
		return "default"
	}
	return strconv.FormatFloat(*t, 'f', -1, 64)
}

// assistantDone returns a reply with an assistant's document and a line that says what was done.
func assistantDone(a chat.Assistant, done string, err error) (reply, error) {
	return reply{doc: assistantReply{a}, text: func(o *output) { o.printf("%s: %s\n", done, line(a.Name)) }}, err
}

func (c *call) assistantShow() *cobra.Command {
	cmd := &cobra.Command{Use: "show NAME", Short: "Print an assistant in full", Args: exactly("NAME")}
	cmd.RunE = c.reads(func(ctx context.Context, s *Services, args []string) (reply, error) {
		a, err := s.Library.AssistantNamed(ctx, args[0])
		return reply{doc: assistantReply{a}, text: func(o *output) {
			o.printf("%s\nmodel        %s\ntemperature  %s\neffort       %s\ntools        %s\n", o.bold(line(a.Name)),
				line(cmp.Or(a.Model, "the session's")), temperature(a.Temperature), cmp.Or(a.Effort, "default"), cmp.Or(a.ToolsMode, "default"))
			if a.Instructions != "" {
				o.printf("%s\n", block(a.Instructions))
			}
		}}, err
	})
	cmd.ValidArgsFunction = c.completeAssistant
	return cmd
}

// assistantFlags are the settings of an assistant as flags; flags that are not given change nothing.
type assistantFlags struct {
	instructions, model, temperature, effort, tools string
}

func (f *assistantFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.instructions, "instructions", "", "the instructions, or - to read them from stdin")
	cmd.Flags().StringVar(&f.model, "model", "", "a configured model; empty: the session keeps its own")
	cmd.Flags().StringVar(&f.temperature, "temperature", "", "0 to 2; empty: the model's default")
	cmd.Flags().StringVar(&f.effort, "effort", "", "minimal, low, medium or high; empty: the model's default")
	cmd.Flags().StringVar(&f.tools, "tools", "", "disabled, parse_only or enabled; empty: the configured mode")
}

// apply sets the fields whose flags are given.
func (f assistantFlags) apply(c *call, cmd *cobra.Command, a *chat.Assistant) (err error) {
	changed := cmd.Flags().Changed
	if changed("instructions") {
		if a.Instructions = f.instructions; f.instructions == "-" {
			if a.Instructions, err = c.in.all(); err != nil {
				return err
			}
		}
		if err := checkText("cli.assistants", "text of the instructions", a.Instructions, true); err != nil {
			return err
		}
	}
	if changed("model") {
		a.Model = f.model
	}
	if changed("effort") {
		a.Effort = f.effort
	}
	if changed("tools") {
		a.ToolsMode = f.tools
	}
	if changed("temperature") {
		a.Temperature = nil
		if f.temperature != "" {
			t, err := strconv.ParseFloat(f.temperature, 64)
			if err != nil {
				return usagef("--temperature must be a number from 0 to 2, or empty, not %q.", clip(f.temperature, 40))
			}
			a.Temperature = &t
		}
	}
	return nil
}

func (c *call) assistantNew() *cobra.Command {
	var f assistantFlags
	cmd := &cobra.Command{Use: "new NAME", Short: "Create an assistant", Args: exactly("NAME")}
	f.add(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		a := chat.Assistant{Name: args[0]}
		if err := f.apply(c, cmd, &a); err != nil {
			return reply{}, err
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
			a, err := s.Library.PutAssistant(ctx, a)
			return assistantDone(a, "Created", err)
		})
	})
	return cmd
}

func (c *call) assistantSet() *cobra.Command {
	var f assistantFlags
	var name string
	cmd := &cobra.Command{
		Use: "set NAME", Short: "Change an assistant", Args: exactly("NAME"),
		Long: "Changes the given values and keeps the others. Sessions that were started with the assistant do not change.",
	}
	f.add(cmd)
	cmd.Flags().StringVar(&name, "name", "", "another name")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		var changes chat.Assistant
		if err := requireChange(cmd); err != nil {
			return reply{}, err
		}
		if err := f.apply(c, cmd, &changes); err != nil { // stdin is read before anything is opened
			return reply{}, err
		}
		return c.onAssistant(ctx, args[0], func(s *Services, a chat.Assistant) (reply, error) {
			for flag, set := range map[string]func(){
				"instructions": func() { a.Instructions = changes.Instructions }, "model": func() { a.Model = changes.Model }, "effort": func() { a.Effort = changes.Effort },
				"tools": func() { a.ToolsMode = changes.ToolsMode }, "temperature": func() { a.Temperature = changes.Temperature }, "name": func() { a.Name = name },
			} {
				if cmd.Flags().Changed(flag) {
					set()
				}
			}
			a, err := s.Library.PutAssistant(ctx, a)
			return assistantDone(a, "Changed", err)
		})
	})
	cmd.ValidArgsFunction = c.completeAssistant
	return cmd
}

// onAssistant opens the data for writing and finds an assistant.
func (c *call) onAssistant(ctx context.Context, name string, do func(*Services, chat.Assistant) (reply, error)) (reply, error) {
	return c.writing(ctx, silent{}, func(s *Services) (reply, error) {
		a, err := s.Library.AssistantNamed(ctx, name)
		if err != nil {
			return reply{}, err
		}
		return do(s, a)
	})
}

func (c *call) assistantDuplicate() *cobra.Command {
	cmd := &cobra.Command{Use: "duplicate NAME", Short: "Create an assistant with the settings of another", Args: exactly("NAME")}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.onAssistant(ctx, args[0], func(s *Services, a chat.Assistant) (reply, error) {
			a, err := s.Library.Duplicate(ctx, a.ID)
			return assistantDone(a, "Created", err)
		})
	})
	cmd.ValidArgsFunction = c.completeAssistant
	return cmd
}

func (c *call) assistantDelete() *cobra.Command {
	cmd := &cobra.Command{
		Use: "delete NAME", Short: "Delete an assistant", Args: exactly("NAME"),
		Long: "Sessions that were started with it keep their settings. Backups keep it until they are pruned.",
	}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.onAssistant(ctx, args[0], func(s *Services, a chat.Assistant) (reply, error) {
			return assistantDone(a, "Deleted", s.Library.DeleteAssistant(ctx, a.ID))
		})
	})
	cmd.ValidArgsFunction = c.completeAssistant
	return cmd
}

func (c *call) assistantApply() *cobra.Command {
	cmd := &cobra.Command{
		Use: "apply NAME SESSION", Short: "Give a session the settings of an assistant, from the next message on", Args: exactly("NAME", "SESSION"),
		Long: "Replaces the session's instructions, temperature, effort and mode of tools, and its model if the assistant has one.",
	}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.changeSession(ctx, args[1], "Applied "+line(args[0]), func(s *Services, id chat.SessionID) error {
			a, err := s.Library.AssistantNamed(ctx, args[0])
			if err != nil {
				return err
			}
			return s.Library.Apply(ctx, id, a.ID)
		})
	})
	cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) == 1 {
			return c.completeSession(cmd, nil, typed)
		}
		return c.completeAssistant(cmd, args, typed)
	}
	return cmd
}

// fileReply is the result of writing a file; the path is empty for stdout.
type fileReply struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
}

// fileFlags determine the destination of an export of the library.
type fileFlags struct {
	out     string
	replace bool
}

func (f *fileFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&f.out, "output", "o", "-", "the `FILE` to write, or - for stdout")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "overwrite an existing file")
}

func (f fileFlags) check(c *call) error {
	if f.out == "-" && c.json {
		return usageHint("name a file with -o, or omit --json", "--json and -o - both write to stdout.")
	}
	return nil
}

// write writes a file of the library to the destination.
func (f fileFlags) write(c *call, data []byte) (reply, error) {
	if f.out == "-" {
		return reply{text: func(o *output) { _, _ = o.Write(data) }}, nil
	}
	path := c.path(f.out)
	if _, err := os.Lstat(path); err == nil && !f.replace {
		return reply{}, chat.Errorf(chat.CodeConflict, "cli.library_export", "%s exists; nothing was written.", path).WithHint("name another file, or add --replace")
	}
	if err := atomicfile.Write(path, data, 0o600); err != nil {
		return reply{}, err
	}
	return reply{doc: fileReply{path, len(data)}, text: func(o *output) { o.printf("Written: %s\n", line(path)) }}, nil
}

func (c *call) assistantExport() *cobra.Command {
	var f fileFlags
	cmd := &cobra.Command{Use: "export NAME", Short: "Write an assistant to a file, to be imported elsewhere", Args: exactly("NAME")}
	f.add(cmd)
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if err := f.check(c); err != nil {
			return reply{}, err
		}
		return c.reading(ctx, func(s *Services) (reply, error) {
			a, err := s.Library.AssistantNamed(ctx, args[0])
			if err != nil {
				return reply{}, err
			}
			data, err := library.EncodeAssistant(a)
			if err != nil {
				return reply{}, err
			}
			return f.write(c, data)
		})
	})
	cmd.ValidArgsFunction = c.completeAssistant
	return cmd
}

func (c *call) assistantImport() *cobra.Command {
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Add the assistant in a file", Args: exactly("FILE"),
		Long: "FILE was written by assistants export; - reads stdin. An existing assistant with the same name is kept, and the new one gets a number after its name.",
	}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		return c.importing(ctx, args[0], func(s *Services, file io.Reader) (reply, error) {
			a, err := s.Library.ImportAssistant(ctx, file)
			return assistantDone(a, "Imported", err)
		})
	})
	return cmd
}

// importing opens a file of the library, or stdin, and then the data for writing.
func (c *call) importing(ctx context.Context, name string, do func(*Services, io.Reader) (reply, error)) (reply, error) {
	var file io.Reader = c.in.lines
	if name != "-" {
		f, err := os.Open(c.path(name))
		if err != nil {
			return reply{}, readError("cli.library_import", name, err, "nothing was imported")
		}
		defer func() { _ = f.Close() }()
		file = f
	}
	return c.writing(ctx, silent{}, func(s *Services) (reply, error) { return do(s, file) })
}

func (c *call) completeAssistant(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(func(ctx context.Context, s *Services) ([]string, error) {
		all, err := s.Library.Assistants(ctx)
		return lists.Map(all, func(a chat.Assistant) string { return candidate(a.Name, "") }), err
	})
}

// chooseAssistant lists the assistants, or applies one to this conversation.
func (t *talk) chooseAssistant(ctx context.Context, name string) error {
	if name == "" {
		all, err := t.s.Library.Assistants(ctx)
		if err == nil {
			assistantsAnswer(all).text(t.c.note)
		}
		return err
	}
	a, err := t.s.Library.AssistantNamed(ctx, name)
	if err != nil {
		return err
	}
	if t.session.ID == "" {
		t.assistant = a.Name
		t.say("The new session starts with %s.", line(a.Name))
		return nil
	}
	if err := t.s.Library.Apply(ctx, t.session.ID, a.ID); err != nil {
		return err
	}
	if t.session, err = t.s.Sessions.Session(ctx, t.session.ID); err != nil {
		return err
	}
	if a.Model != "" {
		t.model = ""
	}
	t.say("From now on this session has the settings of %s.", line(a.Name))
	return nil
}

// sendPrompt sends a saved prompt. Its name may contain spaces; the values of its variables follow it.
func (t *talk) sendPrompt(ctx context.Context, args string) error {
	words := strings.Fields(args)
	nameEnd := slices.IndexFunc(words, func(w string) bool { return strings.Contains(w, "=") })
	if nameEnd < 0 {
		nameEnd = len(words)
	}
	name := strings.Join(words[:nameEnd], " ")
	if name == "" {
		all, err := t.s.Library.SavedPrompts(ctx)
		if err == nil {
			promptsAnswer(all).text(t.c.note)
		}
		return err
	}
	values, err := variables(words[nameEnd:])
	if err != nil {
		return err
	}
	p, err := t.s.Library.PromptNamed(ctx, name)
	if err != nil {
		return err
	}
	text, err := t.s.Library.Fill(p, values)
	if err != nil {
		return err
	}
	return t.send(ctx, text)
}
