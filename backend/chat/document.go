package chat

import "strings"

// NewFile is a document to store, with its content read. Text is what is searched and sent; empty if Content is that
// text, byte for byte.
type NewFile struct {
	SessionID SessionID
	Name      string
	MediaType string
	Content   []byte
	Text      string
	Tokens    int // of its text
}

// FileText is a document with its complete text.
type FileText struct {
	File
	Text string
}

// Documents are the attached documents among the blocks, in order.
func (bs Blocks) Documents() []Document {
	var out []Document
	for _, b := range bs {
		if d, ok := b.(Document); ok {
			out = append(out, d)
		}
	}
	return out
}

// Memories are the chunks attached manually among the blocks, in order.
func (bs Blocks) Memories() []ChunkID {
	var out []ChunkID
	for _, b := range bs {
		if m, ok := b.(Memory); ok {
			out = append(out, m.Chunk)
		}
	}
	return out
}

// Title is a one-line title of a message: its first words, or the names of its attachments.
func (m Message) Title() string { return m.firstWords(TitleRunes) }

// Landmark is the first sentence of a message, or the names of its attachments, as a part of another name. A list shows
// less of it, with an ellipsis.
func (m Message) Landmark() string { return firstSentence(m.firstWords(landmarkRunes)) }

// landmarkRunes is the maximum length of a landmark, in characters.
const landmarkRunes = 120

func (m Message) firstWords(most int) string {
	if title := firstWords(m.RenderedText(), most); title != "" {
		return title
	}
	var names []string
	for _, d := range m.Blocks.Documents() {
		names = append(names, d.Name)
	}
	return firstWords(strings.Join(names, ", "), most)
}
