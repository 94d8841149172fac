package librarian

import (
	"strings"
	"unicode/utf8"

	"contextinfinity/backend/chat"
)

// documentBytes is how much of an attached document a summary uses: enough to show its subject. Its details are found
// by memory search and do not belong in a summary of a conversation.
const documentBytes = 2 << 10

// withDocuments is a message's text after its attachments, each as its name and beginning.
func withDocuments(m chat.Message) string {
	var parts []string
	for _, d := range m.Blocks.Documents() {
		head := strings.TrimSpace(d.Text)
		if len(head) > documentBytes {
			end := documentBytes
			for end > 0 && !utf8.RuneStart(head[end]) {
				end--
			}
			head = head[:end] + " …"
		}
		parts = append(parts, "(attached document "+d.Name+", which begins:)\n"+head)
	}
	if text := m.RenderedText(); text != "" {
		parts = append(parts, text)
	}
	return strings.Join(parts, "\n\n")
}

// namingDocuments is a message's text with the names of its attachments: the user did not write their content, so no
// statement is taken from it.
func namingDocuments(m chat.Message) string {
	text := m.RenderedText()
	for _, d := range m.Blocks.Documents() {
		text = "Attached document: `" + d.Name + "`\n\n" + text
	}
	return text
}
