package records

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

type clientRow struct {
	Name      string
	Scope     string
	Remember  bool
	TokenHash string
	TokenAt   *string
	Claims    string
	CreatedAt string
	SeenAt    *string
}

type grantRow struct{ Client, SessionID, Folder string }

func (r clientRow) client() chat.Client {
	return chat.Client{
		Name: r.Name, Scope: chat.ClientScope(r.Scope), Remember: r.Remember, TokenAt: schema.ParseTimeOrNil(r.TokenAt), Claims: r.Claims,
		CreatedAt: schema.ParseTime(r.CreatedAt), SeenAt: schema.ParseTimeOrNil(r.SeenAt),
	}
}

// Clients returns all known programs, by name.
func (s *Records) Clients(ctx context.Context) ([]chat.Client, error) {
	return core.Query(ctx, s, "client.list", func(db *gorm.DB) ([]chat.Client, error) { return clients(db, `1 = 1`) })
}

// Client returns one program.
func (s *Records) Client(ctx context.Context, name string) (chat.Client, error) {
	return core.Query(ctx, s, "client.read", func(db *gorm.DB) (chat.Client, error) { return clientByName(db, name) })
}

func clientByName(db *gorm.DB, name string) (chat.Client, error) {
	found, err := clients(db, `name = ?`, name)
	if err == nil && len(found) == 0 {
		err = chat.Errorf(chat.CodeNotFound, "", "There is no program %q in the list.", name).WithHint("contextinfinity mcp clients lists them")
	}
	if err != nil {
		return chat.Client{}, err
	}
	return found[0], nil
}

func clients(db *gorm.DB, where string, args ...any) ([]chat.Client, error) {
	rows, err := sqlite.All[clientRow](db, `SELECT * FROM mcp_clients WHERE `+where+` ORDER BY name`, args...)
	if err != nil {
		return nil, err
	}
	out := make([]chat.Client, len(rows))
	for i, r := range rows {
		out[i] = r.client()
		grants, err := sqlite.All[grantRow](db, `SELECT client, session_id, folder FROM mcp_grants WHERE client = ? ORDER BY session_id, folder`, r.Name)
		if err != nil {
			return nil, err
		}
		for _, g := range grants {
			if g.SessionID != "" {
				out[i].Sessions = append(out[i].Sessions, chat.SessionID(g.SessionID))
			} else {
				out[i].Folders = append(out[i].Folders, g.Folder)
			}
		}
		if out[i].Notes, err = notesOf(db, r.Name); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// notesOf returns the session for a program's notes; empty: there is none, or it was archived and the next note creates
// another.
func notesOf(db *gorm.DB, client string) (chat.SessionID, error) {
	ids, err := sqlite.All[chat.SessionID](db, `SELECT n.session_id FROM mcp_notes n JOIN sessions s ON s.id = n.session_id
		WHERE n.client = ? AND s.archived_at IS NULL ORDER BY n.created_at DESC, n.turn_id DESC LIMIT 1`, client)
	if err != nil || len(ids) == 0 {
		return "", err
	}
	return ids[0], nil
}

// RecordVisit records that a program connected. A new one is listed from then on, and has no access until the user
// decides.
func (s *Records) RecordVisit(ctx context.Context, v chat.ClientVisit) (chat.Client, error) {
	var out chat.Client
	err := s.Write(ctx, "client.see", func(t *core.Tx) error {
		if err := makeClient(t, v.Name); err != nil {
			return err
		}
		err := t.Run(`UPDATE mcp_clients SET seen_at = ?, claims = CASE WHEN ? = '' THEN claims ELSE ? END WHERE name = ?`,
			t.Stamp(), v.Claims, shortText(v.Claims, chat.MaxTitleRunes), v.Name)
		if err == nil {
			out, err = clientByName(t.DB, v.Name)
		}
		return err
	})
	return out, err
}

// makeClient adds a program to the list, unless it is there.
func makeClient(t *core.Tx, name string) error {
	if err := chat.CheckClientName(name); err != nil {
		return err
	}
	if known, err := sqlite.All[string](t.DB, `SELECT name FROM mcp_clients WHERE name = ?`, name); err != nil || len(known) > 0 {
		return err
	}
	n, err := sqlite.One[int](t.DB, "mcp_clients", "", `SELECT count(*) FROM mcp_clients`)
	if err == nil && n >= chat.MaxClients {
		err = chat.Errorf(chat.CodeTooLarge, "", "The list of programs has %d entries, the most it can have.", n).WithHint("remove one: contextinfinity mcp clients forget NAME")
	}
	if err == nil {
		err = t.Run(`INSERT INTO mcp_clients (name, scope, created_at) VALUES (?, ?, ?)`, name, chat.ClientAsked, t.Stamp())
	}
	return err
}

// AllowClient sets what a program may see and do.
func (s *Records) AllowClient(ctx context.Context, c chat.ClientChoice) error {
	return s.Write(ctx, "client.allow", func(t *core.Tx) error {
		if !slices.Contains([]chat.ClientScope{chat.ClientNone, chat.ClientAll, chat.ClientChosen}, c.Scope) {
			return sqlite.Invalid("%q is not a scope of a program: none, all or chosen.", c.Scope)
		}
		if len(c.Sessions)+len(c.Folders) > chat.MaxGrants {
			return sqlite.Invalid("A program can see at most %d chosen sessions and folders; nothing was changed.", chat.MaxGrants).WithHint("put sessions into a folder, or allow all")
		}
		if err := makeClient(t, c.Name); err != nil {
			return err
		}
		if err := t.Run(`UPDATE mcp_clients SET scope = ?, remember = ? WHERE name = ?`, c.Scope, c.Remember, c.Name); err != nil {
			return err
		}
		if err := t.Run(`DELETE FROM mcp_grants WHERE client = ?`, c.Name); err != nil || c.Scope != chat.ClientChosen {
			return err
		}
		for _, id := range c.Sessions {
			if _, err := schema.SessionByID(t.DB, id); err != nil {
				return err
			}
			if err := grant(t, c.Name, string(id), ""); err != nil {
				return err
			}
		}
		for _, folder := range c.Folders {
			if folder = schema.Clean(folder); folder == "" {
				return sqlite.Invalid("A folder must have a name; nothing was changed.")
			}
			if err := grant(t, c.Name, "", folder); err != nil {
				return err
			}
		}
		return nil
	})
}

func grant(t *core.Tx, client, session, folder string) error {
	return t.Run(`INSERT INTO mcp_grants (client, session_id, folder) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, client, session, folder)
}

// ForgetClient removes a program from the list, with its token and permissions. Its notes and the record of its
// accesses are kept.
func (s *Records) ForgetClient(ctx context.Context, name string) error {
	return s.Write(ctx, "client.forget", func(t *core.Tx) error {
		if _, err := clientByName(t.DB, name); err != nil {
			return err
		}
		if err := t.Run(`DELETE FROM mcp_grants WHERE client = ?`, name); err != nil {
			return err
		}
		return t.Run(`DELETE FROM mcp_clients WHERE name = ?`, name)
	})
}

// SetClientToken stores the hash of a program's token, replacing the previous one; empty revokes it. An unknown
// program is added to the list.
func (s *Records) SetClientToken(ctx context.Context, name, hash string) error {
	return s.Write(ctx, "client.token", func(t *core.Tx) error {
		stamp := t.Stamp()
		at := &stamp
		if hash == "" {
			if _, err := clientByName(t.DB, name); err != nil {
				return err
			}
			at = nil
		} else if err := makeClient(t, name); err != nil {
			return err
		}
		return t.Run(`UPDATE mcp_clients SET token_hash = ?, token_at = ? WHERE name = ?`, hash, at, name)
	})
}

// ClientByToken returns the name of the program with a token; false: unknown.
func (s *Records) ClientByToken(ctx context.Context, hash string) (string, bool, error) {
	names, err := core.All[string](ctx, s, "client.token", `SELECT name FROM mcp_clients WHERE token_hash = ? AND token_hash <> ''`, hash)
	if err != nil || len(names) == 0 {
		return "", false, err
	}
	return names[0], true, nil
}

// SessionsIn returns the unarchived sessions in folders.
func (s *Records) SessionsIn(ctx context.Context, folders []string) ([]chat.SessionID, error) {
	list, err := chat.MarshalJSON(append([]string{}, folders...))
	if err != nil {
		return nil, err
	}
	return core.All[chat.SessionID](ctx, s, "session.folders", `SELECT id FROM sessions WHERE archived_at IS NULL AND folder <> ''
		AND folder IN (SELECT value FROM json_each(?)) ORDER BY id`, string(list))
}

// shortText returns an external text as stored: limited in length, on one line.
func shortText(s string, runes int) string {
	s = strings.Join(strings.Fields(schema.Clean(s)), " ")
	if cutoff := []rune(s); len(cutoff) > runes {
		s = string(cutoff[:runes-1]) + "…"
	}
	return s
}

// RecordAccess records what a program queried and was shown, and drops the oldest entries.
func (s *Records) RecordAccess(ctx context.Context, a chat.ClientAccess) error {
	return s.Write(ctx, "access.record", func(t *core.Tx) error {
		shown := a.Shown[:min(len(a.Shown), chat.MaxShown)]
		id, err := sqlite.One[int64](t.DB, "mcp_accesses", "", `SELECT coalesce(max(id), 0) + 1 FROM mcp_accesses`)
		if err != nil {
			return err
		}
		if err := t.Run(`INSERT INTO mcp_accesses (id, at, client, tool, query, outcome, more) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			id, t.Stamp(), a.Client, shortText(a.Tool, 64), shortText(a.Query, chat.MaxQueryRunes), a.Outcome, a.More+len(a.Shown)-len(shown)); err != nil {
			return err
		}
		for i, x := range shown {
			if err := t.Run(`INSERT INTO mcp_shown (access_id, session_id, turn_id, place) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`, id, x.Session, x.Turn, i); err != nil {
				return err
			}
		}
		oldest := id - chat.MaxAccesses
		if err := t.Run(`DELETE FROM mcp_shown WHERE access_id <= ?`, oldest); err != nil {
			return err
		}
		return t.Run(`DELETE FROM mcp_accesses WHERE id <= ?`, oldest)
	})
}

type accessRow struct {
	ID                               int64
	At, Client, Tool, Query, Outcome string
	More                             int
	SessionID, TurnID, Title         *string
	Place                            int
}

// Accesses returns the access log, newest first.
func (s *Records) Accesses(ctx context.Context, q chat.AccessQuery) ([]chat.ClientAccess, error) {
	limit := q.Limit
	if limit <= 0 || limit > 500 {
		limit = 500
	}
	var out []chat.ClientAccess
	rows, err := core.All[accessRow](ctx, s, "access.list", `SELECT a.*, w.session_id, w.turn_id, s.title FROM
		  (SELECT * FROM mcp_accesses WHERE (? = '' OR client = ?) AND (? = 0 OR id < ?) ORDER BY id DESC LIMIT ?) a
		LEFT JOIN mcp_shown w ON w.access_id = a.id LEFT JOIN sessions s ON s.id = w.session_id ORDER BY a.id DESC, w.place`,
		q.Client, q.Client, q.Before, q.Before, limit)
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].ID != r.ID {
			out = append(out, chat.ClientAccess{ID: r.ID, At: schema.ParseTime(r.At), Client: r.Client, Tool: r.Tool, Query: r.Query, Outcome: r.Outcome, More: r.More})
		}
		if r.SessionID != nil {
			a := &out[len(out)-1]
			a.Shown = append(a.Shown, chat.ShownTurn{Session: chat.SessionID(*r.SessionID), Title: schema.Text(r.Title), Turn: chat.TurnID(schema.Text(r.TurnID))})
		}
	}
	return out, err
}

// ClearAccesses empties the access log.
func (s *Records) ClearAccesses(ctx context.Context) error {
	return s.Write(ctx, "access.clear", func(t *core.Tx) error {
		if err := t.Run(`DELETE FROM mcp_shown`); err != nil {
			return err
		}
		return t.Run(`DELETE FROM mcp_accesses`)
	})
}

// noteAnswer is stored as the answer to a note, for which no model is called.
const noteAnswer = "Noted."

// sourceProgram is the source of sessions with notes of other programs.
const sourceProgram = "mcp"

// AddNote writes a program's note as a turn of that program's own session, which is created if necessary. A repeated
// key is the same note: nothing is written, and added is false.
func (s *Records) AddNote(ctx context.Context, n chat.ClientNote) (turn chat.Turn, added bool, err error) {
	var row schema.TurnRow
	err = s.Write(ctx, "note.add", func(t *core.Tx) error {
		before, err := sqlite.All[chat.TurnID](t.DB, `SELECT n.turn_id FROM mcp_notes n JOIN turns u ON u.id = n.turn_id WHERE n.client = ? AND n.key = ?`, n.Client, n.Key)
		if err != nil {
			return err
		}
		if len(before) > 0 {
			row, err = schema.TurnByID(t.DB, before[0])
			return err
		}
		added = true
		row, err = s.addNote(t, n)
		return err
	})
	return row.Turn(), added, err
}

func (s *Records) addNote(t *core.Tx, n chat.ClientNote) (schema.TurnRow, error) {
	branch, err := noteBranch(t, n.Client)
	if err != nil {
		return schema.TurnRow{}, err
	}
	message := chat.UserText(schema.Clean(n.Text))
	message.Name = n.Client
	row, err := Accept(s.Core, t, chat.Acceptance{BranchID: branch, User: message})
	if err != nil {
		return row, err
	}
	err = FinalizeUnsent(t, row, chat.Finalization{
		TurnID: chat.TurnID(row.ID), Message: chat.AssistantText(noteAnswer), Outcome: chat.OutcomeCompleted,
	})
	if err != nil {
		return row, err
	}
	err = t.Run(`INSERT INTO mcp_notes (client, key, session_id, turn_id, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (client, key) DO UPDATE SET session_id = excluded.session_id, turn_id = excluded.turn_id, created_at = excluded.created_at`,
		n.Client, n.Key, row.SessionID, row.ID, t.Stamp())
	if err != nil {
		return row, err
	}
	return schema.TurnByID(t.DB, chat.TurnID(row.ID))
}

// noteBranch returns the branch for a program's notes.
func noteBranch(t *core.Tx, client string) (chat.BranchID, error) {
	id, err := notesOf(t.DB, client)
	if err != nil {
		return "", err
	}
	if id == "" {
		_, branch, err := CreateSession(t, chat.NewSession{Title: "Notes from " + client, Source: sourceProgram})
		return chat.BranchID(branch.ID), err
	}
	session, err := schema.SessionByID(t.DB, id)
	return chat.BranchID(session.ActiveBranch), err
}
