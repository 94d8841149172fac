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

// Kinds of values, in the order in which they are taken.
var valueKinds = []string{"assistant", "prompt", "project", "document"}

// A value's body is a *chat.Assistant or a *chat.SavedPrompt without id and times, or one of these:
type (
	projectBody struct {
		Name         string   `json:"name"`
		Instructions string   `json:"instructions"`
		Model        string   `json:"model"`
		ToolsMode    string   `json:"tools_mode"`
		Tools        []string `json:"tools,omitempty"`
		Facts        []string `json:"facts,omitempty"`
	}
	// documentBody is a document's place in a project. What is in it travels as the session that it is.
	documentBody struct {
		Project chat.ProjectID `json:"project_id"`
		Path    string         `json:"path"`
		Session chat.SessionID `json:"session_id"`
	}
)

type valueKey struct{ kind, id string }

// documentKey names a document's place, so that the same name in a project is the same value on all devices.
func documentKey(project chat.ProjectID, path string) valueKey {
	return valueKey{"document", string(project) + "/" + hex.EncodeToString(codec.Hash([]byte(path))[:16])}
}

// valueHere is a value as it is here.
type valueHere struct {
	bundle.Value
	body    any  // nil: there is no record
	changed bool // since its mark
}

// valueMark is what is remembered of a value.
type valueMark struct {
	Revision int64  `json:"revision"`
	Device   string `json:"device"`
	Deleted  bool   `json:"deleted,omitempty"`
	Hash     string `json:"hash,omitempty"` // of its body
}

func putMark(t *core.Tx, v bundle.Value) error {
	m := valueMark{Revision: v.Revision, Device: v.Device, Deleted: v.Deleted}
	if !v.Deleted {
		m.Hash = schema.HexHash(v.Body)
	}
	value, err := chat.MarshalJSON(m)
	if err != nil {
		return err
	}
	return core.PutSetting(t, core.ValueKey+v.Kind+" "+v.ID, value)
}

// valueBodies reads all records that are values.
func valueBodies(db *gorm.DB) (map[valueKey]any, error) {
	out := map[valueKey]any{}
	assistants, err := sqlite.All[assistantRow](db, `SELECT * FROM assistants`)
	for _, r := range assistants {
		a := r.assistant()
		out[valueKey{"assistant", r.ID}] = &chat.Assistant{Name: a.Name, Instructions: a.Instructions, Model: a.Model, Temperature: a.Temperature, Effort: a.Effort, ToolsMode: a.ToolsMode}
	}
	prompts, err2 := sqlite.All[savedPromptRow](db, `SELECT * FROM saved_prompts`)
	for _, r := range prompts {
		out[valueKey{"prompt", r.ID}] = &chat.SavedPrompt{Name: r.Name, Text: r.Text}
	}
	all, err3 := projects(db, `1 = 1`)
	for _, p := range all {
		body := projectBody(p.Settings())
		out[valueKey{"project", string(p.ID)}] = &body
	}
	documents, err4 := sqlite.All[projectFileRow](db, `SELECT project_id, path, session_id FROM project_files WHERE kind = 'document' AND current = 1`)
	for _, r := range documents {
		body := documentBody{chat.ProjectID(r.ProjectID), r.Path, chat.SessionID(r.SessionID)}
		out[documentKey(body.Project, body.Path)] = &body
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
			if bodies[valueKey{kind, id}] == nil {
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
		if v.Deleted != m.Deleted || m.Revision == 0 || body != nil && m.Hash != schema.HexHash(v.Body) {
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
	keep  bool                         // what was deleted elsewhere
	names map[string]map[string]string // by kind: ids by name, as nameOf folds it
	out   bundle.TakenValues
}

// TakeValues takes those values of other devices that are newer than what is here. Of two with one name, the one with the
// greater id gets a number, which is a change of this device. Projects that were deleted elsewhere are left to the caller.
// keep: what was deleted elsewhere stays, except documents.
func (s *Records) TakeValues(ctx context.Context, list []bundle.Value, keep bool) (out bundle.TakenValues, err error) {
	if len(list) == 0 {
		return out, nil
	}
	err = s.Write(ctx, opValues, func(t *core.Tx) (err error) {
		k := valueTaker{Tx: t, keep: keep, names: map[string]map[string]string{}}
		if k.here, err = valuesHere(t.DB, t.Device.ID); err != nil {
			return err
		}
		for _, kind := range valueKinds {
			k.names[kind] = map[string]string{}
		}
		for key, v := range k.here {
			k.hold(key, v.body)
		}
		coming := k.coming(list)
		for last := false; err == nil && len(coming) > 0; {
			before := len(coming)
			coming = slices.DeleteFunc(coming, func(v valueHere) bool {
				if err != nil {
					return false
				}
				e := k.take(v, last)
				refused, known := errors.AsType[*chat.Error](e)
				switch {
				case e == nil:
					return true
				case errors.Is(e, errLater) && !last:
					return false
				case known:
					k.out.Left = append(k.out.Left, left(v.Value, refused))
					return true
				}
				err = e
				return false
			})
			last = last || len(coming) == before
		}
		out = k.out
		return err
	})
	return out, err
}

func left(v bundle.Value, err *chat.Error) error {
	return chat.WrapError(err.Code, opValues, err, "A %s of another computer was not taken: %s", v.Kind, err.Message).WithHint("%s", err.Hint)
}

// coming returns the newest of each of some values, if it is newer than what is here.
func (k *valueTaker) coming(list []bundle.Value) (out []valueHere) {
	newest := map[valueKey]valueHere{}
	for _, v := range list {
		key := valueKey{v.Kind, v.ID}
		body, err := bodyOf(&v)
		if err != nil {
			k.out.Left = append(k.out.Left, left(v, err))
			continue
		}
		if v.Compare(k.here[key].Value) > 0 && v.Compare(newest[key].Value) > 0 {
			newest[key] = valueHere{v, body, false}
		}
	}
	rank := func(v valueHere) int {
		if v.Deleted && v.Kind == "document" { // a project is deleted only without documents
			return -1
		}
		return slices.Index(valueKinds, v.Kind)
	}
	for _, v := range newest {
		out = append(out, v)
	}
	slices.SortFunc(out, func(a, b valueHere) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a.ID, b.ID)) })
	return out
}

const notValid = "It is not valid."

// bodyOf checks a value, and returns its body.
func bodyOf(v *bundle.Value) (any, *chat.Error) {
	id, place, _ := strings.Cut(v.ID, "/")
	if !slices.Contains(valueKinds, v.Kind) || !chat.ValidID(id) || (place != "") != (v.Kind == "document") ||
		!chat.ValidID(v.Device) || v.Revision < 1 || v.Revision > maxRevision || v.Deleted != (len(v.Body) == 0) {
		return nil, sqlite.Invalid(notValid)
	}
	if v.Deleted {
		return nil, nil
	}
	body := map[string]any{"assistant": &chat.Assistant{}, "prompt": &chat.SavedPrompt{}, "project": &projectBody{}, "document": &documentBody{}}[v.Kind]
	d := json.NewDecoder(bytes.NewReader(v.Body))
	d.DisallowUnknownFields()
	if err := d.Decode(body); err != nil || d.Decode(new(any)) != io.EOF {
		return nil, sqlite.Invalid(notValid)
	}
	var err error
	switch b := body.(type) {
	case *chat.Assistant:
		*b = chat.Assistant{Name: schema.Clean(b.Name), Instructions: schema.Clean(b.Instructions), Model: schema.Clean(b.Model), Temperature: b.Temperature, Effort: b.Effort, ToolsMode: b.ToolsMode}
		err = b.Check()
	case *chat.SavedPrompt:
		*b = chat.SavedPrompt{Name: schema.Clean(b.Name), Text: schema.Clean(b.Text)}
		err = b.Check()
	case *projectBody:
		var checked chat.ProjectSettings
		checked, err = chat.ProjectSettings(*b).Checked()
		*b = projectBody(checked)
	case *documentBody:
		if b.Path == "" || b.Path != schema.Clean(b.Path) || !chat.ValidID(string(b.Session)) || documentKey(b.Project, b.Path).id != v.ID {
			err = sqlite.Invalid(notValid)
		}
	}
	if err == nil {
		v.Body, err = chat.MarshalJSON(body)
	}
	if refused, ok := errors.AsType[*chat.Error](err); ok || err == nil {
		return body, refused
	}
	return nil, sqlite.Invalid(notValid)
}

// maxRevision is more than a value will ever have.
const maxRevision = 1 << 40

// errLater means that a value may fit once others were taken.
var errLater = errors.New("later")

// take takes a value; last: nothing else is left that it could wait for.
func (k *valueTaker) take(v valueHere, last bool) error {
	key := valueKey{v.Kind, v.ID}
	old := k.here[key]
	if v.Deleted && v.Kind != "document" && old.body != nil {
		documents, err := sqlite.All[int](k.DB, `SELECT 1 FROM project_files WHERE project_id = ? AND kind = 'document' AND current = 1`, v.ID)
		switch {
		case err != nil:
			return err
		case k.keep || len(documents) > 0: // who deleted it did not know these: it stays, which is a change of this device
			v.Deleted = false
			return putMark(k.Tx, v.Value)
		case v.Kind == "project":
			k.out.Projects = append(k.out.Projects, v.ID)
			return nil
		}
	}
	if !bytes.Equal(old.Body, v.Body) {
		if err := k.change(key, v.body, last); err != nil {
			return err
		}
		k.out.Changed++
	}
	return putMark(k.Tx, v.Value)
}

// change makes a record have a body; nil: there is none.
func (k *valueTaker) change(key valueKey, body any, last bool) error {
	old := k.here[key].body
	if name, _, _ := nameOf(body); name != "" {
		free, err := k.room(key, body, last)
		if err != nil {
			return err
		}
		body = renamed(body, free)
	}
	if err := k.store(key, old, body, last); err != nil {
		return err
	}
	k.hold(key, body)
	return nil
}

// nameOf returns the name that is unique among values of a kind, folded as they are compared, and its greatest length; empty:
// it has none.
func nameOf(body any) (name, folded string, most int) {
	switch b := body.(type) {
	case *chat.Assistant:
		return b.Name, strings.ToLower(b.Name), chat.MaxLibraryNameRunes
	case *chat.SavedPrompt:
		return b.Name, strings.ToLower(b.Name), chat.MaxLibraryNameRunes
	case *projectBody:
		return b.Name, b.Name, chat.MaxFolderRunes
	}
	return "", "", 0
}

// renamed returns a body with another name.
func renamed(body any, name string) any {
	switch b := body.(type) {
	case *chat.Assistant:
		c := *b
		c.Name = name
		return &c
	case *chat.SavedPrompt:
		c := *b
		c.Name = name
		return &c
	case *projectBody:
		c := *b
		c.Name = name
		return &c
	}
	return body
}

// hold notes what is here now.
func (k *valueTaker) hold(key valueKey, body any) {
	now := k.here[key]
	if _, before, _ := nameOf(now.body); k.names[key.kind][before] == key.id {
		delete(k.names[key.kind], before)
	}
	now.body = body
	k.here[key] = now
	if _, folded, _ := nameOf(body); folded != "" {
		k.names[key.kind][folded] = key.id
	}
}

// room returns the name under which a value can be stored: of two with one name, the one with the greater id gets a number.
func (k *valueTaker) room(key valueKey, body any, last bool) (string, error) {
	name, folded, most := nameOf(body)
	holder, taken := k.names[key.kind][folded]
	if !taken || holder == key.id {
		return name, nil
	}
	if !last { // that one may get another name
		return "", errLater
	}
	other := valueKey{key.kind, holder}
	loser, err := body, error(nil)
	if key.id < holder {
		loser = k.here[other].body
	}
	theirs, _, _ := nameOf(loser)
	free := chat.FreeName(theirs, most, func(name string) bool {
		_, folded, _ := nameOf(renamed(loser, name))
		_, taken := k.names[key.kind][folded]
		if key.kind == "project" && !taken { // its folder would be that of others
			folder, err2 := sqlite.All[int](k.DB, `SELECT 1 FROM sessions WHERE folder = ? LIMIT 1`, name)
			err, taken = errors.Join(err, err2), len(folder) > 0
		}
		return taken
	})
	if err != nil || holder < key.id {
		return free, err
	}
	return name, k.change(other, renamed(loser, free), last)
}

// store writes a body over another one; nil: there is no record, or is to be none.
func (k *valueTaker) store(key valueKey, old, body any, last bool) error {
	if most := map[string]int{"assistant": chat.MaxAssistants, "prompt": chat.MaxSavedPrompts, "project": chat.MaxProjects}[key.kind]; old == nil && most > 0 && len(k.names[key.kind]) >= most {
		return chat.Errorf(chat.CodeTooLarge, "", "There can be at most %d of them; nothing was changed.", most).WithHint("delete those that you do not use")
	}
	switch b := body.(type) {
	case *chat.Assistant:
		return putAssistant(k.Tx, key.id, k.Stamp(), *b)
	case *chat.SavedPrompt:
		return putSavedPrompt(k.Tx, key.id, k.Stamp(), *b)
	case *projectBody:
		return k.storeProject(chat.ProjectID(key.id), old, chat.ProjectSettings(*b))
	case *documentBody:
		return k.storeDocument(old, b, last)
	}
	switch b := old.(type) {
	case *chat.Assistant:
		return k.Run(`DELETE FROM assistants WHERE id = ?`, key.id)
	case *chat.SavedPrompt:
		return k.Run(`DELETE FROM saved_prompts WHERE id = ?`, key.id)
	case *documentBody:
		return dropProjectFiles(k.Tx, b.Project, chat.ProjectDocument, []string{b.Path})
	}
	return nil
}

// storeProject stores a project. The watched folder is that of this device.
func (k *valueTaker) storeProject(id chat.ProjectID, old any, v chat.ProjectSettings) error {
	if old == nil {
		return newProject(k.Tx, id, v)
	}
	if err := renameFolder(k.Tx, old.(*projectBody).Name, v.Name, true); err != nil {
		return err
	}
	p, err := ProjectByID(k.DB, id)
	if err == nil {
		err = putProject(k.Tx, p, v)
	}
	return err
}

// storeDocument gives a document its place in a project, once both are here.
func (k *valueTaker) storeDocument(old any, b *documentBody, last bool) error {
	if _, gone, err := core.GoneOf(k.DB, b.Session, ""); err != nil || gone { // its place goes too
		return err
	}
	source, err := sqlite.All[string](k.DB, `SELECT s.source FROM sessions s, projects p WHERE s.id = ? AND p.id = ?`, b.Session, b.Project)
	switch {
	case err != nil:
		return err
	case len(source) == 0 && !last:
		return errLater
	case len(source) == 0:
		return chat.Errorf(chat.CodeNotFound, "", "Its text or its project is not here yet.").WithHint("wait until the folder is synchronized completely, or synchronize the other devices")
	case source[0] != chat.SourceFiles:
		return sqlite.Invalid(notValid)
	}
	if before, ok := old.(*documentBody); ok {
		if err := dropProjectFiles(k.Tx, before.Project, chat.ProjectDocument, []string{before.Path}); err != nil {
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
	v.Deleted = true
	return putMark(t, v)
}
