package cli

import (
	"context"
	"fmt"
	"io"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
)

const cannotAskToDelete = "delete is permanent and cannot ask for confirmation here; nothing was deleted."

func deleteVerbs() []verb {
	return []verb{
		{
			use:   "delete SESSION|--turn TURN --hard",
			short: "Delete a session or one turn permanently",
			long: `Everything stored about it is deleted: messages, summaries, memory, journals, and
the requests of other sessions that quoted it. A receipt lists what was removed and which backups still
contain it; you have to remove those yourself. It cannot be undone. You are asked to type "delete", unless
--yes is given. With --turn TURN the turn keeps its place, and shows [erased].
Other sessions that contain the same messages (copies) are named and not changed. With --copies they are
deleted in the same step: the whole copies, including messages that only they contain, or with --turn the same turn
in them. Each is named before you confirm, and has a receipt of its own.
To archive a session instead: contextinfinity sessions archive SESSION`,
			flags: []flag{
				boolFlag("hard", "delete permanently"),
				yesFlag,
				boolFlag("copies", "also delete the copies, which are listed first"),
				nameFlag("turn", "delete only this `TURN`, instead of a session"),
			},
			prepare: func(_ context.Context, r *run) error {
				switch {
				case !r.given("turn") && len(r.args) == 0:
					return usageHint(r.cmd.UseLine(), "SESSION is missing.")
				case r.given("turn") && len(r.args) > 0:
					return tooMany(r.cmd, nil, r.args[0])
				case !r.on("hard"):
					const hint = "add --hard, or archive it: contextinfinity sessions archive SESSION"
					return usageHint(hint, "delete is permanent and needs --hard; nothing was deleted.")
				}
				return r.mustBeAsked(cannotAskToDelete)
			},
			opens: writes,
			do: func(ctx context.Context, r *run) (_ reply, err error) {
				kind, id := chat.DeletionSession, string(r.session.ID)
				if r.turn.ID != "" {
					kind, id = chat.DeletionTurn, string(r.turn.ID)
				}
				var copies []chat.Copy
				if r.on("copies") {
					copies, err = r.s.Deletion.DeletableCopies(ctx, kind, id)
				}
				if err != nil {
					return reply{}, err
				}
				return r.deletePermanently(ctx, kind, id, copies)
			},
		},
		shows(verb{use: "receipts", short: "List what was permanently deleted"},
			func(ctx context.Context, r *run) ([]chat.Receipt, error) { return r.s.Deletion.Receipts(ctx) }, receiptList),
	}
}

// deletePermanently deletes permanently, together with the copies. It asks for confirmation unless --yes is given.
func (r *run) deletePermanently(ctx context.Context, kind, id string, copies []chat.Copy) (reply, error) {
	agree := r.agreeToDelete
	if r.on("yes") {
		agree = nil
		r.nameIncluded(kind, copies)
	}
	sessions := lists.Map(copies, func(x chat.Copy) chat.SessionID { return x.Session })
	receipt, err := r.s.Deletion.Delete(ctx, kind, id, agree, sessions...)
	if err != nil && receipt.ID == "" {
		return reply{}, err
	}
	doc := fields{{"receipt", receipt}}
	return reply{doc: doc, text: func(o *output) { printReceipt(o, receipt) }, keepOnError: true}, err
}

// agreeToDelete shows what would be deleted, and asks to type a confirmation.
func (c *call) agreeToDelete(p chat.DeletionPreview) error {
	const op = "cli.delete"
	c.note.printf("%s would be permanently deleted:\n", line(p.Name()))
	for _, e := range p.Deleted {
		c.note.printf("  %8d  %s\n", e.Count, e.Store)
	}
	for _, title := range p.Sessions {
		c.note.printf("Requests of %q that quoted it are deleted too.\n", clip(titleOf(title), 48))
	}
	c.nameIncluded(p.Kind, p.Included)
	for _, x := range p.Copies {
		c.note.printf("Not touched: %s.\n", copyOf(p.Kind, x))
	}
	c.note.printIf(len(p.Copies) > 0, "With --copies they are deleted too.\n")
	c.note.printIf(p.Everywhere, "It is in the vault: your other computers delete it too, when they next synchronize.\n")
	c.note.printEach("%s still contains it.\n", p.Backups)
	c.note.printf("To delete it permanently, type %s: ", chat.ConfirmWord)
	typed, err := c.in.lines.ReadString('\n')
	if chat.CodeOf(err) == chat.CodeCancelled {
		return err
	}
	if err != nil && err != io.EOF {
		return chat.WrapError(chat.CodeInvalid, op, err, "The answer could not be read; nothing was deleted.")
	}
	if !chat.Confirms(typed) {
		return chat.Errorf(chat.CodeCancelled, op, "%q was not typed. Nothing was deleted.", chat.ConfirmWord)
	}
	return nil
}

// nameIncluded names the copies that are deleted too. A copy of a session may have turns of its own, which are lost.
func (c *call) nameIncluded(kind string, copies []chat.Copy) {
	for _, x := range copies {
		title := clip(titleOf(x.Title), 48)
		if kind == chat.DeletionTurn {
			c.note.printf("Deleted too: the same turn in the copy %q (session %s).\n", title, x.Session)
			continue
		}
		turns := plural(x.Turns, "turn")
		if x.Own > 0 {
			turns += fmt.Sprintf(", %d of them only there", x.Own)
		}
		c.note.printf("Deleted too: the whole copy %q (session %s) with %s.\n", title, x.Session, turns)
	}
}

// copyOf names a copy, and the command that deletes it too.
func copyOf(kind string, x chat.Copy) string {
	command := "delete " + string(x.Session) + " --hard"
	if kind == chat.DeletionTurn {
		command = "delete --turn " + string(x.Turn) + " --hard"
	}
	title := clip(titleOf(x.Title), 48)
	return fmt.Sprintf("the copy %q, which contains the same messages (%s)", title, command)
}

func printReceipt(o *output, r chat.Receipt) {
	o.printf("Permanently deleted: %s %s. Receipt %s, %s.\n", r.Kind, r.Subject, r.ID, local(r.At))
	t := newTable(">RECORDS|STORE")
	for _, e := range r.Deleted {
		t.add(e.Count, e.Store)
	}
	t.print(o)
	for _, x := range r.Copies {
		name := "a copy that has been deleted since"
		if !x.Gone {
			name = copyOf(r.Kind, x)
		}
		o.printf("Not touched: %s.\n", line(name))
	}
	o.printIf(len(r.Backups) > 0, "These copies of the data still contain it:\n")
	o.printEach("  %s\n", r.Backups)
	for _, x := range r.Included {
		o.printf("\n")
		printReceipt(o, x)
	}
}

func receiptList(all []chat.Receipt) reply {
	return reply{doc: fields{{"receipts", all}}, text: func(o *output) {
		o.printIf(len(all) == 0, "Nothing has been permanently deleted yet.\n")
		for i, r := range all {
			o.printIf(i > 0, "\n")
			printReceipt(o, r)
		}
	}}
}
