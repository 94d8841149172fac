package records

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Calibration returns what was learned of a model's token counting: factor 1 with no samples at first.
func (s *Records) Calibration(ctx context.Context, provider, modelID string) (chat.Calibration, error) {
	row, err := core.Query(ctx, s, "calibration.read", func(db *gorm.DB) (schema.CalibrationRow, error) { return events.CalibrationOf(db, provider, modelID) })
	return chat.Calibration{Factor: row.Factor, Samples: row.Samples, Mean: row.Mean}, err
}

// ObserveCalibration learns from one request: how many tokens we estimated, and how many the provider reported. Small
// estimates and missing reports are ignored. The ledger, of the session that used the model last, gets an event only
// when the factor changes.
func (s *Records) ObserveCalibration(ctx context.Context, provider, modelID string, estimated, reported int) error {
	if estimated < events.CalibrationMin || reported <= 0 {
		return nil
	}
	return s.Write(ctx, "calibration.observe", func(t *core.Tx) error {
		row, err := events.CalibrationOf(t.DB, provider, modelID)
		if err != nil {
			return err
		}
		old := row.Factor
		events.Observe(&row, float64(reported)/float64(estimated))
		if row.Factor != old {
			if err := recordCalibration(t, &row); err != nil {
				return err
			}
		}
		return events.PutCalibration(t, row)
	})
}

// recordCalibration writes the event of a changed factor. Revisions order events that may be in several ledgers.
func recordCalibration(t *core.Tx, r *schema.CalibrationRow) error {
	sessions, err := sqlite.All[chat.SessionID](t.DB, `SELECT t.session_id FROM steps s JOIN turns t ON t.id = s.turn_id
		WHERE s.provider = ? AND s.model_id = ? ORDER BY s.rowid DESC LIMIT 1`, r.Provider, r.ModelID)
	if err != nil || len(sessions) == 0 {
		return err
	}
	r.Revision++
	return events.Record(t, sessions[0], ledger.EventCalibrationSet, r.Provider+"/"+r.ModelID, ledger.CalibrationSet{
		Provider: r.Provider, ModelID: r.ModelID, Factor: r.Factor, Samples: r.Samples, Revision: r.Revision,
	})
}
