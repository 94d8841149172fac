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
	HeldIdle     HoldCause = "idle"   // the program was restarted after they were queued, or the message that could not be sent is no longer the first
	HeldByStop   HoldCause = "stop"   // the answer before them was stopped
	HeldByAnswer HoldCause = "answer" // the answer before them is not complete
	HeldByError  HoldCause = "error"  // the next one could not be sent
)

// Joined returns both messages as one: the attachments of both, with each document and memory only once, and both texts
// separated by an empty line.
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

// attaches reports whether the message already has the document or memory of a block.
func (m Message) attaches(b Block) bool {
	return slices.ContainsFunc(m.Blocks, func(own Block) bool {
		switch b := b.(type) {
		case Document:
			d, ok := own.(Document)
			return ok && d.File == b.File
		case Memory:
			memory, ok := own.(Memory)
			return ok && memory.Chunk == b.Chunk
		}
		return false
	})
}
