package bundles

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

const opGone = "vault.gone"

// Gone lists the sessions that were permanently deleted, and that a vault had.
func (s *Bundles) Gone(ctx context.Context) ([]bundle.Gone, error) {
	return core.Query(ctx, s, opGone, goneIn)
}

func goneIn(db *gorm.DB) ([]bundle.Gone, error) {
	keys, err := sqlite.All[string](db, `SELECT key FROM settings WHERE key LIKE ? ORDER BY key`, core.GoneKey+"%")
	var out []bundle.Gone
	for _, key := range keys {
		gone, known, err := core.GoneOf(db, chat.SessionID(strings.TrimPrefix(key, core.GoneKey)))
		if err != nil {
			return nil, err
		}
		if known {
			out = append(out, gone)
		}
	}
	return out, err
}

// PutGone adds what is known of the deletion of a session that does not exist here.
func (s *Bundles) PutGone(ctx context.Context, more bundle.Gone) error {
	return s.Write(ctx, opGone, func(t *core.Tx) error {
		gone, known, err := core.GoneOf(t.DB, more.Session)
		if err != nil {
			return err
		}
		if !known {
			gone.Knew = more.Knew
		}
		if more.At != "" && (more.At < gone.At || !known) {
			gone.At = more.At
		}
		gone.Files = append(gone.Files, more.Files...)
		gone.Contents = append(gone.Contents, more.Contents...)
		gone.Answered = append(gone.Answered, more.Answered...)
		return core.PutGone(t, gone)
	})
}

// Erased records that a file of the vault has nothing more of a session that was deleted, and what only it named is gone.
func (s *Bundles) Erased(ctx context.Context, session chat.SessionID, file string) error {
	return s.Write(ctx, opGone, func(t *core.Tx) error {
		gone, _, err := core.GoneOf(t.DB, session)
		if err != nil {
			return err
		}
		gone.Files = slices.DeleteFunc(gone.Files, func(name string) bool { return name == file })
		gone.Contents = nil
		return core.PutGone(t, gone)
	})
}

// ByHand returns when a session last came in a bundle, while there was a vault; empty: it did not.
func (s *Bundles) ByHand(ctx context.Context, session chat.SessionID) (string, error) {
	key := core.ByHandKey + string(session)
	values, err := core.All[string](ctx, s, opGone, `SELECT value FROM settings WHERE key = ?`, key)
	return append(values, "")[0], err
}

// putByHand notes that a session came in a bundle: who deleted it elsewhere before does not delete it here too.
func putByHand(t *core.Tx, session string) error {
	return t.Run(`INSERT INTO settings (key, value, updated_at) SELECT ?, ?, ? FROM settings WHERE key = ? AND value <> ''
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
		core.ByHandKey+session, t.Stamp(), t.Stamp(), core.VaultKey)
}

// Aside makes a copy of a session with new ids, once: it was deleted elsewhere, and has been continued here.
func (s *Bundles) Aside(ctx context.Context, session chat.SessionID) (chat.SessionID, error) {
	var b bytes.Buffer
	if _, err := s.WriteBundle(ctx, session, &b, true); err != nil {
		return "", err
	}
	r, err := bundle.Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		return "", err
	}
	in, err := validate(ctx, r, session)
	if err != nil {
		return "", err
	}
	in.bundle, in.unmergeable = r, true
	out, err := in.importTo(s)
	return out.Session, err
}
