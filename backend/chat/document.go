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

// Documents returns the attached documents among the blocks, in order.
func (bs Blocks) Documents() []Document {
	var out []Document
	for _, b := range bs {
		if d, ok := b.(Document); ok {
			out = append(out, d)
		}
	}
	return out
}

// Memories returns the manually attached chunks among the blocks, in order.
func (bs Blocks) Memories() []ChunkID {
	var out []ChunkID
	for _, b := range bs {
		if m, ok := b.(Memory); ok {
			out = append(out, m.Chunk)
		}
	}
	return out
}

// Title returns a one-line title of a message: its first words, or the names of its attachments.
func (m Message) Title() string { return m.firstWords(TitleRunes) }

// Landmark returns the first sentence of a message, or the names of its attachments, for use in another name. Lists
// shorten it with an ellipsis.
func (m Message) Landmark() string { return firstSentence(m.firstWords(landmarkRunes)) }

// landmarkRunes is the maximum length of a landmark, in characters.
const landmarkRunes = 120

func (m Message) firstWords(maxRunes int) string {
	if title := firstWords(m.RenderedText(), maxRunes); title != "" {
		return title
	}
	var names []string
	for _, d := range m.Blocks.Documents() {
		names = append(names, d.Name)
	}
	return firstWords(strings.Join(names, ", "), maxRunes)
}
