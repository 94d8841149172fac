package cli

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/atomicfile"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/library"
)

func promptsVerb() verb {
	list := shows(verb{
		use:   "list",
		short: "List the saved prompts",
		long: `A saved prompt is a named text. {{name}} is a variable that is filled in when the prompt is used,
{{name:default}} has a default, and {{date}} is today's date. send --prompt NAME --var name=VALUE sends one.`,
	}, func(ctx context.Context, r *run) ([]chat.SavedPrompt, error) { return r.s.Library.SavedPrompts(ctx) }, promptList)
	all := list
	all.use = "prompts"
	all.short = "List, save and change reusable prompts"
	all.verbs = append(promptVerbs(), list)
	return all
}

func promptVerbs() []verb {
	return []verb{
		onPrompt(verb{use: "show NAME", short: "Print a saved prompt", opens: reads},
			func(_ context.Context, _ *run, p chat.SavedPrompt) (reply, error) {
				return reply{doc: fields{{"prompt", newPromptRow(p)}}, text: func(o *output) {
					o.printf("%s\n%s\n", o.bold(line(p.Name)), block(p.Text))
				}}, nil
			}),
		{
			use:     "new NAME [TEXT|-]",
			short:   "Save a prompt",
			prepare: readPrompt,
			opens:   writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				return putPrompt(ctx, r, chat.SavedPrompt{Name: r.args[0], Text: r.input}, "Saved")
			},
		},
		onPrompt(verb{
			use:   "set NAME [TEXT|-]",
			short: "Change a saved prompt",
			long:  "--name renames it; without TEXT, its text is kept.",
			flags: []flag{textFlag("name", "another name")},
			prepare: func(ctx context.Context, r *run) error {
				if len(r.args) == 1 && r.text("name") != "" {
					return nil
				}
				return readPrompt(ctx, r)
			},
			opens: writes,
		}, func(ctx context.Context, r *run, p chat.SavedPrompt) (reply, error) {
			p.Text, p.Name = cmp.Or(r.input, p.Text), cmp.Or(r.text("name"), p.Name)
			return putPrompt(ctx, r, p, "Changed")
		}),
		onPrompt(verb{use: "delete NAME", short: "Delete a saved prompt", long: "Backups keep it until they are pruned.", opens: writes},
			func(ctx context.Context, r *run, p chat.SavedPrompt) (reply, error) {
				return doneWithPrompt(p, "Deleted"), r.s.Library.DeleteSavedPrompt(ctx, p.ID)
			}),
		exportVerb("export [NAME]", "Write a saved prompt, or all of them, to a file", promptNames,
			func(ctx context.Context, r *run) ([]byte, error) {
				all, err := r.s.Library.SavedPrompts(ctx)
				if err == nil && len(r.args) > 0 {
					all = make([]chat.SavedPrompt, 1)
					all[0], err = r.s.Library.PromptNamed(ctx, r.args[0])
				}
				if err != nil {
					return nil, err
				}
				return library.EncodePrompts(all)
			}),
		importVerb("Add the prompts in a file",
			`FILE was written by prompts export, or is a JSON export of Open WebUI's prompts; - reads stdin. A
prompt that exists with the same name and text is skipped; another one with the same name gets a number after
its name. All of them are added, or none.`,
			func(ctx context.Context, r *run, file io.Reader) (reply, error) {
				done, err := r.s.Library.ImportPrompts(ctx, file)
				doc := fields{{"added", lists.Map(done.Added, newPromptRow)}, {"known", done.Known}}
				added := plural(len(done.Added), "prompt")
				return sentence(doc, "Imported %s; %d already there.", added, done.Known), err
			}),
	}
}

// onPrompt makes v a verb about an existing prompt.
func onPrompt(v verb, do func(context.Context, *run, chat.SavedPrompt) (reply, error)) verb {
	v.names = promptNames
	return onNamed(v, func(s *Services) byName[chat.SavedPrompt] { return s.Library.PromptNamed }, do)
}

// byName finds something in the library.
type byName[T any] func(context.Context, string) (T, error)

// onNamed makes v a verb about what its first argument names.
func onNamed[T any](v verb, find func(*Services) byName[T], do func(context.Context, *run, T) (reply, error)) verb {
	v.do = func(ctx context.Context, r *run) (reply, error) {
		found, err := find(r.s)(ctx, r.args[0])
		if err != nil {
			return reply{}, err
		}
		return do(ctx, r, found)
	}
	return v
}

// promptRow is a saved prompt with its variables.
type promptRow struct {
	chat.SavedPrompt
	Variables []library.Variable `json:"variables"`
}

func newPromptRow(p chat.SavedPrompt) promptRow { return promptRow{p, library.Variables(p.Text)} }

func promptList(all []chat.SavedPrompt) reply {
	rows := lists.Map(all, newPromptRow)
	t := tableOf("NAME|VARIABLES|TEXT", rows, func(p promptRow) []any {
		names := lists.Map(p.Variables, func(v library.Variable) string { return v.Name })
		return []any{p.Name, clip(strings.Join(names, ", "), 40), clip(p.Text, 60)}
	})
	return listed(fields{{"prompts", rows}}, "No saved prompts. Save one: contextinfinity prompts new NAME TEXT", t)
}

func doneWithPrompt(p chat.SavedPrompt, done string) reply {
	return sentence(fields{{"prompt", newPromptRow(p)}}, "%s: %s", done, line(p.Name))
}

func readPrompt(_ context.Context, r *run) (err error) {
	r.input, err = r.typed(r.args[1:], "cli.prompts", "text")
	return err
}

func putPrompt(ctx context.Context, r *run, p chat.SavedPrompt, done string) (reply, error) {
	stored, err := r.s.Library.PutSavedPrompts(ctx, []chat.SavedPrompt{p})
	if err != nil {
		return reply{}, err
	}
	return doneWithPrompt(stored[0], done), nil
}

func promptNames(ctx context.Context, s *Services) ([]string, error) {
	all, err := s.Library.SavedPrompts(ctx)
	return lists.Map(all, func(p chat.SavedPrompt) string { return p.Name }), err
}

// exportVerb returns a verb that writes a part of the library to a file or to stdout.
func exportVerb(use, short string, names func(context.Context, *Services) ([]string, error),
	encode func(context.Context, *run) ([]byte, error),
) verb {
	to := nameFlag("output", "the `FILE` to write, or - for stdout")
	to.letter, to.value = "o", "-"
	return verb{
		use: use, short: short, names: names, flags: []flag{to, replaceFlag}, opens: reads,
		prepare: func(_ context.Context, r *run) error {
			if r.text("output") == "-" && r.json {
				return usageHint("name a file with -o, or omit --json", "--json and -o - both write to stdout.")
			}
			return nil
		},
		do: func(ctx context.Context, r *run) (reply, error) {
			data, err := encode(ctx, r)
			if err != nil {
				return reply{}, err
			}
			if r.text("output") == "-" {
				return reply{text: func(o *output) { _, _ = o.Write(data) }}, nil
			}
			path := r.path(r.text("output"))
			if _, err := os.Lstat(path); err == nil && !r.on("replace") {
				return reply{}, chat.Errorf(chat.CodeConflict, "cli.library_export", "%s exists; nothing was written.", path).
					WithHint("name another file, or add --replace")
			}
			doc := fields{{"path", path}, {"bytes", len(data)}}
			return sentence(doc, "Written: %s", line(path)), atomicfile.Write(path, data, 0o600)
		},
	}
}

// importVerb returns a verb that adds a file to the library.
func importVerb(short, long string, do func(context.Context, *run, io.Reader) (reply, error)) verb {
	return verb{
		use: "import FILE", short: short, long: long, opens: writes,
		prepare: func(_ context.Context, r *run) error {
			if r.args[0] == "-" {
				return nil
			}
			data, err := readUpTo(maxInput, "cli.library_import", r.path(r.args[0]), "nothing was imported")
			r.input = string(data)
			return err
		},
		do: func(ctx context.Context, r *run) (reply, error) {
			if r.args[0] == "-" {
				return do(ctx, r, r.in.lines)
			}
			return do(ctx, r, strings.NewReader(r.input))
		},
	}
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
	// Messages about the data are printed when it is opened for sending.
	s, err := c.app.Open(ctx, c.options(true, silent{}))
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
