package deletion

import (
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// session deletes every row of a session, and its chunks from the contexts of others.
func (e *Operation) session() error {
	id := e.subject.Subject
	if err := e.journals(`SELECT id FROM turns WHERE session_id = ?`, id); err != nil {
		return err
	}
	others, err := sqlite.All[quotingTurn](e.DB, `SELECT DISTINCT t.id, t.n, t.session_id FROM chunks c JOIN retrieved r ON r.chunk_n = c.n
		JOIN turns t ON t.n = r.turn_n WHERE c.session_id = ? AND t.session_id <> ? ORDER BY t.n`, id, id)
	if err != nil {
		return err
	}
	turns, err := sqlite.All[string](e.DB, `SELECT id FROM turns WHERE session_id = ?`, id)
	if err != nil {
		return err
	}
	if err := e.dropAffected(others, affectedContexts{ids: schema.SetOf(turns), chunks: `c.session_id = ?`, args: []any{id}}); err != nil {
		return err
	}
	if err := e.forgetCalibrations(); err != nil {
		return err
	}
	if err := e.lookedUp(id); err != nil {
		return err
	}
	if err := e.accesses(`session_id = ?`, id); err != nil {
		return err
	}
	return e.gone(id)
}

// gone deletes every row of a session. If a vault has it, the vault is told.
func (e *Operation) gone(id string) error {
	session := chat.SessionID(id)
	has, known, err := core.InVaultOf(e.DB, session)
	if err != nil {
		return err
	}
	knew, err := core.LastNumbers(e.DB, session)
	if err == nil {
		err = e.rowsOf(id)
	}
	if err != nil || !known {
		return err
	}
	return core.PutGone(e.Tx, bundle.Gone{Session: session, Knew: knew, At: e.Stamp(), Files: has.Files})
}

// rowsOf deletes every row of a session.
func (e *Operation) rowsOf(session string) error {
	for _, t := range slices.Backward(schema.SessionTables) {
		if err := e.remove(t.Name, `DELETE FROM `+t.Name+` WHERE `+t.Where, session); err != nil {
			return err
		}
	}
	return nil
}

// forgetCalibrations resets calibrations recorded only in this session's ledger to the value in other ledgers, or
// removes them.
func (e *Operation) forgetCalibrations() error {
	rows, err := sqlite.All[schema.CalibrationRow](e.DB, `SELECT c.* FROM calibrations c JOIN events v ON v.entity_id = c.provider || '/' || c.model_id
		AND v.type = 'calibration_set' AND v.session_id = ? GROUP BY c.provider, c.model_id`, e.subject.Session)
	if err != nil {
		return err
	}
	for _, r := range rows {
		other, err := e.recordedByOthers(r)
		if err != nil {
			return err
		}
		if other.Revision == r.Revision {
			continue
		}
		if other.Revision == 0 {
			err = e.remove("calibrations", `DELETE FROM calibrations WHERE provider = ? AND model_id = ?`, r.Provider, r.ModelID)
		} else {
			err = e.remove("calibrations", `UPDATE calibrations SET factor = ?, mean = ?, samples = ?, revision = ?, updated_at = ?
				WHERE provider = ? AND model_id = ?`, other.Factor, other.Factor, other.Samples, other.Revision, e.Stamp(), r.Provider, r.ModelID)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// recordedByOthers returns a model's calibration according to the other ledgers; revision 0: none.
func (e *Operation) recordedByOthers(r schema.CalibrationRow) (schema.CalibrationRow, error) {
	var newest schema.CalibrationRow
	events, err := sqlite.All[schema.EventRow](e.DB, `SELECT * FROM events WHERE entity_id = ? AND type = 'calibration_set' AND session_id <> ?`,
		r.Provider+"/"+r.ModelID, e.subject.Session)
	for _, v := range events {
		payload, err := core.UnpackPayload(e.DB, v.SessionID, v.Payload)
		if err != nil {
			continue // verify reports it
		}
		var recorded ledger.CalibrationSet
		_, err = ledger.Rewrite(payload, func(p *ledger.CalibrationSet) { recorded = *p })
		if err == nil && recorded.Revision > newest.Revision {
			newest.Factor, newest.Samples, newest.Revision = recorded.Factor, recorded.Samples, recorded.Revision
		}
	}
	return newest, err
}
