package pagetypes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// results is the shape with the results of methods and the payloads of events as fields.
const results = "results"

// lists says for each shape which of its fields are lists, or contain any at any depth: "[]", "Shape" or "Shape[]".
// Go encodes a nil list as null, and the page reads it as an empty one.
type lists map[string]map[string]string

func (l lists) add(shape, field, typ string) {
	typ = strings.TrimSuffix(typ, " | null")
	if l[shape] == nil {
		l[shape] = map[string]string{}
	}
	l[shape][field] = typ
}

// prune removes what contains no list, and shapes that the program never sends.
func (l lists) prune() {
	holds := map[string]bool{"": true} // the result for a list of items without lists
	for more := true; more; {
		more = false
		for shape, fields := range l {
			for _, typ := range fields {
				if of, list := strings.CutSuffix(typ, "[]"); !holds[shape] && (list || holds[of]) {
					holds[shape], more = true, true
				}
			}
		}
	}
	arrives := map[string]bool{}
	var arrive func(shape string)
	arrive = func(shape string) {
		if arrives[shape] || !holds[shape] {
			return
		}
		arrives[shape] = true
		for field, typ := range l[shape] {
			of, list := strings.CutSuffix(typ, "[]")
			switch arrive(of); {
			case holds[of]:
			case list:
				l[shape][field] = "[]"
			default:
				delete(l[shape], field)
			}
		}
	}
	arrive(results)
	maps.DeleteFunc(l, func(shape string, _ map[string]string) bool { return !arrives[shape] })
}

func (w *writer) writeLists() {
	w.lists.prune()
	fmt.Fprint(w, `
/**
 * Where lists are: the fields that are one ("[]", "Shape[]" if its items hold lists too) or a shape that holds any.
 * Go sends null for a list without items, which the page reads as an empty one (wails.ts).
 */
export const lists: Record<string, Record<string, string>> = {
`)
	for _, shape := range slices.Sorted(maps.Keys(w.lists)) {
		var fields []string
		for _, field := range slices.Sorted(maps.Keys(w.lists[shape])) {
			name := field
			if shape == results {
				name = "'" + field + "'"
			}
			fields = append(fields, fmt.Sprintf("%s: '%s'", name, w.lists[shape][field]))
		}
		if shape == results {
			fmt.Fprintf(w, "  %s: {\n    %s,\n  },\n", shape, strings.Join(fields, ",\n    "))
			continue
		}
		fmt.Fprintf(w, "  %s: { %s },\n", shape, strings.Join(fields, ", "))
	}
	fmt.Fprint(w, "};\n")
}
