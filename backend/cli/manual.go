package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// WriteManual writes the manual page (section 1, roff man macros) with every verb and its flags, generated from the
// command tree. date is the date of the page.
func WriteManual(w io.Writer, version string, date time.Time) error {
	root := newCall(App{Version: version}).root()
	m := &manual{}
	m.line(`.TH CONTEXTINFINITY 1 "%s" "contextinfinity %s" "User Commands"`, date.UTC().Format(time.DateOnly), roff(version))
	m.section("NAME")
	m.text("contextinfinity - LLM conversations with unlimited, crash-proof history")
	m.section("SYNOPSIS")
	m.line(`.B contextinfinity`)
	m.line(`[\-\-data\-dir DIR] [\-\-config FILE] [FILE...]`)
	m.line(`.br`)
	m.line(`.B contextinfinity`)
	m.line(`VERB [ARGUMENT...] [FLAG...]`)
	m.section("DESCRIPTION")
	m.text("Without a verb the window opens. With a verb the program is a command line on the same sessions. " +
		"A data directory has one writer: while a window has it open, verbs that write are run there.")
	m.section("OPTIONS OF EVERY VERB")
	m.flags(root.PersistentFlags())
	m.section("OPTIONS OF THE WINDOW")
	m.flags(root.LocalNonPersistentFlags())
	m.section("VERBS")
	for _, cmd := range root.Commands() {
		m.verb(cmd)
	}
	m.closing()
	_, err := io.WriteString(w, m.String())
	return err
}

type manual struct{ strings.Builder }

func (m *manual) line(format string, args ...any) { fmt.Fprintf(m, format+"\n", args...) }

func (m *manual) section(name string) { m.line(".SH %s", name) }

// text writes paragraphs, which are separated by empty lines.
func (m *manual) text(s string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(s), "\n\n") {
		if i > 0 {
			m.line(".IP")
		}
		for line := range strings.Lines(paragraph) {
			m.line("%s", roff(strings.TrimSpace(line)))
		}
	}
}

func (m *manual) flags(f *pflag.FlagSet) {
	for _, flag := range shownFlags(f) {
		value, usage := pflag.UnquoteUsage(flag)
		name := "--" + flag.Name
		if flag.Shorthand != "" {
			name = "-" + flag.Shorthand + ", " + name
		}
		m.line(".TP")
		m.line(`\fB%s\fR %s`, roff(name), roff(value))
		m.text(usage)
	}
}

// verb writes a verb and its subcommands.
func (m *manual) verb(cmd *cobra.Command) {
	if cmd.Hidden {
		return
	}
	m.line(`.SS "%s"`, roff(strings.TrimPrefix(cmd.UseLine(), program+" ")))
	m.text(about(cmd, "\n"))
	m.flags(cmd.LocalNonPersistentFlags())
	for _, sub := range cmd.Commands() {
		m.verb(sub)
	}
}

func (m *manual) closing() {
	m.section("EXIT STATUS")
	for _, row := range [][2]string{
		{"0", "done"}, {"1", "failed"}, {"2", "wrong usage"}, {"3", "verify, import or backups --check found problems"},
		{"4", "the answer waits for a decision about tool calls"},
	} {
		m.line(".TP\n.B %s", row[0])
		m.text(row[1])
	}
	m.section("FILES")
	for _, row := range [][2]string{
		{"$XDG_CONFIG_HOME/contextinfinity/config.toml", "the configuration; ~/.config where the variable is not set"},
		{"$XDG_DATA_HOME/contextinfinity", "the sessions and their backups, readable by their owner alone; ~/.local/share where the variable is not set"},
	} {
		m.line(".TP\n.I %s", roff(row[0]))
		m.text(row[1])
	}
	m.section("SEE ALSO")
	m.text("The user guide comes with the program: README and the folder guide, beside the licence.")
}

// roff escapes characters that the formatter would interpret.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, `"`, `\(dq`, "’", `\(cq`, "…", "...").Replace(s)
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		s = `\&` + s
	}
	return s
}
