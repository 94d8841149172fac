package ledger

import (
	"encoding/json"
	"maps"
)

// Type names what a ledger event records. The list is closed: it is part of the format of
// bundles and of every later replay. What an event of a type tells, and what a session's
// state is after it, is with the feature: session.go, branch.go, turn.go ...
//
// Payloads hold messages, items and usage as raw JSON, with the same bytes as the derived
// table; long request and response bytes stay in their step, and payloads hold their hashes.
// Records of the state have fields that are named as the columns they represent.
type Type string

// reducer makes the state what it is after an event.
type reducer func(*State, Event, json.RawMessage) error

// reducing decodes what an event tells for what applies it.
func reducing[P any](apply func(*State, Event, P) error) reducer {
	return func(s *State, e Event, data json.RawMessage) error {
		var p P
		if err := json.Unmarshal(data, &p); err != nil {
			return err
		}
		return apply(s, e, p)
	}
}

// reducers are of all types of events.
var reducers = func() map[Type]reducer {
	all := map[Type]reducer{}
	for _, kinds := range []map[Type]reducer{sessionKinds, branchKinds, turnKinds, stepKinds, indexKinds, pinKinds, historyKinds, toolKinds} {
		maps.Copy(all, kinds)
	}
	return all
}()

// Known reports that the list holds a type.
func (t Type) Known() bool { return reducers[t] != nil }

// Types are all of the list, in no order.
func Types() []Type {
	out := make([]Type, 0, len(reducers))
	for t := range reducers {
		out = append(out, t)
	}
	return out
}
