package chunking

import (
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/display"
)

// dateForm is the form in which a unit's date is indexed. It is the usual form in questions: day, month and year are
// separate words.
const dateForm = "2 January 2006"

// speakerRunes limits a person's or document's name.
const speakerRunes = 80

// speakerOf is the speaker of a message.
func speakerOf(m chat.Message) string {
	if name := beginning(m.Name, speakerRunes); name != "" {
		return name
	}
	return string(m.Role)
}

// prefix is the text that is indexed before a unit's own text: date and speaker, the headings of a document, and the beginning of the
// turn's other message, so that a question is found by its answer, and an answer by its question.
func (s source) prefix(first piece) string {
	var b strings.Builder
	b.WriteString("[" + s.turn.CreatedAt.UTC().Format(dateForm) + "] " + s.speaker)
	if s.file != "" && *first.path != "" {
		b.WriteString(", " + *first.path)
	}
	b.WriteString(": ")
	if s.context != "" && (s.everywhere || first.start == 0) {
		b.WriteString(s.context + " ")
	}
	return b.String()
}

// headOf is the beginning of a text, in one line of about this many tokens.
func headOf(text string, tokens int) string {
	if tokens <= 0 {
		return ""
	}
	text = strings.TrimSpace(text)
	text = strings.ToValidUTF8(display.Start(text, tokens*16), "\uFFFD")
	return strings.Join(strings.Fields(text[:within(text, tokens)]), " ")
}
