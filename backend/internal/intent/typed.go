package intent

import "strings"

// maxTyped is how much of a message is searched for instructions, in bytes: a longer one was probably pasted, and
// takes long.
const maxTyped = 64 << 10

// TypedInstructions are the standing instructions at the beginning of a user's message.
func TypedInstructions(text string) []Span {
	if len(text) > maxTyped {
		text = text[:max(strings.LastIndexAny(text[:maxTyped], "\n "), 0)]
	}
	return StandingInstructions(text)
}
