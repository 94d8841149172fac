package library

import (
	"encoding/json"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

// Library files are JSON with a format and a version. Size limits for reading them, in bytes:
const (
	MaxAssistantFile = 256 << 10
	MaxPromptFile    = 8 << 20
)

const (
	formatAssistant = "contextinfinity-assistant"
	formatPrompts   = "contextinfinity-prompts"
	fileVersion     = 1
)

type assistantFile struct {
	Format       string   `json:"format"`
	Version      int      `json:"version"`
	Name         string   `json:"name"`
	Instructions string   `json:"instructions"`
	Model        string   `json:"model"`
	Temperature  *float64 `json:"temperature"`
	Effort       string   `json:"effort"`
	ToolsMode    string   `json:"tools_mode"`
}

type promptFile struct {
	Format  string       `json:"format"`
	Version int          `json:"version"`
	Prompts []filePrompt `json:"prompts"`
}

type filePrompt struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// webUIPrompt is a prompt as Open WebUI exports it: an array of objects with a command, a title (in later versions a
// name) and the text as content.
type webUIPrompt struct {
	Command string `json:"command"`
	Title   string `json:"title"`
	Name    string `json:"name"`
	Content string `json:"content"`
}

// EncodeAssistant returns an assistant as a file.
func EncodeAssistant(a chat.Assistant) ([]byte, error) {
	return encode(assistantFile{
		Format: formatAssistant, Version: fileVersion, Name: a.Name, Instructions: a.Instructions, Model: a.Model,
		Temperature: a.Temperature, Effort: a.Effort, ToolsMode: a.ToolsMode,
	})
}

// EncodePrompts returns prompts as a file.
func EncodePrompts(list []chat.SavedPrompt) ([]byte, error) {
	f := promptFile{Format: formatPrompts, Version: fileVersion, Prompts: make([]filePrompt, len(list))}
	for i, p := range list {
		f.Prompts[i] = filePrompt{p.Name, p.Text}
	}
	return encode(f)
}

func encode(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", "  ")
	return append(b, '\n'), err
}

// DecodeAssistant reads an assistant from a file and checks it.
func DecodeAssistant(r io.Reader) (chat.Assistant, error) {
	const op = "assistant.import"
	data, err := readBounded(op, r, MaxAssistantFile)
	if err != nil {
		return chat.Assistant{}, err
	}
	var f assistantFile
	if err := json.Unmarshal(data, &f); err != nil || f.Format != formatAssistant {
		return chat.Assistant{}, wrongFormat(op, "an assistant")
	}
	if f.Version != fileVersion {
		return chat.Assistant{}, tooNew(op, f.Version)
	}
	a := chat.Assistant{
		Name: strings.TrimSpace(f.Name), Instructions: f.Instructions, Model: f.Model, Temperature: f.Temperature, Effort: f.Effort, ToolsMode: f.ToolsMode,
	}
	return a, a.Check()
}

// DecodePrompts reads prompts from a file: the program's own format, or an export of Open WebUI.
func DecodePrompts(r io.Reader) ([]chat.SavedPrompt, error) {
	const op = "prompt.import"
	data, err := readBounded(op, r, MaxPromptFile)
	if err != nil {
		return nil, err
	}
	var f promptFile
	if strings.HasPrefix(strings.TrimSpace(string(data)), "[") {
		var webUIPrompts []webUIPrompt
		if json.Unmarshal(data, &webUIPrompts) != nil {
			return nil, wrongFormat(op, "prompts")
		}
		for _, o := range webUIPrompts {
			f.Prompts = append(f.Prompts, o.prompt())
		}
	} else if json.Unmarshal(data, &f) != nil || f.Format != formatPrompts {
		return nil, wrongFormat(op, "prompts")
	} else if f.Version != fileVersion {
		return nil, tooNew(op, f.Version)
	}
	switch {
	case len(f.Prompts) == 0:
		return nil, chat.Errorf(chat.CodeInvalid, op, "The file has no prompts; nothing was imported.")
	case len(f.Prompts) > chat.MaxSavedPrompts:
		return nil, chat.Errorf(chat.CodeTooLarge, op, "The file has %d prompts, and there can be at most %d; nothing was imported.", len(f.Prompts), chat.MaxSavedPrompts)
	}
	out := make([]chat.SavedPrompt, len(f.Prompts))
	for i, p := range f.Prompts {
		out[i] = chat.SavedPrompt{Name: fitName(p.Name), Text: p.Text}
		if err := out[i].Check(); err != nil {
			e := chat.AsError(err)
			return nil, chat.NewError(e.Code, e.Op, chat.Say("Prompt %d of the file: %s", i+1, e.Said()), e.Advised())
		}
	}
	return out, nil
}

// webUIVariable matches variables as Open WebUI writes them, with a type after the name.
var webUIVariable = regexp.MustCompile(`\{\{[ \t]*([\p{L}_][\p{L}\p{N}_]{0,39})[ \t]*\|[^{}]*\}\}`)

// prompt converts the prompt to the program's format. Two built-in variables have other names in Open WebUI.
func (o webUIPrompt) prompt() filePrompt {
	name := o.Title
	if strings.TrimSpace(name) == "" {
		name = o.Name
	}
	if strings.TrimSpace(name) == "" {
		name = o.Command
	}
	text := strings.NewReplacer("{{CLIPBOARD}}", "{{"+Clipboard+"}}", "{{CURRENT_DATE}}", "{{"+Date+"}}").Replace(o.Content)
	return filePrompt{name, webUIVariable.ReplaceAllString(text, "{{$1}}")}
}

// fitName turns another program's name for a prompt into a valid one.
func fitName(s string) string {
	s = strings.TrimSpace(strings.TrimLeft(strings.Join(strings.Fields(s), " "), "/ "))
	if r := []rune(s); len(r) > chat.MaxLibraryNameRunes {
		s = strings.TrimSpace(string(r[:chat.MaxLibraryNameRunes]))
	}
	return s
}

func readBounded(op string, r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return nil, chat.WrapError(chat.CodeInvalid, op, err, "The file could not be read; nothing was imported: %s.", err)
	case int64(len(data)) > limit:
		return nil, chat.Errorf(chat.CodeTooLarge, op, "The file is larger than %d KB; nothing was imported.", limit>>10)
	case !utf8.Valid(data):
		return nil, chat.Errorf(chat.CodeInvalid, op, "The file is not UTF-8 text; nothing was imported.")
	}
	return data, nil
}

func wrongFormat(op, content string) error {
	return chat.Errorf(chat.CodeInvalid, op, "The file does not contain %s; nothing was imported.", content).
		WithHint("choose a JSON file written by an export")
}

func tooNew(op string, version int) error {
	return chat.Errorf(chat.CodeInvalid, op, "The file has version %d, and this program reads version %d; nothing was imported.", version, fileVersion).
		WithHint("update the program")
}
