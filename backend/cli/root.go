package cli

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"contextinfinity/backend/internal/lists"
)

const program = "contextinfinity"

// root builds the command tree.
func (c *call) root() *cobra.Command {
	root := &cobra.Command{
		Use:           program,
		Short:         "Conversations with language models, complete and permanent",
		Long:          "Without a verb the window opens, on the files that are named. With --json stdout is exactly one JSON document.",
		Args:          c.noWindow,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetOut(&c.help)
	root.SetErr(c.note)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagUsage(cmd, err) })
	c.persistent(root.PersistentFlags())
	root.AddCommand(c.verbs()...)
	root.SetHelpCommand(helpCommand(root))
	return root
}

// helpCommand is cobra's help command, except that an unknown verb is an error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use: "help [VERB]", Short: "Explain a verb", Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noVerb(root, args)
			}
			return cmd.Help()
		},
	}
}

func (c *call) persistent(f *pflag.FlagSet) {
	f.StringVar(&c.dataDir, "data-dir", "", "where sessions are stored, instead of the configured folder")
	f.StringVar(&c.configPath, "config", "", "the configuration file, instead of the usual one")
	f.StringArrayVar(&c.set, "set", nil, "a setting of this run as KEY=VALUE, over the configuration file (may be repeated)")
	f.BoolVar(&c.json, "json", false, "print exactly one JSON document")
}

func (c *call) verbs() []*cobra.Command {
	return []*cobra.Command{
		c.sendCommand(), c.chatCommand(),
		c.sessionsCommand(), c.showCommand(), c.searchCommand(), c.findCommand(),
		c.treeCommand(), c.branchesCommand(), c.compareCommand(), c.forkCommand(), c.rollbackCommand(), c.switchCommand(), c.statesCommand(),
		c.answersCommand(), c.retryCommand(), c.continueCommand(), c.resendCommand(), c.keepCommand(), c.discardCommand(),
		c.pinCommand(), c.pinsCommand(), c.unpinCommand(), c.knowsCommand(),
		c.assistantsCommand(), c.promptsCommand(),
		c.pendingCommand(), c.commitCommand(), c.contextCommand(), c.chunksCommand(), c.summarizeCommand(), c.summariesCommand(),
		c.evalCommand(),
		c.toolsCommand(), c.projectsCommand(),
		c.modelsCommand(), c.keysCommand(), c.configCommand(),
		c.jobsCommand(), c.reconcileCommand(), c.verifyCommand(), c.statsCommand(), c.metricsCommand(),
		c.backupCommand(), c.backupsCommand(), c.restoreCommand(), c.deleteCommand(), c.receiptsCommand(), c.exportCommand(), c.importCommand(),
		c.mcpCommand(),
		c.versionCommand(), c.completionCommand(),
	}
}

func noVerb(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageHint("contextinfinity help lists the verbs", "There is no verb %q.", args[0])
}

// group is a verb that only has subcommands.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs}
	names := lists.Map(below, (*cobra.Command).Name)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		list := strings.Join(names, ", ")
		if len(args) > 0 {
			return usageHint("one of: "+list, "%s has no %q.", use, args[0])
		}
		return usageHint("one of: "+list, "%s needs a verb.", use)
	}
	cmd.AddCommand(below...)
	return cmd
}

// missing is the error about absent arguments: "FILE is missing." or "SESSION and PIN are missing."
func missing(names []string) string {
	if len(names) == 1 {
		return names[0] + " is missing."
	}
	return strings.Join(names, " and ") + " are missing."
}

// exactly requires the named arguments, and names them in its error.
func exactly(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < len(names):
			return usageHint(cmd.UseLine(), "%s", missing(names[len(args):]))
		case len(args) > len(names):
			return usageHint(cmd.UseLine(), "%q is one argument too many.", clip(args[len(names)], 40))
		}
		return nil
	}
}

// atMost is exactly with an optional last argument.
func atMost(names ...string) cobra.PositionalArgs {
	all, fewer := exactly(names...), exactly(names[:len(names)-1]...)
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fewer(cmd, args)
		}
		return all(cmd, args)
	}
}

// atLeast is exactly with one or more last arguments.
func atLeast(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		return exactly(names...)(cmd, args[:min(len(args), len(names))])
	}
}

// Verbs returns the verbs of the command line.
func Verbs() []string {
	var out []string
	for _, cmd := range new(call).verbs() {
		out = append(out, cmd.Name())
	}
	return out
}

// IsVerb reports whether arg is a verb, including help and the shell's completion requests.
func IsVerb(arg string) bool {
	switch arg {
	case "help", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return true
	}
	for _, v := range Verbs() {
		if v == arg {
			return true
		}
	}
	return false
}

// WindowOptions parses arguments that start the window: flags and files, as a file manager or a desktop entry passes
// them. It returns false for any other arguments; the command line then handles them, including invalid ones. A verb
// takes precedence over a file with the same name.
func WindowOptions(args []string) (OpenOptions, bool) {
	var rest []string
	for _, a := range args {
		if !strings.HasPrefix(a, "-psn_") { // added by macOS after a double click
			rest = append(rest, a)
		}
	}
	var c call
	f := pflag.NewFlagSet(program, pflag.ContinueOnError)
	f.SetOutput(&c.help)
	f.Usage = func() {}
	c.persistent(f)
	newChat, hidden := f.Bool("new-chat", false, ""), f.Bool("hidden", false, "")
	newWindow, session := f.Bool("new-window", false, ""), f.String("session", "", "")
	quick := f.Bool("quick", false, "")
	if err := f.Parse(rest); err != nil || c.json || c.checkPlaces(f) != nil {
		return OpenOptions{}, false
	}
	files, ok := existing(f.Args())
	return OpenOptions{DataDir: c.dataDir, ConfigPath: c.configPath, Set: c.set, Files: files, NewChat: *newChat, Hidden: *hidden, NewWindow: *newWindow, Quick: *quick, Session: *session}, ok && (*session == "" || *newWindow)
}

// existing returns the absolute paths of the files that the words name; false if one is a verb or does not exist.
func existing(words []string) ([]string, bool) {
	if len(words) > 0 && IsVerb(words[0]) {
		return nil, false
	}
	var files []string
	for _, word := range words {
		path, err := filepath.Abs(word)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, false
		}
		files = append(files, path)
	}
	return files, true
}
