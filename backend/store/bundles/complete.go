package bundles

import (
	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// A session that was imported from a bundle without the requests that quoted other conversations has marks in their
// place. A later bundle of the same session that contains these requests completes it: a mark has the hash of its
// request, so each is recognized without regard to ids, which differ in a copy. Nothing else is ever replaced.

// markedStep is a step with a mark in the place of its request.
type markedStep struct {
	ID        string
	StepIndex int
	Attempt   int
	TurnID    string
}

// markedSteps returns the steps of a session with marks, by the SHA-256 of the request in hex.
func markedSteps(db *gorm.DB, session chat.SessionID) (map[string][]markedStep, error) {
	candidates, err := sqlite.All[markedStep](db, `SELECT s.id, s.step_index, s.attempt, s.turn_id FROM turns t JOIN steps s ON s.turn_id = t.id
		WHERE t.session_id = ? AND `+mayBeMark, session)
	if err != nil {
		return nil, err
	}
	out := map[string][]markedStep{}
	for _, step := range candidates {
		value, err := delta.RequestChain.Read(db, step.ID, nil)
		if err != nil {
			continue // verify reports it
		}
		if sum, marked := schema.RequestSHA256(value); marked {
			out[sum] = append(out[sum], step)
		}
	}
	return out, nil
}

// completeOnly completes a session that already has all events of the bundle. Nothing is written if it has no marks.
func (in *incoming) completeOnly(s *Bundles, session chat.SessionID, checkUnchanged func(*core.Tx) error) (out chat.Imported, err error) {
	out.Session = session
	var missing map[string][]markedStep
	if err := s.Read(in.ctx, opBundle, func(db *gorm.DB) (err error) {
		missing, err = markedSteps(db, session)
		return err
	}); err != nil || len(missing) == 0 {
		return out, err
	}
	err = in.write(s, checkUnchanged, func(t *core.Tx) (err error) {
		out.Requests, err = in.complete(t, session)
		return err
	})
	return out, err
}

// write adds to a session in one transaction. Its requests are packed against others that the same transaction writes,
// so the shared caches of the store must not receive them: they would keep what a rollback removes.
func (in *incoming) write(s *Bundles, checkUnchanged, add func(*core.Tx) error) error {
	return s.Write(in.ctx, opBundle, func(t *core.Tx) error {
		t.Requests, t.Manifests = &core.RecentValues{}, &core.RecentValues{}
		if err := checkUnchanged(t); err != nil {
			return err
		}
		return add(t)
	})
}

// complete replaces the marks in a session by their requests, as far as the bundle contains them, and returns how many
// it replaced. Requests are added in the order of their steps, so that each can be packed against the previous one.
func (in *incoming) complete(t *core.Tx, session chat.SessionID) (added int, err error) {
	missing, err := markedSteps(t.DB, session)
	if err != nil || len(missing) == 0 {
		return 0, err
	}
	_, err = in.from.Read(func(e ledger.Event, contents []bundle.Content) error {
		for _, c := range contents {
			sum, marked := schema.RequestSHA256(c.Bytes)
			if c.Kind != bundle.Request || marked {
				continue
			}
			for _, step := range missing[sum] {
				if err := step.fill(t, c.Bytes); err != nil {
					return err
				}
				added++
			}
			delete(missing, sum)
		}
		return in.ctx.Err()
	})
	return added, err
}

// fill stores the request of a step in place of the mark. Nothing is packed against a mark, because it is too short.
func (m markedStep) fill(t *core.Tx, request []byte) error {
	turn, err := schema.TurnHead(t.DB, chat.TurnID(m.TurnID))
	if err != nil {
		return err
	}
	packed, link, err := delta.PackRequestAt(t, turn, m.StepIndex, m.Attempt, request)
	if err != nil {
		return err
	}
	if err := t.Run(`UPDATE steps SET request_json = ? WHERE id = ?`, packed, m.ID); err != nil {
		return err
	}
	return delta.RequestChain.Link(t, m.ID, link)
}
