package ledger

import (
	"fmt"

	"contextinfinity/backend/chat"
)

// Events about a session itself.
const (
	EventSessionCreated  Type = "session_created"
	EventSessionRenamed  Type = "session_renamed"
	EventSessionArchived Type = "session_archived" // or restored
	EventSessionPinned   Type = "session_pinned"   // or unpinned
	EventSessionPrompt   Type = "session_prompt_set"
	EventSessionModel    Type = "session_model_set"
	EventSessionSettings Type = "session_settings_set"
	EventSessionFolder   Type = "session_folder_set" // empty: removed from its folder
	EventSessionImported Type = "session_imported"
	EventBranchSwitched  Type = "branch_switched"
)

var sessionKinds = map[Type]reducer{
	EventSessionCreated:  reducing((*State).sessionCreated),
	EventSessionRenamed:  reducing(textOf(func(r *Session, text string) { r.Title = SumOfText(text) })),
	EventSessionPrompt:   reducing(textOf(func(r *Session, text string) { r.SystemPrompt = SumOfText(text) })),
	EventSessionModel:    reducing(textOf(func(r *Session, text string) { r.Model = text })),
	EventSessionFolder:   reducing(textOf(func(r *Session, text string) { r.Folder = SumOfName(text) })),
	EventBranchSwitched:  reducing(textOf(func(r *Session, text string) { r.ActiveBranch = text })),
	EventSessionArchived: reducing((*State).sessionArchived),
	EventSessionPinned:   reducing((*State).sessionPinned),
	EventSessionSettings: reducing((*State).sessionSettings),
	EventSessionImported: reducing((*State).sessionImported),
}

// Payloads.
type (
	SessionCreated struct {
		Title        string        `json:"title"`
		SystemPrompt string        `json:"system_prompt"`
		Source       string        `json:"source"`
		ActiveBranch chat.BranchID `json:"active_branch"`
	}
	TextChanged struct {
		Text string `json:"text"`
	}
	SettingsChanged struct {
		SystemPrompt  string           `json:"system_prompt"`
		Temperature   *float64         `json:"temperature"`
		Effort        string           `json:"effort"`
		ToolsMode     string           `json:"tools_mode,omitempty"`
		MemoryScope   chat.Scope       `json:"memory_scope,omitempty"`
		Assistant     chat.AssistantID `json:"assistant,omitempty"`
		AssistantName string           `json:"assistant_name,omitempty"`
	}
	FlagChanged struct {
		On bool `json:"on"`
	}
	// SessionImported records that turns of another program's conversation were written, and the session's new
	// position in the list.
	SessionImported struct {
		Source    string `json:"source"`
		ID        string `json:"conversation_id"` // the source's own
		Parent    string `json:"parent_id,omitempty"`
		Key       string `json:"content_key"`
		UpdatedAt string `json:"updated_at"`
	}
)

// Records.
type (
	Session struct {
		CreatedAt     string     `json:"created_at"`
		UpdatedAt     string     `json:"updated_at"`
		ArchivedAt    string     `json:"archived_at"`
		Source        string     `json:"source"`
		ActiveBranch  string     `json:"active_branch"`
		Model         string     `json:"model"`
		Effort        string     `json:"effort"`
		Temperature   *float64   `json:"temperature"`
		Pinned        bool       `json:"pinned"`
		Title         Sum        `json:"title"`
		SystemPrompt  Sum        `json:"system_prompt"`
		Folder        Sum        `json:"folder,omitempty"` // empty: none
		ToolsMode     string     `json:"tools_mode,omitempty"`
		MemoryScope   chat.Scope `json:"memory_scope,omitempty"`
		Assistant     string     `json:"assistant,omitempty"`
		AssistantName Sum        `json:"assistant_name,omitempty"` // empty: none
	}
)

func (s *State) sessionCreated(e Event, p SessionCreated) error {
	if e.Entity != s.SessionID {
		return fmt.Errorf("it created another session, %s", e.Entity)
	}
	s.Sessions[e.Entity] = &Session{CreatedAt: e.CreatedAt, UpdatedAt: e.CreatedAt, Source: p.Source,
		ActiveBranch: string(p.ActiveBranch), Title: SumOfText(p.Title), SystemPrompt: SumOfText(p.SystemPrompt)}
	return nil
}

// textOf makes a reducer that sets a text of the session.
func textOf(set func(*Session, string)) func(*State, Event, TextChanged) error {
	return func(s *State, e Event, p TextChanged) error {
		return update(s.Sessions, e.Entity, func(r *Session) { set(r, p.Text) })
	}
}

func (s *State) sessionArchived(e Event, p FlagChanged) error {
	return update(s.Sessions, e.Entity, func(r *Session) { r.ArchivedAt = since(p.On, e) })
}

func (s *State) sessionPinned(e Event, p FlagChanged) error {
	return update(s.Sessions, e.Entity, func(r *Session) { r.Pinned = p.On })
}

func (s *State) sessionSettings(e Event, p SettingsChanged) error {
	return update(s.Sessions, e.Entity, func(r *Session) {
		r.SystemPrompt, r.Temperature, r.Effort, r.ToolsMode = SumOfText(p.SystemPrompt), p.Temperature, p.Effort, p.ToolsMode
		r.MemoryScope = p.MemoryScope
		r.Assistant, r.AssistantName = string(p.Assistant), SumOfName(p.AssistantName)
	})
}

func (s *State) sessionImported(e Event, p SessionImported) error {
	if _, err := chat.ParseTime(p.UpdatedAt); err != nil {
		return err
	}
	return update(s.Sessions, e.Entity, func(r *Session) { r.UpdatedAt = p.UpdatedAt })
}

// touch moves the session to the top of its list.
func (s *State) touch(e Event) error {
	return update(s.Sessions, s.SessionID, func(r *Session) { r.UpdatedAt = e.CreatedAt })
}

// since is the time of an event that archives something; empty if it restores it.
func since(archived bool, e Event) string {
	if archived {
		return e.CreatedAt
	}
	return ""
}
