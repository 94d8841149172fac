package ledger

import (
	"contextinfinity/backend/chat"
)

// PayloadVersion is the version of the payloads below. A payload of another version
// is refused; members that are added later are optional in it.
const PayloadVersion = 1

// envelope is the canonical form of a payload: compact JSON, members in the
// order of the Go type, HTML characters unescaped (chat.MarshalJSON).
type envelope[D any] struct {
	Version int `json:"v"`
	Data    D   `json:"data"`
}

// Payload is the canonical JSON of what an event tells.
func Payload(data any) ([]byte, error) {
	return chat.MarshalJSON(envelope[any]{PayloadVersion, data})
}
