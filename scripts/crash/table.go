package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// printTable prints what was tried and found, and returns the number of problems.
func printTable(w io.Writer, rows []outcome) int {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	_, _ = fmt.Fprintln(t, "PART\tTRIED\tPROBLEMS\tDETAILS")
	found := 0
	for _, r := range rows {
		_, _ = fmt.Fprintf(t, "%s\t%d\t%d\t%s\n", r.what, r.tried, len(r.found), r.detail)
		found += len(r.found)
	}
	_ = t.Flush()
	printFlips(w, rows)
	for _, r := range rows {
		for i, f := range r.found {
			if i == 20 {
				_, _ = fmt.Fprintf(w, "\n%s: %d more\n", r.what, len(r.found)-i)
				break
			}
			_, _ = fmt.Fprintf(w, "\n%s: %s\n", r.what, f)
		}
		if r.kept != "" {
			_, _ = fmt.Fprintf(w, "\n%s: the data is in %s\n", r.what, r.kept)
		}
	}
	return found
}
