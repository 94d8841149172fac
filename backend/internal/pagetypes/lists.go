package pagetypes

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// results is a shape whose fields are the results of methods and the payloads of events.
const results = "results"

// times is the kind of a field that is a time.
const times = "time"

// lists contains for each shape the fields that are lists or times, or contain one at any depth: "[]", "time", "Shape"
// or "Shape[]". Go encodes a nil list as null, which the page reads as an empty one, and a time as text, which it reads
// as milliseconds.
type lists map[string]map[string]string

func (l lists) add(shape, field, typ string) {
	typ = strings.TrimSuffix(typ, " | null")
	if l[shape] == nil {
		l[shape] = map[string]string{}
	}
	l[shape][field] = typ
}

// prune removes fields that contain no list, and shapes that the program never sends.
func (l lists) prune() {
	hasList := map[string]bool{"": true, times: true} // "" is the shape of "[]"
	for more := true; more; {
		more = false
		for shape, fields := range l {
			for _, typ := range fields {
				if item, isList := strings.CutSuffix(typ, "[]"); !hasList[shape] && (isList || hasList[item]) {
					hasList[shape], more = true, true
				}
			}
		}
	}
	sent := map[string]bool{}
	var markSent func(shape string)
	markSent = func(shape string) {
		if sent[shape] || !hasList[shape] {
			return
		}
		sent[shape] = true
		for field, typ := range l[shape] {
			item, isList := strings.CutSuffix(typ, "[]")
			switch markSent(item); {
			case hasList[item]:
			case isList:
				l[shape][field] = "[]"
			default:
				delete(l[shape], field)
			}
		}
	}
	markSent(results)
	maps.DeleteFunc(l, func(shape string, _ map[string]string) bool { return !sent[shape] })
}

func (w *writer) writeLists() {
	w.lists.prune()
	fmt.Fprint(w, `
/**
 * Where lists and times are: the fields that are one ("[]", "Shape[]" if its items hold some too; "time") or a shape
 * that holds any. Go sends null for a list without items, which the page reads as an empty one, and a time as text,
 * which it reads as milliseconds (wails.ts).
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
