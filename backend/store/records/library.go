package records

import (
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

type assistantRow struct {
	ID           string
	Name         string
	Instructions string
	Model        string
	Temperature  *float64
	Effort       string
	ToolsMode    string
	CreatedAt    string
	UpdatedAt    string
}

func (assistantRow) TableName() string { return "assistants" }

func (r assistantRow) assistant() chat.Assistant {
	return chat.Assistant{
		ID: chat.AssistantID(r.ID), Name: r.Name, Instructions: r.Instructions, Model: r.Model, Temperature: r.Temperature,
		Effort: r.Effort, ToolsMode: r.ToolsMode, CreatedAt: schema.ParseTime(r.CreatedAt), UpdatedAt: schema.ParseTime(r.UpdatedAt),
	}
}

type savedPromptRow struct {
	ID        string
	Name      string
	Text      string
	CreatedAt string
	UpdatedAt string
}

func (savedPromptRow) TableName() string { return "saved_prompts" }

func (r savedPromptRow) prompt() chat.SavedPrompt {
	return chat.SavedPrompt{ID: chat.SavedPromptID(r.ID), Name: r.Name, Text: r.Text, CreatedAt: schema.ParseTime(r.CreatedAt), UpdatedAt: schema.ParseTime(r.UpdatedAt)}
}

// Assistants returns all assistants, by name.
func (s *Records) Assistants(ctx context.Context) ([]chat.Assistant, error) {
	rows, err := core.All[assistantRow](ctx, s, "assistant.list", `SELECT * FROM assistants`)
	out := lists.Map(rows, assistantRow.assistant)
	slices.SortFunc(out, func(a, b chat.Assistant) int { return chat.CompareNames(a.Name, b.Name) })
	return out, err
}

// Assistant returns one assistant.
func (s *Records) Assistant(ctx context.Context, id chat.AssistantID) (chat.Assistant, error) {
	return core.Query(ctx, s, "assistant.read", func(db *gorm.DB) (chat.Assistant, error) { return assistantByID(db, id) })
}

func assistantByID(db *gorm.DB, id chat.AssistantID) (chat.Assistant, error) {
	rows, err := sqlite.All[assistantRow](db, `SELECT * FROM assistants WHERE id = ?`, string(id))
	if err == nil && len(rows) == 0 {
		err = chat.Errorf(chat.CodeNotFound, "", "There is no such assistant; it may have been deleted.").WithHint("contextinfinity assistants lists them")
	}
	if err != nil {
		return chat.Assistant{}, err
	}
	return rows[0].assistant(), nil
}

// PutAssistant creates an assistant without an id, or changes the one with its id. Existing sessions are not
// affected.
func (s *Records) PutAssistant(ctx context.Context, a chat.Assistant) (chat.Assistant, error) {
	a.Name, a.Instructions, a.Model = schema.Clean(a.Name), schema.Clean(a.Instructions), schema.Clean(a.Model)
	err := s.Write(ctx, "assistant.put", func(t *core.Tx) error {
		if err := a.Check(); err != nil {
			return err
		}
		all, err := entriesOf(t, "assistants", "assistant", chat.MaxAssistants)
		if err != nil {
			return err
		}
		id, created, err := all.reserve(t, string(a.ID), a.Name)
		if err != nil {
			return err
		}
		if err = putAssistant(t, id, created, a); err == nil {
			a, err = assistantByID(t.DB, chat.AssistantID(id))
		}
		return err
	})
	return a, err
}

func putAssistant(t *core.Tx, id, created string, a chat.Assistant) error {
	return t.Run(`INSERT INTO assistants (id, name, instructions, model, temperature, effort, tools_mode, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, instructions = excluded.instructions, model = excluded.model, temperature = excluded.temperature,
		effort = excluded.effort, tools_mode = excluded.tools_mode, updated_at = excluded.updated_at`,
		id, a.Name, a.Instructions, a.Model, a.Temperature, a.Effort, a.ToolsMode, created, t.Stamp())
}

// entries are those of a library table, against which a new one is checked.
type entries struct {
	kind    string
	limit   int
	created map[string]string // creation time by id
	byName  map[string]string // id by lower-case name
}

func entriesOf(t *core.Tx, table, kind string, limit int) (entries, error) {
	s := entries{kind: kind, limit: limit, created: map[string]string{}, byName: map[string]string{}}
	rows, err := sqlite.All[struct{ ID, Name, CreatedAt string }](t.DB, `SELECT id, name, created_at FROM `+table)
	for _, r := range rows {
		s.created[r.ID], s.byName[strings.ToLower(r.Name)] = r.CreatedAt, r.ID
	}
	return s, err
}

// reserve returns the id of an entry, a new one if it has none, and its creation time. It refuses a name already in use
// and an entry beyond the maximum.
func (s entries) reserve(t *core.Tx, id, name string) (entry, created string, err error) {
	if other, ok := s.byName[strings.ToLower(name)]; ok && other != id {
		return "", "", chat.Errorf(chat.CodeConflict, "", "There is already one named %q; nothing was changed.", name).WithHint("choose another name")
	}
	switch created, ok := s.created[id]; {
	case ok:
		return id, created, nil
	case id != "":
		return "", "", chat.Errorf(chat.CodeNotFound, "", "There is no such %s; it may have been deleted.", s.kind)
	case len(s.created) >= s.limit:
		return "", "", chat.Errorf(chat.CodeTooLarge, "", "There can be at most %d of them; nothing was changed.", s.limit).WithHint("delete those that you do not use")
	}
	entry = t.NewID()
	s.created[entry], s.byName[strings.ToLower(name)] = t.Stamp(), entry
	return entry, t.Stamp(), nil
}

// DeleteAssistant deletes an assistant. Sessions with its settings keep them.
func (s *Records) DeleteAssistant(ctx context.Context, id chat.AssistantID) error {
	return s.Write(ctx, "assistant.drop", func(t *core.Tx) error {
		if _, err := assistantByID(t.DB, id); err != nil {
			return err
		}
		return t.Run(`DELETE FROM assistants WHERE id = ?`, string(id))
	})
}

// ApplyAssistant copies the current settings of an assistant to a session.
func (s *Records) ApplyAssistant(ctx context.Context, session chat.SessionID, id chat.AssistantID) error {
	return s.Write(ctx, "session.assistant", func(t *core.Tx) error { return applyAssistant(t, session, id) })
}

func applyAssistant(t *core.Tx, session chat.SessionID, id chat.AssistantID) error {
	a, err := assistantByID(t.DB, id)
	if err != nil {
		return err
	}
	s, err := schema.SessionByID(t.DB, session)
	if err != nil {
		return err
	}
	if err := SetSettings(t, session, a.Over(s.Session().Settings())); err != nil || a.Model == "" {
		return err
	}
	return SetSession(t, session, ledger.EventSessionModel, ledger.TextChanged{Text: a.Model})
}

// SavedPrompts returns all saved prompts, by name.
func (s *Records) SavedPrompts(ctx context.Context) ([]chat.SavedPrompt, error) {
	rows, err := core.All[savedPromptRow](ctx, s, "prompt.list", `SELECT * FROM saved_prompts`)
	out := lists.Map(rows, savedPromptRow.prompt)
	slices.SortFunc(out, func(a, b chat.SavedPrompt) int { return chat.CompareNames(a.Name, b.Name) })
	return out, err
}

// PutSavedPrompts stores prompts, all or none: one without an id is new, one with an id is changed.
func (s *Records) PutSavedPrompts(ctx context.Context, list []chat.SavedPrompt) ([]chat.SavedPrompt, error) {
	out := make([]chat.SavedPrompt, len(list))
	err := s.Write(ctx, "prompt.put", func(t *core.Tx) error {
		all, err := entriesOf(t, "saved_prompts", "prompt", chat.MaxSavedPrompts)
		if err != nil {
			return err
		}
		for i, p := range list {
			p.Name, p.Text = schema.Clean(p.Name), schema.Clean(p.Text)
			if err := p.Check(); err != nil {
				return err
			}
			id, created, err := all.reserve(t, string(p.ID), p.Name)
			if err != nil {
				return err
			}
			if err := putSavedPrompt(t, id, created, p); err != nil {
				return err
			}
			out[i] = savedPromptRow{ID: id, Name: p.Name, Text: p.Text, CreatedAt: created, UpdatedAt: t.Stamp()}.prompt()
		}
		return nil
	})
	return out, err
}

func putSavedPrompt(t *core.Tx, id, created string, p chat.SavedPrompt) error {
	return t.Run(`INSERT INTO saved_prompts (id, name, text, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, text = excluded.text, updated_at = excluded.updated_at`,
		id, p.Name, p.Text, created, t.Stamp())
}

// DeleteSavedPrompt deletes a saved prompt.
func (s *Records) DeleteSavedPrompt(ctx context.Context, id chat.SavedPromptID) error {
	return s.Write(ctx, "prompt.drop", func(t *core.Tx) error {
		n, err := t.Exec(`DELETE FROM saved_prompts WHERE id = ?`, string(id))
		if err == nil && n == 0 {
			err = chat.Errorf(chat.CodeNotFound, "", "There is no such prompt; it may have been deleted.").WithHint("contextinfinity prompts lists them")
		}
		return err
	})
}
