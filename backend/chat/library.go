package chat

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Ids of library entries, which are used in many sessions.
type (
	AssistantID   string
	SavedPromptID string
)

// Limits of the library.
const (
	MaxAssistants       = 500
	MaxSavedPrompts     = 2000
	MaxLibraryNameRunes = 80
	MaxLibraryTextBytes = 64 << 10 // of an assistant's instructions, and of a saved prompt
)

// Assistant is a named preset. Its settings are copied when a session is started with it or it is applied: a later
// change of the assistant affects no session.
type Assistant struct {
	ID           AssistantID `json:"assistant_id"`
	Name         string      `json:"name"`
	Instructions string      `json:"instructions"` // empty: the default instructions
	Model        string      `json:"model"`        // a configured model; empty: the session keeps its own
	Temperature  *float64    `json:"temperature"`  // 0 to 2; nil: the model's default
	Effort       string      `json:"effort"`       // one of Efforts
	ToolsMode    string      `json:"tools_mode"`   // one of ToolsModes
	CreatedAt    time.Time   `json:"created_at"`
	UpdatedAt    time.Time   `json:"updated_at"`
}

// SavedPrompt is a named text with variables, see package library.
type SavedPrompt struct {
	ID        SavedPromptID `json:"prompt_id"`
	Name      string        `json:"name"`
	Text      string        `json:"text"`
	CreatedAt time.Time     `json:"created_at"`
	UpdatedAt time.Time     `json:"updated_at"`
}

// ToolsModes are the values of SessionSettings.ToolsMode; empty is tools.mode.
var ToolsModes = []string{"", "disabled", "parse_only", "enabled"}

// Over returns a session's settings with the assistant applied. Settings that an assistant does not have, such as the
// memory scope, are kept.
func (a Assistant) Over(s SessionSettings) SessionSettings {
	s.SystemPrompt, s.Temperature, s.Effort, s.ToolsMode = a.Instructions, a.Temperature, a.Effort, a.ToolsMode
	s.Assistant, s.AssistantName = a.ID, a.Name
	return s
}

// Differs reports whether applying the assistant would change what the session sends.
func (a Assistant) Differs(s Session) bool {
	same := a.Instructions == s.SystemPrompt && a.Effort == s.Effort && a.ToolsMode == s.ToolsMode && (a.Model == "" || a.Model == s.Model)
	if a.Temperature == nil || s.Temperature == nil {
		return !same || a.Temperature != s.Temperature
	}
	return !same || *a.Temperature != *s.Temperature
}

// Check refuses an invalid assistant.
func (a Assistant) Check() error {
	const op = "assistant.check"
	if err := CheckLibraryName(op, a.Name); err != nil {
		return err
	}
	switch {
	case len(a.Instructions) > MaxLibraryTextBytes:
		return Errorf(CodeTooLarge, op, "Instructions can be at most %d KB long; nothing was changed.", MaxLibraryTextBytes>>10)
	case utf8.RuneCountInString(a.Model) > MaxTitleRunes:
		return Errorf(CodeInvalid, op, "This is not the name of a model; nothing was changed.")
	case a.Temperature != nil && !(*a.Temperature >= 0 && *a.Temperature <= 2): // also refuses NaN
		return Errorf(CodeInvalid, op, "%v is not a temperature; nothing was changed.", *a.Temperature).WithHint("choose one from 0 to 2, or leave it unset")
	case !slices.Contains(Efforts, a.Effort):
		return Errorf(CodeInvalid, op, "%q is not a reasoning effort; nothing was changed.", a.Effort).WithHint("choose minimal, low, medium or high, or leave it unset")
	case !slices.Contains(ToolsModes, a.ToolsMode):
		return Errorf(CodeInvalid, op, "%q is not a tools mode; nothing was changed.", a.ToolsMode).
			WithHint("choose disabled, parse_only or enabled, or nothing for the configured mode")
	}
	return nil
}

// Check refuses an invalid prompt.
func (p SavedPrompt) Check() error {
	const op = "prompt.check"
	if err := CheckLibraryName(op, p.Name); err != nil {
		return err
	}
	switch {
	case strings.TrimSpace(p.Text) == "":
		return Errorf(CodeInvalid, op, "A prompt must have text; nothing was changed.")
	case len(p.Text) > MaxLibraryTextBytes:
		return Errorf(CodeTooLarge, op, "A prompt can be at most %d KB long; nothing was changed.", MaxLibraryTextBytes>>10)
	}
	return nil
}

// CheckLibraryName refuses an invalid name of an assistant or a saved prompt: it must be one line without surrounding
// blanks, and must not begin with a slash, which opens the list in the window.
func CheckLibraryName(op, name string) error {
	if name != "" && name == strings.TrimSpace(name) && !strings.HasPrefix(name, "/") &&
		utf8.RuneCountInString(name) <= MaxLibraryNameRunes && !strings.ContainsFunc(name, unicode.IsControl) {
		return nil
	}
	return Errorf(CodeInvalid, op, "A name must have 1 to %d characters in one line and must not begin with a slash; nothing was changed.", MaxLibraryNameRunes)
}

// ByName finds an assistant or prompt by its name, ignoring case.
func ByName[T any](all []T, name string, nameOf func(T) string) (T, bool) {
	i := slices.IndexFunc(all, func(x T) bool { return strings.EqualFold(nameOf(x), name) })
	if i < 0 {
		var none T
		return none, false
	}
	return all[i], true
}

// CompareNames orders names for people: ignoring case first.
func CompareNames(a, b string) int {
	return cmp.Or(strings.Compare(strings.ToLower(a), strings.ToLower(b)), strings.Compare(a, b))
}

// numbered matches a name that ends with a number in parentheses.
var numbered = regexp.MustCompile(`^(.+) \(\d+\)$`)

// FreeName returns the name of an assistant or a prompt, with a number after it if it is taken.
func FreeName(name string, taken func(string) bool) string {
	free := name
	if m := numbered.FindStringSubmatch(name); m != nil && taken(name) {
		name = m[1]
	}
	for n := 2; taken(free); n++ {
		end := fmt.Sprintf(" (%d)", n)
		if r := []rune(name); len(r)+len(end) > MaxLibraryNameRunes {
			name = strings.TrimSpace(string(r[:MaxLibraryNameRunes-len(end)]))
		}
		free = name + end
	}
	return free
}
