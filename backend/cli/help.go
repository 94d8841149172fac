package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupMark ends the usage line of a command that only has subcommands.
const groupMark = " VERB"

// writeHelp prints what a command does, its usage lines, its subcommands and its flags.
func writeHelp(w io.Writer, cmd *cobra.Command) {
	printf := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format, args...) }
	usage := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	if cmd.HasAvailableLocalFlags() {
		usage += " [flags]"
	}
	printf("%s\n\nUsage:\n  %s\n", about(cmd, "\n\n"), usage)
	if cmd.HasAvailableSubCommands() {
		if !strings.HasSuffix(cmd.Use, groupMark) {
			printf("  %s%s\n", cmd.CommandPath(), groupMark)
		}
		printf("\nVerbs:\n")
		for _, sub := range cmd.Commands() {
			if sub.IsAvailableCommand() {
				printf("  %-*s  %s\n", sub.NamePadding(), sub.Name(), sub.Short)
			}
		}
	}
	heading := "Flags"
	if !cmd.HasParent() {
		heading = "Flags of the window"
	}
	writeFlags(w, heading, cmd.LocalNonPersistentFlags())
	common := cmd.InheritedFlags() // without those that have another meaning here
	if !cmd.HasParent() {
		common = cmd.PersistentFlags()
	}
	writeFlags(w, "Flags of every verb", common)
	if cmd.HasAvailableSubCommands() {
		printf("\n%s help%s explains a verb.\n", program, strings.TrimPrefix(cmd.CommandPath(), program)+groupMark)
	}
}

// about describes what a command does: in one sentence, and then in detail.
func about(cmd *cobra.Command, separator string) string {
	text := cmd.Short + "."
	if cmd.Long != "" {
		text += separator + cmd.Long
	}
	return text
}

// writeFlags prints flags under a heading.
func writeFlags(w io.Writer, heading string, flags *pflag.FlagSet) {
	shown := pflag.NewFlagSet(heading, pflag.ContinueOnError)
	for _, f := range shownFlags(flags) {
		shown.AddFlag(f)
	}
	if shown.HasFlags() {
		_, _ = fmt.Fprintf(w, "\n%s:\n%s", heading, shown.FlagUsages())
	}
}

// shownFlags returns the flags to list, without --help. The value of each has a name: the one in back quotes in its
// description, or the name of the flag in capitals.
func shownFlags(flags *pflag.FlagSet) []*pflag.Flag {
	var list []*pflag.Flag
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		copied := *f
		switch f.Value.Type() {
		case "bool":
		case "int", "int64":
			copied.Value = namedValue{f.Value, "N"}
		case "duration":
			copied.Value = namedValue{f.Value, "TIME"}
		default:
			copied.Value = namedValue{f.Value, strings.ToUpper(f.Name)}
			copied.DefValue = strings.TrimSuffix(f.DefValue, "[]")
		}
		list = append(list, &copied)
	})
	return list
}

// namedValue is a flag's value under the name that its help shows.
type namedValue struct {
	pflag.Value
	name string
}

func (v namedValue) Type() string { return v.name }

// windowFlags adds the flags of a start of the window, which it stores in o.
func windowFlags(f *pflag.FlagSet, o *OpenOptions) {
	f.BoolVar(&o.NewChat, "new-chat", false, "open a new session")
	f.BoolVar(&o.NewWindow, "new-window", false, "open an additional window")
	f.StringVar(&o.Session, "session", "", "with --new-window: the `SESSION` to open")
	f.BoolVar(&o.Quick, "quick", false, "open the small window for a quick question")
	f.BoolVar(&o.Hidden, "hidden", false, "start in the tray, if there is one")
}
