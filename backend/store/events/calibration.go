package events

import (
	"math"

	"gorm.io/gorm"

	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// The calibration of a provider's token counting is a running mean, applied in steps so that budgets, and with them
// cuts and prompt prefixes, seldom change (SPEC 6).
const (
	calibrationStep    = 0.05
	CalibrationLow     = 0.7
	CalibrationHigh    = 1.6
	CalibrationSamples = 50  // from here on the mean changes slowly
	CalibrationMin     = 200 // smaller estimates say more about fixed overhead than about counting
	// One unusual report, such as for an image, must not outweigh fifty others.
	sampleLow, SampleHigh = 0.5, 2.0
)

func CalibrationOf(db *gorm.DB, provider, modelID string) (schema.CalibrationRow, error) {
	rows, err := sqlite.All[schema.CalibrationRow](db, `SELECT * FROM calibrations WHERE provider = ? AND model_id = ?`, schema.Clean(provider), schema.Clean(modelID))
	if err != nil || len(rows) == 0 {
		return schema.CalibrationRow{Provider: schema.Clean(provider), ModelID: schema.Clean(modelID), Factor: 1, Mean: 1}, err
	}
	return rows[0], nil
}

// PutCalibration stores a calibration.
func PutCalibration(t *core.Tx, r schema.CalibrationRow) error {
	return t.Run(`INSERT INTO calibrations (provider, model_id, factor, samples, updated_at, mean, revision)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (provider, model_id) DO UPDATE SET factor = excluded.factor,
		samples = excluded.samples, updated_at = excluded.updated_at, mean = excluded.mean, revision = excluded.revision`,
		r.Provider, r.ModelID, r.Factor, r.Samples, t.Stamp(), r.Mean, r.Revision)
}

// CalibrationFactor rounds a mean to a step within bounds.
func CalibrationFactor(mean float64) float64 {
	steps := math.Round(1 / calibrationStep)
	return min(max(math.Round(mean*steps)/steps, CalibrationLow), CalibrationHigh)
}

// Observe adds the ratio of one report to a calibration.
func Observe(r *schema.CalibrationRow, ratio float64) {
	r.Samples = min(r.Samples+1, CalibrationSamples)
	r.Mean += (min(max(ratio, sampleLow), SampleHigh) - r.Mean) / float64(r.Samples)
	r.Factor = CalibrationFactor(r.Mean)
}
