package chunking

import (
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// dateForm is how questions give dates, and what is indexed of a unit's: day,
// month and year are words of their own.
const dateForm = "2 January 2006"

// speakerRunes bounds a person's name, or a document's.
const speakerRunes = 80

// speakerOf is who said a message.
func speakerOf(m chat.Message) string {
	if name := beginning(m.Name, speakerRunes); name != "" {
		return name
	}
	return string(m.Role)
}

// prefix is what is indexed before a unit's words: when and by whom they were
// said, what they are under, and how the other message of the turn begins: a
// question is found by what answers it, an answer by what was asked.
func (s source) prefix(first piece) string {
	var b strings.Builder
	b.WriteString("[" + s.turn.CreatedAt.UTC().Format(dateForm) + "] " + s.speaker)
	if s.headings && *first.path != "" {
		b.WriteString(", " + *first.path)
	}
	b.WriteString(": ")
	if s.context != "" && (s.everywhere || first.start == 0) {
		b.WriteString(s.context + " ")
	}
	return b.String()
}

// headOf is how a text begins, in a line of about so many tokens.
func headOf(text string, tokens int) string {
	if tokens <= 0 {
		return ""
	}
	text = strings.TrimSpace(text)
	text = strings.ToValidUTF8(display.Start(text, tokens*16), "\uFFFD")
	return strings.Join(strings.Fields(text[:within(text, tokens)]), " ")
}
