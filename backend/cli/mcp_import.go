package cli

import (
	"context"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/mcpsetup"
)

func (r *run) readServers() (*mcpsetup.Import, error) {
	setup := r.s.Servers.Setup
	if r.args[0] != "-" {
		return setup.ReadFile(r.path(r.args[0]))
	}
	if r.app.In == nil {
		return setup.ReadConfiguration("")
	}
	data, err := io.ReadAll(io.LimitReader(r.app.In, 2<<20))
	if err != nil {
		const problem = "stdin could not be read; nothing was added."
		return nil, chat.WrapError(chat.CodeInvalid, "mcp.import", err, problem)
	}
	return setup.ReadConfiguration(string(data))
}

// importedServer is a server in a file, exactly as it would run.
type importedServer struct {
	Original  string              `json:"original"`
	Name      string              `json:"name"`
	Starts    string              `json:"starts"`
	Cwd       string              `json:"cwd,omitempty"`
	Env       []string            `json:"env"`     // NAME=VALUE; a secret is ${secret:KEY}
	Headers   []string            `json:"headers"` // the same
	About     string              `json:"about,omitempty"`
	Notes     []string            `json:"notes"`
	Asks      []string            `json:"asks"` // keys of missing values and secrets
	Exposures []mcpsetup.Exposure `json:"exposures"`
}

func importServers(_ context.Context, r *run) (reply, error) {
	in, err := r.readServers()
	if err != nil {
		return reply{}, err
	}
	values, err := pairs(r.list("answer"), nil)
	if err != nil {
		return reply{}, err
	}
	answers := map[string]string{}
	for _, v := range values {
		answers[v.Name] = v.Value
	}
	rows := []importedServer{}
	var choices []mcpsetup.Choice
	for _, x := range in.Servers {
		if only := r.list("only"); len(only) > 0 && !slices.Contains(only, x.Original) {
			continue
		}
		rows = append(rows, newImportedServer(x, answers))
		choices = append(choices, mcpsetup.Choice{
			Original: x.Original,
			Name:     x.Settings.Name,
			Enabled:  x.Settings.Enabled,
			Replace:  r.on("replace"),
			Answers:  answers,
			Accepted: r.list("allow-env"),
			Keys:     r.list("allow-key"),
		})
	}
	done := "found, not added"
	if !r.on("dry-run") {
		done = "added"
		if err := r.agreeToServers(rows, choices); err != nil {
			return reply{}, err
		}
		if err := r.s.Servers.Setup.Apply(in.ID, choices); err != nil {
			return reply{}, err
		}
		for _, c := range choices {
			r.s.Servers.Manager.Reset(c.Name)
		}
	}
	doc := fields{{"from", in.From}, {"added", !r.on("dry-run")}, {"servers", rows}, {"problems", in.Problems}}
	return reply{doc: doc, text: func(o *output) {
		for _, s := range rows {
			s.print(o, done)
		}
		o.printEach("not read: %s\n", in.Problems)
	}}, nil
}

// agreeToServers asks about everything that the servers expose and no flag has agreed to. It adds the answers to the
// choices, and fails at the first no.
func (r *run) agreeToServers(rows []importedServer, choices []mcpsetup.Choice) error {
	for i, row := range rows {
		missing := slices.DeleteFunc(slices.Clone(row.Exposures), func(e mcpsetup.Exposure) bool { return e.AgreedBy(choices[i]) })
		if len(missing) == 0 {
			continue
		}
		if r.json || !r.in.terminal {
			return refusedExposures(row, missing)
		}
		row.print(r.note, "found, not added")
		for _, e := range missing {
			if err := r.ask(opImportServers, line(e.String())+" Do you agree? [y/N] "); err != nil {
				return err
			}
			choices[i].Accepted = append(slices.Clone(choices[i].Accepted), e.Name)
			if e.Kind != mcpsetup.ExposesKey {
				continue
			}
			question := "Its author can then use what " + line(e.Name) + " opens. Give it to " + line(row.Name) + "? [y/N] "
			if err := r.ask(opImportServers, question); err != nil {
				return err
			}
			choices[i].Keys = append(slices.Clone(choices[i].Keys), e.Name)
		}
	}
	return nil
}

const opImportServers = "mcp.import"

// refusedExposures names what a server exposes, and the flags that agree to it.
func refusedExposures(row importedServer, missing []mcpsetup.Exposure) error {
	var sentences, flags []string
	for _, e := range missing {
		sentences = append(sentences, line(e.String()))
		flags = append(flags, "--allow-env "+quotedWord(e.Name))
		if e.Kind == mcpsetup.ExposesKey {
			flags = append(flags, "--allow-key "+quotedWord(e.Name))
		}
	}
	return chat.Errorf(chat.CodeInvalid, opImportServers, "%s needs your agreement; nothing was added. %s",
		line(row.Name), strings.Join(sentences, " ")).
		WithHint("--dry-run shows it; if you trust it, add: %s", strings.Join(flags, " "))
}

func newImportedServer(x mcpsetup.Candidate, answers map[string]string) importedServer {
	cfg, exposures := x.Preview(answers)
	row := importedServer{
		Original:  x.Original,
		Name:      cfg.Name,
		Starts:    serverRow{Command: cfg.Command, Args: cfg.Args, URL: cfg.URL}.target(),
		Cwd:       cfg.Cwd,
		Env:       assignments(cfg.Env),
		Headers:   assignments(cfg.Headers),
		About:     x.About,
		Notes:     append([]string{}, x.Notes...),
		Asks:      []string{},
		Exposures: exposures,
	}
	for _, q := range x.Questions {
		if q.Default == "" && answers[q.Key] == "" {
			row.Asks = append(row.Asks, q.Key)
		}
	}
	return row
}

func assignments(values map[string]string) []string {
	out := []string{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		out = append(out, name+"="+quotedWord(values[name]))
	}
	return out
}

// plainArgument is an argument that a shell and a reader take as it is.
var plainArgument = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./~-]+$`)

// quotedWord writes an argument of a command line so that its start and end, and everything in it, can be seen.
func quotedWord(text string) string {
	if plainArgument.MatchString(text) {
		return text
	}
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`)
	return `"` + display.Visible(escape.Replace(text)) + `"`
}

func (s importedServer) print(o *output, done string) {
	o.printf("%s: %s\n", line(s.Name), done)
	o.printf("  starts %s\n", s.Starts)
	o.printIf(s.Cwd != "", "  in the folder %s\n", quotedWord(s.Cwd))
	o.printEach("  with the variable %s\n", s.Env)
	o.printEach("  with the header %s\n", s.Headers)
	for _, e := range s.Exposures {
		o.printf("  %s\n", line(e.String()))
	}
	o.printIf(s.About != "", "  %s\n", line(s.About))
	o.printEach("  %s\n", s.Notes)
	o.printEach("  It needs: %s\n", s.Asks)
}
