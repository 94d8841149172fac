package cli

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"contextinfinity/backend/importing"
)

// eachCommand calls f for a command and all its subcommands.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, sub := range cmd.Commands() {
		eachCommand(sub, f)
	}
}

func TestEachHelpBeginsWithWhatTheVerbDoes(t *testing.T) {
	goType := regexp.MustCompile(`--\S+ (string|stringArray|int|int64|duration)\b`)
	eachCommand(newCall(App{}).root(), func(cmd *cobra.Command) {
		var b strings.Builder
		writeHelp(&b, cmd)
		help := b.String()
		if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || !strings.HasPrefix(help, cmd.Short+".\n\n") {
			t.Errorf("%s: the help begins %.60q", cmd.CommandPath(), help)
		}
		if strings.Count(help, cmd.Short+".") > 1 {
			t.Errorf("%s: the help says twice what the verb does: %s", cmd.CommandPath(), help)
		}
		if !strings.Contains(help, "Usage:\n  "+cmd.CommandPath()) || goType.MatchString(help) {
			t.Errorf("%s: %s", cmd.CommandPath(), help)
		}
		for _, sub := range cmd.Commands() {
			if !sub.Hidden && !strings.Contains(help, "\n  "+sub.Name()+" ") {
				t.Errorf("%s: the help lacks %s", cmd.CommandPath(), sub.Name())
			}
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name != "help" && !strings.Contains(help, "--"+f.Name) {
				t.Errorf("%s: the help lacks --%s", cmd.CommandPath(), f.Name)
			}
		})
	})
}

func TestHelpOfTheWindowsFlags(t *testing.T) {
	var b strings.Builder
	writeHelp(&b, newCall(App{}).root())
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	windowFlags(f, new(OpenOptions))
	f.VisitAll(func(flag *pflag.Flag) {
		if !strings.Contains(b.String(), "--"+flag.Name) || !strings.Contains(manualPage(t), roff("--"+flag.Name)) {
			t.Errorf("--%s is not explained", flag.Name)
		}
	})
}

func TestFlagsNameTheirValues(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.String("branch", "", "the branch")
	f.StringArray("set", nil, "a setting as `KEY=VALUE`")
	f.Int("limit", 50, "at most this many")
	f.String("wait", "finalized", "how far")
	f.Bool("all", false, "all of them")
	var b strings.Builder
	writeFlags(&b, "Flags", f)
	const want = `
Flags:
      --all             all of them
      --branch BRANCH   the branch
      --limit N         at most this many (default 50)
      --set KEY=VALUE   a setting as KEY=VALUE
      --wait WAIT       how far (default finalized)
`
	if b.String() != want {
		t.Errorf("%s", b.String())
	}
}

func TestTheNoteAboutDroppedTurns(t *testing.T) {
	for want, turns := range map[string][]int64{
		"turn #20 did not fit into this request as a whole and could not be recalled, because it is not in memory yet: ":              {20},
		"3 turns (#2 to #9) did not fit into this request as a whole and could not be recalled, because they are not in memory yet: ": {2, 9, 4},
	} {
		if got := droppedNote(turns); !strings.HasPrefix(got, want) {
			t.Errorf("%q", got)
		}
	}
}

func TestOneConversationWithInstructions(t *testing.T) {
	for n, want := range map[int]string{
		1: "  1 session came with instructions of its own, which", 2: "  2 sessions came with instructions of their own, which",
	} {
		var b strings.Builder
		f := importedFile{Report: importing.Report{Instructed: n}}
		if f.printInstructions(newOutput(&b)); !strings.HasPrefix(b.String(), want) {
			t.Errorf("%q", b.String())
		}
	}
}
