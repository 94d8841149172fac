package events

import (
	"encoding/json"
	"errors"

	"contextinfinity/backend/ledger"
)

// PayloadOf decodes an event's payload and converts it.
func PayloadOf[P, R any](e ledger.Event, do func(ledger.Event, P) (R, error)) (R, error) {
	var env struct {
		Version int `json:"v"`
		Data    P   `json:"data"`
	}
	var zero R
	if err := json.Unmarshal(e.Payload, &env); err != nil {
		return zero, err
	}
	if env.Version != ledger.PayloadVersion {
		return zero, errors.New("its payload is of another version")
	}
	return do(e, env.Data)
}
