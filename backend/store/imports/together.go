package imports

import (
	"context"
	"errors"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer"
)

// errSeparate says that conversations cannot share a transaction.
var errSeparate = errors.New("not new, or of several parts")

// ImportTogether writes new conversations of one part each in a single transaction: a transaction costs more than a
// small conversation. On an error nothing is written, and each has to be written separately.
func (s *Imports) ImportTogether(ctx context.Context, list []transfer.Conversation, rules []chat.ImportRules) ([]chat.Imported, error) {
	batch, parts, out := make([]Importer, len(list)), make([]ImportPart, len(list)), make([]chat.Imported, len(list))
	for i := range list {
		m := &batch[i]
		*m = Importer{Store: s, Ctx: ctx, Conversation: &list[i], Rules: rules[i], Now: s.Clock.Now()}
		if err := errors.Join(m.Load(), m.Sort()); err != nil {
			return nil, sqlite.MapError(opImport, err)
		}
		part, err := m.Plan()
		if err == nil && (m.Session != "" || !part.Last) {
			err = errSeparate
		}
		if err != nil {
			return nil, sqlite.MapError(opImport, err)
		}
		parts[i] = part
	}
	err := s.Write(ctx, "import.write", func(t *core.Tx) error {
		t.Commits = true
		for i := range batch {
			w := importTx{Tx: t, m: &batch[i]}
			if err := w.part(parts[i]); err != nil {
				return err
			}
			out[i] = chat.Imported{Session: batch[i].Session, Outcome: chat.ImportCreated, Turns: w.turns, Branches: w.branches}
			if batch[i].future {
				out[i].Notice = noticeFuture
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}
