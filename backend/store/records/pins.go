package records

import (
	"context"
	"encoding/json"
	"slices"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/events"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Pins are immutable versions: an edit or a removal is a new row that names the row it replaces. A branch sees the
// rows of its lineage made before the fork, both in time and by turn; rows that no visible row replaces are in effect.
// So a removal on a child hides an inherited pin only there.

// VisiblePin is the condition on row p for what a lineage sees.
const VisiblePin = `p.after_turn_seq <= seg."to"
	AND (p.created_at < seg.left_at OR p.created_at = seg.left_at AND p.id < seg.left_by)`

// Pinned is a pin as seen on a branch.
type Pinned struct {
	schema.PinRow
	First   string // id of its first version, used by orders
	version int    // from 1
}

// PinsOn returns the pins of a lineage, in order.
func PinsOn(db *gorm.DB, segs []core.Segment) ([]Pinned, error) {
	scope, err := core.ScopeJSON(segs)
	if err != nil {
		return nil, err
	}
	rows, err := sqlite.All[schema.PinRow](db, core.ScopeCTE+`SELECT p.* FROM seg JOIN pins p ON p.branch_id = seg.branch
		WHERE `+VisiblePin+` ORDER BY p.created_at, p.id`, scope)
	if err != nil {
		return nil, err
	}
	orders, err := sqlite.All[schema.PinOrderRow](db, core.ScopeCTE+`SELECT p.* FROM seg JOIN pin_orders p ON p.branch_id = seg.branch
		WHERE `+VisiblePin+` ORDER BY p.created_at DESC, p.id DESC LIMIT 1`, scope)
	if err != nil {
		return nil, err
	}
	current := currentPins(rows)
	if len(orders) > 0 {
		sortPins(current, orders[0].PinsJSON)
	}
	return current, nil
}

// currentPins drops replaced rows and removals.
func currentPins(rows []schema.PinRow) []Pinned {
	replaced := map[string]bool{}
	first := map[string]string{}
	version := map[string]int{}
	for _, r := range rows { // oldest first: a replaced row comes before its replacement
		first[r.ID], version[r.ID] = r.ID, 1
		if r.Replaces != nil {
			replaced[*r.Replaces] = true
			if f, ok := first[*r.Replaces]; ok {
				first[r.ID], version[r.ID] = f, version[*r.Replaces]+1
			}
		}
	}
	place := map[string]int{}
	for i, r := range rows {
		if first[r.ID] == r.ID {
			place[r.ID] = i
		}
	}
	var out []Pinned
	for _, r := range rows {
		if !replaced[r.ID] && !r.Removed {
			out = append(out, Pinned{r, first[r.ID], version[r.ID]})
		}
	}
	slices.SortStableFunc(out, func(a, b Pinned) int { return place[a.First] - place[b.First] })
	return out
}

// sortPins applies a stored order; other pins follow in the order of creation.
func sortPins(pins []Pinned, orderJSON string) {
	var order []string
	if json.Unmarshal([]byte(orderJSON), &order) != nil {
		return // verify reports it; the order of creation is used
	}
	at := map[string]int{}
	for i, id := range order {
		at[id] = i
	}
	rank := func(p Pinned) int {
		if i, ok := at[p.First]; ok {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(pins, func(a, b Pinned) int { return rank(a) - rank(b) })
}

func (p Pinned) Pin(position int) chat.Pin {
	return chat.Pin{
		ID: chat.PinID(p.ID), SessionID: chat.SessionID(p.SessionID), BranchID: chat.BranchID(p.BranchID),
		AfterTurn: p.AfterTurnSeq, Text: p.Text, Position: position, Replaces: chat.PinID(schema.Text(p.Replaces)),
		Tokens: p.Tokens, Version: p.version, CreatedAt: schema.ParseTime(p.CreatedAt),
	}
}

// Pins returns the pinned facts of a branch, in order; Position counts from 0.
func (s *Records) Pins(ctx context.Context, branch chat.BranchID) ([]chat.Pin, error) {
	return s.PinsAt(ctx, branch, core.AllTurns)
}

// PinsAt returns the pins of a branch forked now after a turn_seq.
func (s *Records) PinsAt(ctx context.Context, branch chat.BranchID, seq int64) ([]chat.Pin, error) {
	current, err := core.OnLineage(ctx, s, "pin.list", branch, func(db *gorm.DB, segs []core.Segment) ([]Pinned, error) {
		return PinsOn(db, forkedAt(segs, seq))
	})
	out := make([]chat.Pin, len(current))
	for i, p := range current {
		out[i] = p.Pin(i)
	}
	return out, err
}

// AddPin pins a fact on a branch, after its other pins.
func (s *Records) AddPin(ctx context.Context, branch chat.BranchID, fact string, tokens int) (chat.Pin, error) {
	return s.changePin(ctx, "pin.add", branch, "", fact, tokens)
}

// EditPin replaces a pin by a new version, which has a new id and the same position.
func (s *Records) EditPin(ctx context.Context, branch chat.BranchID, pin chat.PinID, fact string, tokens int) (chat.Pin, error) {
	return s.changePin(ctx, "pin.edit", branch, pin, fact, tokens)
}

func (s *Records) changePin(ctx context.Context, op string, branch chat.BranchID, replaces chat.PinID, fact string, tokens int) (chat.Pin, error) {
	var pin chat.Pin
	err := s.Write(ctx, op, func(t *core.Tx) error {
		fact := schema.Clean(fact)
		if fact == "" {
			return sqlite.Invalid("There is nothing to pin.")
		}
		segs, current, err := pinsFor(t, branch, replaces)
		if err != nil {
			return err
		}
		kind := ledger.EventPinAdded
		if replaces != "" {
			kind = ledger.EventPinEdited
		}
		row, err := InsertPin(t, segs, schema.PinRow{Replaces: schema.OrNull(replaces), Text: fact, Tokens: max(tokens, 0)}, kind)
		if err != nil {
			return err
		}
		pin = Pinned{PinRow: row, version: 1}.Pin(len(current))
		if i := indexOfPin(current, replaces); i >= 0 {
			pin.Position, pin.Version = i, current[i].version+1
		}
		return nil
	})
	return pin, err
}

// RemovePin removes a pin from a branch. An inherited one is only hidden on it.
func (s *Records) RemovePin(ctx context.Context, branch chat.BranchID, pin chat.PinID) error {
	return s.Write(ctx, "pin.remove", func(t *core.Tx) error {
		if pin == "" {
			return sqlite.Invalid("No pin was named.")
		}
		segs, _, err := pinsFor(t, branch, pin)
		if err != nil {
			return err
		}
		_, err = InsertPin(t, segs, schema.PinRow{Replaces: schema.OrNull(pin), Removed: true}, ledger.EventPinRemoved)
		return err
	})
}

// MovePin moves a pin to a position, from 0; beyond the end means last.
func (s *Records) MovePin(ctx context.Context, branch chat.BranchID, pin chat.PinID, position int) error {
	return s.Write(ctx, "pin.move", func(t *core.Tx) error {
		segs, current, err := pinsFor(t, branch, pin)
		if err != nil {
			return err
		}
		from := indexOfPin(current, pin)
		if from < 0 {
			return sqlite.Invalid("No pin was named.")
		}
		moved := current[from]
		current = slices.Delete(current, from, from+1)
		current = slices.Insert(current, min(max(position, 0), len(current)), moved)
		return InsertPinOrder(t, segs, current)
	})
}

// pinsFor reads a branch's pins and checks that the named one, if any, exists.
func pinsFor(t *core.Tx, branch chat.BranchID, pin chat.PinID) ([]core.Segment, []Pinned, error) {
	segs, err := core.Segments(t.DB, branch)
	if err != nil {
		return nil, nil, err
	}
	current, err := PinsOn(t.DB, segs)
	if err == nil && pin != "" && indexOfPin(current, pin) < 0 {
		err = chat.Errorf(chat.CodeNotFound, "", "There is no pin %s on this branch.", pin)
	}
	return segs, current, err
}

func indexOfPin(pins []Pinned, id chat.PinID) int {
	return slices.IndexFunc(pins, func(p Pinned) bool { return p.ID == string(id) })
}

// keepPins gives a new branch the pins in effect on another lineage, which are newer than those that it inherited.
func keepPins(t *core.Tx, branch string, from []core.Segment) error {
	want, err := PinsOn(t.DB, from)
	if err != nil {
		return err
	}
	segs, inherited, err := pinsFor(t, chat.BranchID(branch), "")
	if err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, p := range want {
		wanted[p.First] = true
		row, kind := schema.PinRow{Text: p.Text, Tokens: p.Tokens}, ledger.EventPinAdded
		if i := slices.IndexFunc(inherited, func(q Pinned) bool { return q.First == p.First }); i >= 0 {
			if inherited[i].ID == p.ID {
				continue
			}
			row.Replaces, kind = &inherited[i].ID, ledger.EventPinEdited
		}
		if _, err := InsertPin(t, segs, row, kind); err != nil {
			return err
		}
	}
	for _, p := range inherited {
		if wanted[p.First] {
			continue
		}
		if _, err := InsertPin(t, segs, schema.PinRow{Replaces: &p.ID, Removed: true}, ledger.EventPinRemoved); err != nil {
			return err
		}
	}
	return nil
}

func InsertPin(t *core.Tx, segs []core.Segment, row schema.PinRow, kind ledger.Type) (schema.PinRow, error) {
	own := segs[len(segs)-1]
	after, err := core.LastSeq(t.DB, segs)
	if err != nil {
		return row, err
	}
	row.ID, row.SessionID, row.BranchID, row.AfterTurnSeq = t.NewID(), own.Session, own.Branch, after
	row.CreatedAt = t.Stamp()
	return row, events.Record(t, chat.SessionID(row.SessionID), kind, row.ID, ledger.PinChanged{
		BranchID: chat.BranchID(row.BranchID), AfterTurn: after, Replaces: chat.PinID(schema.Text(row.Replaces)),
		Text: row.Text, Tokens: row.Tokens,
	})
}

func InsertPinOrder(t *core.Tx, segs []core.Segment, pins []Pinned) error {
	own := segs[len(segs)-1]
	after, err := core.LastSeq(t.DB, segs)
	if err != nil {
		return err
	}
	ids := lists.Map(pins, func(p Pinned) chat.PinID { return chat.PinID(p.First) })
	return events.Record(t, chat.SessionID(own.Session), ledger.EventPinsMoved, t.NewID(),
		ledger.PinsMoved{BranchID: chat.BranchID(own.Branch), AfterTurn: after, Pins: ids})
}
