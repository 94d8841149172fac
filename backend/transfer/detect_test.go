package transfer

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       Format
	}{
		{"conversations.json", `[{"title":"x","create_time":1,"mapping":{`, FormatChatGPT},
		{"conversations.json", "\xEF\xBB\xBF [\n{\"title\":\"broken\",\"create_time\":1,\"conversation_id\":\"c\"},{", FormatChatGPT},
		{"anything", `{"mapping":{}}`, FormatChatGPT},
		{"conversations.json", `[{"uuid":"a","name":"chat_messages","created_at":"x","account":{"uuid":"z"},"chat_mess`, FormatClaude},
		{"conversations.json", `[{"uuid":"a","chat_messages":[]}]`, FormatClaude},
		{"0b1c.jsonl", `{"type":"summary","summary":"x","leafUuid":"y"}`, FormatClaudeCode},
		{"0b1c.jsonl", `{"parentUuid":null,"isSidechain":false,"type":"user"`, FormatClaudeCode},
		{"rollout-2025.jsonl", `{"timestamp":"x","type":"session_meta","payload":{}}`, FormatCodex},
		{`C:\x\rollout-2025.jsonl`, `{"id":"x","timestamp":"y","instructions":null}`, FormatCodex},
		{"chats.json", `[{"id":"x","user_id":"u","title":"t","chat":{`, FormatOpenWebUI},
		{"c.json", `{"conversationId":"x","endpoint":"openAI","title":"t"`, FormatLibreChat},
		{"c.json", `[{"conversationId":"x","messagesTree":[]}]`, FormatLibreChat},
		{"backup.json", `{"settings":{"messages":[]},"session:1b":{"id":"1b","messages":[`, FormatChatbox},
		{"backup.json", `{"configVersion":7,"chat-sessions":[{"id":"x","messages":[`, FormatChatbox},
		{"data.json", `{"time":1714555800000,"version":5,"localStorage":{"persist:cherry-studio":"{`, FormatCherry},
		{"MyActivity.json", `[{"header":"Gemini Apps","title":"Prompted x","time":"2024-01-01T00:00:00Z"`, FormatTakeout},
		{"conversations.json", `[{"id":"x","title":"t","inserted_at":"2025-01-01","mapping":{`, FormatDeepSeek},
		{"1.conversation.json", `{"name":"x","messages":[],"usePerChatPredictionConfig":true}`, FormatLMStudio},
		{"ses.json", `{"info":{"id":"ses_1"},"messages":[`, FormatOpenCode},
		{"session-1.json", `{"sessionId":"x","projectHash":"y","messages":[`, FormatGeminiCLI},
		{"chat.json", `{"id":"","title":"x","models":["m"],"history":{"messages":{`, FormatOpenWebUI},
		{"c.jsonl", `{"conv":"x","speaker":"Ann","text":"hi"}`, FormatJSONL},
		{"c.txt", "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"b\"}", FormatJSONL},
		{"conversation.jsonl", `{"role":"user","content":"a","timestamp":"2025-01-01T10:00:00"}`, FormatGptme},
		{"logs/x/branches/main-edit-0.jsonl", `{"role":"user","content":"a","timestamp":"2025-01-01T10:00:00"}`, FormatGptme},
		{"c.jsonl", `{"role":"user","content":"a","timestamp":"2025-01-01T10:00:00","pinned":true}`, FormatGptme},
		{"conversation.jsonl", `{"role":"user","content":"a","timestamp":"2025-01-01T10:00:00","conv":"c"}`, FormatJSONL},
		{"c.json", `[{"role":"user","content":"a"}]`, FormatMessages},
		{"c.json", `{"role":"user","content":"a"}`, FormatMessages},
		{"c.jsonl", `{"messages":[{"role":"user"`, FormatMessages},
		{"export.zip", "PK\x03\x04", FormatZip},
		{"session.CINF", "PK\x03\x04", FormatBundle},
	} {
		got, err := Detect(c.name, strings.NewReader(c.head), int64(len(c.head)))
		if err != nil || got != c.want {
			t.Errorf("%s %q: got %q, %v; want %q", c.name, c.head, got, err, c.want)
		}
	}
}

func TestDetectRefusesUnknownFormats(t *testing.T) {
	for _, head := range []string{"", "  ", "hello", "[1,2,3]", `{"a":1}`, `{"type":"x"}`, `[{"header":"YouTube","title":"Watched x","time":"2024-01-01T00:00:00Z","products":["YouTube"]}]`, `{"seq":1,"ts":"2025-01-01T10:00:00+00:00","type":"message_append","payload":{"message":{"role":"user"}}}`, "%PDF-1.7", "\x00\x01", `["mapping"]`, `"mapping":1`} {
		got, err := Detect("x.json", strings.NewReader(head), int64(len(head)))
		if chat.CodeOf(err) != chat.CodeInvalid || got != "" {
			t.Errorf("%q: got %q, %v", head, got, err)
		}
	}
}

// A file in which nothing can be read is refused with a reason that fits its content.
func TestUnreadableGivesTheReason(t *testing.T) {
	for words, head := range map[string]string{
		"is empty":                       "",
		"zero bytes":                     strings.Repeat("\x00", 4096),
		"UTF-32":                         "\xff\xfe\x00\x00[\x00\x00\x00{\x00\x00\x00",
		"not an export that can be read": "dear diary",
		"the page of a ChatGPT export":   "<html><head><title>ChatGPT Data Export</title></head><body><script>var jsonData = [{\"title\":\"x\",\"mapping\":{}}];",
	} {
		_, err := Detect("x.json", strings.NewReader(head), int64(len(head)))
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%.10q: %v, want %q", head, err, words)
		}
	}
}
