package records

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// What belongs to no session travels as values with revisions. A mark remembers the revision of each, and a hash of what was
// here then. What differs from its mark was changed here since, and what is gone was deleted here: so no code that changes
// records needs to know of values.

const opValues = "vault.values"

// Kinds of values.
const (
	assistantValue = "assistant"
	promptValue    = "prompt"
)

// mostValues is how many there may be of each kind.
var mostValues = map[string]int{assistantValue: chat.MaxAssistants, promptValue: chat.MaxSavedPrompts}

// valueBody is what travels of a record. The name is unique among the values of a kind.
type valueBody struct {
	Name        string   `json:"name"`
	Text        string   `json:"text,omitempty"` // or instructions
	Model       string   `json:"model,omitempty"`
	Temperature *float64 `json:"temperature,omitempty"`
	Effort      string   `json:"effort,omitempty"`
	ToolsMode   string   `json:"tools_mode,omitempty"`
}

func assistantBody(a chat.Assistant) *valueBody {
	return &valueBody{Name: a.Name, Text: a.Instructions, Model: a.Model, Temperature: a.Temperature, Effort: a.Effort, ToolsMode: a.ToolsMode}
}

func (b valueBody) assistant() chat.Assistant {
	return chat.Assistant{Name: b.Name, Instructions: b.Text, Model: b.Model, Temperature: b.Temperature, Effort: b.Effort, ToolsMode: b.ToolsMode}
}

// valueKey is a kind, and an id or a name.
type valueKey struct{ kind, id string }

func nameKey(kind, name string) valueKey { return valueKey{kind, strings.ToLower(name)} }

// valueHere is a value as it is here, or as it comes.
type valueHere struct {
	bundle.Value
	body    *valueBody // nil: there is no record
	changed bool       // since its mark
}

// valueMark is what is remembered of a value.
type valueMark struct {
	Revision int64  `json:"revision"`
	Device   string `json:"device"`
	Deleted  bool   `json:"deleted,omitempty"`
	Hash     string `json:"hash,omitempty"` // of its body
}

func putMark(t *core.Tx, v bundle.Value) error {
	value, err := chat.MarshalJSON(valueMark{v.Revision, v.Device, v.Deleted, schema.HexHash(v.Body)})
	if err != nil {
		return err
	}
	return core.PutSetting(t, core.ValueKey+v.Kind+" "+v.ID, value)
}

// valueBodies reads all records that are values.
func valueBodies(db *gorm.DB) (map[valueKey]*valueBody, error) {
	out := map[valueKey]*valueBody{}
	assistants, err := sqlite.All[assistantRow](db, `SELECT * FROM assistants`)
	for _, r := range assistants {
		out[valueKey{assistantValue, r.ID}] = assistantBody(r.assistant())
	}
	prompts, err2 := sqlite.All[savedPromptRow](db, `SELECT * FROM saved_prompts`)
	for _, r := range prompts {
		out[valueKey{promptValue, r.ID}] = &valueBody{Name: r.Name, Text: r.Text}
	}
	return out, errors.Join(err, err2)
}

// valuesHere compares all records with their marks.
func valuesHere(db *gorm.DB, device string) (map[valueKey]valueHere, error) {
	bodies, err := valueBodies(db)
	if err != nil {
		return nil, err
	}
	rows, err := sqlite.All[struct{ Key, Value string }](db, `SELECT key, value FROM settings WHERE key >= ? AND key < ?`, core.ValueKey, core.ValueKey+"~")
	marks := map[valueKey]valueMark{}
	for _, r := range rows {
		var m valueMark
		kind, id, _ := strings.Cut(strings.TrimPrefix(r.Key, core.ValueKey), " ")
		if mostValues[kind] > 0 && json.Unmarshal([]byte(r.Value), &m) == nil { // otherwise it counts as new
			marks[valueKey{kind, id}] = m
			if _, here := bodies[valueKey{kind, id}]; !here {
				bodies[valueKey{kind, id}] = nil
			}
		}
	}
	out := map[valueKey]valueHere{}
	for key, body := range bodies {
		m := marks[key]
		v := valueHere{bundle.Value{Kind: key.kind, ID: key.id, Revision: m.Revision, Device: m.Device, Deleted: body == nil}, body, false}
		if body != nil {
			if v.Body, err = chat.MarshalJSON(body); err != nil {
				return nil, err
			}
		}
		if v.Deleted != m.Deleted || m.Revision == 0 || m.Hash != schema.HexHash(v.Body) && !v.Deleted {
			v.changed, v.Revision, v.Device = true, m.Revision+1, device
		}
		out[key] = v
	}
	return out, err
}

// Values returns all values, also those that were deleted, and how many were changed here since the last call.
func (s *Records) Values(ctx context.Context) (all []bundle.Value, changed int, err error) {
	var here map[valueKey]valueHere
	read := func(db *gorm.DB) (err error) {
		all, changed = nil, 0
		here, err = valuesHere(db, s.Device().ID)
		for _, v := range here {
			if all = append(all, v.Value); v.changed {
				changed++
			}
		}
		return err
	}
	if err = s.Read(ctx, opValues, read); err == nil && changed > 0 {
		err = s.Write(ctx, opValues, func(t *core.Tx) error {
			err := read(t.DB)
			for _, v := range here {
				if err == nil && v.changed {
					err = putMark(t, v.Value)
				}
			}
			return err
		})
	}
	slices.SortFunc(all, func(a, b bundle.Value) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID)) })
	return all, changed, err
}

// valueTaker takes the values of other devices.
type valueTaker struct {
	*core.Tx
	here    map[valueKey]valueHere
	names   map[valueKey]string // ids, by kind and name
	keep    bool                // what was deleted elsewhere
	last    bool                // nothing else is left that a value could wait for
	refused map[*chat.Error]int
	changed int
}

// Why values are refused.
var (
	errValue      = sqlite.Invalid("They are not valid.")
	errNewerValue = chat.Errorf(chat.CodeNewer, "", "They were made by a newer version of this program.").WithHint("update the program on this computer")
	errFull       = chat.Errorf(chat.CodeTooLarge, "", "There are as many here as there can be.").WithHint("delete those that you do not use")
)

// errLater means that a value may fit once others were taken.
var errLater = errors.New("later")

// TakeValues takes those values of other devices that are newer than what is here, and returns how many records it changed, and
// what it refused. Of two with one name, the one with the greater id gets a number, which is a change of this device. keep: what was
// deleted elsewhere stays.
func (s *Records) TakeValues(ctx context.Context, list []bundle.Value, keep bool) (changed int, refused []error, err error) {
	err = s.Write(ctx, opValues, func(t *core.Tx) (err error) {
		k := valueTaker{Tx: t, keep: keep, names: map[valueKey]string{}, refused: map[*chat.Error]int{}}
		if k.here, err = valuesHere(t.DB, t.Device.ID); err != nil {
			return err
		}
		for key, v := range k.here {
			k.hold(key, v.body)
		}
		for coming := k.coming(list); err == nil && len(coming) > 0; {
			before := len(coming)
			coming = slices.DeleteFunc(coming, func(v valueHere) bool {
				if err != nil {
					return false
				}
				switch err = k.take(v); {
				case errors.Is(err, errLater):
					err = nil
					return false
				case errors.Is(err, errFull):
					err = nil
					k.refused[errFull]++
				}
				return true
			})
			k.last = k.last || len(coming) == before
		}
		changed, refused = k.changed, nil
		for _, r := range []*chat.Error{errValue, errNewerValue, errFull} {
			if n := k.refused[r]; n > 0 {
				refused = append(refused, chat.WrapError(r.Code, opValues, r, "Assistants and saved prompts of other computers that were not taken: %d. %v", n, r))
			}
		}
		return err
	})
	return changed, refused, err
}

// coming returns the newest of each of some values, if it is newer than what is here; deletions first, because they make room.
func (k *valueTaker) coming(list []bundle.Value) (out []valueHere) {
	newest := map[valueKey]valueHere{}
	for _, v := range list {
		key := valueKey{v.Kind, v.ID}
		body, refused := bodyOf(&v)
		if refused != nil {
			k.refused[refused]++
		} else if v.Compare(k.here[key].Value) > 0 && v.Compare(newest[key].Value) > 0 {
			newest[key] = valueHere{v, body, false}
		}
	}
	for _, v := range newest {
		out = append(out, v)
	}
	rank := func(v valueHere) int {
		if v.Deleted {
			return 0
		}
		return 1
	}
	slices.SortFunc(out, func(a, b valueHere) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// maxRevision is more than a value will ever have.
const maxRevision = 1 << 40

// bodyOf checks a value, and returns its body, without what does not belong to its kind.
func bodyOf(v *bundle.Value) (*valueBody, *chat.Error) {
	switch {
	case !chat.ValidID(v.ID) || !chat.ValidID(v.Device) || v.Revision < 1 || v.Revision > maxRevision || v.Deleted != (len(v.Body) == 0):
		return nil, errValue
	case mostValues[v.Kind] == 0:
		return nil, errNewerValue
	case v.Deleted:
		return nil, nil
	}
	var b valueBody
	if json.Unmarshal(v.Body, &b) != nil || strings.Contains(b.Name+b.Text+b.Model, "\x00") {
		return nil, errValue
	}
	d := json.NewDecoder(bytes.NewReader(v.Body))
	d.DisallowUnknownFields()
	if d.Decode(&b) != nil {
		return nil, errNewerValue
	}
	out, err := assistantBody(b.assistant()), b.assistant().Check()
	if v.Kind == promptValue {
		out, err = &valueBody{Name: b.Name, Text: b.Text}, chat.SavedPrompt{Name: b.Name, Text: b.Text}.Check()
	}
	if err == nil {
		v.Body, err = chat.MarshalJSON(out)
	}
	if err != nil {
		return nil, errValue
	}
	return out, nil
}

// take takes a value.
func (k *valueTaker) take(v valueHere) error {
	key := valueKey{v.Kind, v.ID}
	old := k.here[key]
	switch {
	case v.Deleted && k.keep && old.body != nil: // it stays, which is a change of this device
		v.Deleted = false
	case !bytes.Equal(old.Body, v.Body):
		if err := k.change(key, v.body); err != nil {
			return err
		}
		k.changed++
	}
	return putMark(k.Tx, v.Value)
}

// hold notes what is here now.
func (k *valueTaker) hold(key valueKey, body *valueBody) {
	now := k.here[key]
	if now.body != nil {
		if before := nameKey(key.kind, now.body.Name); k.names[before] == key.id {
			delete(k.names, before)
		}
	}
	if now.body = body; body != nil {
		k.names[nameKey(key.kind, body.Name)] = key.id
	}
	k.here[key] = now
}

// change makes a record have a body; nil: there is none.
func (k *valueTaker) change(key valueKey, body *valueBody) (err error) {
	switch {
	case body == nil && key.kind == assistantValue:
		err = k.Run(`DELETE FROM assistants WHERE id = ?`, key.id)
	case body == nil:
		err = k.Run(`DELETE FROM saved_prompts WHERE id = ?`, key.id)
	case k.here[key].body == nil && k.full(key.kind):
		err = errFull
	default:
		var free string
		if free, err = k.room(key, body.Name); err != nil {
			return err
		}
		body = renamed(*body, free)
		if key.kind == assistantValue {
			err = putAssistant(k.Tx, key.id, k.Stamp(), body.assistant())
		} else {
			err = putSavedPrompt(k.Tx, key.id, k.Stamp(), chat.SavedPrompt{Name: body.Name, Text: body.Text})
		}
	}
	if err == nil {
		k.hold(key, body)
	}
	return err
}

func renamed(b valueBody, name string) *valueBody {
	b.Name = name
	return &b
}

// room returns the name under which a value can be stored: of two with one name, the one with the greater id gets a number.
func (k *valueTaker) room(key valueKey, name string) (string, error) {
	holder, taken := k.names[nameKey(key.kind, name)]
	if !taken || holder == key.id {
		return name, nil
	}
	if !k.last { // that one may get another name
		return "", errLater
	}
	other := valueKey{key.kind, holder}
	loser := name
	if key.id < holder {
		loser = k.here[other].body.Name
	}
	free := chat.FreeName(loser, func(name string) bool {
		_, taken := k.names[nameKey(key.kind, name)]
		return taken
	})
	if holder < key.id {
		return free, nil
	}
	return name, k.change(other, renamed(*k.here[other].body, free))
}

// full reports whether there can be no more of a kind.
func (k *valueTaker) full(kind string) bool {
	n := 0
	for name := range k.names {
		if name.kind == kind {
			n++
		}
	}
	return n >= mostValues[kind]
}
