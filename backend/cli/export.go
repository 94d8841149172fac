package cli

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/exporting"
	"contextinfinity/backend/internal/display"
)

func exportSessions() verb {
	to := nameFlag("output", "the `FILE` to write, a folder, or - for stdout")
	to.letter = "o"
	return verb{
		use:   "export SESSION|--all",
		short: "Write a session, a branch, a turn or everything to a file",
		long: `Formats: bundle (.cinf, the whole session, to be imported again), md, json
(what show --json prints) and html (one page, readable offline). Without --format it is
export.format of the configuration; of a branch or a turn, md in place of bundle.

Writes the active branch, or --branch ID, or with --all-branches every branch from where it forks; a bundle
always contains all. A bundle leaves out the requests that quoted other sessions or
files of a project; --quotes includes them. --all includes everything and writes a zip with a file for each session and a list of them.

Without -o the file gets its session's title, in this folder; "-o -" writes to stdout.
An existing file is not overwritten without --replace. A window may be open meanwhile.

With --passphrase or --passphrase-file the bundle is sealed: NAME.cinf.age, which import and
the program age open with the passphrase, and nothing without it. The other formats are plain.`,
		flags: []flag{
			textFlag("format", "bundle, md, json or html"),
			nameFlag("branch", "this branch, instead of the active one"),
			nameFlag("turn", "this turn alone"),
			boolFlag("all-branches", "every branch, including archived ones"),
			boolFlag("all", "every session, as a zip"),
			boolFlag("archived", "with --all: archived sessions too"),
			boolFlag("quotes", "in a bundle, include requests that quoted other sessions"),
			boolFlag("passphrase", "ask for a passphrase, and seal the bundle with it"),
			passphraseFlag,
			dataPassphraseFlag,
			to,
			replaceFlag,
		},
		prepare: checkExport,
		opens:   reads,
		do:      export,
	}
}

var exportFormats = []exporting.Format{
	exporting.FormatBundle,
	exporting.FormatMarkdown,
	exporting.FormatJSON,
	exporting.FormatHTML,
}

// checkExport rejects contradictory flags before anything is opened.
func checkExport(_ context.Context, r *run) error {
	format, part, stdout := r.text("format"), r.given("branch") || r.given("turn"), r.text("output") == "-"
	sealed := r.on("passphrase") || r.given(passphraseFlag.name)
	bundle := sealed || format == string(exporting.FormatBundle)
	switch {
	case format != "" && !slices.Contains(exportFormats, exporting.Format(format)):
		return usageHint("one of: bundle, md, json, html", "There is no format %q.", clip(format, 40))
	case r.on("all") && len(r.args) > 0:
		return usagef("--all and SESSION exclude each other.")
	case !r.on("all") && len(r.args) == 0:
		return usageHint("contextinfinity sessions lists them; --all exports every one", "SESSION is missing.")
	case r.on("all") && part:
		return usagef("--all excludes --branch and --turn.")
	case r.on("all-branches") && part:
		return usagef("--all-branches excludes --branch and --turn.")
	case r.on("archived") && !r.on("all"):
		return usagef("--archived needs --all; a session that is named is exported, archived or not.")
	case stdout && r.json:
		return usageHint("name a file, or omit --json", "--json and -o - both write to stdout.")
	case sealed && (part || format != "" && format != string(exporting.FormatBundle)):
		return usageHint("omit --format, --branch and --turn, or the passphrase; that of sealed data is --data-passphrase-file",
			"Only a bundle, of whole sessions, can be sealed; the other formats are plain.")
	case stdout && r.out.terminal && (r.on("all") || bundle):
		return usageHint("name a file, or write it into a pipe", "A terminal cannot show a zip.")
	case sealed:
		if err := r.bundleFlags(); err != nil {
			return err
		}
		return r.newBundlePassphrase()
	}
	return r.bundleFlags()
}

func export(ctx context.Context, r *run) (reply, error) {
	q := exporting.Request{
		Scope:       exporting.ScopeAll,
		Session:     r.session.ID,
		AllBranches: r.on("all-branches"),
		Format:      exporting.Format(r.text("format")),
		Archived:    r.on("archived"),
		Quotes:      r.on("quotes"),
		Replace:     r.on("replace"),
		Sealed:      r.bundlePassphrase != "",
		Passphrase:  r.bundlePassphrase,
	}
	if q.Sealed {
		q.Format = exporting.FormatBundle
	}
	switch {
	case r.turn.ID != "" && r.turn.SessionID != r.session.ID:
		const problem = "Session %s has no turn %s."
		return reply{}, chat.Errorf(chat.CodeNotFound, "cli.find", problem, r.session.ID, r.turn.ID)
	case r.turn.ID != "":
		q.Scope, q.Turn = exporting.ScopeTurn, r.turn.ID
	case r.given("branch"):
		q.Scope, q.Branch = exporting.ScopeBranch, r.branch.ID
	case !r.on("all"):
		q.Scope = exporting.ScopeSession
	}
	if q.Scope == exporting.ScopeAll && !q.Archived {
		archived, err := r.s.Store.Sessions(ctx, chat.SessionQuery{Archived: true})
		if err != nil {
			return reply{}, err
		}
		if n := len(archived); n > 0 {
			r.notef("left out, because archived: %s (--archived includes them)", plural(n, "session"))
		}
	}
	if r.text("output") == "-" {
		return r.exportToStdout(ctx, q)
	}
	q.Path = asTyped(r.text("output"), r.path(cmp.Or(r.text("output"), ".")))
	bar := r.meter("export")
	done, err := r.s.Exports.Write(ctx, q, func(done, total int64) { bar.show(done, total, plural(int(done), "turn")) })
	bar.clear()
	doc := fields{
		{"path", done.Path},
		{"format", done.Format},
		{"bytes", done.Bytes},
		{"sessions", done.Sessions},
		{"branches", done.Branches},
		{"turns", done.Turns},
		{"open_turns", done.Open},           // left out, because they have no answer yet
		{"left_out_requests", done.LeftOut}, // of a bundle: they quoted other conversations
	}
	return reply{doc: doc, text: func(o *output) {
		branches := display.Count(done.Branches, "branch", "branches")
		o.printf("Written: %s\n%s, %s, %s, %s\n", line(done.Path), plural(done.Sessions, "session"), branches,
			plural(done.Turns, "turn"), size(done.Bytes))
		o.printIf(done.Open > 0, "Left out, without an answer yet: %s\n", plural(done.Open, "turn"))
		if done.LeftOut > 0 {
			o.printf("Left out, because they quoted other sessions: %s (--quotes includes what is stored here)\n",
				plural(done.LeftOut, "request"))
		}
	}}, err
}

func (r *run) exportToStdout(ctx context.Context, q exporting.Request) (reply, error) {
	w := &exportWriter{out: r.out}
	bar := r.meter("export")
	done, err := r.s.Exports.WriteTo(ctx, q, w, func(done, total int64) {
		if !r.out.terminal { // on a terminal, the text itself is the output
			bar.show(done, total, plural(int(done), "turn"))
		}
	})
	bar.clear()
	w.end()
	if r.out.err != nil {
		return reply{}, nil // reported at the end of the call
	}
	if err == nil && done.Open > 0 {
		r.notef("%s without an answer yet left out", plural(done.Open, "turn"))
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
