package transfer

import (
	"encoding/json"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
)

// codeElements are the elements that Claude Code writes in the user's name: the state of the editor, reminders, and what
// commands and tasks put out.
var codeElements = []string{
	"ide_opened_file", "ide_selection", "ide_diagnostics", "new-diagnostics", "system-reminder", "user-prompt-submit-hook",
	"session-start-hook", "local-command-caveat", "local-command-stdout", "local-command-stderr", "bash-input", "bash-stdout",
	"bash-stderr", "task-notification", "command-name", "command-message", "command-args", "command-contents",
}

const interrupted = "[Request interrupted by user"

// codeRequest returns what a person wrote, without what the program added.
func codeRequest(text string) string {
	rest := withoutElements(text, codeElements)
	switch {
	case strings.HasPrefix(rest, interrupted):
		return ""
	case rest == strings.TrimSpace(text):
		return text
	}
	return rest
}

// contentOf returns the content of an element in a text; empty if there is none.
func contentOf(text, name string) string {
	_, rest, _ := strings.Cut(text, "<"+name+">")
	content, _, ok := strings.Cut(rest, "</"+name+">")
	if !ok {
		return ""
	}
	return strings.TrimSpace(content)
}

// requested shows a message in the user's name without what the program wrote into it. A message that the program
// wrote completely is hidden.
func (b *claudeCode) requested(n *codeNode, raw json.RawMessage) {
	if n.kind != kindUser {
		return
	}
	text := n.blocks.RenderedText()
	n.local = strings.Contains(text, "<local-command-std")
	if name := contentOf(text, "command-name"); name != "" {
		n.command = strings.TrimSpace("/" + strings.TrimPrefix(name, "/") + " " + contentOf(text, "command-args"))
	}
	n.clean(codeRequest, nil)
	switch f := n.form(); {
	case len(f.blocks) == 0, n.local && f.blocks.RenderedText() == "":
		n.hide(b.main.unknown(raw))
		n.now.blocks = shellCall(contentOf(text, "bash-input"), contentOf(text, "bash-stdout"), contentOf(text, "bash-stderr"))
	case n.now != nil: // what was removed is kept
		n.now.kept = chat.Blocks{b.main.unknown(raw)}
	}
}

// commands shows the commands that the model answers as the person typed them. The program ran the others itself.
func commands(lines []codeNode) {
	for i := range lines {
		n := &lines[i]
		if n.command == "" || n.now == nil || n.now.kind != kindHidden {
			continue
		}
		if answeredAfter(lines[i+1:]) {
			n.now.kind, n.now.blocks = kindUser, texts(n.command)
		}
	}
}

// answeredAfter reports whether the next visible line is the model's.
func answeredAfter(lines []codeNode) bool {
	at := slices.IndexFunc(lines, func(n codeNode) bool { return n.local || n.form().kind >= kindUser })
	return at >= 0 && lines[at].form().kind == kindAssistant
}
