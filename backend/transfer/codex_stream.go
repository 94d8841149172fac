package transfer

import (
	"bytes"
	"encoding/json"
	"strings"

	"contextinfinity/backend/chat"
)

// codexStreamTypes are the types of the first lines in the output of `codex exec --json`.
var codexStreamTypes = []string{"thread.started", "turn.started", "item.started", "item.completed"}

// codexStreamLine is a line printed by `codex exec --json`. The prompt is not included.
type codexStreamLine struct {
	Thread  str             `json:"thread_id"`
	Item    json.RawMessage `json:"item"`
	Usage   json.RawMessage `json:"usage"`
	Message str             `json:"message"`
	Error   struct {
		Message str `json:"message"`
	} `json:"error"`
}

type codexStreamItem struct {
	ID        str             `json:"id"`
	Type      str             `json:"type"`
	Text      str             `json:"text"`
	Command   str             `json:"command"`
	Output    json.RawMessage `json:"aggregated_output"`
	ExitCode  json.RawMessage `json:"exit_code"`
	Server    str             `json:"server"`
	Tool      str             `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"`
	Status    str             `json:"status"`
}

const noticePrompt = "The output of codex exec --json does not contain the prompts; the answers were imported without them."

// stream processes a line of `codex exec --json`. An item is used in its completed form.
func (b *codex) stream(l codexLine, raw json.RawMessage) string {
	var s codexStreamLine
	if json.Unmarshal(raw, &s) != nil {
		return "Not a line of the stream."
	}
	last := b.d.last()
	switch l.Type {
	case "thread.started":
		if b.d.ID == "" {
			b.d.ID, b.d.Provider = string(s.Thread), "openai"
			b.d.notice(noticePrompt, 1)
		}
	case "turn.started":
		if last != nil { // for the prompt, which is missing
			b.d.follow(node{kind: kindUser, at: l.Timestamp, blocks: chat.NoMessage().Blocks})
		}
	case "item.started", "item.updated":
	case "item.completed":
		b.streamItem(l, s.Item)
	case "turn.completed":
		if last != nil && last.kind >= kindAssistant {
			last.usage = readUsage(s.Usage)
		}
	case "turn.failed", "error":
		b.d.follow(node{kind: kindAssistant, at: l.Timestamp, failed: true, failure: string(s.Error.Message + s.Message), blocks: chat.Blocks{b.d.unknown(raw)}})
	default:
		b.hide(l, raw)
	}
	return ""
}

func (b *codex) streamItem(l codexLine, raw json.RawMessage) {
	var item codexStreamItem
	_ = json.Unmarshal(raw, &item) // unexpected fields are left empty
	n := node{kind: kindAssistant, at: l.Timestamp, provider: "openai"}
	switch item.Type {
	case "agent_message":
		b.hasMessage = true
		n.blocks = texts(string(item.Text))
	case "reasoning":
		n.blocks = chat.Blocks{chat.Reasoning{Provider: string(b.d.Source), Summary: string(item.Text), Raw: bytes.Clone(raw)}}
	case "command_execution":
		input, _ := chat.MarshalJSON(map[string]string{"command": string(item.Command)})
		n.blocks = b.streamCall(item, "shell", input, item.Output)
	case "mcp_tool_call":
		n.blocks = b.streamCall(item, string(item.Server)+"."+string(item.Tool), item.Arguments, item.Result)
	default:
		b.hide(l, raw)
		return
	}
	b.d.follow(n)
}

func (b *codex) streamCall(item codexStreamItem, name string, input, result json.RawMessage) chat.Blocks {
	code := strings.TrimSpace(string(item.ExitCode))
	failed := item.Status == "failed" || code != "" && code != "0" && code != "null"
	return chat.Blocks{
		chat.ToolUse{ToolUseID: string(item.ID), Name: name, Input: chat.RawJSON(input)},
		chat.ToolResult{ToolUseID: string(item.ID), Content: output(b.d.Source, result, 0), IsError: failed},
	}
}
