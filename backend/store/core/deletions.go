package core

import (
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// DeletionsIn reads which parts of a session's ledger were deleted permanently: what its events say, and what came from a
// vault before such an event.
func DeletionsIn(db *gorm.DB, session string) (ledger.Deletions, error) {
	out := ledger.Deletions{}
	if err := ReplacedIn(db, session, out); err != nil {
		return nil, err
	}
	all, err := DeletionEvents(db, session)
	for _, e := range all {
		out.Add(e)
	}
	return out, err
}

// DeletionEvents returns the content_erased events of a session that can be read; verify reports the others.
func DeletionEvents(db *gorm.DB, session string) (out []ledger.Event, err error) {
	rows, err := sqlite.All[schema.EventRow](db, `SELECT * FROM events WHERE session_id = ? AND type = ? ORDER BY event_seq`, session, ledger.EventContentDeleted)
	for _, r := range rows {
		if payload, err := UnpackPayload(db, session, r.Payload); err == nil {
			out = append(out, r.Event(payload))
		}
	}
	return out, err
}

// ReplacedIn adds what PutReplaced noted.
func ReplacedIn(db *gorm.DB, session string, out ledger.Deletions) error {
	early, err := replacedOf(db, session)
	for _, r := range early {
		out.AddEarly(r)
	}
	return err
}

// SessionsReplaced returns the sessions of which PutReplaced noted something.
func SessionsReplaced(db *gorm.DB) (map[string]bool, error) {
	ids, err := sqlite.All[string](db, `SELECT substr(key, ?) FROM settings WHERE key >= ? AND key < ?`, len(ReplacedKey)+1, ReplacedKey, ReplacedKey+"~")
	return schema.SetOf(ids), err
}

// Uncertified reports whether no event here says so of something that PutReplaced noted.
func Uncertified(db *gorm.DB, session string) (bool, error) {
	early, err := replacedOf(db, session)
	if err != nil || len(early) == 0 {
		return false, err
	}
	known, err := DeletionsIn(db, session)
	return slices.ContainsFunc(early, func(r ledger.DeletedEvent) bool { return !known.Names(r) }), err
}

func replacedOf(db *gorm.DB, session string) (out []ledger.DeletedEvent, err error) {
	_, err = settingOf(db, ReplacedKey+session, &out)
	return out, err
}

// PutReplaced notes payloads that a vault has in place of others, because of permanent deletions whose events may come later. It
// forgets those of which the event is here.
func PutReplaced(t *Tx, session chat.SessionID, more []ledger.DeletedEvent) error {
	before, err := replacedOf(t.DB, string(session))
	if err != nil {
		return err
	}
	known, err := DeletionsIn(t.DB, string(session))
	if err != nil {
		return err
	}
	var all []ledger.DeletedEvent
	for _, r := range slices.Concat(before, more) {
		if !known.Names(r) && !slices.ContainsFunc(all, r.Same) {
			all = append(all, r)
		}
	}
	if len(all) == 0 && len(before) > 0 {
		return t.Run(`DELETE FROM settings WHERE key = ?`, ReplacedKey+string(session))
	}
	value, err := chat.MarshalJSON(all)
	if err != nil || slices.EqualFunc(all, before, ledger.DeletedEvent.Same) {
		return err
	}
	return PutSetting(t, ReplacedKey+string(session), value)
}
