package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/mcpsetup"
	"contextinfinity/backend/tools"
)

// serverStart is how long a verb waits for a server to start.
const serverStart = 2 * time.Minute

// serversVerb lists the servers. Its verbs run in the process that has the data open for writing: servers run there,
// and changes of the configuration take effect there.
func serversVerb() verb {
	return verb{
		use:   "servers",
		short: "List the MCP servers whose tools models may call",
		opens: looks,
		do:    listServers,
		verbs: slices.Concat(settingsOfServers(), runningServers()),
	}
}

func settingsOfServers() []verb {
	return []verb{
		{use: "list", short: "List the configured servers", opens: looks, do: listServers},
		{
			use:   "add NAME [--url URL | -- COMMAND ARGS...]",
			short: "Configure a server",
			long: `Adds a program that is started, after --, or with --url a server that is already running. Its tools are
offered to models after you have accepted them. A value that is a secret is named with --secret-env or
--secret-header and entered with mcp servers secret: it goes to the keyring, never into a file.`,
			anyArgs: true,
			flags: []flag{
				textFlag("url", "the address of a server that is already running"),
				nameFlag("cwd", "the `FOLDER` it is started in; the home directory if none is named"),
				numberFlag("timeout", 0, 0, "seconds that one call may take, if less than tools.call_timeout_s"),
				listFlag("env", "a variable for the program, `NAME=VALUE` (may be repeated)"),
				listFlag("secret-env", "the `NAME` of a variable whose value is a secret (may be repeated)"),
				listFlag("header", "a header for the address, `NAME=VALUE` (may be repeated)"),
				listFlag("secret-header", "the `NAME` of a header whose value is a secret (may be repeated)"),
				boolFlag("off", "add the server, but do not enable it"),
			},
			prepare: func(_ context.Context, r *run) error {
				if r.text("url") == "" && len(r.args) < 2 {
					const problem = "A server needs the command that starts it, or --url with its address; nothing was changed."
					return usageHint(r.cmd.UseLine(), problem)
				}
				return nil
			},
			opens: writes,
			do:    addServer,
		},
		serverVerb("remove NAME", "Remove a server from the configuration, with its secrets",
			func(ctx context.Context, r *run, name string) (reply, error) {
				if err := r.s.Servers.Setup.Remove(name); err != nil {
					return reply{}, err
				}
				return listServers(ctx, r)
			}),
		serverVerb("enable NAME", "Switch a server on", func(ctx context.Context, r *run, name string) (reply, error) {
			return r.changedServer(ctx, name, "enabled", r.s.Servers.Setup.Enable(name, true))
		}),
		serverVerb("disable NAME", "Switch a server off: it is not started, and its tools are not offered",
			func(ctx context.Context, r *run, name string) (reply, error) {
				return r.changedServer(ctx, name, "disabled", r.s.Servers.Setup.Enable(name, false))
			}),
		{
			use:   "import FILE",
			short: "Add the servers of another program's configuration, or of a bundle",
			long: `Reads the mcpServers JSON of Claude Desktop, Cursor and LM Studio, mcp.json of VS Code,
librechat.yaml, or a bundle (.mcpb); - reads stdin. Secrets go to the keyring. --dry-run shows the content and
adds nothing. --answer KEY=VALUE gives values that a bundle needs; enter a missing secret later with mcp
servers secret.
You are asked about each variable of your environment that a server would get, and each variable that it sets
and that can decide which program runs; a key is asked for twice. Without a terminal, --allow-env NAME agrees,
and for a key also --allow-key NAME.`,
			flags: []flag{
				listFlag("only", "add only the server with this `NAME` in FILE (may be repeated)"),
				listFlag("answer", "a value that the bundle needs, `KEY=VALUE` (may be repeated)"),
				boolFlag("replace", "replace servers that have the same name"),
				boolFlag("dry-run", "show what would be added, and add nothing"),
				listFlag("allow-env", "the server may get or set the variable `NAME` (may be repeated)"),
				listFlag("allow-key", "the server may get the key in the variable `NAME` too (may be repeated)"),
			},
			opens: writes,
			do:    importServers,
		},
		{
			use:   "secret NAME SECRET",
			short: "Store a secret of a server in the keyring",
			long:  "Reads the secret from stdin, hidden at a terminal, never from the arguments.",
			flags: []flag{boolFlag("remove", "forget the secret")},
			opens: writes,
			do:    setServerSecret,
		},
	}
}

func runningServers() []verb {
	logs := serverVerb("logs NAME", "Print what a server wrote last", serverLogs)
	logs.long = "Prints the last lines of a server that runs in the open window. Without a window, the server is started " +
		"first."
	return []verb{
		logs,
		serverVerb("restart NAME", "Restart a server; its running calls end with an unknown outcome",
			func(ctx context.Context, r *run, name string) (reply, error) {
				return r.readyServer(ctx, name, r.restartServer(ctx, name))
			}),
		serverVerb("tools NAME", "List the tools that a server offers, starting it if necessary", serverTools),
		serverVerb("sign-in NAME", "Sign in to a server, in the browser",
			func(ctx context.Context, r *run, name string) (reply, error) {
				err := r.s.Servers.Manager.SignInWith(ctx, name, func(url string) error {
					r.note.printf("Open this page in a browser on this computer:\n%s\n", line(url))
					return nil
				})
				return r.readyServer(ctx, name, err)
			}),
		serverVerb("sign-out NAME", "Forget the sign-in to a server",
			func(ctx context.Context, r *run, name string) (reply, error) {
				return r.changedServer(ctx, name, "signed out", r.s.Servers.Manager.SignOut(name))
			}),
	}
}

// serverVerb returns a verb about one server.
func serverVerb(use, short string, do func(context.Context, *run, string) (reply, error)) verb {
	return verb{
		use: use, short: short, opens: writes,
		do: func(ctx context.Context, r *run) (reply, error) { return do(ctx, r, r.args[0]) },
	}
}

func listServers(ctx context.Context, r *run) (reply, error) {
	rows, err := r.serverRows(ctx)
	return serverList(rows), err
}

func addServer(ctx context.Context, r *run) (_ reply, err error) {
	in := mcpsetup.Settings{MCPServer: config.MCPServer{
		Name:     r.args[0],
		URL:      r.text("url"),
		Cwd:      r.text("cwd"),
		TimeoutS: r.number("timeout"),
		Enabled:  !r.on("off"),
	}}
	if len(r.args) > 1 {
		in.Command, in.Args = r.args[1], r.args[2:]
	}
	if in.Env, err = pairs(r.list("env"), r.list("secret-env")); err != nil {
		return reply{}, err
	}
	if in.Headers, err = pairs(r.list("header"), r.list("secret-header")); err != nil {
		return reply{}, err
	}
	if in.Cwd != "" && !strings.HasPrefix(in.Cwd, "~") {
		in.Cwd = r.path(in.Cwd)
	}
	return r.changedServer(ctx, strings.TrimSpace(in.Name), "added", r.s.Servers.Setup.Add(in))
}

func pairs(plain, secret []string) ([]mcpsetup.Value, error) {
	var out []mcpsetup.Value
	for _, p := range plain {
		name, value, ok := strings.Cut(p, "=")
		if !ok {
			return nil, usagef("%q is not NAME=VALUE.", clip(name, 40))
		}
		out = append(out, mcpsetup.Value{Name: name, Value: value})
	}
	for _, name := range secret {
		if strings.Contains(name, "=") {
			const problem = "A secret is only named here, never given on the command line, where others can read it."
			return nil, usageHint("enter its value with: contextinfinity mcp servers secret", problem)
		}
		out = append(out, mcpsetup.Value{Name: name, Secret: true})
	}
	return out, nil
}

// changedServer replies with a server after a change, which may have failed.
func (r *run) changedServer(ctx context.Context, name, done string, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	row, err := r.serverRow(ctx, name)
	return reply{doc: row, text: func(o *output) {
		o.printf("%s: %s.\n", name, done)
		for _, secret := range row.Missing {
			o.printf("It needs a secret: contextinfinity mcp servers secret %s %s\n", name, secret)
		}
		row.printAcceptance(o)
	}}, err
}

// readyServer replies with a server that should be ready after a step, which may have failed; if it is not, with an
// error.
func (r *run) readyServer(ctx context.Context, name string, err error) (reply, error) {
	if err != nil {
		return reply{}, err
	}
	row, err := r.serverRow(ctx, name)
	if err != nil {
		return reply{}, err
	}
	if row.State != string(mcpclient.StateReady) {
		return reply{}, chat.Errorf(chat.CodeUnavailable, "mcp.start", "%s: %s", name, row.StateText).
			WithHint("contextinfinity mcp servers logs %s", name)
	}
	return reply{doc: row, text: func(o *output) {
		o.printf("%s is ready and offers %s.\n", name, plural(row.Tools, "tool"))
		row.printAcceptance(o)
	}}, nil
}

func (r *run) restartServer(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, serverStart)
	defer cancel()
	return r.s.Servers.Manager.Restart(ctx, name)
}

func serverLogs(ctx context.Context, r *run, name string) (reply, error) {
	manager := r.s.Servers.Manager
	all, dropped, err := manager.Logs(name)
	if err == nil && len(all) == 0 {
		if err = r.restartServer(ctx, name); err == nil {
			all, dropped, err = manager.Logs(name)
		}
	}
	rows := lists.Map(all, func(l mcpclient.Line) fields {
		return fields{{"at", l.At.UTC()}, {"from", l.From}, {"text", l.Text}}
	})
	return reply{doc: fields{{"name", name}, {"lines", rows}, {"dropped", dropped}}, text: func(o *output) {
		o.printIf(dropped > 0, "(%s before these are not kept)\n", plural(dropped, "line"))
		for _, l := range all {
			o.printf("%s %-7s %s\n", l.At.Local().Format(time.TimeOnly), l.From, line(l.Text))
		}
	}}, err
}

func serverTools(ctx context.Context, r *run, name string) (reply, error) {
	if row, err := r.serverRow(ctx, name); err != nil || row.State != string(mcpclient.StateReady) {
		if _, err := r.readyServer(ctx, name, r.restartServer(ctx, name)); err != nil {
			return reply{}, err
		}
	}
	panel, err := r.s.Tools.Panel(ctx)
	if err != nil {
		return reply{}, err
	}
	offered := slices.DeleteFunc(slices.Clone(panel.Definitions), func(d tools.Definition) bool {
		return d.Source != name || d.Pinned == tools.PinnedGone
	})
	var problems []tools.Problem
	for _, st := range r.s.Servers.Manager.Statuses() {
		if st.Config.Name == name {
			problems = st.Problems
		}
	}
	row, err := r.serverRow(ctx, name)
	doc := fields{
		{"name", name},
		{"tools", lists.Map(offered, func(d tools.Definition) fields {
			return fields{
				{"tool", d.Tool},
				{"title,omitempty", d.Title},
				{"description", d.Description},
				{"hash", d.Hash},
				{"state", d.Pinned}, // accepted, new, changed
			}
		})},
		{"problems", lists.Map(problems, func(p tools.Problem) fields {
			return fields{{"tool", p.Tool}, {"message", p.Message}}
		})},
	}
	t := tableOf("TOOL|STATE|DESCRIPTION", offered, func(d tools.Definition) []any {
		return []any{d.Tool, stateWords[d.Pinned], clip(d.Description, 100)}
	})
	return reply{doc: doc, text: func(o *output) {
		t.print(o)
		for _, p := range problems {
			o.printf("%s: %s\n", line(p.Tool), line(p.Message))
		}
		row.printAcceptance(o)
	}}, err
}

func setServerSecret(ctx context.Context, r *run) (_ reply, err error) {
	const op = "mcp.secret"
	name, secret, value := r.args[0], r.args[1], ""
	if !r.on("remove") {
		if value, err = r.secret(secret + " of " + name); err != nil {
			return reply{}, err
		}
		if value == "" {
			return reply{}, chat.Errorf(chat.CodeInvalid, op, "No secret was given; nothing was stored.")
		}
	}
	if err := r.s.Servers.Setup.SetSecret(name, secret, value); err != nil {
		return reply{}, err
	}
	r.s.Servers.Manager.Reset(name)
	if !r.on("remove") && r.s.Servers.Setup.Secrets.Where(name, secret) != "keyring" {
		const problem = "No keyring is available on this system, so the secret was not stored."
		return reply{}, chat.Errorf(chat.CodeUnavailable, op, problem).
			WithHint("name a variable of the environment instead: ${env:NAME}")
	}
	return r.changedServer(ctx, name, "done", nil)
}

// serverRow is a server in lists. It contains no secrets.
type serverRow struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"` // "stdio", "http"
	Enabled   bool     `json:"enabled"`
	Command   string   `json:"command,omitempty"`
	Args      []string `json:"args,omitempty"`
	URL       string   `json:"url,omitempty"`
	Missing   []string `json:"missing_secrets"`
	State     string   `json:"state,omitempty"`
	StateText string   `json:"words,omitempty"`
	Tools     int      `json:"tools"`
	// Accepted counts the tools that may be offered to models. Waiting counts those of a running server whose
	// definition was not accepted, or has changed since: they are not offered.
	Accepted int `json:"tools_accepted"`
	Waiting  int `json:"tools_waiting"`
}

// serverRows returns the configured servers, with their states and the decisions about their tools.
func (r *run) serverRows(ctx context.Context) ([]serverRow, error) {
	panel, err := r.s.Tools.Panel(ctx)
	if err != nil {
		return nil, err
	}
	return lists.Map(r.s.Servers.Manager.Statuses(), func(st mcpclient.Status) serverRow {
		row := serverRowOf(r.s.Servers.Setup, st)
		for _, d := range panel.Definitions {
			switch {
			case d.Source != row.Name:
			case d.Pinned == tools.PinnedNew, d.Pinned == tools.PinnedChanged:
				row.Waiting++
			case d.Pinned == tools.PinnedAccepted, st.State != mcpclient.StateReady:
				row.Accepted++
			}
		}
		return row
	}), nil
}

// serverRow returns the server with this name.
func (r *run) serverRow(ctx context.Context, name string) (serverRow, error) {
	rows, err := r.serverRows(ctx)
	if err != nil {
		return serverRow{}, err
	}
	i := slices.IndexFunc(rows, func(x serverRow) bool { return x.Name == name })
	if i < 0 {
		return serverRow{}, chat.Errorf(chat.CodeNotFound, "mcp.server", "No MCP server of that name is configured.").
			WithHint("contextinfinity mcp servers lists them")
	}
	return rows[i], nil
}

func serverRowOf(set *mcpsetup.Setup, st mcpclient.Status) serverRow {
	cfg := st.Config
	r := serverRow{
		Name:      cfg.Name,
		Kind:      "stdio",
		Enabled:   cfg.Enabled,
		Command:   cfg.Command,
		Args:      cfg.Args,
		URL:       cfg.URL,
		Missing:   []string{},
		State:     string(st.State),
		StateText: st.Full().String(),
		Tools:     st.Tools,
	}
	if cfg.HTTP() {
		r.Kind = "http"
	}
	for _, name := range mcpsetup.SecretNames(cfg) {
		if set.Secrets.Where(cfg.Name, name) == "" {
			r.Missing = append(r.Missing, name)
		}
	}
	return r
}

// target returns the address of a server, or the command that starts it.
func (r serverRow) target() string {
	if r.URL != "" {
		return r.URL
	}
	return strings.Join(lists.Map(append([]string{r.Command}, r.Args...), quotedWord), " ")
}

func serverList(rows []serverRow) reply {
	t := tableOf("NAME|ON|STATE|>TOOLS|STARTS|NEEDS SECRETS", rows, func(s serverRow) []any {
		tools := ""
		if s.State == string(mcpclient.StateReady) {
			tools = count(s.Tools)
		}
		return []any{s.Name, s.Enabled, s.State, tools, clip(s.target(), 60), strings.Join(s.Missing, ", ")}
	})
	const empty = "No servers are configured. Add one: contextinfinity mcp servers add NAME -- COMMAND ARGS..."
	return reply{doc: fields{{"servers", rows}}, text: func(o *output) {
		t.printOr(o, empty)
		for _, s := range rows {
			s.printAcceptance(o)
		}
	}}
}

// printAcceptance says that models are not offered tools that were not accepted, and the command that accepts them.
func (r serverRow) printAcceptance(o *output) {
	accept := "contextinfinity tools accept " + r.Name
	switch {
	case !r.Enabled:
	case r.Waiting == 1:
		o.printf("%s: 1 tool is not offered to models until you accept it: %s\n", r.Name, accept)
	case r.Waiting > 1:
		o.printf("%s: %s are not offered to models until you accept them: %s\n", r.Name, plural(r.Waiting, "tool"), accept)
	case r.State != string(mcpclient.StateReady) && r.Accepted == 0:
		o.printf("%s: its tools are not offered to models until you accept them: %s\n", r.Name, accept)
	}
}
