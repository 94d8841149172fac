package deletion

import (
	"context"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// target is a session, turn or project that a deletion removes.
type target struct {
	kind, id string
	in       chat.SessionID // of a turn that may not be here: a session that quotes it
}

// copies finds the turns of other sessions with the messages that are deleted. A duplicate does not record its
// original, and may itself be a duplicate of a copy, or of an imported session; but each turn of a copy has the question
// and the answer of its original, or one of them and its time. (A question with a document names the copy's document, so
// its hash differs. Earlier versions gave some turns of a duplicate another time.)
//
// The result is a part of a query and its arguments; s is the other session, t its turn.
func (d target) copies() (from string, args map[string]any, err error) {
	_, shell, err := schema.EncodeMessage(chat.UserText(DeletedMark))
	where := `session_id = @id`
	if d.kind == chat.DeletionTurn {
		where = `id = @id`
	}
	// One pass over all turns for each way to match. SQLite then builds an index of the few turns of the subject; without
	// CROSS and MATERIALIZED it may read all turns for each of them.
	const other = ` AND t.session_id <> o.session_id AND t.user_hash <> @shell`
	return ` FROM (
		WITH o AS MATERIALIZED (SELECT session_id, created_at, user_hash, assistant_hash FROM turns WHERE ` + where + `)
		SELECT t.id FROM turns t CROSS JOIN o ON t.created_at = o.created_at AND (t.user_hash = o.user_hash OR t.assistant_hash = o.assistant_hash)` + other + `
		UNION
		SELECT t.id FROM turns t CROSS JOIN o ON t.user_hash = o.user_hash AND t.assistant_hash = o.assistant_hash` + other + `
		) c JOIN turns t ON t.id = c.id JOIN sessions s ON s.id = t.session_id`, map[string]any{"shell": shell, "id": d.id}, err
}

// findCopies finds the other sessions with the messages of a deletion's subject.
func findCopies(db *gorm.DB, d target) ([]chat.Copy, error) {
	if d.kind == chat.DeletionProject {
		return nil, nil
	}
	from, args, err := d.copies()
	if err != nil {
		return nil, err
	}
	turns := `0 AS turns, 0 AS own`
	if d.kind == chat.DeletionSession {
		const all = `(SELECT count(*) FROM turns x WHERE x.session_id = s.id AND x.user_hash <> @shell)`
		turns = all + ` AS turns, ` + all + ` - count(DISTINCT t.id) AS own`
	}
	return sqlite.All[chat.Copy](db, `SELECT s.id AS session, s.title, min(t.id) AS turn, `+turns+from+` GROUP BY s.id ORDER BY s.title, s.id`, args)
}

// DeletableCopies returns the other sessions with the messages of a session or turn.
func (s *Deletion) DeletableCopies(ctx context.Context, kind, id string) ([]chat.Copy, error) {
	return core.Query(ctx, s, OpDelete, func(db *gorm.DB) ([]chat.Copy, error) { return findCopies(db, target{kind: kind, id: id}) })
}

// withCopies returns the targets of a deletion with the named copies, the subject last, and those copies. It refuses a
// session that is not a copy.
func (s *Deletion) withCopies(ctx context.Context, subject target, named []chat.SessionID) (targets []target, included []chat.Copy, err error) {
	if len(named) == 0 {
		return []target{subject}, nil, nil
	}
	err = s.Read(ctx, OpDelete, func(db *gorm.DB) error {
		copies, err := findCopies(db, subject)
		if err != nil {
			return err
		}
		for i, id := range named {
			if slices.Contains(named[:i], id) {
				continue // it has one receipt, however often it is named
			}
			at := slices.IndexFunc(copies, func(c chat.Copy) bool { return c.Session == id })
			if at < 0 {
				return sqlite.Conflict("A session that was to be deleted as a copy does not contain the same messages any more; nothing was deleted.").
					WithHint("check again what would be deleted")
			}
			included = append(included, copies[at])
			if subject.kind == chat.DeletionSession {
				targets = append(targets, target{kind: chat.DeletionSession, id: string(id)})
			}
		}
		if subject.kind == chat.DeletionTurn {
			from, args, err := subject.copies()
			if err != nil {
				return err
			}
			args["named"] = named
			turns, err := sqlite.All[string](db, `SELECT DISTINCT t.id`+from+` AND s.id IN @named ORDER BY t.id`, args)
			if err != nil {
				return err
			}
			for _, id := range turns {
				targets = append(targets, target{kind: chat.DeletionTurn, id: id})
			}
		}
		return nil
	})
	return append(targets, subject), included, err
}

// copyRefs returns the copies as a receipt contains them, without titles.
func (e *Operation) copyRefs() []schema.CopyRef {
	var out []schema.CopyRef
	for _, c := range e.subject.Copies {
		out = append(out, schema.CopyRef{Session: c.Session, Turn: c.Turn})
	}
	return out
}
