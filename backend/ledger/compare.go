package ledger

import (
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
func Compare(have, want *State) []Difference { return compare(have, want, false) }

// ComparePart is Compare for a part of the stored data: what is not in have is no difference.
func ComparePart(have, want *State) []Difference { return compare(have, want, true) }

func compare(have, want *State, part bool) []Difference {
	var out []Difference
	expected := want.tables()
	for i, t := range have.tables() {
		out = append(out, t.rows.compare(t.name, expected[i].rows, part)...)
	}
	return out
}

// table is one kind of records of a state.
type table struct {
	name string
	rows interface {
		containsNil() bool
		compare(name string, want any, part bool) []Difference
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

func (r records[R]) compare(name string, other any, part bool) []Difference {
	want, ok := other.(records[R])
	if !ok {
		return []Difference{{Table: name, Unknown: true}}
	}
	var out []Difference
	for id, h := range r {
		if w := want[id]; w == nil {
			out = append(out, Difference{Table: name, ID: id, Unknown: true})
		} else if fields := differingFields(h, w); fields != nil {
			out = append(out, Difference{Table: name, ID: id, Fields: fields})
		}
	}
	if !part {
		for id := range want {
			if r[id] == nil {
				out = append(out, Difference{Table: name, ID: id, Missing: true})
			}
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
