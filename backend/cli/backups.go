package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"contextinfinity/backend/chat"
)

func backupVerbs() []verb {
	return []verb{
		{
			use:   "backup PATH",
			short: "Write a copy of everything to a new file",
			long: `The file contains the database, the configuration, and the partial answers that were being written.
In a folder it gets a dated name. An existing file is not overwritten. A window or a conversation may stay
open meanwhile. The file is read back completely before it gets its name. Problems in the data itself are
copied too: verify finds them in the data, backups --check in the copies.`,
			opens: opensFaulty,
			do:    writeBackup,
		},
		{
			use:   "backups",
			short: "List the backups in the data directory",
			long: `CHECKED shows whether a backup was read back after it was written. With --check each one is read now
and verified as restore does it; the exit code is 3 if one is damaged or has problems.`,
			flags: []flag{boolFlag("check", "read each backup and verify it")},
			opens: opensFaulty,
			do:    listBackups,
		},
		{
			use:   "restore [PATH]",
			short: "Replace the current data with a backup",
			long: `PATH is a backup, or the name of one that backups lists. It is checked first, and you are shown what
would be replaced. The current data is backed up first; data that cannot be read is quarantined. No other
program may have the data open. A crash at any moment leaves either the old data or the new, complete. With
--fresh, if the database was lost, an empty history is started instead: what is left, including backups, is
kept in a folder, whose path is printed. With --drop-log, if the database's write-ahead log is damaged, the
data is opened without the changes that cannot be read: the damaged files are kept in a folder, whose path is
printed.`,
			flags: []flag{
				yesFlag,
				boolFlag("fresh", "start an empty history in place of a lost one"),
				boolFlag("drop-log", "continue without the changes in a damaged write-ahead log"),
			},
			prepare: func(_ context.Context, r *run) error {
				others := r.on("fresh") || r.on("drop-log")
				switch {
				case r.on("fresh") && r.on("drop-log") || others && len(r.args) > 0:
					return usagef("PATH, --fresh and --drop-log exclude each other.")
				case !others && len(r.args) == 0:
					return usageHint(r.cmd.UseLine(), "PATH is missing.")
				}
				return nil
			},
			opens: opensFaulty,
			do: func(ctx context.Context, r *run) (reply, error) {
				switch {
				case r.on("fresh"):
					return startFresh(ctx, r)
				case r.on("drop-log"):
					return dropLog(ctx, r)
				}
				return restore(ctx, r)
			},
		},
	}
}

func writeBackup(ctx context.Context, r *run) (reply, error) {
	path, err := filepath.Abs(r.path(r.args[0]))
	if err != nil {
		return reply{}, chat.WrapError(chat.CodeInvalid, "cli.backup", err, "The path cannot be used.")
	}
	copies := r.setup.Archive()
	if note := copies.LogNote(); note != "" {
		r.notef("%s", note)
	}
	stop := r.watch("backup", nil)
	b, err := copies.Backup(ctx, asTyped(r.args[0], path))
	stop()
	if chat.CodeOf(err) == chat.CodeSealed {
		err = chat.AsError(err).WithHint("give the passphrase, because a backup is checked and read back; without it, copy the folder of the data " +
			"while no program has it open: what is sealed stays sealed")
	}
	sessions, turns := plural(int(b.Counts["sessions"]), "session"), plural(int(b.Counts["turns"]), "turn")
	return sentence(b, "Written, and read back in full: %s\n%s, schema %d, %s, %s\nsha256 %s",
		line(b.Path), size(b.Bytes), b.Schema, sessions, turns, b.SHA256), err
}

// asTyped returns a path with the separator at the end that was typed: a folder is meant, existing or not.
func asTyped(typed, path string) string {
	if separator := string(filepath.Separator); strings.HasSuffix(typed, separator) {
		return strings.TrimSuffix(path, separator) + separator
	}
	return path
}

func listBackups(ctx context.Context, r *run) (reply, error) {
	stop := r.watch("backups", nil)
	all, err := r.setup.Archive().Backups(ctx, r.on("check"))
	stop()
	if err == nil && r.on("check") {
		err = backupProblems(all)
	}
	return backupList(all, r.on("check")), err
}

// backupList shows the backups; now says that they were read just now.
func backupList(all []chat.Backup, now bool) reply {
	t := tableOf("WHEN|WHY|>SIZE|>SCHEMA|>SESSIONS|>TURNS|CHECKED|FILE", all, func(b chat.Backup) []any {
		sessions, turns := count(b.Counts["sessions"]), count(b.Counts["turns"])
		return []any{b.At, kinds[b.Kind], size(b.Bytes), b.Schema, sessions, turns, checked(b, now), b.Path}
	})
	return reply{doc: fields{{"backups", all}}, keepOnError: all != nil, text: func(o *output) {
		t.printOr(o, "There are no backups in the data directory yet.")
		for _, b := range all {
			if b.Problems > 0 {
				o.printf("verify finds %s in %s:\n", plural(b.Problems, "problem"), line(b.Path))
				printFindings(o, "  ", b.Findings)
			}
		}
	}}
}

// checked describes how a backup was checked.
func checked(b chat.Backup, now bool) string {
	switch {
	case b.Problem != "":
		return "DAMAGED: " + b.Problem
	case b.Problems > 0:
		return "now: " + plural(b.Problems, "problem")
	case now:
		return "now"
	case b.Checked:
		return "when written"
	}
	return "no"
}

// backupProblems returns an error that counts the checked backups with problems; nil if there are none.
func backupProblems(list []chat.Backup) error {
	damaged, problems := 0, 0
	for _, b := range list {
		switch {
		case b.Problem != "":
			damaged++
		case b.Problems > 0:
			problems++
		}
	}
	var sentences []string
	if damaged > 0 {
		sentences = append(sentences, plural(damaged, "backup")+" cannot be restored.")
	}
	if problems > 0 {
		sentences = append(sentences, "verify finds problems in "+plural(problems, "backup")+", which restoring does not repair.")
	}
	if len(sentences) == 0 {
		return nil
	}
	hint := "make a new one: contextinfinity backup PATH"
	if problems > 0 {
		hint = "see whether the data has them too: contextinfinity verify"
	}
	problem := strings.Join(sentences, " ")
	return problemsError(chat.Errorf(chat.CodeCorrupt, "cli.backups", "%s", problem).WithHint("%s", hint))
}

// kinds describes why a backup was made.
var kinds = map[chat.BackupKind]string{
	chat.BackupByHand:        "by hand",
	chat.BackupDaily:         "daily",
	chat.BackupMigration:     "migration",
	chat.BackupBeforeRestore: "before restore",
}

func restore(ctx context.Context, r *run) (reply, error) {
	path := r.args[0]
	if abs, err := filepath.Abs(r.path(path)); err == nil {
		path = abs
	}
	stop := r.watch("restore", nil)
	done, err := r.setup.Archive().Restore(ctx, path, func(x chat.Restoration) error {
		stop()
		if !r.json {
			printComparison(r.out, x)
		}
		err := r.confirm("Replace the current data?")
		if err == nil {
			stop = r.watch("restore", nil)
		}
		return err
	})
	stop()
	if err != nil && done.Source == "" {
		return reply{}, err
	}
	return reply{doc: done, text: func(o *output) { printRestored(o, done) }, keepOnError: true}, err
}

func startFresh(ctx context.Context, r *run) (reply, error) {
	if !r.json {
		r.out.printf("The remaining files of the lost history, including its backups, are moved to a folder, and the " +
			"next message starts an empty history.\n")
	}
	if err := r.confirm("Move the remaining files and start an empty history?"); err != nil {
		return reply{}, err
	}
	kept, err := r.setup.Archive().StartFresh(ctx)
	const done = "The remaining files are kept in %s. The next message starts an empty history."
	return sentence(fields{{"kept", kept}}, done, line(kept)), err
}

func dropLog(ctx context.Context, r *run) (reply, error) {
	if !r.json {
		r.out.printf("The changes in the damaged write-ahead log that cannot be read are dropped. The damaged files " +
			"are kept in a folder.\n")
	}
	if err := r.confirm("Continue without these changes?"); err != nil {
		return reply{}, err
	}
	kept, err := r.setup.Archive().DropLog(ctx)
	const done = "The damaged files are kept in %s. Run verify to check the rest."
	return sentence(fields{{"kept", kept}}, done, line(kept)), err
}

// confirm asks the user before data is replaced, moved or dropped, unless --yes is given.
func (r *run) confirm(question string) error {
	const problem = "This needs confirmation, which is not possible here; nothing was changed."
	if err := r.mustBeAsked(problem); err != nil || r.on("yes") {
		return err
	}
	return r.ask("cli.restore", question+" [y/N] ")
}

// ask asks the user a question, and fails unless the answer is yes.
func (c *call) ask(op, question string) error {
	c.note.printf("%s", question)
	answer, err := c.in.lines.ReadString('\n')
	if chat.CodeOf(err) == chat.CodeCancelled {
		return err
	}
	if err != nil && err != io.EOF {
		return chat.WrapError(chat.CodeInvalid, op, err, "The answer could not be read; nothing was changed.")
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return chat.Errorf(chat.CodeCancelled, op, "Nothing was changed.")
}

// printComparison shows the current data next to the backup that would replace it.
func printComparison(o *output, r chat.Restoration) {
	taken := ""
	if r.TakenAt != nil {
		taken = ", " + local(*r.TakenAt)
	}
	o.printf("%s (%s%s)\n", line(r.Source), kinds[r.Kind], taken)
	t := newTable("|>SESSIONS|>TURNS|NEWEST TURN|>SCHEMA")
	addSummary(t, "current data", r.Present)
	addSummary(t, "backup", r.Backup)
	t.print(o)
	o.printIf(r.Backup.Schema < r.Schema, "The backup was upgraded to schema %d.\n", r.Schema)
	o.printIf(r.Journals > 0, "It contains what had been received of %s.\n", plural(r.Journals, "answer"))
	printUndone(o, r)
	if r.Problems == 0 {
		o.printf("verify finds no problems in it.\n")
		return
	}
	o.printf("verify finds %s in it, which restoring does not repair:\n", plural(r.Problems, "problem"))
	printFindings(o, "  ", r.Findings)
}

func printFindings(o *output, indent string, found []chat.Finding) {
	for _, f := range found {
		o.printf("%s%s: %s %s: %s\n", indent, line(f.Kind), line(f.Table), line(f.ID), line(f.Message))
	}
}

// printUndone warns about permanent deletions whose content would return.
func printUndone(o *output, r chat.Restoration) {
	switch n := len(r.Undone); {
	case r.Present.Exists && r.Present.Problem != "":
		o.printf("The list of permanent deletions cannot be read; deleted text may come back.\n")
	case n == 1:
		o.printf("1 permanent deletion is undone: the text comes back, and the receipt is removed.\n")
	case n > 1:
		o.printf("%d permanent deletions are undone: the text comes back, and the receipts are removed.\n", n)
	}
	for _, d := range r.Undone {
		o.printf("  %s: %s %s\n", local(d.At), line(d.Kind), line(d.Subject))
	}
}

func addSummary(t *table, name string, d chat.DataSummary) {
	switch {
	case !d.Exists:
		t.add(name, "-", "-", "there is none", "-")
		return
	case d.Problem != "":
		t.add(name, "-", "-", "cannot be read", "-")
		return
	}
	newest := "-"
	if d.NewestTurn != nil {
		newest = local(*d.NewestTurn)
	}
	t.add(name, count(d.Sessions), count(d.Turns), newest, d.Schema)
}

func printRestored(o *output, r chat.Restoration) {
	if !r.Done {
		return
	}
	o.printf("Restored.\n")
	if r.Kept != nil {
		o.printf("The previous data: %s\n", line(r.Kept.Path))
	}
	o.printIf(r.Aside != "", "Quarantined, not deleted: %s\n", line(r.Aside))
	o.printIf(r.Config != "", "The backup's configuration: %s\n", line(r.Config))
}

// size formats a number of bytes for people.
func size(bytes int64) string {
	switch {
	case bytes < 1000:
		return fmt.Sprintf("%d B", bytes)
	case bytes < 1_000_000:
		return fmt.Sprintf("%.0f kB", float64(bytes)/1e3)
	case bytes < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(bytes)/1e9)
}
