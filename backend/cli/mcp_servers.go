package cli

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/mcpclient"
	"contextinfinity/backend/mcpsetup"
	"contextinfinity/backend/services"
	"contextinfinity/backend/tools"
)

// Servers are the MCP servers whose tools models may call.
type Servers struct {
	services.Servers
	// Panel returns which tools were accepted. It is the Panel method of tools.Registry.
	Panel func(context.Context) (tools.Panel, error)
}

// serverStart is how long a verb waits for a server to start.
const serverStart = 2 * time.Minute

func (c *call) mcpServersCommand() *cobra.Command {
	cmd := c.mcpServersList("servers", "List the MCP servers whose tools models may call")
	cmd.AddCommand(
		c.mcpServersList("list", "List the configured servers"), c.mcpServersAdd(), c.mcpServersRemove(), c.mcpServersEnable("enable", true), c.mcpServersEnable("disable", false),
		c.mcpServersRestart(), c.mcpServersLogs(), c.mcpServersTools(), c.mcpServersImport(), c.mcpServersSecret(), c.mcpServersSignIn(), c.mcpServersSignOut(),
	)
	return cmd
}

// mcpServersList asks the process that has the data open, which knows the servers' states.
func (c *call) mcpServersList(use, short string) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: exactly()}
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, _ []string) (reply, error) { return serversAnswer(ctx, s) })
	return cmd
}

func serversAnswer(ctx context.Context, s Servers) (reply, error) {
	rows, err := s.rows(ctx)
	doc := serversReply{Servers: rows}
	return reply{doc: doc, text: doc.print}, err
}

// servers runs a verb in the process that has the data open for writing: servers run there, and changes of the
// configuration take effect there.
func (c *call) servers(do func(context.Context, Servers, []string) (reply, error)) func(*cobra.Command, []string) error {
	return c.writes(func(ctx context.Context, s *Services, args []string) (reply, error) {
		return do(ctx, Servers{s.Servers, s.Tools.Panel}, args)
	})
}

func (c *call) mcpServersAdd() *cobra.Command {
	var in mcpsetup.Settings
	var env, headers, secretEnv, secretHeaders []string
	var off bool
	cmd := &cobra.Command{
		Use: "add NAME [--url URL | -- COMMAND ARGS...]", Short: "Configure a server",
		Long: `Adds a program that is started, after --, or with --url a server that is already running. Its tools are
offered to models after you have accepted them. A value that is a secret is named with --secret-env or
--secret-header and entered with mcp servers secret: it goes to the keyring, never into a file.`,
		Args: func(cmd *cobra.Command, args []string) error { // those of COMMAND may be empty
			return exactly("NAME")(cmd, args[:min(len(args), 1)])
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.URL, "url", "", "the address of a server that is already running")
	f.StringVar(&in.Cwd, "cwd", "", "the `FOLDER` it is started in; the home directory if none is named")
	f.IntVar(&in.TimeoutS, "timeout", 0, "seconds that one call may take, if less than tools.call_timeout_s")
	f.StringArrayVar(&env, "env", nil, "a variable for the program, `NAME=VALUE` (may be repeated)")
	f.StringArrayVar(&secretEnv, "secret-env", nil, "the `NAME` of a variable whose value is a secret (may be repeated)")
	f.StringArrayVar(&headers, "header", nil, "a header for the address, `NAME=VALUE` (may be repeated)")
	f.StringArrayVar(&secretHeaders, "secret-header", nil, "the `NAME` of a header whose value is a secret (may be repeated)")
	f.BoolVar(&off, "off", false, "add the server, but do not enable it")
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		in := in
		if in.URL == "" && len(args) < 2 {
			return reply{}, usageHint(cmd.UseLine(), "A server needs the command that starts it, or --url with its address; nothing was changed.")
		}
		in.Name, in.Enabled = args[0], !off
		if len(args) > 1 {
			in.Command, in.Args = args[1], args[2:]
		}
		var err error
		if in.Env, err = pairs(env, secretEnv); err != nil {
			return reply{}, err
		}
		if in.Headers, err = pairs(headers, secretHeaders); err != nil {
			return reply{}, err
		}
		if in.Cwd != "" && !strings.HasPrefix(in.Cwd, "~") {
			in.Cwd = c.path(in.Cwd)
		}
		if err := s.Setup.Add(in); err != nil {
			return reply{}, err
		}
		return serverAnswer(ctx, s, strings.TrimSpace(in.Name), "added")
	})
	return cmd
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
			return nil, usageHint("enter its value with: contextinfinity mcp servers secret", "A secret is only named here, never given on the command line, where others can read it.")
		}
		out = append(out, mcpsetup.Value{Name: name, Secret: true})
	}
	return out, nil
}

// serverAnswer reports the outcome for one server.
func serverAnswer(ctx context.Context, s Servers, name, done string) (reply, error) {
	row, err := s.row(ctx, name)
	return reply{doc: row, text: func(o *output) {
		o.printf("%s: %s.\n", name, done)
		for _, secret := range row.Missing {
			o.printf("It needs a secret: contextinfinity mcp servers secret %s %s\n", name, secret)
		}
		row.printAcceptance(o)
	}}, err
}

func (c *call) mcpServersRemove() *cobra.Command {
	cmd := &cobra.Command{Use: "remove NAME", Short: "Remove a server from the configuration, with its secrets", Args: exactly("NAME")}
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		if err := s.Setup.Remove(args[0]); err != nil {
			return reply{}, err
		}
		return serversAnswer(ctx, s)
	})
	return cmd
}

func (c *call) mcpServersEnable(use string, on bool) *cobra.Command {
	short := "Switch a server on"
	if !on {
		short = "Switch a server off: it is not started, and its tools are not offered"
	}
	cmd := &cobra.Command{Use: use + " NAME", Short: short, Args: exactly("NAME")}
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		if err := s.Setup.Enable(args[0], on); err != nil {
			return reply{}, err
		}
		return serverAnswer(ctx, s, args[0], use+"d")
	})
	return cmd
}

func (c *call) mcpServersRestart() *cobra.Command {
	cmd := &cobra.Command{Use: "restart NAME", Short: "Restart a server; its running calls end with an unknown outcome", Args: exactly("NAME")}
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		ctx, cancel := context.WithTimeout(ctx, serverStart)
		defer cancel()
		if err := s.Manager.Restart(ctx, args[0]); err != nil {
			return reply{}, err
		}
		return started(ctx, s, args[0])
	})
	return cmd
}

// started replies with a server that should be ready, and with an error if it is not.
func started(ctx context.Context, s Servers, name string) (reply, error) {
	row, err := s.row(ctx, name)
	if err != nil {
		return reply{}, err
	}
	if row.State != string(mcpclient.StateReady) {
		return reply{}, chat.Errorf(chat.CodeUnavailable, "mcp.start", "%s: %s", name, row.StateText).WithHint("contextinfinity mcp servers logs %s", name)
	}
	return reply{doc: row, text: func(o *output) {
		o.printf("%s is ready and offers %s.\n", name, plural(row.Tools, "tool"))
		row.printAcceptance(o)
	}}, nil
}

type serverLogReply struct {
	Name    string          `json:"name"`
	Lines   []serverLogLine `json:"lines"`
	Dropped int             `json:"dropped"`
}

type serverLogLine struct {
	At   time.Time `json:"at"`
	From string    `json:"from"`
	Text string    `json:"text"`
}

func (c *call) mcpServersLogs() *cobra.Command {
	cmd := &cobra.Command{
		Use: "logs NAME", Short: "Print what a server wrote last", Args: exactly("NAME"),
		Long: "Prints the last lines of a server that runs in the open window. Without a window, the server is started first.",
	}
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		lines, dropped, err := s.Manager.Logs(args[0])
		if err == nil && len(lines) == 0 {
			ctx, cancel := context.WithTimeout(ctx, serverStart)
			defer cancel()
			if err = s.Manager.Restart(ctx, args[0]); err == nil {
				lines, dropped, err = s.Manager.Logs(args[0])
			}
		}
		if err != nil {
			return reply{}, err
		}
		doc := serverLogReply{Name: args[0], Dropped: dropped}
		doc.Lines = lists.Map(lines, func(l mcpclient.Line) serverLogLine { return serverLogLine{At: l.At.UTC(), From: l.From, Text: l.Text} })
		return reply{doc: doc, text: func(o *output) {
			if doc.Dropped > 0 {
				o.printf("(%s before these are not kept)\n", plural(doc.Dropped, "line"))
			}
			for _, l := range doc.Lines {
				o.printf("%s %-7s %s\n", l.At.Local().Format(time.TimeOnly), l.From, line(l.Text))
			}
		}}, nil
	})
	return cmd
}

type serverToolsReply struct {
	Name     string        `json:"name"`
	Tools    []serverTool  `json:"tools"`
	Problems []toolProblem `json:"problems"`
}

type serverTool struct {
	Tool        string `json:"tool"`
	Title       string `json:"title,omitempty"`
	Description string `json:"description"`
	Hash        string `json:"hash"`
	State       string `json:"state"` // accepted, new, changed
}

type toolProblem struct {
	Tool    string `json:"tool"`
	Message string `json:"message"`
}

func (c *call) mcpServersTools() *cobra.Command {
	cmd := &cobra.Command{Use: "tools NAME", Short: "List the tools that a server offers, starting it if necessary", Args: exactly("NAME")}
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		if err := s.ready(ctx, args[0]); err != nil {
			return reply{}, err
		}
		panel, err := s.Panel(ctx)
		if err != nil {
			return reply{}, err
		}
		doc := serverToolsReply{Name: args[0], Tools: []serverTool{}, Problems: []toolProblem{}}
		for _, d := range panel.Definitions {
			if d.Source == args[0] && d.Pinned != tools.PinnedGone {
				doc.Tools = append(doc.Tools, serverTool{Tool: d.Tool, Title: d.Title, Description: d.Description, Hash: d.Hash, State: d.Pinned})
			}
		}
		for _, st := range s.Manager.Statuses() {
			if st.Config.Name == args[0] {
				for _, p := range st.Problems {
					doc.Problems = append(doc.Problems, toolProblem{p.Tool, p.Message})
				}
			}
		}
		row, err := s.row(ctx, args[0])
		return reply{doc: doc, text: func(o *output) {
			doc.print(o)
			row.printAcceptance(o)
		}}, err
	})
	return cmd
}

func (r serverToolsReply) print(o *output) {
	t := newTable("TOOL", "STATE", "DESCRIPTION")
	for _, d := range r.Tools {
		t.add(line(d.Tool), stateWords[d.State], clip(line(d.Description), 100))
	}
	t.print(o)
	for _, p := range r.Problems {
		o.printf("%s: %s\n", line(p.Tool), line(p.Message))
	}
}

// ready starts a server if it is not running.
func (s Servers) ready(ctx context.Context, name string) error {
	for _, st := range s.Manager.Statuses() {
		if st.Config.Name == name && st.State == mcpclient.StateReady {
			return nil
		}
	}
	ctx, cancel := context.WithTimeout(ctx, serverStart)
	defer cancel()
	if err := s.Manager.Restart(ctx, name); err != nil {
		return err
	}
	_, err := started(ctx, s, name)
	return err
}

func (c *call) mcpServersImport() *cobra.Command {
	var only []string
	var replace, dry bool
	var answers []string
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Add the servers of another program's configuration, or of a bundle",
		Long: `Reads the mcpServers JSON of Claude Desktop, Cursor and LM Studio, mcp.json of VS Code,
librechat.yaml, or a bundle (.mcpb); - reads stdin. Secrets go to the keyring. --dry-run shows the content and
adds nothing. --answer KEY=VALUE gives values that a bundle needs; enter a missing secret later with mcp
servers secret.`,
		Args: exactly("FILE"),
	}
	cmd.Flags().StringArrayVar(&only, "only", nil, "add only the server with this `NAME` in FILE (may be repeated)")
	cmd.Flags().StringArrayVar(&answers, "answer", nil, "a value that the bundle needs, `KEY=VALUE` (may be repeated)")
	cmd.Flags().BoolVar(&replace, "replace", false, "replace servers that have the same name")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would be added, and add nothing")
	cmd.RunE = c.servers(func(_ context.Context, s Servers, args []string) (reply, error) {
		in, err := c.readServers(s.Setup, args[0])
		if err != nil {
			return reply{}, err
		}
		values, err := pairs(answers, nil)
		if err != nil {
			return reply{}, err
		}
		return importServers(s, in, only, values, replace, dry)
	})
	return cmd
}

func (c *call) readServers(set *mcpsetup.Setup, file string) (*mcpsetup.Import, error) {
	if file != "-" {
		return set.ReadFile(c.path(file))
	}
	if c.app.In == nil {
		return set.Read("")
	}
	data, err := io.ReadAll(io.LimitReader(c.app.In, 2<<20))
	if err != nil {
		return nil, chat.WrapError(chat.CodeInvalid, "mcp.import", err, "stdin could not be read; nothing was added.")
	}
	return set.Read(string(data))
}

type serverImportReply struct {
	From     string         `json:"from"`
	Added    bool           `json:"added"`
	Servers  []importedName `json:"servers"`
	Problems []string       `json:"problems"`
}

type importedName struct {
	Original string   `json:"original"`
	Name     string   `json:"name"`
	Starts   string   `json:"starts"`
	About    string   `json:"about,omitempty"`
	Notes    []string `json:"notes"`
	Asks     []string `json:"asks"` // keys of missing values and secrets
}

func importServers(s Servers, in *mcpsetup.Import, only []string, values []mcpsetup.Value, replace, dry bool) (reply, error) {
	doc := serverImportReply{From: in.From, Added: !dry, Servers: []importedName{}, Problems: append([]string{}, in.Problems...)}
	answers := map[string]string{}
	for _, v := range values {
		answers[v.Name] = v.Value
	}
	var choices []mcpsetup.Choice
	for _, x := range in.Servers {
		if len(only) > 0 && !slices.Contains(only, x.Original) {
			continue
		}
		row := importedName{Original: x.Original, Name: x.Settings.Name, About: x.About, Notes: append([]string{}, x.Notes...), Asks: []string{}}
		row.Starts = serverRow{Command: x.Settings.Command, Args: x.Settings.Args, URL: x.Settings.URL}.target()
		for _, q := range x.Questions {
			if q.Default == "" && answers[q.Key] == "" {
				row.Asks = append(row.Asks, q.Key)
			}
		}
		doc.Servers = append(doc.Servers, row)
		choices = append(choices, mcpsetup.Choice{Original: x.Original, Name: x.Settings.Name, Enabled: x.Settings.Enabled, Replace: replace, Answers: answers})
	}
	if !dry {
		if err := s.Setup.Apply(in.ID, choices); err != nil {
			return reply{}, err
		}
		for _, c := range choices {
			s.Manager.Reset(c.Name)
		}
	}
	return reply{doc: doc, text: doc.print}, nil
}

func (r serverImportReply) print(o *output) {
	verb := "added"
	if !r.Added {
		verb = "found, not added"
	}
	for _, s := range r.Servers {
		o.printf("%s: %s, starts %s\n", s.Name, verb, clip(line(s.Starts), 100))
		if s.About != "" {
			o.printf("  %s\n", line(s.About))
		}
		for _, n := range s.Notes {
			o.printf("  %s\n", line(n))
		}
		for _, key := range s.Asks {
			o.printf("  It needs: %s\n", line(key))
		}
	}
	for _, p := range r.Problems {
		o.printf("not read: %s\n", line(p))
	}
}

func (c *call) mcpServersSecret() *cobra.Command {
	var remove bool
	cmd := &cobra.Command{
		Use: "secret NAME SECRET", Short: "Store a secret of a server in the keyring",
		Long: "Reads the secret from stdin, hidden at a terminal, never from the arguments.", Args: exactly("NAME", "SECRET"),
	}
	cmd.Flags().BoolVar(&remove, "remove", false, "forget the secret")
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		value := ""
		if !remove {
			var err error
			if value, err = c.in.secret(func() { c.note.printf("%s of %s (hidden): ", args[1], args[0]) }); err != nil {
				return reply{}, err
			}
			if c.in.terminal {
				c.note.printf("\n")
			}
			if value == "" {
				return reply{}, chat.Errorf(chat.CodeInvalid, "mcp.secret", "No secret was given; nothing was stored.")
			}
		}
		if err := s.Setup.SetSecret(args[0], args[1], value); err != nil {
			return reply{}, err
		}
		s.Manager.Reset(args[0])
		if !remove && s.Setup.Secrets.Where(args[0], args[1]) != "keyring" {
			return reply{}, chat.Errorf(chat.CodeUnavailable, "mcp.secret", "No keyring is available on this system, so the secret was not stored.").
				WithHint("name a variable of the environment instead: ${env:NAME}")
		}
		return serverAnswer(ctx, s, args[0], "done")
	})
	return cmd
}

func (c *call) mcpServersSignIn() *cobra.Command {
	cmd := &cobra.Command{Use: "sign-in NAME", Short: "Sign in to a server, in the browser", Args: exactly("NAME")}
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		err := s.Manager.SignInWith(ctx, args[0], func(url string) error {
			c.note.printf("Open this page in a browser on this computer:\n%s\n", url)
			return nil
		})
		if err != nil {
			return reply{}, err
		}
		return started(ctx, s, args[0])
	})
	return cmd
}

func (c *call) mcpServersSignOut() *cobra.Command {
	cmd := &cobra.Command{Use: "sign-out NAME", Short: "Forget the sign-in to a server", Args: exactly("NAME")}
	cmd.RunE = c.servers(func(ctx context.Context, s Servers, args []string) (reply, error) {
		if err := s.Manager.SignOut(args[0]); err != nil {
			return reply{}, err
		}
		return serverAnswer(ctx, s, args[0], "signed out")
	})
	return cmd
}
