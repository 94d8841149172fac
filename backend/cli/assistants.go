package cli

import (
	"cmp"
	"context"
	"io"
	"strconv"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/library"
)

func assistantsVerb() verb {
	list := shows(verb{
		use:   "list",
		short: "List the assistants",
		long: `An assistant is a named preset. send --assistant NAME and chat --assistant NAME start a session with it. Its
settings are copied into the session: later changes of the assistant affect no session until it is applied
again.`,
	}, func(ctx context.Context, r *run) ([]chat.Assistant, error) { return r.s.Library.Assistants(ctx) }, assistantList)
	all := list
	all.use = "assistants"
	all.short = "List, create and change assistants: named instructions, model and settings"
	all.verbs = append(assistantVerbs(), list)
	return all
}

func assistantVerbs() []verb {
	settings := []flag{
		textFlag("instructions", "the instructions, or - to read them from stdin"),
		textFlag("model", "a configured model; empty: the session keeps its own"),
		textFlag("temperature", "0 to 2; empty: the model's default"),
		textFlag("effort", "minimal, low, medium or high; empty: the model's default"),
		textFlag("tools", "disabled, parse_only or enabled; empty: the configured mode"),
	}
	return []verb{
		onAssistant(verb{use: "show NAME", short: "Print an assistant in full", opens: reads}, showAssistant),
		{
			use:     "new NAME",
			short:   "Create an assistant",
			flags:   settings,
			prepare: readAssistant,
			opens:   writes,
			do: func(ctx context.Context, r *run) (reply, error) {
				return putAssistant(ctx, r, chat.Assistant{Name: r.args[0]}, "Created")
			},
		},
		onAssistant(verb{
			use:     "set NAME",
			short:   "Change an assistant",
			long:    "Changes the given values and keeps the others. Sessions that were started with the assistant do not change.",
			flags:   append(settings, textFlag("name", "another name")),
			changes: true,
			prepare: readAssistant,
			opens:   writes,
		}, func(ctx context.Context, r *run, a chat.Assistant) (reply, error) {
			r.set("name", &a.Name)
			return putAssistant(ctx, r, a, "Changed")
		}),
		onAssistant(verb{use: "duplicate NAME", short: "Create an assistant with the settings of another", opens: writes},
			func(ctx context.Context, r *run, a chat.Assistant) (reply, error) {
				a, err := r.s.Library.Duplicate(ctx, a.ID)
				return doneWith(a, "Created"), err
			}),
		onAssistant(verb{
			use:   "delete NAME",
			short: "Delete an assistant",
			long:  "Sessions that were started with it keep their settings. Backups keep it until they are pruned.",
			opens: writes,
		}, func(ctx context.Context, r *run, a chat.Assistant) (reply, error) {
			return doneWith(a, "Deleted"), r.s.Library.DeleteAssistant(ctx, a.ID)
		}),
		onAssistant(verb{
			use:   "apply NAME SESSION",
			short: "Give a session the settings of an assistant, from the next message on",
			long: "Replaces the session's instructions, temperature, effort and mode of tools, and its model if the " +
				"assistant has one.",
			opens: writes,
		}, func(ctx context.Context, r *run, a chat.Assistant) (reply, error) {
			return r.changed(ctx, "Applied "+line(r.args[0]), r.s.Library.Apply(ctx, r.session.ID, a.ID))
		}),
		exportVerb("export NAME", "Write an assistant to a file, to be imported elsewhere", assistantNames,
			func(ctx context.Context, r *run) ([]byte, error) {
				a, err := r.s.Library.AssistantNamed(ctx, r.args[0])
				if err != nil {
					return nil, err
				}
				return library.EncodeAssistant(a)
			}),
		importVerb("Add the assistant in a file",
			`FILE was written by assistants export; - reads stdin. An existing assistant with the same name is kept, and
the new one gets a number after its name.`,
			func(ctx context.Context, r *run, file io.Reader) (reply, error) {
				a, err := r.s.Library.ImportAssistant(ctx, file)
				return doneWith(a, "Imported"), err
			}),
	}
}

// onAssistant makes v a verb about an existing assistant.
func onAssistant(v verb, do func(context.Context, *run, chat.Assistant) (reply, error)) verb {
	v.names = assistantNames
	return onNamed(v, func(s *Services) byName[chat.Assistant] { return s.Library.AssistantNamed }, do)
}

func assistantList(all []chat.Assistant) reply {
	t := tableOf("NAME|MODEL|TEMPERATURE|EFFORT|TOOLS|INSTRUCTIONS", all, func(a chat.Assistant) []any {
		model, effort, mode := assistantWords(a)
		return []any{a.Name, model, temperature(a.Temperature), effort, mode, clip(a.Instructions, 48)}
	})
	const empty = "No assistants. Create one: contextinfinity assistants new NAME --instructions TEXT"
	return listed(fields{{"assistants", all}}, empty, t)
}

func assistantWords(a chat.Assistant) (model, effort, mode string) {
	return cmp.Or(a.Model, "the session's"), cmp.Or(a.Effort, "default"), cmp.Or(a.ToolsMode, "default")
}

func temperature(t *float64) string {
	if t == nil {
		return "default"
	}
	return strconv.FormatFloat(*t, 'f', -1, 64)
}

// doneWith replies with an assistant and what was done with it.
func doneWith(a chat.Assistant, done string) reply {
	return sentence(fields{{"assistant", a}}, "%s: %s", done, line(a.Name))
}

func showAssistant(_ context.Context, _ *run, a chat.Assistant) (reply, error) {
	return reply{doc: fields{{"assistant", a}}, text: func(o *output) {
		model, effort, mode := assistantWords(a)
		o.printf("%s\nmodel        %s\ntemperature  %s\neffort       %s\ntools        %s\n",
			o.bold(line(a.Name)), line(model), temperature(a.Temperature), effort, mode)
		o.printIf(a.Instructions != "", "%s\n", block(a.Instructions))
	}}, nil
}

// readAssistant reads the instructions, from stdin if requested, and checks the settings of an assistant.
func readAssistant(_ context.Context, r *run) (err error) {
	if r.input = r.text("instructions"); r.input == "-" {
		if r.input, err = r.in.all(); err != nil {
			return err
		}
	}
	if _, err := strconv.ParseFloat(cmp.Or(r.text("temperature"), "0"), 64); err != nil {
		typed := clip(r.text("temperature"), 40)
		return usagef("--temperature must be a number from 0 to 2, or empty, not %q.", typed)
	}
	return checkText("cli.assistants", "text of the instructions", r.input, true)
}

// putAssistant stores an assistant with the settings whose flags are given.
func putAssistant(ctx context.Context, r *run, a chat.Assistant, done string) (reply, error) {
	if r.given("instructions") {
		a.Instructions = r.input
	}
	r.set("model", &a.Model)
	r.set("effort", &a.Effort)
	r.set("tools", &a.ToolsMode)
	if r.given("temperature") {
		a.Temperature = nil
		if t, err := strconv.ParseFloat(r.text("temperature"), 64); err == nil { // checked before; empty: the default
			a.Temperature = &t
		}
	}
	a, err := r.s.Library.PutAssistant(ctx, a)
	return doneWith(a, done), err
}

func assistantNames(ctx context.Context, s *Services) ([]string, error) {
	all, err := s.Library.Assistants(ctx)
	return lists.Map(all, func(a chat.Assistant) string { return a.Name }), err
}
