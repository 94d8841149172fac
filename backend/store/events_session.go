package store

import (
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/schema"
)

// sessionEvents are those about a session itself.
var sessionEvents = map[ledger.Type]eventKind{
	ledger.EventSessionCreated: kindOf((*applier).sessionCreated, func(c *copying, d *ledger.SessionCreated) {
		d.Source = sourceBundle
		idOf(c, &d.ActiveBranch)
	}),
	ledger.EventSessionRenamed:  kindOf((*applier).sessionText, nil),
	ledger.EventSessionPrompt:   kindOf((*applier).sessionText, nil),
	ledger.EventSessionModel:    kindOf((*applier).sessionText, nil),
	ledger.EventSessionFolder:   kindOf((*applier).sessionText, nil),
	ledger.EventBranchSwitched:  kindOf((*applier).sessionText, func(c *copying, d *ledger.TextChanged) { idOf(c, &d.Text) }),
	ledger.EventSessionArchived: kindOf((*applier).sessionArchived, nil),
	ledger.EventSessionPinned:   kindOf((*applier).sessionPinned, nil),
	ledger.EventSessionSettings: kindOf((*applier).sessionSettings, nil),
	ledger.EventSessionImported: kindOf((*applier).sessionImported, nil),
}

func (a *applier) sessionCreated(e ledger.Event, d ledger.SessionCreated) error {
	return a.DB.Create(&schema.SessionRow{
		ID: e.Entity, CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, Source: d.Source, ActiveBranch: string(d.ActiveBranch),
		Title: d.Title, SystemPrompt: d.SystemPrompt,
	}).Error
}

// sessionColumns are where the texts of a session stand.
var sessionColumns = map[ledger.Type]string{
	ledger.EventSessionRenamed: "title", ledger.EventSessionPrompt: "system_prompt", ledger.EventSessionModel: "model",
	ledger.EventSessionFolder: "folder", ledger.EventBranchSwitched: "active_branch",
}

func (a *applier) sessionText(e ledger.Event, d ledger.TextChanged) error {
	return a.set(`UPDATE sessions SET `+sessionColumns[e.Type]+` = ? WHERE id = ?`, d.Text, e.Entity)
}

func (a *applier) sessionArchived(e ledger.Event, d ledger.FlagChanged) error {
	return a.set(`UPDATE sessions SET archived_at = ? WHERE id = ?`, core.ArchivedAt(a.Tx, d.On), e.Entity)
}

func (a *applier) sessionPinned(e ledger.Event, d ledger.FlagChanged) error {
	return a.set(`UPDATE sessions SET pinned = ? WHERE id = ?`, d.On, e.Entity)
}

func (a *applier) sessionSettings(e ledger.Event, d ledger.SettingsChanged) error {
	return a.set(`UPDATE sessions SET system_prompt = ?, temperature = ?, effort = ?, tools_mode = ? WHERE id = ?`,
		d.SystemPrompt, d.Temperature, d.Effort, d.ToolsMode, e.Entity)
}

// sessionImported gives the session its place in the list. The keys by which its
// turns are known to an import of the same export do not travel: a stranger's could keep
// such an import from bringing in what is not here.
func (a *applier) sessionImported(e ledger.Event, d ledger.SessionImported) error {
	return a.set(`UPDATE sessions SET updated_at = ? WHERE id = ?`, d.UpdatedAt, e.Entity)
}

// sourceBundle is the source of a session that is a copy of a bundle's, and of the key
// by which it is known again.
const sourceBundle = "bundle"
