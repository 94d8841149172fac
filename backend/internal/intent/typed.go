package intent

import "strings"

// maxTyped is how much of a message is searched for instructions, in bytes: a longer message was probably pasted, and
// searching it would take long.
const maxTyped = 64 << 10

// TypedInstructions returns the standing instructions in the first maxTyped bytes of a user's message.
func TypedInstructions(text string) []Span {
	if len(text) > maxTyped {
		text = text[:max(strings.LastIndexAny(text[:maxTyped], "\n "), 0)]
	}
	return StandingInstructions(text)
}
