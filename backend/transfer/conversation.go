package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/dates"
)

// Source names the program that a conversation comes from: chat.Session.Source of imported sessions.
type Source string

const (
	SourceChatGPT    Source = "chatgpt"
	SourceClaude     Source = "claude"
	SourceClaudeCode Source = "claude-code"
	SourceCodex      Source = "codex"
	SourceOpenWebUI  Source = "open-webui"
	SourceLibreChat  Source = "librechat"
	SourceAIStudio   Source = "ai-studio"
	SourceGrok       Source = "grok"
	SourceGptme      Source = "gptme"
	SourceChatbox    Source = "chatbox"
	SourceCherry     Source = "cherry-studio"
	SourceTakeout    Source = "takeout"
	SourceDeepSeek   Source = "deepseek"
	SourceLMStudio   Source = "lm-studio"
	SourceOpenCode   Source = "opencode"
	SourceGeminiCLI  Source = "gemini-cli"
	SourceJSONL      Source = "jsonl"
	SourceMessages   Source = "messages"
)

// Conversation is an imported conversation in the neutral form.
type Conversation struct {
	Source       Source       `json:"source"`
	ID           string       `json:"id"`               // from the source, or derived from the content
	Parent       string       `json:"parent,omitempty"` // ID of the conversation that started this one as a subagent
	Key          string       `json:"key"`              // changes when any turn changes
	Title        string       `json:"title"`            // never empty if a message has text
	CreatedAt    time.Time    `json:"created_at"`       // zero: unknown
	UpdatedAt    time.Time    `json:"updated_at"`       // zero: unknown
	Archived     bool         `json:"archived,omitempty"`
	Pinned       bool         `json:"pinned,omitempty"`
	Folder       string       `json:"folder,omitempty"` // folder, project or working directory in the source
	SystemPrompt string       `json:"system_prompt,omitempty"`
	Provider     string       `json:"provider,omitempty"`
	Model        string       `json:"model,omitempty"`
	Turns        []Turn       `json:"turns"`   // parents before children, siblings in their order
	Current      string       `json:"current"` // key of the turn that was open last; always one of Turns
	Unread       dates.Unread `json:"-"`
	Notices      []Notice     `json:"notices,omitempty"` // what was changed or could not be converted
	content      [32]byte     // the hash that Key encodes
}

// Turn is a user's message and everything that answered it.
//
// A turn that was exported unfinished (unanswered, or in the middle of an answer) becomes a different turn when it
// continues: a sibling with the same user message and other keys.
type Turn struct {
	Key        string         `json:"key"`              // unique in the conversation: the source's id of its last message
	Parent     string         `json:"parent,omitempty"` // Key of the parent turn; empty: it begins the conversation
	ContentKey string         `json:"content_key"`      // identifies the turn in repeated imports
	User       chat.Message   `json:"user"`             // never empty; see NoMessage
	Assistant  *chat.Message  `json:"assistant,omitempty"`
	Provider   string         `json:"provider,omitempty"`
	Model      string         `json:"model,omitempty"`
	CreatedAt  time.Time      `json:"created_at"`  // of the user's message; zero: unknown
	AnsweredAt time.Time      `json:"answered_at"` // of the last message of the answer; zero: unknown
	Usage      *chat.Usage    `json:"usage,omitempty"`
	Failed     bool           `json:"failed,omitempty"`     // the source marks the answer as an error
	Incomplete bool           `json:"incomplete,omitempty"` // the source marks the answer as cut short
	Tools      bool           `json:"tools,omitempty"`      // tools were called
	Failure    string         `json:"failure,omitempty"`    // the source's error message
	visible    [2]chat.Blocks // visible content of question and answer, from which ContentKey is derived
}

// Notice is something the user should know about an import, with a count.
type Notice struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
	// Files are the files that it is about, of an archive or a folder: the first MaxNamed of them.
	Files []string `json:"files,omitempty"`
}

// setKeys sets the content keys of the conversation and its turns. A turn's key covers its visible content and its
// position: a changed turn is a new one, those after it are not. Hidden content, and how the turn ended, are not
// covered: a program may add them later.
func (c *Conversation) setKeys() error {
	hash := sha256.New()
	for i := range c.Turns {
		t := &c.Turns[i]
		raw, err := chat.MarshalJSON([]any{c.Source, c.ID, t.Key, t.Parent, t.User.Name, t.visible})
		if err != nil {
			return err
		}
		t.visible = [2]chat.Blocks{}
		sum := sha256.Sum256(raw)
		t.ContentKey = hex.EncodeToString(sum[:])
		hash.Write(sum[:])
	}
	head, err := json.Marshal([]string{string(c.Source), c.ID})
	if err != nil {
		return err
	}
	hash.Write(head)
	hash.Sum(c.content[:0])
	c.Key = hex.EncodeToString(c.content[:])
	return nil
}

// addNotice counts a notice.
func addNotice(to []Notice, text string, n int) []Notice {
	if n == 0 {
		return to
	}
	for i := range to {
		if to[i].Text == text {
			to[i].Count += n
			return to
		}
	}
	return append(to, Notice{Text: text, Count: n})
}
