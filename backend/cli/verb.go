package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/services"
	"contextinfinity/backend/turn"
	"contextinfinity/backend/vault"
)

// verb is one entry of the command line. Everything that is the same for all verbs is written once and reads the
// entries: this file opens the data, finds what the arguments name, and runs the entry's function; help, the manual
// and completion describe it. A new verb is an entry in the list of its family.
type verb struct {
	// use is the name and the arguments: "pin SESSION [TEXT|-]". An argument in brackets may be absent, one that ends
	// with "..." may be repeated, and a|b|c lists the values of one. What follows the first flag is only shown.
	use   string
	short string // what it does, without the full stop
	long  string // details
	flags []flag
	verbs []verb // its subcommands; an entry without do is only a group of them
	// names are the candidates for the argument NAME.
	names func(context.Context, *Services) ([]string, error)

	alias   string // its name in earlier versions
	hidden  bool
	anyArgs bool // arguments after the named ones are not checked
	changes bool // its flags say what to change, so one of them is needed

	// prepare checks the usage, and reads the input, before anything is opened.
	prepare func(context.Context, *run) error
	opens   access
	// opensFor is used instead of opens if what the verb opens depends on its arguments.
	opensFor func(*run) access
	// with changes how the data is opened.
	with func(*run, *OpenOptions)
	// streams says that an answer is shown as it arrives.
	streams bool
	// none is the reply of a reading verb that also works without data.
	none func(*run) reply
	do   func(context.Context, *run) (reply, error)
}

// shows makes v a reading verb that shows what it reads, or nothing without data.
func shows[T any](v verb, read func(context.Context, *run) (T, error), show func(T) reply) verb {
	v.opens = reads
	v.none = func(*run) reply { return show(*new(T)) }
	v.do = func(ctx context.Context, r *run) (reply, error) {
		found, err := read(ctx, r)
		return show(found), err
	}
	return v
}

// access is what is opened before a verb's function runs.
type access int

const (
	opensNothing access = iota
	opensSetup          // configuration, keys and models
	opensFaulty         // the same, without notes on the configuration: the verb reports on it, corrects it or does without
	reads               // the data, read-only
	writes              // the data, as the writer
	looks               // the data, as the writer, where servers run; read-only if its place is not writable
)

// run is one run of a verb.
type run struct {
	*call
	v    *verb
	cmd  *cobra.Command
	args []string

	setup *services.Setup // with opensSetup and opensFaulty
	s     *Services       // with reads and writes
	st    *stream         // with streams

	// What the arguments and flags of these names name; zero if they are absent. With a session, branch is its active
	// one unless another is named.
	session chat.Session
	branch  chat.Branch
	turn    chat.Turn
	project chat.Project

	// Results of prepare.
	input            string
	message          chat.Message
	files            []attachment
	bundlePassphrase string
	newPassphrase    string
	chosenVault      vault.Target
}

// text, on, number and list return the value of a flag of the verb.
func (r *run) text(name string) string   { return value(r.cmd.Flags().GetString(name)) }
func (r *run) on(name string) bool       { return value(r.cmd.Flags().GetBool(name)) }
func (r *run) number(name string) int    { return value(r.cmd.Flags().GetInt(name)) }
func (r *run) list(name string) []string { return value(r.cmd.Flags().GetStringArray(name)) }

// given reports whether a flag was set, even to its default.
func (r *run) given(name string) bool { return r.cmd.Flags().Changed(name) }

// value returns a flag's value. A flag that the entry does not declare is a mistake in the program.
func value[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// arg returns an argument by its name; empty if it is absent.
func (r *run) arg(name string) string {
	for i, a := range arguments(r.v.use) {
		if a.name == name && i < len(r.args) {
			return r.args[i]
		}
	}
	return ""
}

// named returns what an argument names or, without such an argument, a flag.
func (r *run) named(argument, flag string) string {
	if typed := r.arg(argument); typed != "" {
		return typed
	}
	if f := r.cmd.Flags().Lookup(flag); f != nil && f.Value.Type() == "string" {
		return f.Value.String()
	}
	return ""
}

// argument is one of a verb's arguments.
type argument struct {
	name     string
	optional bool
	repeated bool
	values   []string // the only possible ones; nil: any
}

// arguments reads the arguments from a usage line.
func arguments(use string) []argument {
	var out []argument
	for _, word := range strings.Fields(use)[1:] {
		if strings.HasPrefix(strings.TrimPrefix(word, "["), "--") {
			break
		}
		a := argument{optional: strings.HasPrefix(word, "[")}
		a.name, a.repeated = strings.CutSuffix(strings.Trim(word, "[]"), "...")
		first, others, several := strings.Cut(a.name, "|")
		switch {
		case strings.HasPrefix(others, "--"): // a flag instead of the argument
			return append(out, argument{name: first, optional: true})
		case others == "-":
			a.name = first
		case several:
			a.values = strings.Split(a.name, "|")
		}
		out = append(out, a)
	}
	return out
}

// checkArguments returns an error if arguments are missing, too many or empty. Most verbs would take an empty one for
// something else, for example the current folder.
func (v *verb) checkArguments(cmd *cobra.Command, args []string) error {
	all := arguments(v.use)
	var names, required []string
	for _, a := range all {
		names = append(names, a.name)
		if !a.optional {
			required = append(required, a.name)
		}
	}
	last := len(all) - 1
	switch {
	case len(args) < len(required):
		return usageHint(cmd.UseLine(), "%s", missing(required[len(args):]))
	case len(args) > len(all) && !v.anyArgs && (last < 0 || !all[last].repeated):
		return tooMany(cmd, names, args[len(all)])
	}
	for i, arg := range args {
		if i > last && v.anyArgs {
			break
		}
		if name := names[min(i, last)]; strings.TrimSpace(arg) == "" && !mayBeEmpty[name] {
			return usageHint(cmd.UseLine(), "%s is empty; nothing was done.", name)
		}
	}
	return nil
}

// mayBeEmpty names the arguments that may be an empty text, because their verbs handle it.
var mayBeEmpty = map[string]bool{"FOLDER": true, "QUERY": true, "TEXT": true, "TITLE": true, "VALUE": true}

// missing returns the message about absent arguments: "FILE is missing." or "SESSION and PIN are missing."
func missing(names []string) string {
	if len(names) == 1 {
		return names[0] + " is missing."
	}
	return strings.Join(names, " and ") + " are missing."
}

// tooMany returns the error for the first surplus argument: a verb that does not exist, or a text without quotation
// marks.
func tooMany(cmd *cobra.Command, names []string, extra string) error {
	extra = clip(extra, 40)
	if len(names) == 0 {
		if cmd.HasAvailableSubCommands() {
			path := strings.TrimPrefix(cmd.CommandPath(), program+" ")
			return usageHint(verbsOf(cmd), "%s has no verb %q.", path, extra)
		}
		return usageHint(cmd.UseLine(), "%q is one argument too many.", extra)
	}
	hint := cmd.UseLine()
	if last := names[len(names)-1]; last == "QUERY" || last == "TEXT" || last == "TITLE" {
		hint += "; put " + last + " in quotation marks"
	}
	return usageHint(hint, "%q is one argument too many.", extra)
}

// command makes an entry, and its subcommands, commands of cobra.
func (c *call) command(v verb) *cobra.Command {
	cmd := &cobra.Command{
		Use: v.use, Short: v.short, Long: v.long, Hidden: v.hidden, Args: v.checkArguments,
		ValidArgsFunction: c.completeArgument(&v),
	}
	if v.alias != "" {
		cmd.Aliases = []string{v.alias}
	}
	for _, f := range v.flags {
		c.addFlag(cmd, f)
	}
	for _, sub := range v.verbs {
		cmd.AddCommand(c.command(sub))
	}
	if v.do == nil {
		cmd.Use += groupMark
		cmd.RunE = func(*cobra.Command, []string) error {
			return usageHint(verbsOf(cmd), "%s needs a verb.", v.use)
		}
		return cmd
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		c.started = true
		c.verbName = strings.ReplaceAll(strings.TrimPrefix(cmd.CommandPath(), program+" "), " ", "_")
		answer, err := c.perform(cmd.Context(), &run{call: c, v: &v, cmd: cmd, args: args})
		if err != nil && !answer.keepOnError {
			answer = reply{}
		}
		c.reply = answer
		return err
	}
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

// perform checks the usage, opens what the verb needs, and runs it.
func (c *call) perform(ctx context.Context, r *run) (reply, error) {
	if err := c.check(ctx, r); err != nil {
		return reply{}, err
	}
	opens := r.v.opens
	if r.v.opensFor != nil {
		opens = r.v.opensFor(r)
	}
	switch opens {
	case opensSetup, opensFaulty:
		if err := r.openSetup(ctx); err != nil {
			return reply{}, err
		}
		if opens == opensSetup {
			c.noteConfig(r.setup.Config)
		}
	case reads:
		if r.v.none != nil {
			return c.readingAny(ctx, r.v.none(r), r.onData(ctx))
		}
		return c.reading(ctx, r.onData(ctx))
	case writes, looks:
		publisher := turn.Publisher(silent{})
		if r.v.streams {
			r.st = c.newStream()
			publisher = r.st
		}
		o := c.options(false, publisher)
		if r.v.with != nil {
			r.v.with(r, &o)
		}
		answer, err := c.opened(ctx, o, r.onData(ctx))
		if opens == looks && r.s == nil && chat.IsUnwritable(err) {
			return c.reading(ctx, r.onData(ctx))
		}
		return answer, err
	case opensNothing:
	}
	return r.v.do(ctx, r)
}

// check returns an error for wrong usage, before anything is opened.
func (c *call) check(ctx context.Context, r *run) error {
	if !makesConfig(c.verbName) {
		if err := c.checkPlaces(r.cmd.Flags()); err != nil {
			return err
		}
	}
	if r.v.changes {
		if err := requireChange(r.cmd); err != nil {
			return err
		}
	}
	for _, f := range r.v.flags {
		if err := f.check(r.cmd.Flags()); err != nil {
			return err
		}
	}
	if err := c.readPassphrase(); err != nil {
		return err
	}
	if r.v.prepare == nil {
		return nil
	}
	return r.v.prepare(ctx, r)
}

// onData returns the function that runs the verb with open data.
func (r *run) onData(ctx context.Context) func(*Services) (reply, error) {
	return func(s *Services) (reply, error) {
		r.s = s
		if err := r.find(ctx); err != nil {
			return reply{}, err
		}
		return r.v.do(ctx, r)
	}
}

// find finds what the arguments and flags name.
func (r *run) find(ctx context.Context) (err error) {
	session, branch := r.named("SESSION", "session"), r.named("BRANCH", "branch")
	switch {
	case session != "":
		r.session, r.branch, err = r.s.place(ctx, session, branch)
	case branch != "":
		r.branch, err = r.s.anyBranch(ctx, branch)
	}
	if typed := r.named("TURN", "turn"); typed != "" && err == nil {
		r.turn, err = r.s.turn(ctx, typed)
	}
	if typed := r.named("PROJECT", "project"); typed != "" && err == nil {
		r.project, err = r.s.project(ctx, typed)
	}
	return err
}

// requireChange returns an error if none of a verb's own flags is set.
func requireChange(cmd *cobra.Command) error {
	changes := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { changes = changes || f.Changed })
	if changes {
		return nil
	}
	return usageHint(cmd.CommandPath()+" --help lists the flags", "No change is given; nothing was done.")
}

// mustBeAsked returns an error if a question is necessary, without --yes, and nobody can be asked.
func (r *run) mustBeAsked(format string, args ...any) error {
	if r.on("yes") || !r.json && r.in.terminal {
		return nil
	}
	return usageHint("add --yes", format, args...)
}

func nameOf(use string) string {
	name, _, _ := strings.Cut(use, " ")
	return name
}
