package events

import (
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// sessionEvents are the events about a session itself.
var sessionEvents = map[ledger.Type]eventKind{
	ledger.EventSessionCreated: kindOf((*Applier).sessionCreated, func(c *Copying, d *ledger.SessionCreated) {
		d.Source = SourceBundle
		remapID(c, &d.ActiveBranch)
	}),
	ledger.EventSessionRenamed:  kindOf((*Applier).sessionText, nil),
	ledger.EventSessionPrompt:   kindOf((*Applier).sessionText, nil),
	ledger.EventSessionModel:    kindOf((*Applier).sessionText, nil),
	ledger.EventSessionFolder:   kindOf((*Applier).sessionText, nil),
	ledger.EventBranchSwitched:  kindOf((*Applier).sessionText, func(c *Copying, d *ledger.TextChanged) { remapID(c, &d.Text) }),
	ledger.EventSessionArchived: kindOf((*Applier).sessionArchived, nil),
	ledger.EventSessionPinned:   kindOf((*Applier).sessionPinned, nil),
	ledger.EventSessionSettings: kindOf((*Applier).sessionSettings, nil),
	ledger.EventSessionImported: kindOf((*Applier).sessionImported, nil),
}

func (a *Applier) sessionCreated(e ledger.Event, d ledger.SessionCreated) error {
	return a.DB.Create(&schema.SessionRow{
		ID: e.Entity, CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, Source: d.Source, ActiveBranch: string(d.ActiveBranch),
		Title: d.Title, SystemPrompt: d.SystemPrompt, BegunBy: a.Device.Home,
	}).Error
}

// sessionColumns are the columns of a session's texts.
var sessionColumns = map[ledger.Type]string{
	ledger.EventSessionRenamed: "title", ledger.EventSessionPrompt: "system_prompt", ledger.EventSessionModel: "model",
	ledger.EventSessionFolder: "folder", ledger.EventBranchSwitched: "active_branch",
}

func (a *Applier) sessionText(e ledger.Event, d ledger.TextChanged) error {
	return a.set(`UPDATE sessions SET `+sessionColumns[e.Type]+` = ? WHERE id = ?`, d.Text, e.Entity)
}

func (a *Applier) sessionArchived(e ledger.Event, d ledger.FlagChanged) error {
	return a.set(`UPDATE sessions SET archived_at = ? WHERE id = ?`, core.ArchivedAt(a.Tx, d.On), e.Entity)
}

func (a *Applier) sessionPinned(e ledger.Event, d ledger.FlagChanged) error {
	return a.set(`UPDATE sessions SET pinned = ? WHERE id = ?`, d.On, e.Entity)
}

func (a *Applier) sessionSettings(e ledger.Event, d ledger.SettingsChanged) error {
	return a.set(`UPDATE sessions SET system_prompt = ?, temperature = ?, effort = ?, tools_mode = ?, memory_scope = ?, assistant = ?, assistant_name = ? WHERE id = ?`,
		d.SystemPrompt, d.Temperature, d.Effort, d.ToolsMode, d.MemoryScope, d.Assistant, d.AssistantName, e.Entity)
}

// sessionImported gives the session its position in the list. The keys that identify imported turns are not taken
// from a bundle: an untrusted one could keep an import of the same export from adding missing turns.
func (a *Applier) sessionImported(e ledger.Event, d ledger.SessionImported) error {
	return a.set(`UPDATE sessions SET updated_at = ? WHERE id = ?`, d.UpdatedAt, e.Entity)
}

// SourceBundle is the source of a session copied from a bundle, and of the key that identifies it.
const SourceBundle = "bundle"
