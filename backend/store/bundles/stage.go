package bundles

import (
	"context"
	"errors"
	"strings"

	"contextinfinity/backend/atrest"
	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A new session is built from its events in a separate database in the data directory, while the program continues to
// work. Once it is complete and compared with its ledger, its rows are copied in one transaction in their packed
// form, so the writer is blocked for only a small part of the replay.

// staged is a session that is ready to be copied.
type staged struct {
	folder *atrest.Folder
	out    chat.Imported
}

// stage builds the session of a bundle in a separate database; c, if not nil, assigns new ids.
func (in *incoming) stage(s *Bundles, c *events.Copying) (*staged, error) {
	folder, err := atrest.MakeFolder(s.Dir, atrest.IncomingPrefix)
	if err != nil {
		return nil, err
	}
	st := &staged{folder: folder, out: chat.Imported{Session: chat.SessionID(in.session)}}
	if c != nil {
		st.out.Session = chat.SessionID(c.Session)
	}
	scratch, err := core.OpenScratch(in.ctx, folder.Path, s.Clock)
	if err != nil {
		return nil, errors.Join(err, st.remove())
	}
	if scratch.Device().Home = core.Elsewhere; c != nil { // a copy begins here
		scratch.Device().Home = s.Device().Home
	}
	err = scratch.Write(in.ctx, "bundle.import", func(t *core.Tx) error { return in.replay(t, 0, c, &st.out) })
	if err = errors.Join(err, scratch.DB.Close()); err != nil {
		return nil, errors.Join(err, st.remove())
	}
	return st, nil
}

func (st *staged) remove() error { return st.folder.Remove() }

// takeOver copies a staged session into the database. before runs first in the same transaction, after runs last.
func (s *Bundles) takeOver(ctx context.Context, st *staged, before, after func(*core.Tx) error) error {
	s.staging.Lock() // there is only one connection to attach to
	defer s.staging.Unlock()
	writer := s.DB.Writer.WithContext(ctx)
	if err := writer.Exec(`ATTACH DATABASE ? AS incoming`, st.folder.File(sqlite.DatabaseFile)).Error; err != nil {
		return err
	}
	err := s.Write(ctx, "bundle.import", func(t *core.Tx) error {
		if err := before(t); err != nil {
			return err
		}
		if err := copyRows(t); err != nil {
			return err
		}
		return after(t)
	})
	return errors.Join(err, s.DB.Writer.WithContext(context.WithoutCancel(ctx)).Exec(`DETACH DATABASE incoming`).Error)
}

// numbers are the highest row numbers in use here.
type numbers struct{ Turns, Chunks int64 }

// copyRows copies the rows of the database attached as incoming, in an order that satisfies references. Turns and
// chunks get free row numbers.
func copyRows(t *core.Tx) error {
	free, err := sqlite.One[numbers](t.DB, "numbers", "", `SELECT (SELECT coalesce(max(n), 0) FROM main.turns) AS turns, (SELECT coalesce(max(n), 0) FROM main.chunks) AS chunks`)
	if err != nil {
		return err
	}
	shifted := map[string]map[string]int64{
		"turns": {"n": free.Turns}, "chunks": {"n": free.Chunks}, "retrieved": {"turn_n": free.Turns, "chunk_n": free.Chunks},
	}
	for _, table := range schema.SessionTables {
		if !table.FromEvents {
			continue
		}
		if err := copyTable(t, table.Name, shifted[table.Name]); err != nil {
			return err
		}
	}
	for _, c := range []delta.Chain{delta.RequestChain, delta.ManifestChain} {
		if err := shiftQuotes(t, c, free.Chunks); err != nil {
			return err
		}
	}
	if err := t.Run(`INSERT OR IGNORE INTO main.receipts SELECT * FROM incoming.receipts`); err != nil {
		return err
	}
	return t.Run(`INSERT INTO main.calibrations SELECT * FROM incoming.calibrations WHERE true
		ON CONFLICT (provider, model_id) DO UPDATE SET factor = excluded.factor, samples = excluded.samples,
		updated_at = excluded.updated_at, mean = excluded.mean, revision = excluded.revision WHERE excluded.revision > calibrations.revision`)
}

// copyTable copies one table with some numbers shifted. Units are renumbered.
func copyTable(t *core.Tx, table string, shift map[string]int64) error {
	columns, err := sqlite.All[string](t.DB, `SELECT name FROM pragma_table_info(?)`, table)
	if err != nil {
		return err
	}
	var names, values []string
	var args []any
	for _, name := range columns {
		if table == "units" && name == "n" {
			continue
		}
		value := `"` + name + `"`
		names = append(names, value)
		if offset, ok := shift[name]; ok {
			value += ` + ?`
			args = append(args, offset)
		}
		values = append(values, value)
	}
	order := ``
	if table == "units" {
		order = ` ORDER BY n`
	}
	return t.Run(`INSERT INTO main.`+table+` (`+strings.Join(names, ", ")+`) SELECT `+strings.Join(values, ", ")+` FROM incoming.`+table+order, args...)
}

// shiftQuotes renumbers the chunks that values quote.
func shiftQuotes(t *core.Tx, c delta.Chain, offset int64) error {
	if offset == 0 {
		return nil
	}
	rows, err := sqlite.All[delta.LinkRow](t.DB, `SELECT `+c.Key+` AS id, quotes FROM incoming.`+c.Links+` WHERE quotes IS NOT NULL`)
	if err != nil {
		return err
	}
	for _, r := range rows {
		ns, err := delta.DecodeQuotes(r.Quotes)
		if err != nil {
			return err
		}
		for i := range ns {
			ns[i] += offset
		}
		if err := t.Run(`UPDATE main.`+c.Links+` SET quotes = ? WHERE `+c.Key+` = ?`, delta.EncodeQuotes(ns), r.ID); err != nil {
			return err
		}
	}
	return nil
}
