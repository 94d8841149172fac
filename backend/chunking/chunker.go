// Package chunking cuts a turn into chunks and index units (SPEC 8; SRD 9).
//
// It is pure: the same turn gives the same chunks. Offsets are byte offsets into
// the message's rendered text, a chunk's text is exactly those bytes, and no
// chunk or unit crosses a message. Identifiers and times are the store's to give.
//
// Version 1 makes one chunk, of one unit, of each message that has visible text.
// What the recall provider answers is quotation from memory and is never made
// into memory again (SPEC 9).
package chunking

import (
	"strings"
	"unicode"

	"contextinfinity/backend/chat"
)

// Version is stored with each chunk; chunks of another version are made anew.
const Version = 1

// recallProvider is the embedded provider that answers with quotations.
const recallProvider = "recall"

// summaryRunes bounds the deterministic summary of a chunk.
const summaryRunes = 240

// Options are what a chunker needs from outside.
type Options struct {
	// Count measures a text in tokens. Nil: four bytes a token.
	Count func(string) int
}

// Chunk cuts a turn. The result is empty if nothing in it is to be indexed.
func Chunk(turn chat.Turn, opt Options) []chat.Chunk {
	if opt.Count == nil {
		opt.Count = func(s string) int { return (len(s) + 3) / 4 }
	}
	var chunks []chat.Chunk
	for _, m := range indexed(turn) {
		text := m.RenderedText()
		if strings.TrimSpace(text) == "" {
			continue
		}
		c := wholeMessage(turn, m.Role, text, opt)
		c.Ordinal = len(chunks)
		chunks = append(chunks, c)
	}
	return chunks
}

// indexed is the messages of a turn that become memory.
func indexed(turn chat.Turn) []chat.Message {
	messages := []chat.Message{turn.User}
	if turn.Assistant != nil && turn.Provider != recallProvider {
		messages = append(messages, *turn.Assistant)
	}
	return messages
}

func wholeMessage(turn chat.Turn, role chat.Role, text string, opt Options) chat.Chunk {
	unit := chat.Unit{Role: role, Start: 0, End: len(text), Text: unitText(turn, role, text)}
	unit.Tokens = opt.Count(unit.Text)
	return chat.Chunk{
		SessionID: turn.SessionID, BranchID: turn.BranchID, SourceTurn: turn.ID,
		Role: role, Start: 0, End: len(text), Text: text,
		Summary: summary(text), Type: classify(role, text), Tokens: opt.Count(text),
		ContentHash: chat.HashText(text), Version: Version, Units: []chat.Unit{unit},
	}
}

// unitText is what the index scores: who said it and when help to find it.
func unitText(turn chat.Turn, role chat.Role, text string) string {
	date := turn.CreatedAt.UTC().Format("2006-01-02")
	return "[" + date + "] " + string(role) + ": " + strings.ToValidUTF8(text, "\uFFFD")
}

// classify gives the type of SRD 5.8 that can be told from role and form alone.
func classify(role chat.Role, text string) chat.ChunkType {
	switch {
	case role == chat.RoleUser:
		return chat.ChunkUserContext
	case mostlyCode(text):
		return chat.ChunkCode
	}
	return chat.ChunkExplanation
}

// mostlyCode reports that more than half of what is to be read stands in fences.
func mostlyCode(text string) bool {
	code, all := 0, 0
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		mark := fenceOf(trimmed)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && closes(trimmed, fence):
			fence = ""
		default:
			all += len(trimmed)
			if fence != "" {
				code += len(trimmed)
			}
		}
	}
	return code*2 > all
}

// fenceOf is the run of backticks or tildes that opens a code block, or "".
func fenceOf(line string) string {
	for _, c := range []string{"`", "~"} {
		if rest := strings.TrimLeft(line, c); len(line)-len(rest) >= 3 {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// closes reports that line ends the block that fence opened: the same mark, at
// least as long, and nothing else.
func closes(line, fence string) bool {
	return len(line) >= len(fence) && strings.Trim(line, fence[:1]) == ""
}

// summary is the beginning of a text in one line, cut between words.
func summary(text string) string {
	// Twice the bytes that the longest runes need: the text itself may be huge.
	head := text[:min(len(text), summaryRunes*8)]
	line := strings.Join(strings.Fields(strings.ToValidUTF8(head, "\uFFFD")), " ")
	runes := []rune(line)
	if len(runes) <= summaryRunes && len(head) == len(text) {
		return line
	}
	runes = runes[:min(len(runes), summaryRunes)]
	cut := len(runes)
	for i := len(runes) - 1; i > summaryRunes/2; i-- {
		if unicode.IsSpace(runes[i]) {
			cut = i
			break
		}
	}
	return string(runes[:cut]) + "…"
}
