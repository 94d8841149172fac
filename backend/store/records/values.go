package records

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
	"contextinfinity/backend/transfer/bundle"
)

// What belongs to no session travels as values with revisions. A mark remembers the revision of each, and a hash of what was
// here then. What differs from its mark was changed here since, and what is gone was deleted here: so no code that changes
// records needs to know of values.

const opValues = "vault.values"

// Kinds of values. A document is its place in a project; what is in it travels as the session that it is.
const (
	assistantValue = "assistant"
	promptValue    = "prompt"
	projectValue   = "project"
	documentValue  = "document"
)

// valueKinds is the order in which they are taken, with how many there may be.
var valueKinds = []struct {
	name string
	most int
}{{assistantValue, chat.MaxAssistants}, {promptValue, chat.MaxSavedPrompts}, {projectValue, chat.MaxProjects}, {documentValue, 1 << 30}}

func rankOf(kind string) int {
	for i, k := range valueKinds {
		if k.name == kind {
			return i
		}
	}
	return -1
}

// valueBody is what travels of a record. The name is unique among the values of a kind; a document has none.
type valueBody struct {
	Name        string         `json:"name,omitempty"`
	Text        string         `json:"text,omitempty"` // or instructions
	Model       string         `json:"model,omitempty"`
	Temperature *float64       `json:"temperature,omitempty"`
	Effort      string         `json:"effort,omitempty"`
	ToolsMode   string         `json:"tools_mode,omitempty"`
	Tools       []string       `json:"tools,omitempty"`
	Facts       []string       `json:"facts,omitempty"`
	Project     chat.ProjectID `json:"project_id,omitempty"`
	Path        string         `json:"path,omitempty"`
	Session     chat.SessionID `json:"session_id,omitempty"`
}

func assistantBody(a chat.Assistant) *valueBody {
	return &valueBody{Name: a.Name, Text: a.Instructions, Model: a.Model, Temperature: a.Temperature, Effort: a.Effort, ToolsMode: a.ToolsMode}
}

func (b valueBody) assistant() chat.Assistant {
	return chat.Assistant{Name: b.Name, Instructions: b.Text, Model: b.Model, Temperature: b.Temperature, Effort: b.Effort, ToolsMode: b.ToolsMode}
}

func projectBody(s chat.ProjectSettings) *valueBody {
	return &valueBody{Name: s.Name, Text: s.Instructions, Model: s.Model, ToolsMode: s.ToolsMode, Tools: s.Tools, Facts: s.Facts}
}

func (b valueBody) settings() chat.ProjectSettings {
	return chat.ProjectSettings{Name: b.Name, Instructions: b.Text, Model: b.Model, ToolsMode: b.ToolsMode, Tools: b.Tools, Facts: b.Facts}
}

// folded is a name as names of a kind are compared.
func folded(kind, name string) string {
	if kind == projectValue {
		return name
	}
	return strings.ToLower(name)
}

type valueKey struct{ kind, id string }

// documentKey is that of a place, so that a name in a project is the same value on all devices.
func documentKey(project chat.ProjectID, path string) valueKey {
	return valueKey{documentValue, string(project) + "/" + hex.EncodeToString(codec.Hash([]byte(path))[:16])}
}

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
	all, err3 := projects(db, `1 = 1`)
	for _, p := range all {
		out[valueKey{projectValue, string(p.ID)}] = projectBody(p.Settings())
	}
	documents, err4 := sqlite.All[projectFileRow](db, `SELECT project_id, path, session_id FROM project_files WHERE kind = 'document' AND current = 1`)
	for _, r := range documents {
		b := valueBody{Project: chat.ProjectID(r.ProjectID), Path: r.Path, Session: chat.SessionID(r.SessionID)}
		out[documentKey(b.Project, b.Path)] = &b
	}
	return out, errors.Join(err, err2, err3, err4)
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
		if json.Unmarshal([]byte(r.Value), &m) == nil { // otherwise it counts as new
			marks[valueKey{kind, id}] = m
			bodies[valueKey{kind, id}] = bodies[valueKey{kind, id}]
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
	here  map[valueKey]valueHere
	names map[valueKey]string // ids, by kind and folded name
	keep  bool                // what was deleted elsewhere
	last  bool                // nothing else is left that a value could wait for
	out   bundle.TakenValues
}

// errLater means that a value may fit once others were taken.
var errLater = errors.New("later")

// TakeValues takes those values of other devices that are newer than what is here. Of two with one name, the one with the
// greater id gets a number, which is a change of this device. Projects that were deleted elsewhere are left to the caller.
// keep: what was deleted elsewhere stays, except documents.
func (s *Records) TakeValues(ctx context.Context, list []bundle.Value, keep bool) (out bundle.TakenValues, err error) {
	if len(list) == 0 {
		return out, nil
	}
	err = s.Write(ctx, opValues, func(t *core.Tx) (err error) {
		k := valueTaker{Tx: t, keep: keep, names: map[valueKey]string{}}
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
				e := k.take(v)
				if refused, known := errors.AsType[*chat.Error](e); known {
					k.refuse(v.Value, refused)
				} else if e != nil && !errors.Is(e, errLater) {
					err = e
				}
				return !errors.Is(e, errLater)
			})
			k.last = k.last || len(coming) == before
		}
		out = k.out
		return err
	})
	return out, err
}

// refuse notes why a value is not taken.
func (k *valueTaker) refuse(v bundle.Value, err *chat.Error) {
	k.out.Left = append(k.out.Left, chat.WrapError(err.Code, opValues, err, "A %s of another computer was not taken: %s", v.Kind, err.Message).WithHint("%s", err.Hint))
}

// coming returns the newest of each of some values, if it is newer than what is here.
func (k *valueTaker) coming(list []bundle.Value) (out []valueHere) {
	newest := map[valueKey]valueHere{}
	for _, v := range list {
		key := valueKey{v.Kind, v.ID}
		body, err := bodyOf(&v)
		if err != nil {
			refused, ok := errors.AsType[*chat.Error](err)
			if !ok {
				refused = sqlite.Invalid("It is not valid.")
			}
			k.refuse(v, refused)
		} else if v.Compare(k.here[key].Value) > 0 && v.Compare(newest[key].Value) > 0 {
			newest[key] = valueHere{v, body, false}
		}
	}
	rank := func(v valueHere) int {
		if v.Deleted && v.Kind == documentValue { // a project is deleted only without documents
			return -1
		}
		return rankOf(v.Kind)
	}
	for _, v := range newest {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b valueHere) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID)) })
	return out
}

// maxRevision is more than a value will ever have.
const maxRevision = 1 << 40

// errValue means that a value has not the form of one.
var errValue = errors.New("not a value")

// bodyOf checks a value, and returns its body, without what does not belong to its kind.
func bodyOf(v *bundle.Value) (out *valueBody, err error) {
	id, place, _ := strings.Cut(v.ID, "/")
	if rankOf(v.Kind) < 0 || !chat.ValidID(id) || (place != "") != (v.Kind == documentValue) || !chat.ValidID(v.Device) ||
		v.Revision < 1 || v.Revision > maxRevision || v.Deleted != (len(v.Body) == 0) || bytes.Contains(v.Body, []byte(`\u0000`)) {
		return nil, errValue
	}
	if v.Deleted {
		return nil, nil
	}
	var b valueBody
	d := json.NewDecoder(bytes.NewReader(v.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(&b); err != nil || d.Decode(new(any)) != io.EOF {
		return nil, errValue
	}
	switch v.Kind {
	case assistantValue:
		out, err = assistantBody(b.assistant()), b.assistant().Check()
	case promptValue:
		out, err = &valueBody{Name: b.Name, Text: b.Text}, chat.SavedPrompt{Name: b.Name, Text: b.Text}.Check()
	case projectValue:
		var checked chat.ProjectSettings
		checked, err = b.settings().Checked()
		out = projectBody(checked)
	default:
		out = &valueBody{Project: b.Project, Path: b.Path, Session: b.Session}
		if b.Path == "" || !chat.ValidID(string(b.Session)) || documentKey(b.Project, b.Path).id != v.ID {
			err = errValue
		}
	}
	if err == nil {
		v.Body, err = chat.MarshalJSON(out)
	}
	return out, err
}

// take takes a value.
func (k *valueTaker) take(v valueHere) error {
	key := valueKey{v.Kind, v.ID}
	old := k.here[key]
	if v.Deleted && v.Kind != documentValue && old.body != nil {
		documents, err := sqlite.All[int](k.DB, `SELECT 1 FROM project_files WHERE project_id = ? AND kind = 'document' AND current = 1`, v.ID)
		switch {
		case err != nil:
			return err
		case k.keep || len(documents) > 0: // who deleted it did not know these: it stays, which is a change of this device
			v.Deleted = false
			return putMark(k.Tx, v.Value)
		case v.Kind == projectValue:
			k.out.Projects = append(k.out.Projects, v.ID)
			return nil
		}
	}
	if !bytes.Equal(old.Body, v.Body) {
		if err := k.change(key, v.body); err != nil {
			return err
		}
		k.out.Changed++
	}
	return putMark(k.Tx, v.Value)
}

// hold notes what is here now.
func (k *valueTaker) hold(key valueKey, body *valueBody) {
	now := k.here[key]
	if now.body != nil {
		if before := (valueKey{key.kind, folded(key.kind, now.body.Name)}); k.names[before] == key.id {
			delete(k.names, before)
		}
	}
	if now.body = body; body != nil && body.Name != "" {
		k.names[valueKey{key.kind, folded(key.kind, body.Name)}] = key.id
	}
	k.here[key] = now
}

// change makes a record have a body; nil: there is none.
func (k *valueTaker) change(key valueKey, body *valueBody) error {
	if body != nil && body.Name != "" {
		free, err := k.room(key, body.Name)
		if err != nil {
			return err
		}
		body = renamed(*body, free)
	}
	if err := k.store(key, k.here[key].body, body); err != nil {
		return err
	}
	k.hold(key, body)
	return nil
}

func renamed(b valueBody, name string) *valueBody {
	b.Name = name
	return &b
}

// room returns the name under which a value can be stored: of two with one name, the one with the greater id gets a number.
func (k *valueTaker) room(key valueKey, name string) (string, error) {
	holder, taken := k.names[valueKey{key.kind, folded(key.kind, name)}]
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
	most := chat.MaxLibraryNameRunes
	if key.kind == projectValue {
		most = chat.MaxFolderRunes
	}
	var err error
	free := chat.FreeName(loser, most, func(name string) bool {
		_, taken := k.names[valueKey{key.kind, folded(key.kind, name)}]
		if key.kind == projectValue && !taken { // a plain folder would become its
			folder, err2 := sqlite.All[int](k.DB, `SELECT 1 FROM sessions WHERE folder = ? LIMIT 1`, name)
			err, taken = errors.Join(err, err2), len(folder) > 0
		}
		return taken
	})
	if err != nil || holder < key.id {
		return free, err
	}
	return name, k.change(other, renamed(*k.here[other].body, free))
}

// store writes a body over another one; nil: there is no record, or is to be none.
func (k *valueTaker) store(key valueKey, old, body *valueBody) error {
	switch most := valueKinds[rankOf(key.kind)].most; {
	case body == nil && key.kind == assistantValue:
		return k.Run(`DELETE FROM assistants WHERE id = ?`, key.id)
	case body == nil && key.kind == promptValue:
		return k.Run(`DELETE FROM saved_prompts WHERE id = ?`, key.id)
	case body == nil:
		return dropProjectFiles(k.Tx, old.Project, chat.ProjectDocument, []string{old.Path})
	case key.kind == documentValue:
		return k.storeDocument(old, *body)
	case old == nil && k.count(key.kind) >= most:
		return chat.Errorf(chat.CodeTooLarge, "", "There can be at most %d of them; nothing was changed.", most).WithHint("delete those that you do not use")
	case key.kind == assistantValue:
		return putAssistant(k.Tx, key.id, k.Stamp(), body.assistant())
	case key.kind == promptValue:
		return putSavedPrompt(k.Tx, key.id, k.Stamp(), chat.SavedPrompt{Name: body.Name, Text: body.Text})
	case old == nil:
		return newProject(k.Tx, chat.ProjectID(key.id), body.settings())
	}
	if err := renameFolder(k.Tx, old.Name, body.Name, true); err != nil {
		return err
	}
	p, err := ProjectByID(k.DB, chat.ProjectID(key.id))
	if err == nil {
		err = putProject(k.Tx, p, body.settings())
	}
	return err
}

func (k *valueTaker) count(kind string) (n int) {
	for name := range k.names {
		if name.kind == kind {
			n++
		}
	}
	return n
}

// storeDocument gives a document its place in a project, once both are here.
func (k *valueTaker) storeDocument(old *valueBody, b valueBody) error {
	if _, gone, err := core.GoneOf(k.DB, b.Session, ""); err != nil || gone { // its place goes too
		return err
	}
	source, err := sqlite.All[string](k.DB, `SELECT s.source FROM sessions s, projects p WHERE s.id = ? AND p.id = ?`, b.Session, b.Project)
	switch {
	case err != nil:
		return err
	case len(source) == 0 && !k.last:
		return errLater
	case len(source) == 0:
		return chat.Errorf(chat.CodeNotFound, "", "Its text or its project is not here yet.").WithHint("wait until the folder is synchronized completely, or synchronize the other devices")
	case source[0] != chat.SourceFiles:
		return sqlite.Invalid("It is not valid.")
	}
	if old != nil {
		if err := dropProjectFiles(k.Tx, old.Project, chat.ProjectDocument, []string{old.Path}); err != nil {
			return err
		}
	}
	return k.Run(`INSERT INTO project_files (project_id, kind, path, session_id, current, modified_at, read_at) VALUES (?, 'document', ?, ?, 1, ?, ?)
		ON CONFLICT (session_id) DO UPDATE SET project_id = excluded.project_id, path = excluded.path, kind = excluded.kind, current = 1`,
		b.Project, b.Path, b.Session, k.Stamp(), k.Stamp())
}

// forgetPlace notes that a document has no place any more because another device removed it, which is no change of this one.
func forgetPlace(t *core.Tx, f projectFileRow) error {
	here, err := valuesHere(t.DB, t.Device.ID)
	if err != nil {
		return err
	}
	v := here[documentKey(chat.ProjectID(f.ProjectID), f.Path)].Value
	v.Deleted, v.Body = true, nil
	return putMark(t, v)
}
