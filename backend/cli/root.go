package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"contextinfinity/backend/internal/lists"
)

const program = "contextinfinity"

// root builds the command tree.
func (c *call) root() *cobra.Command {
	root := &cobra.Command{
		Use:           program + " [FILE...]",
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
	root.PersistentPreRunE = refuseEmptyFlags
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(&c.help, cmd) })
	c.persistent(root.PersistentFlags())
	windowFlags(root.Flags(), new(OpenOptions))
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
	f.StringVar(&c.dataDir, "data-dir", "", "the `FOLDER` where sessions are stored, instead of the configured one")
	f.StringVar(&c.configPath, "config", "", "the configuration `FILE`, instead of the usual one")
	f.StringArrayVar(&c.set, "set", nil, "a setting of this run as `KEY=VALUE`, over the configuration file (may be repeated)")
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
func group(use, short string, subcommands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use + groupMark, Short: short, Args: exactly()}
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return usageHint(verbsOf(cmd), "%s needs a verb.", use) }
	cmd.AddCommand(subcommands...)
	return cmd
}

// verbsOf lists the subcommands of a command, for a hint.
func verbsOf(cmd *cobra.Command) string {
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return "one of: " + strings.Join(names, ", ")
}

// requireChange returns an error if none of a verb's own flags is set. It is for verbs whose flags say what to change.
func requireChange(cmd *cobra.Command) error {
	changes := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { changes = changes || f.Changed })
	if changes {
		return nil
	}
	return usageHint(cmd.CommandPath()+" --help lists the flags", "No change is given; nothing was done.")
}

// missing returns the message about absent arguments: "FILE is missing." or "SESSION and PIN are missing."
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
			return tooMany(cmd, names, args[len(names)])
		}
		for i, name := range names {
			if strings.TrimSpace(args[i]) == "" && !mayBeEmpty[name] {
				return usageHint(cmd.UseLine(), "%s is empty; nothing was done.", name)
			}
		}
		return nil
	}
}

// tooMany returns the error for the first surplus argument: a verb that does not exist, or a text without quotation
// marks.
func tooMany(cmd *cobra.Command, names []string, extra string) error {
	extra = clip(extra, 40)
	if len(names) == 0 {
		if cmd.HasAvailableSubCommands() {
			return usageHint(verbsOf(cmd), "%s has no verb %q.", strings.TrimPrefix(cmd.CommandPath(), program+" "), extra)
		}
		return usageHint(cmd.UseLine(), "%q is one argument too many.", extra)
	}
	hint := cmd.UseLine()
	if last := names[len(names)-1]; last == "QUERY" || last == "TEXT" || last == "TITLE" {
		hint += "; put " + last + " in quotation marks"
	}
	return usageHint(hint, "%q is one argument too many.", extra)
}

// mayBeEmpty names the arguments that exactly accepts as empty, because their verb handles an empty text. Other
// arguments must not be empty: an empty path would mean the current folder.
var mayBeEmpty = map[string]bool{"FOLDER": true, "QUERY": true, "TEXT": true, "TITLE": true, "VALUE": true}

// atMost is like exactly, but the last argument is optional.
func atMost(names ...string) cobra.PositionalArgs {
	all, fewer := exactly(names...), exactly(names[:len(names)-1]...)
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < len(names) {
			return fewer(cmd, args)
		}
		return all(cmd, args)
	}
}

// atLeast is like exactly, but the last argument may be repeated.
func atLeast(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		more := max(len(args)-len(names), 0)
		all := slices.Concat(names, slices.Repeat(names[len(names)-1:], more))
		return exactly(all...)(cmd, args)
	}
}

// namingFlags lists the flags whose value names a file, a folder or something stored.
var namingFlags = map[string]bool{
	"accept": true, "assistant": true, "attach": true, "branch": true, "cwd": true, "dismiss": true, "hash": true, "id": true,
	"image": true, "output": true, "project": true, "prompt": true, "raw": true, "session": true, "to": true, "turn": true,
}

// refuseEmptyFlags returns an error if one of the namingFlags has an empty value, for example from an unset shell
// variable: the verb would work on something else, such as the session used last, or on everything.
func refuseEmptyFlags(cmd *cobra.Command, _ []string) error {
	empty := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		if namingFlags[f.Name] && slices.ContainsFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" }) {
			empty = cmp.Or(empty, f.Name)
		}
	})
	if empty == "" {
		return nil
	}
	return usageHint("give it a value, or omit it", "--%s is empty; nothing was done.", empty)
}

// Verbs returns the verbs of the command line.
func Verbs() []string {
	return lists.Map(new(call).verbs(), func(cmd *cobra.Command) string { return cmd.Name() })
}

// IsVerb reports whether arg is a verb, including help and the shell's completion requests.
func IsVerb(arg string) bool {
	switch arg {
	case "help", cobra.ShellCompRequestCmd, cobra.ShellCompNoDescRequestCmd:
		return true
	}
	return slices.Contains(Verbs(), arg)
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
	var o OpenOptions
	windowFlags(f, &o)
	if err := f.Parse(rest); err != nil || c.json || c.checkPlaces(f) != nil || o.Session != "" && !o.NewWindow {
		return OpenOptions{}, false
	}
	o.DataDir, o.ConfigPath, o.Set = c.dataDir, c.configPath, c.set
	var ok bool
	o.Files, ok = existing(f.Args())
	return o, ok
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
