package core

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// Device is this installation among those that share sessions. It writes one lane of a session's ledger, and only to
// branches that it began, so two devices never write the same turn, branch or number (docs/adr/0022).
type Device struct {
	ID   string `json:"id"` // the name of its lane in sessions that began elsewhere
	Home string `json:"home"`
	// Home is what it enters as sessions.begun_by: it writes the lane without a name of the sessions that have it. The
	// first device of a data directory has none, so what existed before there were devices is its own.

	Machine string `json:"machine"`        // a hash of the machine's id, where it has one: a copy elsewhere is another device
	Came    bool   `json:"came,omitempty"` // from another machine, with what it contained then
	Name    string `json:"-"`              // of the machine, for people
}

// Other values of sessions.begun_by.
const (
	// Elsewhere: the session came in a bundle or from a vault, so its lane without a name is another device's.
	Elsewhere = "elsewhere"
	// Formerly: this data began it under an earlier id, and has a vault. Other data may go on under that id, or had gone
	// on before a backup of it was restored, so what is open there is left to what comes from the vault.
	Formerly = "formerly"
)

// Device is the device as which this data writes.
func (s *Core) Device() *Device {
	if d := s.device.Load(); d != nil {
		return d
	}
	return &Device{}
}

// deviceKey is the setting that holds the device.
const deviceKey = "device"

// TakeDevice reads which device this is. Data that was copied to another machine becomes another one, before it writes:
// the original may go on, and would use the same numbers.
func (s *Core) TakeDevice(t *Tx) error {
	values, err := sqlite.All[string](t.DB, `SELECT value FROM settings WHERE key = ?`, deviceKey)
	if err != nil {
		return err
	}
	var d Device
	known := len(values) > 0 && json.Unmarshal([]byte(values[0]), &d) == nil && chat.ValidID(d.ID)
	switch {
	case !known && len(values) == 0:
		d = Device{ID: t.NewID()}
	case known && d.Machine == thisMachine():
		s.device.Store(d.named())
		return nil
	default:
		return s.renew(t, d)
	}
	return s.putDevice(t, d)
}

// renew makes the data of a device another one's.
func (s *Core) renew(t *Tx, d Device) error {
	id := t.NewID()
	if err := t.Run(`UPDATE sessions SET begun_by = ? WHERE begun_by = ? AND EXISTS (SELECT 1 FROM settings WHERE key = ? AND value <> '')`,
		Formerly, d.Home, VaultKey); err != nil {
		return err
	}
	// What was deleted since the backup was made is not deleted in it under the eyes of who restored it.
	if err := t.Run(`UPDATE settings SET value = json_set(value, '$.came', ?, '$.exchanged', '', '$.met', json('false'))
		WHERE key = ? AND json_valid(value)`, t.Stamp(), VaultKey); err != nil {
		return err
	}
	if err := s.putDevice(t, Device{ID: id, Home: id, Came: d.Came || d.Machine != thisMachine()}); err != nil {
		return err
	}
	return t.Run(`DELETE FROM jobs WHERE turn_id IN (SELECT t.id FROM jobs j JOIN turns t ON t.id = j.turn_id WHERE NOT `+MayFinish+`)`,
		t.Device.Finishing()...)
}

// ReadDevice reads which device this is, without changing it.
func (s *Core) ReadDevice(db *gorm.DB) error {
	values, err := sqlite.All[string](db, `SELECT value FROM settings WHERE key = ?`, deviceKey)
	if err == nil && len(values) > 0 {
		d := Device{}
		err = json.Unmarshal([]byte(values[0]), &d)
		s.device.Store(&d)
	}
	return err
}

// RenewDevice makes restored data another device: what was written after the backup was made may be on other machines.
func (s *Core) RenewDevice(t *Tx) error {
	if err := s.ReadDevice(t.DB); err != nil {
		return err
	}
	return s.renew(t, *s.Device())
}

func (s *Core) putDevice(t *Tx, d Device) error {
	d.Machine = thisMachine()
	value, err := chat.MarshalJSON(d)
	if err != nil {
		return err
	}
	s.device.Store(d.named())
	t.Device = *s.Device()
	return t.Run(`INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
		ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`, deviceKey, string(value), t.Stamp())
}

func (d Device) named() *Device {
	d.Name, _ = os.Hostname()
	d.Name = schema.Clean(strings.TrimSuffix(d.Name, ".local"))
	return &d
}

// thisMachine is a hash of the machine's id; empty: it has none that can be read.
func thisMachine() string {
	id, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(append([]byte("contextinfinity.machine\n"), id...))
	return hex.EncodeToString(sum[:16])
}

// Owns reports whether the device began a branch, and so writes to it.
func (d Device) Owns(db *gorm.DB, branch schema.BranchRow) (bool, error) {
	begun, err := sqlite.All[string](db, `SELECT begun_by FROM sessions WHERE id = ?`, branch.SessionID)
	return len(begun) > 0 && d.Wrote(branch.Lane, begun[0]), err
}

// Wrote reports whether a lane of a session is this device's. begun is the session's begun_by.
func (d Device) Wrote(lane, begun string) bool {
	if lane == "" {
		return begun == d.Home
	}
	return lane == d.ID
}

// Began returns the name of this machine if the branches of a lane that name none began on it; otherwise "".
func (d Device) Began(lane, begun string) string {
	if d.Wrote(lane, begun) || lane == "" && begun != Elsewhere && !d.Came {
		return d.Name
	}
	return ""
}

// MayFinish is mayFinish for the branches of a lane.
func (d Device) MayFinish(lane, begun string) bool {
	if lane == "" {
		return begun != Elsewhere && begun != Formerly
	}
	return lane == d.ID
}

// mayFinish is the condition on a branch b of a session s that its turns are not left to another device: the branch did
// not come from one. Without a vault it holds for what this data directory began under an earlier id too, so that
// restored turns are finished. Its parameters are those of Finishing.
const mayFinish = `CASE b.lane WHEN '' THEN s.begun_by NOT IN (?, ?) ELSE b.lane = ? END`

// MayFinish is the condition for the branch of a turn t.
const MayFinish = `EXISTS (SELECT 1 FROM branches b JOIN sessions s ON s.id = b.session_id
	WHERE b.id = t.branch_id AND ` + mayFinish + `)`

// Finishing returns the parameters of MayFinish.
func (d Device) Finishing() []any { return []any{Elsewhere, Formerly, d.ID} }

// Finishes reports whether the turns of a branch are committed, summarized and indexed here.
func (d Device) Finishes(db *gorm.DB, branch string) (bool, error) {
	found, err := sqlite.All[int](db, `SELECT 1 FROM branches b JOIN sessions s ON s.id = b.session_id WHERE b.id = ? AND `+mayFinish,
		append([]any{branch}, d.Finishing()...)...)
	return len(found) > 0, err
}
