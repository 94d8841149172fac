package intent

import "strings"

// maxTyped is how much of a message is looked at for instructions, in bytes: what is longer
// was pasted for the most part, and takes its time.
const maxTyped = 64 << 10

// TypedInstructions are the standing instructions in the beginning of a user's message.
func TypedInstructions(text string) []Span {
	if len(text) > maxTyped {
		text = text[:max(strings.LastIndexAny(text[:maxTyped], "\n "), 0)]
	}
	return StandingInstructions(text)
}
