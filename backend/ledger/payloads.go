package ledger

import (
	"contextinfinity/backend/chat"
)

// PayloadVersion is the version of the payloads below. A payload of another version is refused; members added later
// are optional.
const PayloadVersion = 1

// envelope is the canonical form of a payload: compact JSON, members in the
// order of the Go type, HTML characters unescaped (chat.MarshalJSON).
type envelope[D any] struct {
	Version int `json:"v"`
	Data    D   `json:"data"`
}

// Payload is the canonical JSON of an event's data.
func Payload(data any) ([]byte, error) {
	return chat.MarshalJSON(envelope[any]{PayloadVersion, data})
}
