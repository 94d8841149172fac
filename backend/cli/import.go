package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/transfer"
)

// importedFile is the result for one file.
type importedFile struct {
	importing.Report
	Error *errorJSON `json:"error,omitempty"`
}

func importSessions() verb {
	names := formatNames()
	return verb{
		use:   "import FILE...",
		short: "Import the history of another program, or a bundle",
		long: `Reads exports of ChatGPT, Claude.ai, Claude Code, Codex, Open WebUI, LibreChat,
AI Studio, Gemini (Google Takeout, as JSON), Gemini CLI, Grok, DeepSeek, LM Studio, opencode, Chatbox, Cherry
Studio and gptme, plain or in a zip, messages as JSON or JSONL, and bundles of this program. Given a folder
(~/.claude/projects), it imports the exports in it. Importing again adds only what is new. Entries that could
not be read are listed with their positions, and the exit code is 3. The passphrase of a sealed bundle is asked
for, or read from --passphrase-file.`,
		flags: []flag{
			{name: "format", value: "auto", usage: "what the files are: " + strings.Join(names, ", ")},
			passphraseFlag,
			dataPassphraseFlag,
		},
		prepare: func(_ context.Context, r *run) error {
			if format := r.text("format"); !slices.Contains(names, format) {
				return usageHint("one of: "+strings.Join(names, ", "), "There is no format %q.", clip(format, 40))
			}
			return r.passphraseOfFiles()
		},
		opens: writes,
		do:    importFiles,
	}
}

func formatNames() []string {
	names := []string{"auto"}
	for _, f := range transfer.Formats() {
		names = append(names, string(f))
	}
	return append(names, string(transfer.FormatBundle))
}

// importFiles imports the files one by one. An unreadable file does not stop the others; an error that would affect
// them too does.
func importFiles(ctx context.Context, r *run) (reply, error) {
	var files []importedFile
	var failed error
	problems := 0
	for _, name := range r.args {
		f, err := importFile(ctx, r, name)
		files = append(files, f)
		if err == nil {
			if f.Problems() {
				problems++
			}
			continue
		}
		problems++
		if failed = err; ctx.Err() != nil || !slices.Contains(aboutOneFile, chat.CodeOf(err)) {
			break
		}
		if len(r.args) > 1 {
			failed = nil
		}
	}
	var sum importing.Report
	for _, f := range files {
		sum.Sessions += f.Sessions
		sum.Grown += f.Grown
		sum.Already += f.Already
		sum.Turns += f.Turns
		sum.Branches += f.Branches
		sum.SkippedCount += f.SkippedCount
	}
	doc := fields{
		{"sessions", sum.Sessions},
		{"grown", sum.Grown},
		{"already", sum.Already},
		{"turns", sum.Turns},
		{"branches", sum.Branches},
		{"skipped_count", sum.SkippedCount},
		{"files", files},
	}
	if failed == nil && problems > 0 {
		failed = importProblems(sum.Sessions+sum.Grown+sum.Already > 0)
	}
	return reply{doc: doc, keepOnError: true, text: func(o *output) {
		for _, f := range files {
			f.print(o, len(files) > 1)
		}
		if sum.Turns > 0 {
			o.printf("New turns can be found once they are indexed: by the window, or by contextinfinity reconcile.\n")
		}
	}}, failed
}

// aboutOneFile are the codes of errors that do not affect the import of other files.
var aboutOneFile = []chat.Code{chat.CodeInvalid, chat.CodeNotFound, chat.CodeCorrupt, chat.CodeSealed}

func importFile(ctx context.Context, r *run, name string) (importedFile, error) {
	path, err := filepath.Abs(r.path(name))
	if err != nil {
		return importedFile{}, chat.WrapError(chat.CodeInvalid, "cli.import", err, "The path cannot be used.")
	}
	format := transfer.Format(r.text("format"))
	if format == "auto" {
		format = transfer.FormatAuto
	}
	bar := r.meter(filepath.Base(path))
	show := func(p importing.Progress) { bar.show(p.Done, p.Total, plural(p.Sessions, "session")) }
	report, err := r.s.Imports.Import(ctx, path, importing.Options{Format: format, Progress: show, Passphrase: r.bundlePassphrase})
	bar.clear()
	f := importedFile{Report: report}
	if err != nil {
		described := r.describe(err)
		f.Error = &described
	}
	return f, err
}

func importProblems(partly bool) error {
	if partly {
		const problem = "Some of it could not be imported; everything else was."
		return problemsError(chat.Errorf(chat.CodeCorrupt, "cli.import", problem).
			WithHint("importing again tries the rest, and adds nothing twice"))
	}
	const problem = "Nothing was imported; your history is unchanged."
	return problemsError(chat.Errorf(chat.CodeCorrupt, "cli.import", problem).
		WithHint("export the conversations again, or copy the file again"))
}

// maxSkippedShown limits the skipped entries that are printed for a file; --json has more.
const maxSkippedShown = 20

func (f importedFile) print(o *output, many bool) {
	format := ""
	if f.Format != "" {
		format = " (" + string(f.Format) + ")"
	}
	o.printf("%s%s: ", line(filepath.Base(f.File)), format)
	if f.Error != nil && f.Empty() {
		if many {
			o.printf("%s\n", line(f.Error.Message))
		} else {
			o.printf("nothing was imported\n")
		}
		return
	}
	if f.Empty() {
		f.printNone(o)
		return
	}
	o.printf("%s created, %d extended, %d already there; %s added",
		plural(f.Sessions, "session"), f.Grown, f.Already, plural(f.Turns, "turn"))
	o.printIf(f.Branches > 0, " on %s besides the first", display.Count(f.Branches, "branch", "branches"))
	o.printf(".\n")
	o.printIf(f.Copied, "  The session exists here and has changed since: the bundle's version was added as a copy.\n")
	f.printTorn(o, "; everything before that was read.")
	f.printSkipped(o)
	f.printInstructions(o)
	f.printNotices(o)
}

// printNone describes a file from which nothing was imported, now or earlier.
func (f importedFile) printNone(o *output) {
	o.printf("nothing was imported.\n")
	f.printTorn(o, " before the end of its first conversation.")
	f.printSkipped(o)
	f.printNotices(o)
}

func (f importedFile) printSkipped(o *output) {
	for i, s := range f.Skipped {
		if i == maxSkippedShown {
			o.printf("  and %d more (--json names them)\n", f.SkippedCount-i)
			break
		}
		o.printf("  skipped: %s\n", skippedLine(s))
	}
}

func (f importedFile) printNotices(o *output) {
	for _, n := range f.Notices {
		times := ""
		if n.Count > 1 {
			times = fmt.Sprintf(" (%d times)", n.Count)
		}
		o.printf("  note: %s%s\n", line(n.Text), times)
		o.printEach("    %s\n", n.Files)
		o.printIf(len(n.Files) == transfer.MaxNamed && n.Count > len(n.Files), "    and more\n")
	}
}

// printTorn says that the file, or the named files of the folder, are truncated.
func (f importedFile) printTorn(o *output, extent string) {
	if !f.Truncated {
		return
	}
	names := f.TruncatedFiles
	if len(names) == 0 {
		names = []string{"The file"}
	}
	for _, name := range names {
		o.printf("  %s is cut off%s\n", line(name), extent)
	}
}

func (f importedFile) printInstructions(o *output) {
	if f.Instructed == 0 {
		return
	}
	sessions := display.Count(f.Instructed,
		"session came with instructions of its own", "sessions came with instructions of their own")
	o.printf("  %s, which are kept and not used. To read them, and use them: contextinfinity sessions instructions SESSION\n",
		sessions)
	for i, in := range f.Instructions {
		if i == maxSkippedShown {
			o.printf("    and %d more (--json names them)\n", f.Instructed-i)
			return
		}
		o.printf("    %s  \"%s\": %s\n", in.Session, clip(in.Title, 60), line(in.Begins))
	}
}

// skippedLine describes where an entry is and why it was skipped.
func skippedLine(s transfer.SkippedRow) string {
	var parts []string
	if s.File != "" {
		parts = append(parts, line(s.File))
	}
	parts = append(parts, "entry "+decimal(s.Index+1))
	if s.Title != "" {
		parts = append(parts, "\""+clip(s.Title, 60)+"\"")
	}
	if s.Offset > 0 {
		parts = append(parts, "at byte "+count(s.Offset))
	}
	return strings.Join(parts, ", ") + ": " + line(s.Reason)
}
