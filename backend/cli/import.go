package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/importing"
	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/transfer"
)

// importReply is the result of an import, in total and for each file.
type importReply struct {
	Sessions     int            `json:"sessions"`
	Grown        int            `json:"grown"`
	Already      int            `json:"already"`
	Turns        int            `json:"turns"`
	Branches     int            `json:"branches"`
	SkippedCount int            `json:"skipped_count"`
	Files        []importedFile `json:"files"`
}

type importedFile struct {
	importing.Report
	Error *errorJSON `json:"error,omitempty"`
}

func (c *call) importCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use: "import FILE...", Short: "Import the history of another program, or a bundle",
		Long: `Reads exports of ChatGPT, Claude.ai, Claude Code, Codex, Open WebUI, LibreChat,
AI Studio, Gemini (Google Takeout, as JSON), Grok, Chatbox, Cherry Studio and gptme, plain or in a zip,
messages as JSON or JSONL, and bundles of this program. Given a folder
(~/.claude/projects), it imports the exports in it. Importing again adds only what is new. Entries that could
not be read are listed with their positions, and the exit code is 3.`,
		Args: atLeast("FILE"),
	}
	names := formatNames()
	cmd.Flags().StringVar(&format, "format", "auto", "what the files are: "+strings.Join(names, ", "))
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		f := transfer.Format(format)
		if format == "auto" {
			f = transfer.FormatAuto
		} else if !slices.Contains(names, format) {
			return reply{}, usageHint("one of: "+strings.Join(names, ", "), "There is no format %q.", clip(format, 40))
		}
		return c.writing(ctx, silent{}, func(s *Services) (reply, error) { return c.importFiles(ctx, s, f, args) })
	})
	return cmd
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
func (c *call) importFiles(ctx context.Context, s *Services, f transfer.Format, paths []string) (reply, error) {
	doc := &importReply{Files: []importedFile{}}
	var failed error
	problems := 0
	for _, p := range paths {
		path, err := filepath.Abs(c.path(p))
		if err != nil {
			return reply{}, chat.WrapError(chat.CodeInvalid, "cli.import", err, "The path cannot be used.")
		}
		bar := c.meter(filepath.Base(path))
		r, err := s.Imports.Import(ctx, path, importing.Options{Format: f, Progress: func(p importing.Progress) {
			bar.show(p.Done, p.Total, plural(p.Sessions, "session"))
		}})
		bar.clear()
		doc.add(r)
		if err == nil {
			if r.Problems() {
				problems++
			}
			continue
		}
		described := c.describe(err)
		doc.Files[len(doc.Files)-1].Error, failed = &described, err
		problems++
		if code := chat.CodeOf(err); ctx.Err() != nil || code != chat.CodeInvalid && code != chat.CodeNotFound && code != chat.CodeCorrupt {
			break
		}
		failed = nil
		if len(paths) == 1 {
			failed = err
		}
	}
	rep := reply{doc: doc, text: doc.print, keepOnError: true}
	if failed == nil && problems > 0 {
		failed = problemsError{chat.Errorf(chat.CodeCorrupt, "cli.import", "Some of it could not be imported; everything else was.").
			WithHint("importing again tries the rest, and adds nothing twice")}
		if doc.Sessions+doc.Grown+doc.Already == 0 {
			failed = problemsError{chat.Errorf(chat.CodeCorrupt, "cli.import", "Nothing was imported; your history is unchanged.").
				WithHint("export the conversations again, or copy the file again")}
		}
	}
	return rep, failed
}

func (r *importReply) add(report importing.Report) {
	r.Sessions += report.Sessions
	r.Grown += report.Grown
	r.Already += report.Already
	r.Turns += report.Turns
	r.Branches += report.Branches
	r.SkippedCount += report.SkippedCount
	r.Files = append(r.Files, importedFile{Report: report})
}

// maxSkippedShown limits the skipped entries that are printed for a file; --json has more.
const maxSkippedShown = 20

func (r *importReply) print(o *output) {
	for _, f := range r.Files {
		f.print(o, len(r.Files) > 1)
	}
	if r.Turns > 0 {
		o.printf("New turns can be found once they are indexed: by the window, or by contextinfinity reconcile.\n")
	}
}

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
	o.printf("%s created, %d extended, %d already there; %s added", plural(f.Sessions, "session"), f.Grown, f.Already, plural(f.Turns, "turn"))
	if f.Branches > 0 {
		o.printf(" on %s besides the first", display.Count(f.Branches, "branch", "branches"))
	}
	o.printf(".\n")
	if f.Copied {
		o.printf("  The session exists here and has changed since: the bundle's version was added as a copy.\n")
	}
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
		for _, name := range n.Files {
			o.printf("    %s\n", line(name))
		}
		if len(n.Files) == importing.MaxNamed && n.Count > len(n.Files) {
			o.printf("    and more\n")
		}
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
	o.printf("  %s, which are kept and not used. To read them, and use them: contextinfinity sessions instructions SESSION\n",
		display.Count(f.Instructed, "session came with instructions of its own", "sessions came with instructions of their own"))
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
