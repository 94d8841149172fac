package transfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// Format is an export format. Formats of conversations have the names of their sources.
type Format string

const (
	FormatAuto       Format = "" // in Options: detect it
	FormatChatGPT           = Format(SourceChatGPT)
	FormatClaude            = Format(SourceClaude)
	FormatClaudeCode        = Format(SourceClaudeCode)
	FormatCodex             = Format(SourceCodex)
	FormatOpenWebUI         = Format(SourceOpenWebUI)
	FormatLibreChat         = Format(SourceLibreChat)
	FormatAIStudio          = Format(SourceAIStudio)
	FormatGrok              = Format(SourceGrok)
	FormatChatbox           = Format(SourceChatbox)
	FormatCherry            = Format(SourceCherry)
	FormatTakeout           = Format(SourceTakeout)
	FormatDeepSeek          = Format(SourceDeepSeek)
	FormatLMStudio          = Format(SourceLMStudio)
	FormatOpenCode          = Format(SourceOpenCode)
	FormatGeminiCLI         = Format(SourceGeminiCLI)
	FormatGptme             = Format(SourceGptme)
	FormatJSONL             = Format(SourceJSONL)
	FormatMessages          = Format(SourceMessages)
	FormatZip        Format = "zip"      // an archive of exports
	FormatBundle     Format = "bundle"   // this program's own; not read by Read
	formatManifest   Format = "manifest" // the list of an export's files
)

// Formats lists the possible values of Options.Format.
func Formats() []Format {
	return []Format{
		FormatChatGPT, FormatClaude, FormatClaudeCode, FormatCodex, FormatOpenWebUI, FormatLibreChat,
		FormatAIStudio, FormatGrok, FormatChatbox, FormatCherry, FormatTakeout, FormatGptme,
		FormatDeepSeek, FormatLMStudio, FormatOpenCode, FormatGeminiCLI, FormatJSONL, FormatMessages, FormatZip,
	}
}

// Detect determines a file's format from its beginning and, if that is ambiguous, from its name. An unknown format is
// CodeInvalid.
func Detect(name string, data io.ReaderAt, size int64) (Format, error) {
	format, _, err := detectIn(name, data, size)
	return format, err
}

func detectIn(name string, data io.ReaderAt, size int64) (Format, headInfo, error) {
	format, g, err := detect(uncompressedName(name), func() (io.Reader, error) { return unpacked(data, size) })
	if _, coded := errors.AsType[*chat.Error](err); err != nil && !coded {
		err = unreadable(name, err)
	}
	return format, g, err
}

// formatOf is the format of a file with these first bytes, whose objects have these members.
func formatOf(name string, head []byte, g headInfo) (Format, error) {
	base := strings.ToLower(path.Base(slashed(name)))
	if bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")) {
		if strings.HasSuffix(base, ".cinf") {
			return FormatBundle, nil
		}
		return FormatZip, nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("<")) && bytes.Contains(head, []byte("ChatGPT Data Export")) {
		return "", chat.Errorf(chat.CodeInvalid, "import.detect", "%s is the page of a ChatGPT export, for reading; nothing was imported.", path.Base(name)).
			WithHint("import the whole .zip file of the export, or its conversations.json")
	}
	if g.objects == 0 || isUTF32(head) {
		return "", whyUnreadable(name, head)
	}
	lines := g.lines || strings.HasSuffix(base, ".jsonl") || strings.HasSuffix(base, ".ndjson")
	switch {
	case base == "export_manifest.json" && g.any("logical_files", "export_files"):
		return formatManifest, nil
	case g.has("mapping", "inserted_at"):
		return FormatDeepSeek, nil
	case g.has("messages") && g.any("lastUsedModel", "usePerChatPredictionConfig", "perChatPredictionConfig", "userFilesSizeBytes"):
		return FormatLMStudio, nil
	case g.has("info", "messages"):
		return FormatOpenCode, nil
	case g.has("sessionId", "projectHash"):
		return FormatGeminiCLI, nil
	case g.has("history") && g.any("models", "params", "messages") && !g.has("chat"):
		return FormatOpenWebUI, nil
	case g.has("mapping") || g.has("conversation_id", "create_time"):
		return FormatChatGPT, nil
	case g.has("chat_messages") || g.has("uuid", "name", "account"):
		return FormatClaude, nil
	case !g.array && (g.any("__exported_items", "chat-sessions", "chat-sessions-list") || g.begins("session:")):
		return FormatChatbox, nil
	case !g.array && (g.has("time", "version", "localStorage") || g.has("version", "indexedDB")):
		return FormatCherry, nil
	case g.array && g.has("header", "title", "time") && isGeminiHeader(g.keys["header"]):
		return FormatTakeout, nil
	case g.has("chunkedPrompt"):
		return FormatAIStudio, nil
	case g.has("conversations") && !g.array && (base == "prod-grok-backend.json" || bytes.Contains(head, []byte(`"responses"`))):
		return FormatGrok, nil
	case slices.Contains(codexStreamTypes, g.keys["type"]):
		return FormatCodex, nil
	case g.has("conversationId") && (g.any("messages", "messagesTree", "endpoint", "recursive")):
		return FormatLibreChat, nil
	case g.has("seq", "ts", "type", "payload"): // events of gptme, which its log also contains
		return "", unknownFormat(name)
	case g.has("type", "payload") || strings.HasPrefix(base, "rollout-") && g.any("type", "record_type", "instructions"):
		return FormatCodex, nil
	case g.has("type") && g.any("sessionId", "parentUuid", "leafUuid", "uuid", "snapshot", "customTitle"):
		return FormatClaudeCode, nil
	case g.has("chat") && g.any("id", "user_id", "title", "created_at"):
		return FormatOpenWebUI, nil
	case g.has("messages"):
		return FormatMessages, nil
	case !g.array && isGptme(name, base, g):
		return FormatGptme, nil
	case g.any("speaker", "role") && g.any("text", "content", "parts", "tool_calls"):
		if lines && !g.array {
			return FormatJSONL, nil
		}
		return FormatMessages, nil
	}
	return "", unknownFormat(name)
}

// BeginsJSON reports whether a file with these first bytes begins with an object or a list, in UTF-8 or UTF-16.
func BeginsJSON(head []byte) bool {
	if order := utf16Order(head); order != nil {
		head, _ = order.NewDecoder().Bytes(head[:min(len(head), 1024)])
	}
	first := bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n")
	return len(first) > 0 && (first[0] == '{' || first[0] == '[')
}

// isGptme distinguishes gptme's log from other lines of messages: by a member that only it has, or by its path.
func isGptme(name, base string, g headInfo) bool {
	if !g.has("role", "content", "timestamp") || g.any("conv", "conversation", "conversation_id", "session", "speaker", "id") {
		return false
	}
	return base == "conversation.jsonl" || gptmeSubfolder(name) != "" || g.any("call_id", "file_hashes", "ephemeral_ttl", "pinned", "hide")
}

// whyUnreadable says why a file is unreadable, if its first bytes show it.
func whyUnreadable(name string, head []byte) error {
	file := path.Base(name)
	switch {
	case len(head) == 0:
		return chat.Errorf(chat.CodeInvalid, "import.detect", "%s is empty; nothing was imported.", file).WithHint("download or export it again")
	case len(bytes.Trim(head, "\x00")) == 0:
		return chat.Errorf(chat.CodeInvalid, "import.detect", "%s begins with zero bytes, like a file that was never completely written; nothing was imported.", file).
			WithHint("download or export it again")
	case isUTF32(head):
		return chat.Errorf(chat.CodeInvalid, "import.detect", "%s is text in UTF-32, which cannot be read; nothing was imported.", file).WithHint("save it as UTF-8")
	}
	return unknownFormat(name)
}

func isUTF32(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0xFF, 0xFE, 0, 0}) || bytes.HasPrefix(head, []byte{0, 0, 0xFE, 0xFF})
}

func unknownFormat(name string) error {
	return chat.Errorf(chat.CodeInvalid, "import.detect", "%s is not an export that can be read; nothing was imported.", path.Base(name)).
		WithHint("exports of ChatGPT, Claude.ai, Claude Code, Codex, Open WebUI, LibreChat, AI Studio, Gemini (Takeout), Grok, Chatbox, Cherry Studio, gptme, DeepSeek, LM Studio, opencode and Gemini CLI are read, and messages as JSON or JSONL")
}

func (g headInfo) has(keys ...string) bool {
	for _, k := range keys {
		if _, ok := g.keys[k]; !ok {
			return false
		}
	}
	return true
}

func (g headInfo) any(keys ...string) bool {
	return slices.ContainsFunc(keys, func(k string) bool { return g.has(k) })
}

// begins reports whether a member's name has the prefix.
func (g headInfo) begins(prefix string) bool {
	for key := range g.keys {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// first is the value of the first existing key.
func (g headInfo) first(keys ...string) string {
	for _, k := range keys {
		if g.keys[k] != "" {
			return g.keys[k]
		}
	}
	return ""
}

// textAt is the JSON string at i and its end; -1 if it does not end.
func textAt(head []byte, i int) (string, int) {
	for k := i + 1; k < len(head); k++ {
		switch head[k] {
		case '\\':
			k++
		case '"':
			if bytes.IndexByte(head[i:k], '\\') < 0 {
				return string(head[i+1 : k]), k + 1
			}
			var s string
			_ = json.Unmarshal(head[i:k+1], &s)
			return s, k + 1
		}
	}
	return "", -1
}
