package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/config"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/turn"
)

// call is one run of the command line.
type call struct {
	app    App
	in     *input
	out    *output
	note   *output // stderr
	signal *signals

	json       bool
	events     bool // one line of JSON for each event of an answer
	dataDir    string
	configPath string
	set        []string // --set: settings for this run
	// What opens sealed data: the file that names it, and its content.
	passphraseFile, passphrase string

	verbName string
	started  bool         // the verb's own code ran: a later error is not wrong usage
	locked   *OpenOptions // the options with which another program was found to be the writer
	help     bytes.Buffer // what cobra prints
	reply    reply
	flushed  bool  // the reply was already printed,
	printed  error // with this error
}

// reply is the result of a verb: a document for --json, and text without it. A nil text means that the verb has
// already printed. On failure the reply is only used if keepOnError is set: for a partial answer, or for verify's
// findings.
type reply struct {
	doc         any
	text        func(*output)
	keepOnError bool
}

// Run runs one command line and returns the exit code.
func Run(ctx context.Context, app App, args []string) int {
	c := newCall(app)
	ctx, stop := c.signal.watch(ctx)
	defer stop()
	c.in.recorder.ctx = ctx
	root := c.root()
	if i := slices.Index(args, "--version"); i >= 0 && !slices.ContainsFunc(args, IsVerb) { // other programs have this flag
		args = slices.Concat(args[:i], []string{"version"}, args[i+1:])
	}
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if code, done := c.handOver(ctx, args); done {
		return code
	}
	if c.asksForPassphrase(err) {
		if errors.Is(err, seal.ErrSignIn) {
			c.notef("%s", chat.AsError(err).Message)
		}
		if app.Passphrase, err = c.secret("Passphrase or recovery code"); err == nil && app.Passphrase != "" {
			return Run(ctx, app, args)
		}
	}
	if err != nil && !c.started {
		err = asUsage(err)
		c.json = c.json || wantsJSON(args)
	}
	return c.finish(err)
}

// asksForPassphrase reports whether a call failed because the data is sealed, and somebody can be asked.
func (c *call) asksForPassphrase(err error) bool {
	e, ok := errors.AsType[*chat.Error](err)
	return ok && e.Code == chat.CodeSealed && e.Op == opOpen && c.passphrase == "" && c.in.terminal && c.in.file != nil
}

func newCall(app App) *call {
	c := &call{passphrase: app.Passphrase, app: app, in: newInput(app.In), out: newOutput(app.Out), note: newOutput(app.Err), signal: newSignals(app.Signals)}
	app.Terminals.apply(c)
	return c
}

// asUsage marks an error of cobra's parsing as wrong usage.
func asUsage(err error) error {
	if exitCode(err) == exitUsage {
		return err
	}
	msg := err.Error()
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if expected, ok := valueKinds[value.GetFlag().Value.Type()]; ok {
			msg = fmt.Sprintf("--%s must be %s, not %q", value.GetFlag().Name, expected, clip(value.GetValue(), 40))
		}
	}
	return usageHint("contextinfinity help lists the verbs", "%s", display.Capitalized(msg)+".")
}

// flagUsage returns the error for invalid flags of a command.
func flagUsage(cmd *cobra.Command, err error) error {
	text := chat.AsError(asUsage(err)).Message
	return usageHint(cmd.CommandPath()+" --help lists its flags", "%s", text)
}

// valueKinds describes the values of each flag type.
var valueKinds = map[string]string{
	"int": "a whole number", "int64": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a length of time such as 30s",
}

// wantsJSON looks for --json after parsing has failed.
func wantsJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "--json") || slices.Contains(args, "--json=true")
}

// finish prints the reply and the error, unless flush has, and chooses the exit code.
func (c *call) finish(err error) int {
	switch {
	case !c.flushed:
		c.print(err)
	case err != nil && !errors.Is(err, c.printed): // an error of closing: the document is complete
		c.printError(err)
	}
	if errors.Is(err, errQuit) { // a printer may still write
		return exitCode(err)
	}
	return c.exit(exitCode(err))
}

// flush prints the reply and the error now, for a verb that continues to work.
func (c *call) flush(r reply, err error) {
	c.reply, c.flushed, c.printed = r, true, err
	c.print(err)
}

func (c *call) print(err error) {
	switch {
	case c.events && !c.json:
		c.finishEvents(err)
	case c.json:
		c.finishJSON(err)
	default:
		c.finishText(err)
	}
}

// exit returns the exit code, which is not 0 if the output could not be written.
func (c *call) exit(code int) int {
	if c.out.err == nil {
		return code
	}
	if !closedPipe(c.out.err) {
		c.note.printf("error: %s\n", outputError(c.out.err))
	}
	return max(exitFailed, code)
}

func (c *call) finishJSON(err error) {
	doc := c.reply.doc
	if doc == nil && c.help.Len() > 0 && err == nil {
		doc = struct {
			Help string `json:"help"`
		}{c.help.String()}
	}
	body, encodeErr := c.document(doc, err)
	if encodeErr != nil {
		body, _ = c.document(nil, errors.Join(err, encodeErr))
	}
	_, _ = c.out.Write(body)
}

func (c *call) finishText(err error) {
	if c.reply.text != nil {
		c.reply.text(c.out)
	}
	if c.help.Len() > 0 && err == nil {
		_, _ = c.out.Write(c.help.Bytes())
	}
	if err != nil {
		c.printError(err)
	}
}

func (c *call) printError(err error) {
	d := c.describe(err)
	hint := ""
	if d.Hint != "" {
		hint = " (" + d.Hint + ")"
	}
	c.note.printf("error: %s%s\n", display.Visible(d.Message), display.Visible(hint))
}

// notef prints a note to stderr.
func (c *call) notef(format string, args ...any) {
	c.note.printf("%s\n", c.note.dim("note: "+display.Visible(c.redact(fmt.Sprintf(format, args...)))))
}

// silent is the Publisher of verbs that stream nothing.
type silent struct{}

func (silent) Frame(chat.Frame)   {}
func (silent) Change(chat.Change) {}

func (c *call) options(readOnly bool, p turn.Publisher) OpenOptions {
	return OpenOptions{
		DataDir:    c.dataDir,
		ConfigPath: c.configPath,
		Set:        c.set,
		ReadOnly:   readOnly,
		Publish:    p,
		Passphrase: c.passphrase,
	}
}

// reading opens the data read-only and runs f.
func (c *call) reading(ctx context.Context, f func(*Services) (reply, error)) (reply, error) {
	o := c.options(true, silent{})
	s, err := c.app.Open(ctx, o)
	if chat.CodeOf(err) == chat.CodeSealed && c.passphrase == "" && len(c.set) == 0 {
		c.locked = &o // a program that has the data open needs no passphrase
	}
	if err != nil {
		return reply{}, err
	}
	c.noteConfig(s.Config)
	if note := s.Store.Note(); note != "" {
		c.notef("%s", note)
	}
	return c.closing(s, f)
}

// readingAny is like reading, for verbs that also work without data.
func (c *call) readingAny(ctx context.Context, none reply, f func(*Services) (reply, error)) (reply, error) {
	r, err := c.reading(ctx, f)
	if e := new(chat.Error); errors.As(err, &e) && e.Code == chat.CodeNotFound && e.Op == opOpen {
		if c.dataDir != "" {
			c.notef("there is no data in %s yet", c.dataDir)
		}
		return none, nil
	}
	return r, err
}

// opOpen is the operation of the store's errors when opening.
const opOpen = "store.open"

// opened opens the data as the writer and runs f.
func (c *call) opened(ctx context.Context, o OpenOptions, f func(*Services) (reply, error)) (reply, error) {
	s, err := c.open(ctx, o)
	if err != nil {
		return reply{}, err
	}
	c.noteConfig(s.Config)
	if !o.Reconcile { // otherwise it is the reply
		c.noteRecovery(s.Recovery)
	}
	return c.closing(s, f)
}

// closing runs f and then closes the data, except after a second Ctrl-C.
func (c *call) closing(s *Services, f func(*Services) (reply, error)) (reply, error) {
	r, err := f(s)
	if errors.Is(err, errQuit) {
		return r, err
	}
	if closeErr := s.Close(); err == nil {
		err = closeErr
	}
	return r, err
}

// noteConfig says how the configuration in effect differs from the file.
func (c *call) noteConfig(s *config.Store) {
	for _, notice := range s.Config().Retired {
		c.notef("%s", line(notice))
	}
	for _, fault := range s.Config().Faults {
		c.notef("cannot be used: %s", line(fault.String()))
	}
	if fault := s.Err(); fault != nil {
		c.notef("the configuration file has an error, so the defaults are used: %s", line(c.describe(fault).Message))
	}
}

// noteRecovery says in one line that an earlier run ended abnormally.
func (c *call) noteRecovery(r chat.RecoveryReport) {
	var open []string
	found := 0
	for _, item := range r.Items {
		if item.Routine() {
			continue
		}
		found++
		if item.Undecided() {
			open = append(open, string(item.TurnID))
		}
	}
	if found == 0 {
		return
	}
	more := ""
	if len(open) > 0 {
		more = "; needs your decision: " + strings.Join(open[:min(3, len(open))], ", ")
	}
	c.notef("an earlier run did not shut down cleanly; recovered %s%s", plural(found, "record"), more)
}
