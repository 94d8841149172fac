package core

import (
	"encoding/json"
	"math"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// What a vault has of each session is recorded as a setting with the session's id in its key, so that it is deleted with
// the session; then a setting of another name says that it was deleted.
const (
	VaultKey   = "vault"             // the state of the vault, if there is one
	InVaultKey = "in vault "         // and a session's id: InVault
	GoneKey    = "deleted in vault " // and a session's id: bundle.Gone
	PartKey    = "part of vault "    // a session's id, a space, and what was deleted in it: bundle.Gone
	ByHandKey  = "by hand "          // and a session's id: when it last came in a bundle, while there was a vault
	ValueKey   = "value in vault "   // a kind of value, a space, and its id: its revision here
	// ReplacedKey and a session's id: payloads in place of others, as a list of ledger.DeletedEvent
	ReplacedKey = "replaced in vault "
)

// InVault is what a vault has of a session.
type InVault struct {
	Seq   int64            `json:"seq"`             // all that was stored here up to this event_seq
	Lanes map[string]int64 `json:"lanes"`           // of each lane, all up to this number
	Files []string         `json:"files,omitempty"` // the files with it
}

// PutSetting stores a setting.
func PutSetting(t *Tx, key string, value []byte) error {
	return t.Run(`INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`, key, string(value), t.Stamp())
}

func settingOf(db *gorm.DB, key string, into any) (found bool, err error) {
	values, err := sqlite.All[string](db, `SELECT value FROM settings WHERE key = ?`, key)
	return len(values) > 0 && json.Unmarshal([]byte(values[0]), into) == nil, err
}

// InVaultOf returns what the vault has of a session; known is false if it has nothing.
func InVaultOf(db *gorm.DB, session chat.SessionID) (has InVault, known bool, err error) {
	known, err = settingOf(db, InVaultKey+string(session), &has)
	if !known {
		has = InVault{} // or damaged: all is sent again, and the others have it
	}
	if has.Lanes == nil {
		has.Lanes = map[string]int64{}
	}
	return has, known, err
}

// PutInVault stores what the vault has of a session.
func PutInVault(t *Tx, session chat.SessionID, has InVault) error {
	value, err := chat.MarshalJSON(has)
	if err != nil {
		return err
	}
	return PutSetting(t, InVaultKey+string(session), value)
}

// HasVault reports whether a vault was chosen.
func HasVault(db *gorm.DB) (bool, error) {
	found, err := sqlite.All[int](db, `SELECT 1 FROM settings WHERE key = ? AND value <> ''`, VaultKey)
	return len(found) > 0, err
}

func goneKey(session chat.SessionID, of string) string {
	if of != "" {
		return PartKey + string(session) + " " + of
	}
	return GoneKey + string(session)
}

// GoneOf returns what is known of the deletion of a session that the vault had, or of something in one.
func GoneOf(db *gorm.DB, session chat.SessionID, of string) (gone bundle.Gone, known bool, err error) {
	known, err = settingOf(db, goneKey(session, of), &gone)
	gone.Session, gone.Of = session, of
	return gone, known, err
}

// Gone returns what is known of all deletions of sessions that the vault had.
func Gone(db *gorm.DB) ([]bundle.Gone, error) { return goneFrom(db, GoneKey) }

// PartsGone returns what was deleted in a session that stays; an empty id: in all.
func PartsGone(db *gorm.DB, session chat.SessionID) ([]bundle.Gone, error) {
	return goneFrom(db, PartKey+string(session))
}

// goneFrom reads the settings with a prefix. There may be thousands.
func goneFrom(db *gorm.DB, prefix string) (out []bundle.Gone, err error) {
	rows, err := sqlite.All[struct{ Key, Value string }](db, settingsFrom, prefix, prefix+"~")
	for _, r := range rows {
		var gone bundle.Gone
		if json.Unmarshal([]byte(r.Value), &gone) != nil {
			continue
		}
		id, part := strings.CutPrefix(r.Key, PartKey)
		if part {
			id, gone.Of, _ = strings.Cut(id, " ")
		} else {
			id = strings.TrimPrefix(r.Key, GoneKey)
		}
		gone.Session = chat.SessionID(id)
		out = append(out, gone)
	}
	return out, err
}

const settingsFrom = `SELECT key, value FROM settings WHERE key >= ? AND key < ? ORDER BY key`

// PutGone stores it.
func PutGone(t *Tx, gone bundle.Gone) error {
	for _, list := range []*[]string{&gone.Files, &gone.Contents, &gone.Answered} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	value, err := chat.MarshalJSON(gone)
	if err != nil {
		return err
	}
	return PutSetting(t, goneKey(gone.Session, gone.Of), value)
}

// FileUsed is the condition that another turn than some, a draft or a queued message names the document f.
const FileUsed = `(EXISTS (SELECT 1 FROM turns t WHERE t.session_id = f.session_id AND t.id NOT IN ? AND instr(t.user_message_json, '"file_id":"' || f.id || '"') > 0)
	OR EXISTS (SELECT 1 FROM drafts d WHERE instr(d.message_json, '"file_id":"' || f.id || '"') > 0)
	OR EXISTS (SELECT 1 FROM queued_messages q WHERE instr(q.message_json, '"file_id":"' || f.id || '"') > 0))`

// EventAt returns the event of a session with a place in a lane, if it is here.
func EventAt(db *gorm.DB, session chat.SessionID, at ledger.Spot) ([]schema.EventRow, error) {
	return sqlite.All[schema.EventRow](db, eventAt, session, at.Lane, at.Number, session, at.Number, at.Lane)
}

const eventAt = `SELECT * FROM events WHERE session_id = ? AND lane = ? AND lane_seq = ? AND lane_seq <> 0
	UNION ALL SELECT * FROM events WHERE session_id = ? AND event_seq = ? AND lane = ? AND lane_seq = 0`

// LastNumbers returns the number of the last event of each lane of a session.
func LastNumbers(db *gorm.DB, session chat.SessionID) (map[string]int64, error) {
	tails, err := TailsUpTo(db, string(session), math.MaxInt64)
	return tails.Numbers(), err
}
