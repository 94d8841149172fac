package api

import "contextinfinity/backend/chat"

// QueueView is the messages that wait on a branch, in order, at most 20.
type QueueView struct {
	Messages []QueuedMessage `json:"messages"`
	// Held says why they are not sent automatically; "": the next one is sent when the running answer is complete.
	Held chat.HoldCause `json:"held"`
	// Error says why the next message could not be sent, if it was refused.
	Error *ErrorView `json:"error"`
}

// QueuedMessage is a message that waits. Text is at most its first 600 characters.
type QueuedMessage struct {
	ID       string     `json:"id"`
	Text     string     `json:"text"`
	Cut      bool       `json:"cut"` // Text is not all of it
	Images   int        `json:"images"`
	Files    []FileView `json:"files"`
	Memories int        `json:"memories"` // attached memory
}
