package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
)

type exportFlags struct {
	format   string
	branch   string
	turn     string
	out      string
	branches bool
	all      bool
	archived bool
	quotes   bool
	replace  bool
}

func (c *call) exportCommand() *cobra.Command {
	var f exportFlags
	cmd := &cobra.Command{
		Use:   "export SESSION|--all",
		Short: "Write a session, a branch, a turn or everything to a file",
		Long: `Formats: bundle (.cinf, the whole session, to be imported again), md, json
(what show --json prints) and html (one page, readable offline). Without --format it is
export.format of the configuration; of a branch or a turn, md in place of bundle.

Writes the active branch, or --branch ID, or with --all-branches every branch from where it forks; a bundle
always contains all. A bundle leaves out the requests that quoted other sessions or
files of a project; --quotes includes them. --all includes everything and writes a zip with a file for each session and a list of them.

Without -o the file gets its session's title, in this folder; "-o -" writes to stdout.
An existing file is not overwritten without --replace. A window may be open meanwhile.`,
		Args: atMost("SESSION"),
	}
	flags := cmd.Flags()
	flags.StringVar(&f.format, "format", "", "bundle, md, json or html")
	flags.StringVar(&f.branch, "branch", "", "this branch, instead of the active one")
	flags.StringVar(&f.turn, "turn", "", "this turn alone")
	flags.BoolVar(&f.branches, "all-branches", false, "every branch, including archived ones")
	flags.BoolVar(&f.all, "all", false, "every session, as a zip")
	flags.BoolVar(&f.archived, "archived", false, "with --all: archived sessions too")
	flags.BoolVar(&f.quotes, "quotes", false, "in a bundle, include requests that quoted other sessions")
	flags.StringVarP(&f.out, "output", "o", "", "the `FILE` to write, a folder, or - for stdout")
	flags.BoolVar(&f.replace, "replace", false, "overwrite an existing file")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		if err := f.check(c, args); err != nil {
			return reply{}, err
		}
		return c.reading(ctx, func(s *Services) (reply, error) { return c.export(ctx, s, f, args) })
	})
	cmd.ValidArgsFunction = c.completeSession
	return cmd
}

var exportFormats = []exporting.Format{exporting.FormatBundle, exporting.FormatMarkdown, exporting.FormatJSON, exporting.FormatHTML}

// check rejects contradictory flags before anything is opened.
func (f exportFlags) check(c *call, args []string) error {
	switch {
	case f.format != "" && !slices.Contains(exportFormats, exporting.Format(f.format)):
		return usageHint("one of: bundle, md, json, html", "There is no format %q.", clip(f.format, 40))
	case f.all && len(args) > 0:
		return usagef("--all and SESSION exclude each other.")
	case !f.all && len(args) == 0:
		return usageHint("contextinfinity sessions lists them; --all exports every one", "SESSION is missing.")
	case f.all && (f.branch != "" || f.turn != ""):
		return usagef("--all excludes --branch and --turn.")
	case f.branches && (f.branch != "" || f.turn != ""):
		return usagef("--all-branches excludes --branch and --turn.")
	case f.archived && !f.all:
		return usagef("--archived needs --all; a session that is named is exported, archived or not.")
	case f.out == "-" && c.json:
		return usageHint("name a file, or omit --json", "--json and -o - both write to stdout.")
	case f.out == "-" && c.out.terminal && (f.all || f.format == string(exporting.FormatBundle)):
		return usageHint("name a file, or write it into a pipe", "A terminal cannot show a zip.")
	}
	return nil
}

// exportReply describes what was written.
type exportReply struct {
	Path     string           `json:"path"`
	Format   exporting.Format `json:"format"`
	Bytes    int64            `json:"bytes"`
	Sessions int              `json:"sessions"`
	Branches int              `json:"branches"`
	Turns    int              `json:"turns"`
	Open     int              `json:"open_turns"`        // left out, because they have no answer yet
	LeftOut  int              `json:"left_out_requests"` // of a bundle: they quoted other conversations
}

func (c *call) export(ctx context.Context, s *Services, f exportFlags, args []string) (reply, error) {
	r, err := s.exportRequest(ctx, f, args)
	if err != nil {
		return reply{}, err
	}
	if f.out == "-" {
		return c.exportToStdout(ctx, s, r)
	}
	r.Path, r.Replace = c.path("."), f.replace
	if f.out != "" {
		r.Path = c.path(f.out)
		if strings.HasSuffix(f.out, string(filepath.Separator)) {
			r.Path += string(filepath.Separator) // a folder, whether or not it exists
		}
	}
	bar := c.meter("export")
	done, err := s.Exports.Write(ctx, r, func(done, total int64) { bar.show(done, total, plural(int(done), "turn")) })
	bar.clear()
	if err != nil {
		return reply{}, err
	}
	doc := exportReply{
		Path: done.Path, Format: done.Format, Bytes: done.Bytes, Sessions: done.Sessions, Branches: done.Branches, Turns: done.Turns, Open: done.Open, LeftOut: done.LeftOut,
	}
	return reply{doc: doc, text: doc.print}, nil
}

func (s *Services) exportRequest(ctx context.Context, f exportFlags, args []string) (exporting.Request, error) {
	r := exporting.Request{Scope: exporting.ScopeAll, AllBranches: f.branches, Format: exporting.Format(f.format), Archived: f.archived, Quotes: f.quotes}
	if f.all {
		return r, nil
	}
	session, err := s.session(ctx, args[0])
	if err != nil {
		return r, err
	}
	r.Scope, r.Session = exporting.ScopeSession, session.ID
	if f.branch != "" {
		b, err := s.branchOf(ctx, session, f.branch)
		if err != nil {
			return r, err
		}
		r.Scope, r.Branch = exporting.ScopeBranch, b.ID
	}
	if f.turn != "" {
		t, err := s.turn(ctx, f.turn)
		if err != nil {
			return r, err
		}
		if t.SessionID != session.ID {
			return r, chat.Errorf(chat.CodeNotFound, "cli.find", "Session %s has no turn %s.", session.ID, t.ID)
		}
		r.Scope, r.Turn = exporting.ScopeTurn, t.ID
	}
	return r, nil
}

func (c *call) exportToStdout(ctx context.Context, s *Services, r exporting.Request) (reply, error) {
	w := &exportWriter{out: c.out}
	bar := c.meter("export")
	done, err := s.Exports.WriteTo(ctx, r, w, func(done, total int64) {
		if !c.out.terminal { // on a terminal, the text itself is the output
			bar.show(done, total, plural(int(done), "turn"))
		}
	})
	bar.clear()
	w.end()
	if c.out.err != nil {
		return reply{}, nil // reported at the end of the call
	}
	if err == nil && done.Open > 0 {
		c.notef("%s without an answer yet left out", plural(done.Open, "turn"))
	}
	return reply{}, err
}

// exportWriter writes to stdout and stops after the first error. A terminal gets complete lines, without control
// characters.
type exportWriter struct {
	out  *output
	rest []byte // an incomplete line
}

// Write implements io.Writer.
func (w *exportWriter) Write(p []byte) (int, error) {
	if !w.out.terminal {
		_, _ = w.out.Write(p)
		return len(p), w.out.err
	}
	w.rest = append(w.rest, p...)
	if i := strings.LastIndexByte(string(w.rest), '\n'); i >= 0 {
		w.out.text(string(w.rest[:i+1]))
		w.rest = append(w.rest[:0], w.rest[i+1:]...)
	}
	return len(p), w.out.err
}

func (w *exportWriter) end() { w.out.text(string(w.rest)) }

func (r exportReply) print(o *output) {
	o.printf("Written: %s\n%s, %s, %s, %s\n", line(r.Path), plural(r.Sessions, "session"), branchCount(r.Branches), plural(r.Turns, "turn"), size(r.Bytes))
	if r.Open > 0 {
		o.printf("Left out, without an answer yet: %s\n", plural(r.Open, "turn"))
	}
	if r.LeftOut > 0 {
		o.printf("Left out, because they quoted other sessions: %s (--quotes includes what is stored here)\n", plural(r.LeftOut, "request"))
	}
}

func branchCount(n int) string {
	if n == 1 {
		return "1 branch"
	}
	return decimal(int64(n)) + " branches"
}
