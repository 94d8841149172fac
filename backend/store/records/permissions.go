package records

import (
	"context"
	"encoding/json"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

type permissionRow struct {
	Source         string
	Tool           string
	SessionID      string
	Decision       string
	DefinitionHash string
	CreatedAt      string
}

func (permissionRow) TableName() string { return "tool_permissions" }

func (r permissionRow) permission() chat.ToolPermission {
	return chat.ToolPermission{
		Source: r.Source, Tool: r.Tool, Session: chat.SessionID(r.SessionID), Decision: chat.ToolDecision(r.Decision),
		Definition: r.DefinitionHash, CreatedAt: schema.ParseTime(r.CreatedAt),
	}
}

// ToolPermissions returns all decisions that apply to later calls.
func (s *Records) ToolPermissions(ctx context.Context) ([]chat.ToolPermission, error) {
	rows, err := core.All[permissionRow](ctx, s, "permission.list", `SELECT * FROM tool_permissions ORDER BY source, tool, session_id`)
	return lists.Map(rows, permissionRow.permission), err
}

// PutToolPermission stores a decision; it replaces an earlier one for the same tool and scope.
func (s *Records) PutToolPermission(ctx context.Context, p chat.ToolPermission) error {
	return s.Write(ctx, "permission.put", func(t *core.Tx) error {
		switch {
		case p.Source == "" || !p.Decision.Lasts():
			return sqlite.Invalid("%q is not a decision for later calls of a tool.", p.Decision)
		case p.Decision == chat.DecisionSession && p.Session == "", p.Decision == chat.DecisionAlways && p.Session != "":
			return sqlite.Invalid("A decision for a session must name the session; one that always applies must not name any.")
		}
		if p.Session != "" {
			if _, err := schema.SessionByID(t.DB, p.Session); err != nil {
				return err
			}
		}
		return t.Run(`INSERT INTO tool_permissions (source, tool, session_id, decision, definition_hash, created_at) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (source, tool, session_id) DO UPDATE SET decision = excluded.decision, definition_hash = excluded.definition_hash,
			created_at = excluded.created_at`, schema.Clean(p.Source), schema.Clean(p.Tool), string(p.Session), p.Decision, p.Definition, t.Stamp())
	})
}

// DeleteToolPermission deletes a decision; later calls ask again.
func (s *Records) DeleteToolPermission(ctx context.Context, source, tool string, session chat.SessionID) error {
	return s.Write(ctx, "permission.drop", func(t *core.Tx) error {
		n, err := t.Exec(`DELETE FROM tool_permissions WHERE source = ? AND tool = ? AND session_id = ?`, source, tool, string(session))
		if err == nil && n == 0 {
			err = chat.Errorf(chat.CodeNotFound, "", "There is no such decision.").WithHint("contextinfinity tools permissions lists them")
		}
		return err
	})
}

// ForgetToolSource deletes all decisions about the tools of a source: another source with its name starts without
// any.
func (s *Records) ForgetToolSource(ctx context.Context, source string) error {
	return s.Write(ctx, "permission.forget", func(t *core.Tx) error {
		for _, table := range []string{"tool_permissions", "tool_definitions", "tool_marks"} {
			if err := t.Run(`DELETE FROM `+table+` WHERE source = ?`, source); err != nil {
				return err
			}
		}
		return nil
	})
}

// PinnedDefinitions returns the accepted definitions, the current ones and those before.
func (s *Records) PinnedDefinitions(ctx context.Context) ([]chat.PinnedDefinition, error) {
	var out []chat.PinnedDefinition
	rows, err := core.All[struct {
		Hash, AcceptedAt, Definition string
		Current                      bool
	}](ctx, s, "definition.list", `SELECT hash, accepted_at, definition, current FROM tool_definitions ORDER BY source, tool, accepted_at, hash`)
	for _, r := range rows {
		p := chat.PinnedDefinition{Hash: r.Hash, AcceptedAt: schema.ParseTime(r.AcceptedAt), Current: r.Current}
		if json.Unmarshal([]byte(r.Definition), &p.ToolDefinition) != nil || p.ToolDefinition.Hash() != r.Hash {
			continue // it is not what was accepted, so it needs a new decision
		}
		out = append(out, p)
	}
	return out, err
}

// AcceptDefinitions pins definitions as they were shown. Decisions about tools with another definition do not apply
// to the new one.
func (s *Records) AcceptDefinitions(ctx context.Context, list []chat.ToolDefinition) error {
	return s.Write(ctx, "definition.accept", func(t *core.Tx) error {
		for _, d := range list {
			text, err := chat.MarshalJSON(d)
			if err != nil {
				return sqlite.Invalid("The definition of %s cannot be stored: %v.", d.Tool, err)
			}
			if err := t.Run(`UPDATE tool_definitions SET current = 0 WHERE source = ? AND tool = ?`, d.Source, d.Tool); err != nil {
				return err
			}
			if err := t.Run(`INSERT INTO tool_definitions (hash, source, tool, accepted_at, current, definition) VALUES (?, ?, ?, ?, 1, ?)
				ON CONFLICT (source, tool, hash) DO UPDATE SET current = 1, accepted_at = excluded.accepted_at`,
				d.Hash(), d.Source, d.Tool, t.Stamp(), string(text)); err != nil {
				return err
			}
		}
		return nil
	})
}

// ToolMarks returns the hashes of the definitions that the user marked as having no effects, by source and tool.
func (s *Records) ToolMarks(ctx context.Context) (map[chat.ReadOnlyMark]string, error) {
	out := map[chat.ReadOnlyMark]string{}
	rows, err := core.All[struct{ Source, Tool, Hash string }](ctx, s, "mark.list", `SELECT source, tool, hash FROM tool_marks`)
	for _, r := range rows {
		out[chat.ReadOnlyMark{Source: r.Source, Tool: r.Tool}] = r.Hash
	}
	return out, err
}

// MarkTool marks a tool, with its current definition, as having no effects; an empty hash removes the mark.
func (s *Records) MarkTool(ctx context.Context, m chat.ReadOnlyMark, hash string) error {
	return s.Write(ctx, "mark.put", func(t *core.Tx) error {
		err := t.Run(`DELETE FROM tool_marks WHERE source = ? AND tool = ?`, m.Source, m.Tool)
		if err == nil && hash != "" {
			err = t.Run(`INSERT INTO tool_marks (source, tool, hash, created_at) VALUES (?, ?, ?, ?)`, schema.Clean(m.Source), schema.Clean(m.Tool), hash, t.Stamp())
		}
		return err
	})
}
