package bundles

import (
	"bytes"
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// A request quotes what memory found for it, word for word. With memory searched beyond the session, these are words of
// other conversations and of files of projects, which a person who passes one conversation on does not expect in the
// file. A bundle therefore leaves such requests out unless they are asked for. The manifests stay: they name chunks by
// id, not by text.

// quotingRequest says what is stored of a request that quoted other conversations.
type quotingRequest struct {
	marked bool // only the mark of a request that was left out of the bundle it came in
}

// mayBeMark is the condition for a step s that may have a mark in the place of its request. A mark is short and never
// packed against another request, so all other requests need not be decoded.
const mayBeMark = `(length(s.request_json) <= 1024 AND NOT EXISTS (SELECT 1 FROM request_links l WHERE l.step_id = s.id))`

// quotingRequests returns the requests of a session that quoted chunks of others, by step. A request that was
// permanently deleted quotes nothing. state may be nil.
func quotingRequests(db *gorm.DB, session string, state *ledger.State) (map[string]quotingRequest, error) {
	turns, err := quotingTurns(db, session, state)
	if err != nil || len(turns) == 0 {
		return nil, err
	}
	list, err := chat.MarshalJSON(turns)
	if err != nil {
		return nil, err
	}
	steps, err := sqlite.All[struct {
		ID        string
		MayBeMark bool
	}](db, `SELECT s.id, `+mayBeMark+` AS may_be_mark FROM json_each(?) j CROSS JOIN steps s ON s.turn_id = j.value`, string(list))
	out := make(map[string]quotingRequest, len(steps))
	for _, s := range steps {
		q := quotingRequest{}
		if s.MayBeMark {
			value, err := delta.RequestChain.Read(db, s.ID, nil)
			if err != nil {
				return nil, sqlite.CorruptRecord("steps", s.ID, err)
			}
			if len(value) == 0 || bytes.HasPrefix(value, []byte(schema.DeletedRequest)) {
				continue
			}
			_, q.marked = schema.RequestSHA256(value)
		}
		out[s.ID] = q
	}
	return out, err
}

// quotingTurns returns the turns with a context that contained chunks of other sessions, here or elsewhere.
func quotingTurns(db *gorm.DB, session string, state *ledger.State) ([]string, error) {
	turns, err := sqlite.All[string](db, `SELECT DISTINCT t.id FROM turns t JOIN retrieved r ON r.turn_n = t.n JOIN chunks c ON c.n = r.chunk_n
		WHERE t.session_id = ? AND c.session_id <> t.session_id`, session)
	if err != nil {
		return nil, err
	}
	hashes, err := sqlite.All[[]byte](db, `SELECT hash FROM blobs WHERE session_id = ? AND media_type = ?`, session, events.RetrievedElsewhere)
	if err != nil || len(hashes) == 0 {
		return turns, err
	}
	if state == nil {
		if state, _, err = records.ReplaySession(db, session); err != nil {
			return nil, err
		}
	}
	elsewhere := map[ledger.Sum]bool{}
	for _, hash := range hashes {
		elsewhere[ledger.SumOfHash(hash)] = true
	}
	for id, t := range state.Turns {
		if elsewhere[t.Retrieved] {
			turns = append(turns, id)
		}
	}
	return turns, nil
}

// leavesOut reports whether the request of a step is left out of the bundle.
func (x *exporter) leavesOut(step string) bool {
	q, quotes := x.quoting[step]
	return quotes && !q.marked && !x.withQuotes
}

// leftOut counts the requests that are not in the bundle.
func (x *exporter) leftOut() int {
	n := 0
	for step, q := range x.quoting {
		if q.marked || x.leavesOut(step) {
			n++
		}
	}
	return n
}

// QuotingRequests counts the requests of a session that quoted other conversations or files of projects: those that a
// bundle leaves out unless they are asked for.
func (s *Bundles) QuotingRequests(ctx context.Context, session chat.SessionID) (int, error) {
	n := 0
	err := s.Read(ctx, "bundle.quotes", func(db *gorm.DB) error {
		list, err := quotingRequests(db, string(session), nil)
		for _, q := range list {
			if !q.marked {
				n++
			}
		}
		return err
	})
	return n, err
}
