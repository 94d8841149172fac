package ledger

import (
	"encoding/json"
	"maps"
)

// Type is the type of a ledger event. The list is closed: it is part of the format of bundles and of every later
// replay. The data and effect of each type are defined with its feature: session.go, branch.go, turn.go ...
//
// Payloads contain messages, items and usage as raw JSON, with the same bytes as the derived table; long request and
// response bytes stay in their step, and payloads have their hashes. Fields of the state's records are named like the
// columns they represent.
type Type string

// reducer applies an event to the state.
type reducer func(*State, Event, json.RawMessage) error

// reducing makes a reducer that decodes an event's data.
func reducing[P any](apply func(*State, Event, P) error) reducer {
	return func(s *State, e Event, data json.RawMessage) error {
		var p P
		if err := json.Unmarshal(data, &p); err != nil {
			return err
		}
		return apply(s, e, p)
	}
}

// reducers are the reducers of all types of events.
var reducers = func() map[Type]reducer {
	all := map[Type]reducer{}
	for _, kinds := range []map[Type]reducer{sessionKinds, branchKinds, turnKinds, stepKinds, indexKinds, pinKinds, historyKinds, toolKinds} {
		maps.Copy(all, kinds)
	}
	return all
}()

// Known reports whether a type is in the list.
func (t Type) Known() bool { return reducers[t] != nil }

// Types returns all types, in no particular order.
func Types() []Type {
	out := make([]Type, 0, len(reducers))
	for t := range reducers {
		out = append(out, t)
	}
	return out
}
