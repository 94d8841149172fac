package maintenance

import (
	"context"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/records"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// PinsByID reads pin versions, in effect or not, in the requested order. A missing one is CodeNotFound.
func (s *Maintenance) PinsByID(ctx context.Context, ids []chat.PinID) ([]chat.Pin, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	byID := map[chat.PinID]chat.Pin{}
	err := s.Read(ctx, "pin.read", func(db *gorm.DB) error {
		rows, err := sqlite.All[schema.PinRow](db, `SELECT * FROM pins WHERE id IN ?`, ids)
		for _, r := range rows {
			byID[chat.PinID(r.ID)] = records.Pinned{PinRow: r}.Pin(0)
		}
		return err
	})
	out := make([]chat.Pin, 0, len(ids))
	for _, id := range ids {
		p, ok := byID[id]
		if !ok && err == nil {
			return nil, chat.Errorf(chat.CodeNotFound, "pin.read", "There is no pin %s.", id)
		}
		out = append(out, p)
	}
	return out, err
}

// PreparedTurns returns the turns for which a context was assembled, oldest first.
func (s *Maintenance) PreparedTurns(ctx context.Context) ([]chat.TurnID, error) {
	return core.All[chat.TurnID](ctx, s, "turn.list", `SELECT id FROM turns WHERE manifest IS NOT NULL ORDER BY created_at, id`)
}
