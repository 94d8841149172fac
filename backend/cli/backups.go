package cli

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"contextinfinity/backend/chat"
)

func (c *call) backupCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "backup PATH", Short: "Write a copy of everything to a new file",
		Long: `The file contains the database, the configuration, and the partial answers that were being written.
In a folder it gets a dated name. An existing file is not overwritten. A window or a conversation may stay
open meanwhile. The file is read back completely before it gets its name. Problems in the data itself are
copied too: verify finds them in the data, backups --check in the copies.`, Args: exactly("PATH"),
	}
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		typed := c.path(args[0])
		path, err := filepath.Abs(typed)
		if err != nil {
			return reply{}, chat.WrapError(chat.CodeInvalid, "cli.backup", err, "The path cannot be used.")
		}
		if strings.HasSuffix(typed, string(filepath.Separator)) {
			path += string(filepath.Separator) // a folder is meant, existing or not
		}
		s, err := c.app.OpenSetup(ctx, c.options(true, silent{}))
		if err != nil {
			return reply{}, err
		}
		copies := s.Archive()
		if note := copies.LogNote(); note != "" {
			c.notef("%s", note)
		}
		stop := c.watch("backup", nil)
		b, err := copies.Backup(ctx, path)
		stop()
		if err != nil {
			return reply{}, err
		}
		return reply{doc: b, text: func(o *output) {
			o.printf("Written, and read back in full: %s\n%s, schema %d, %s, %s\nsha256 %s\n", line(b.Path), size(b.Bytes), b.Schema,
				plural(int(b.Counts["sessions"]), "session"), plural(int(b.Counts["turns"]), "turn"), b.SHA256)
		}}, nil
	})
	return cmd
}

type backupsReply struct {
	Backups []chat.Backup `json:"backups"`
}

func (c *call) backupsCommand() *cobra.Command {
	var check bool
	cmd := &cobra.Command{
		Use: "backups", Short: "List the backups in the data directory",
		Long: `CHECKED shows whether a backup was read back after it was written. With --check each one is read now
and verified as restore does it; the exit code is 3 if one is damaged or has problems.`, Args: exactly(),
	}
	cmd.Flags().BoolVar(&check, "check", false, "read each backup and verify it")
	cmd.RunE = c.run(func(ctx context.Context, _ []string) (reply, error) {
		s, err := c.app.OpenSetup(ctx, c.options(true, silent{}))
		if err != nil {
			return reply{}, err
		}
		copies := s.Archive()
		stop := c.watch("backups", nil)
		list, err := copies.Backups(ctx, check)
		stop()
		if err != nil {
			return reply{}, err
		}
		doc := backupsReply{append([]chat.Backup{}, list...)}
		r := reply{doc: doc, text: func(o *output) { doc.print(o, check) }, keepOnError: true}
		if check {
			return r, backupProblems(list)
		}
		return r, nil
	})
	return cmd
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
	return problemsError{chat.Errorf(chat.CodeCorrupt, "cli.backups", "%s", strings.Join(sentences, " ")).WithHint("%s", hint)}
}

// kinds describes why a backup was made.
var kinds = map[chat.BackupKind]string{
	chat.BackupByHand: "by hand", chat.BackupDaily: "daily", chat.BackupMigration: "migration", chat.BackupBeforeRestore: "before restore",
}

func (r backupsReply) print(o *output, check bool) {
	if len(r.Backups) == 0 {
		o.printf("There are no backups in the data directory yet.\n")
		return
	}
	t := newTable("WHEN", "WHY", "SIZE", "SCHEMA", "SESSIONS", "TURNS", "CHECKED", "FILE").numbers(2, 3, 4, 5)
	for _, b := range r.Backups {
		checked := "no"
		switch {
		case b.Problem != "":
			checked = "DAMAGED: " + b.Problem
		case b.Problems > 0:
			checked = "now: " + plural(b.Problems, "problem")
		case check:
			checked = "now"
		case b.Checked:
			checked = "when written"
		}
		t.add(local(b.At), kinds[b.Kind], size(b.Bytes), decimal(b.Schema), count(b.Counts["sessions"]), count(b.Counts["turns"]), checked, b.Path)
	}
	t.print(o)
	for _, b := range r.Backups {
		if b.Problems > 0 {
			o.printf("verify finds %s in %s:\n", plural(b.Problems, "problem"), line(b.Path))
			printFindings(o, b.Findings)
		}
	}
}

func (c *call) restoreCommand() *cobra.Command {
	var yes, fresh, dropLog bool
	cmd := &cobra.Command{
		Use: "restore [PATH]", Short: "Replace the current data with a backup",
		Long: `PATH is a backup, or the name of one that backups lists. It is checked first, and you are shown what
would be replaced. The current data is backed up first; data that cannot be read is quarantined. No other
program may have the data open. A crash at any moment leaves either the old data or the new, complete. With
--fresh, if the database was lost, an empty history is started instead: what is left, including backups, is
kept in a folder, whose path is printed. With --drop-log, if the database's write-ahead log is damaged, the
data is opened without the changes that cannot be read: the damaged files are kept in a folder, whose path is
printed.`, Args: atMost("PATH"),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&fresh, "fresh", false, "start an empty history in place of a lost one")
	cmd.Flags().BoolVar(&dropLog, "drop-log", false, "continue without the changes in a damaged write-ahead log")
	cmd.RunE = c.run(func(ctx context.Context, args []string) (reply, error) {
		switch {
		case fresh && dropLog || (fresh || dropLog) && len(args) > 0:
			return reply{}, usagef("PATH, --fresh and --drop-log exclude each other.")
		case !fresh && !dropLog && len(args) == 0:
			return reply{}, exactly("PATH")(cmd, args)
		}
		s, err := c.app.OpenSetup(ctx, c.options(false, silent{}))
		if err != nil {
			return reply{}, err
		}
		copies := s.Archive()
		if fresh {
			return c.startFresh(ctx, copies.StartFresh, yes)
		}
		if dropLog {
			return c.dropLog(ctx, copies.DropLog, yes)
		}
		path := args[0]
		if abs, err := filepath.Abs(c.path(path)); err == nil {
			path = abs
		}
		stop := c.watch("restore", nil)
		r, err := copies.Restore(ctx, path, func(r chat.Restoration) error {
			stop()
			if !c.json {
				printComparison(c.out, r)
			}
			err := c.confirm(yes, "Replace the current data?")
			if err == nil {
				stop = c.watch("restore", nil)
			}
			return err
		})
		stop()
		if err != nil && r.Source == "" {
			return reply{}, err
		}
		return reply{doc: r, text: func(o *output) { printRestored(o, r) }, keepOnError: true}, err
	})
	return cmd
}

// keptReply says where the files of the previous data are kept.
type keptReply struct {
	Kept string `json:"kept"`
}

func (c *call) startFresh(ctx context.Context, move func(context.Context) (string, error), yes bool) (reply, error) {
	if !c.json {
		c.out.printf("The remaining files of the lost history, including its backups, are moved to a folder, and the next message starts an empty history.\n")
	}
	if err := c.confirm(yes, "Move the remaining files and start an empty history?"); err != nil {
		return reply{}, err
	}
	kept, err := move(ctx)
	return reply{doc: keptReply{kept}, text: func(o *output) {
		if err == nil {
			o.printf("The remaining files are kept in %s. The next message starts an empty history.\n", line(kept))
		}
	}}, err
}

func (c *call) dropLog(ctx context.Context, drop func(context.Context) (string, error), yes bool) (reply, error) {
	if !c.json {
		c.out.printf("The changes in the damaged write-ahead log that cannot be read are dropped. The damaged files are kept in a folder.\n")
	}
	if err := c.confirm(yes, "Continue without these changes?"); err != nil {
		return reply{}, err
	}
	kept, err := drop(ctx)
	return reply{doc: keptReply{kept}, text: func(o *output) {
		if err == nil {
			o.printf("The damaged files are kept in %s. Run verify to check the rest.\n", line(kept))
		}
	}}, err
}

// confirm asks the user before data is replaced, moved or dropped.
func (c *call) confirm(yes bool, question string) error {
	if yes {
		return nil
	}
	if c.json || !c.in.terminal {
		return usageHint("add --yes", "This needs confirmation, which is not possible here; nothing was changed.")
	}
	return c.ask("cli.restore", question+" [y/N] ")
}

// ask asks the user a question, and fails unless the answer is yes.
func (c *call) ask(op, question string) error {
	c.note.printf("%s", question)
	answer, err := c.in.lines.ReadString('\n')
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
	t := newTable("", "SESSIONS", "TURNS", "NEWEST TURN", "SCHEMA").numbers(1, 2, 4)
	addSummary(t, "current data", r.Present)
	addSummary(t, "backup", r.Backup)
	t.print(o)
	if r.Backup.Schema < r.Schema {
		o.printf("The backup was upgraded to schema %d.\n", r.Schema)
	}
	if r.Journals > 0 {
		o.printf("It contains what had been received of %s.\n", plural(r.Journals, "answer"))
	}
	printUndone(o, r)
	if r.Problems == 0 {
		o.printf("verify finds no problems in it.\n")
		return
	}
	o.printf("verify finds %s in it, which restoring does not repair:\n", plural(r.Problems, "problem"))
	printFindings(o, r.Findings)
}

func printFindings(o *output, found []chat.Finding) {
	for _, f := range found {
		o.printf("  %s: %s %s: %s\n", line(f.Kind), line(f.Table), line(f.ID), line(f.Message))
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
	t.add(name, count(d.Sessions), count(d.Turns), newest, decimal(d.Schema))
}

func printRestored(o *output, r chat.Restoration) {
	if !r.Done {
		return
	}
	o.printf("Restored.\n")
	if r.Kept != nil {
		o.printf("The previous data: %s\n", line(r.Kept.Path))
	}
	if r.Aside != "" {
		o.printf("Quarantined, not deleted: %s\n", line(r.Aside))
	}
	if r.Config != "" {
		o.printf("The backup's configuration: %s\n", line(r.Config))
	}
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
