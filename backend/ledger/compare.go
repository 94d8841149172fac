package ledger

import (
	"maps"
	"reflect"
	"slices"
)

// Difference is a record that differs between two states.
type Difference struct {
	Table, ID string
	Fields    []string // names of the differing fields
	Missing   bool     // not in have
	Unknown   bool     // not in want
}

// Compare lists the differences between the stored data and the ledger, in the order of tables and ids. Calibrations
// are left out: they belong to no session.
func Compare(have, want *State) []Difference {
	var out []Difference
	expected := want.tables()
	for i, t := range have.tables() {
		out = append(out, t.rows.compare(t.name, expected[i].rows)...)
	}
	return out
}

// Part returns the state with the records of some turns, some states and summaries, by their ids, and with all that are no part of
// a turn otherwise.
func (s *State) Part(ids []string) *State {
	in := make(map[string]bool, len(ids))
	for _, id := range ids {
		in[id] = true
	}
	out := *s
	out.States = part(s.States, func(id string, _ *Checkpoint) bool { return in[id] })
	out.Summaries = part(s.Summaries, func(id string, _ *Summary) bool { return in[id] })
	out.Turns = part(s.Turns, func(id string, _ *Turn) bool { return in[id] })
	out.Steps = part(s.Steps, func(_ string, r *Step) bool { return in[r.TurnID] })
	out.Files = part(s.Files, func(_ string, r *File) bool { return in[r.TurnID] })
	out.Chunks = part(s.Chunks, func(_ string, r *Chunk) bool { return in[r.TurnID] })
	out.Units = part(s.Units, func(_ string, r *Unit) bool { return in[r.TurnID] })
	out.ToolBatches = part(s.ToolBatches, func(_ string, r *ToolBatch) bool { return in[r.TurnID] })
	out.ToolCalls = part(s.ToolCalls, func(_ string, r *ToolCall) bool { return out.ToolBatches[r.BatchID] != nil })
	return &out
}

func part[R any](all map[string]*R, has func(string, *R) bool) map[string]*R {
	out := map[string]*R{}
	for id, r := range all {
		if has(id, r) {
			out[id] = r
		}
	}
	return out
}

// table is one kind of records of a state.
type table struct {
	name string
	rows interface {
		containsNil() bool
		compare(name string, want any) []Difference
	}
}

type records[R any] map[string]*R

func (r records[R]) containsNil() bool {
	if r == nil {
		return true
	}
	for _, v := range r {
		if v == nil {
			return true
		}
	}
	return false
}

func (r records[R]) compare(name string, other any) []Difference {
	want, ok := other.(records[R])
	if !ok {
		return []Difference{{Table: name, Unknown: true}}
	}
	var out []Difference
	for id, w := range want {
		h, exists := r[id]
		if !exists {
			out = append(out, Difference{Table: name, ID: id, Missing: true})
		} else if fields := differingFields(h, w); fields != nil {
			out = append(out, Difference{Table: name, ID: id, Fields: fields})
		}
	}
	for id := range maps.Keys(r) {
		if want[id] == nil {
			out = append(out, Difference{Table: name, ID: id, Unknown: true})
		}
	}
	slices.SortFunc(out, func(a, b Difference) int {
		if a.ID < b.ID {
			return -1
		}
		return 1
	})
	return out
}

// differingFields returns the names of the fields that differ between two records.
func differingFields[R any](a, b *R) []string {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	var out []string
	x, y := reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem()
	for i := range x.NumField() {
		if !reflect.DeepEqual(x.Field(i).Interface(), y.Field(i).Interface()) {
			out = append(out, x.Type().Field(i).Tag.Get("json"))
		}
	}
	return out
}
