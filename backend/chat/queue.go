package chat

import (
	"slices"
	"time"
)

// QueueLimit is how many messages of a branch can wait.
const QueueLimit = 20

// QueuedID identifies a queued message.
type QueuedID string

// QueuedMessage waits to be sent on its branch, after the answer before it is complete.
type QueuedMessage struct {
	ID        QueuedID
	BranchID  BranchID
	Message   Message
	CreatedAt time.Time
}

// HoldCause says why the messages of a queue are not sent automatically. It is a closed list.
type HoldCause string

const (
	NotHeld      HoldCause = ""       // the next one is sent when the running answer is complete
	HeldIdle     HoldCause = "idle"   // nothing sends them: the program was started since they were queued, or a refused one was removed
	HeldByStop   HoldCause = "stop"   // the answer before them was stopped
	HeldByAnswer HoldCause = "answer" // the answer before them is not complete
	HeldByError  HoldCause = "error"  // the next one could not be sent
)

// Joined returns both messages as one: the attachments of both, each document and memory once, and the texts below each
// other.
func (m Message) Joined(other Message) Message {
	if before, edited, edit, ok := other.Blocks.AtEdit(); ok { // m joins the draft that the edit replaced
		joined := m.Joined(Message{Role: other.Role, Blocks: before})
		joined.Blocks = append(append(joined.Blocks, edit), edited...)
		return joined
	}
	joined := Message{Role: m.Role}
	for _, b := range slices.Concat(m.Blocks, other.Blocks) {
		if _, ok := b.(Text); !ok && !joined.attaches(b) {
			joined.Blocks = append(joined.Blocks, b)
		}
	}
	text := m.RenderedText()
	if more := other.RenderedText(); more != "" && text != "" {
		text += "\n\n" + more
	} else {
		text += more
	}
	if text != "" {
		joined.Blocks = append(joined.Blocks, Text{Text: text})
	}
	return joined
}

// attaches reports that the message has the same document or memory as the block.
func (m Message) attaches(b Block) bool {
	return slices.ContainsFunc(m.Blocks, func(has Block) bool {
		switch b := b.(type) {
		case Document:
			d, ok := has.(Document)
			return ok && d.File == b.File
		case Memory:
			kept, ok := has.(Memory)
			return ok && kept.Chunk == b.Chunk
		}
		return false
	})
}
