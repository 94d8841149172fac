package transfer

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/dates"
)

// Source names where a conversation comes from: chat.Session.Source of what is imported.
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
	SourceJSONL      Source = "jsonl"
	SourceMessages   Source = "messages"
)

// Conversation is a foreign conversation in the neutral form.
type Conversation struct {
	Source       Source       `json:"source"`
	ID           string       `json:"id"`               // the source's own, or made from the content where it names none
	Parent       string       `json:"parent,omitempty"` // ID of the conversation that this one was held for, by an agent
	Key          string       `json:"key"`              // changes when any turn does
	Title        string       `json:"title"`            // never empty where a message has words
	CreatedAt    time.Time    `json:"created_at"`       // zero: not known
	UpdatedAt    time.Time    `json:"updated_at"`       // zero: not known
	Archived     bool         `json:"archived,omitempty"`
	Pinned       bool         `json:"pinned,omitempty"`
	Folder       string       `json:"folder,omitempty"` // folder, project or working directory, as the source names it
	SystemPrompt string       `json:"system_prompt,omitempty"`
	Provider     string       `json:"provider,omitempty"`
	Model        string       `json:"model,omitempty"`
	Turns        []Turn       `json:"turns"`   // a parent is before its children, siblings in their order
	Current      string       `json:"current"` // key of the turn at which it was left; always one of Turns
	Unread       dates.Unread `json:"-"`
	Notices      []Notice     `json:"notices,omitempty"` // what was changed or could not be placed
	content      [32]byte     // what Key is written from
}

// Turn is a user's message and all that answered it.
//
// One that was not over when it was exported, unanswered or in the middle of an answer,
// is another turn when it continues: a sibling with the same user message and other keys.
type Turn struct {
	Key        string         `json:"key"`              // unique in the conversation: the source's id of its last message
	Parent     string         `json:"parent,omitempty"` // Key of the turn before; empty: it begins the conversation
	ContentKey string         `json:"content_key"`      // what importing twice is recognised by
	User       chat.Message   `json:"user"`             // never empty; see NoMessage
	Assistant  *chat.Message  `json:"assistant,omitempty"`
	Provider   string         `json:"provider,omitempty"`
	Model      string         `json:"model,omitempty"`
	CreatedAt  time.Time      `json:"created_at"`  // of the user's message; zero: not known
	AnsweredAt time.Time      `json:"answered_at"` // of the last message of the answer; zero: not known
	Usage      *chat.Usage    `json:"usage,omitempty"`
	Failed     bool           `json:"failed,omitempty"`     // the source says that the answer is an error
	Incomplete bool           `json:"incomplete,omitempty"` // the source says that the answer was cut short
	Tools      bool           `json:"tools,omitempty"`      // tools were called
	Failure    string         `json:"failure,omitempty"`    // the source's words for it
	said       [2]chat.Blocks // what the user and the answer say and show: what ContentKey is made of
}

// Notice is something that the person who imports should know, and how often it was met.
type Notice struct {
	Text  string `json:"text"`
	Count int    `json:"count"`
}

// NoMessage is the user's message of a turn that nobody's message began.
func NoMessage() chat.Message {
	return chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{
		chat.Unknown{Provider: "contextinfinity", Raw: []byte(`{"type":"no_message"}`)},
	}}
}

// setKeys gives the conversation and each of its turns their content keys. A turn's is
// of what was said in it and of its place: a turn that changed is a new one, and those
// after it are not. What the source does not show, and says of how the turn ended, is
// left out: a program may add it later.
func (c *Conversation) setKeys() error {
	whole := sha256.New()
	for i := range c.Turns {
		t := &c.Turns[i]
		said, err := chat.MarshalJSON([]any{c.Source, c.ID, t.Key, t.Parent, t.User.Name, t.said})
		if err != nil {
			return err
		}
		t.said = [2]chat.Blocks{}
		sum := sha256.Sum256(said)
		t.ContentKey = hex.EncodeToString(sum[:])
		whole.Write(sum[:])
	}
	head, err := json.Marshal([]string{string(c.Source), c.ID})
	if err != nil {
		return err
	}
	whole.Write(head)
	whole.Sum(c.content[:0])
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
