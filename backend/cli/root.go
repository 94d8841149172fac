package cli

import (
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
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { writeHelp(&c.help, cmd) })
	c.persistent(root.PersistentFlags())
	windowFlags(root.Flags(), new(OpenOptions))
	for _, v := range verbs() {
		root.AddCommand(c.command(v))
	}
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
	f.StringVar(&c.passphraseFile, passphraseFlag.name, "", "open sealed data with the passphrase or recovery code in the first line of this `FILE`")
}

// verbs returns all entries, by family.
func verbs() []verb {
	return slices.Concat(
		[]verb{sendVerb(), chatVerb(), sessionsVerb(), showVerb(), answersVerb()},
		findVerbs(), searchVerbs(), treeVerbs(), branchVerbs(), rerunVerbs(), pinVerbs(),
		[]verb{assistantsVerb(), promptsVerb(), projectsVerb(), toolsVerb()},
		summaryVerbs(), contextVerbs(), chunkVerbs(),
		[]verb{evalVerb(), modelsVerb(), keysVerb(), configVerb(), jobsVerb(), metricsVerb()},
		maintenanceVerbs(), backupVerbs(), deleteVerbs(),
		sealVerbs(), syncVerbs(),
		[]verb{exportSessions(), importSessions(), mcpVerb(), versionVerb(), completionVerb()},
	)
}

func noVerb(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usageHint("contextinfinity help lists the verbs", "There is no verb %q.", args[0])
}

// Verbs returns the verbs of the command line.
func Verbs() []string { return lists.Map(verbs(), func(v verb) string { return nameOf(v.use) }) }

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
// takes precedence over a file with the same name. restarted: what opens the data is handed over, so its file is not read
// again.
func WindowOptions(args []string, restarted bool) (OpenOptions, bool) {
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
	if !restarted && c.readPassphrase() != nil {
		return OpenOptions{}, false
	}
	o.DataDir, o.ConfigPath, o.Set, o.Passphrase = c.dataDir, c.configPath, c.set, c.passphrase
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
