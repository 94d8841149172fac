package deletion

import (
	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// findCopies finds other sessions with the messages that are deleted. No record names the original of a duplicate or of an
// imported copy, and one may be a copy of another; but each turn of a copy has the time of its original, and its
// question or answer. (A question with a document names the copy's document, so its hash differs.)
func (e *Erasing) findCopies() error {
	if e.subject.Kind == chat.EraseProject {
		return nil
	}
	_, shell, err := schema.EncodeMessage(chat.UserText(ErasedMark))
	if err != nil {
		return err
	}
	where, id := `o.session_id = ?`, e.subject.Session
	if e.subject.Kind == chat.EraseTurn {
		where, id = `o.id = ?`, e.subject.Subject
	}
	e.subject.Copies, err = sqlite.All[chat.Copy](e.DB, `SELECT s.id AS session, s.title, min(t.id) AS turn FROM turns o
		JOIN turns t ON t.created_at = o.created_at AND t.session_id <> o.session_id AND t.user_hash <> ?
		  AND (t.user_hash = o.user_hash OR t.assistant_hash = o.assistant_hash)
		JOIN sessions s ON s.id = t.session_id WHERE `+where+` GROUP BY s.id ORDER BY s.title, s.id`, shell, id)
	return err
}

// copyRefs are the copies as a receipt contains them, without titles.
func (e *Erasing) copyRefs() []schema.CopyRef {
	var out []schema.CopyRef
	for _, c := range e.subject.Copies {
		out = append(out, schema.CopyRef{Session: c.Session, Turn: c.Turn})
	}
	return out
}
