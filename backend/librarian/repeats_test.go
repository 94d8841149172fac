package librarian_test

import (
	"slices"
	"testing"

	"contextinfinity/backend/librarian"
)

// A line of a range summary counts as a repetition only if the state summary contains all of it.
func TestRepeatedLines(t *testing.T) {
	const state = "## Facts\n- The office in Bergen opens in March with 12 desks.\n\n## Decisions\n- We decided to store sessions in PostgreSQL.\n\n" +
		"## Constraints\n- Always answer in metric units.\n- Never deploy the billing service on Fridays.\n\n## Artifacts\n- backend/store/open.go\n- MAX_CONN=42\n\n" +
		"## Last exchange\n- User: The garden fence needs a new gate before winter."
	text := "The office was discussed.\n" + // 0: nowhere in the state summary
		"## Decisions\n" + // 1: a section without a remaining line
		"- We decided to store the sessions in PostgreSQL.\n" + // 2
		"## Constraints\n" +
		"- Always answer in metric units.\n" + // 4
		"- Deploy the billing service on Fridays.\n" + // 5: the opposite
		"## Facts\n" +
		"- The office in Bergen opens in March with 14 desks.\n" + // 7: another number
		"- The office in Bergen opens in March with 12 desks and a studio for Marta's podcast.\n" + // 8: contains more
		"- The garden fence needs a new gate before winter.\n" + // 9: only in the excerpt of the last exchange, which is not sent
		"## Artifacts\n" + // 10
		"- backend/store/open.go · MAX_CONN=42\n" // 11
	want := []int{1, 2, 4, 10, 11}
	if got := librarian.RepeatedLines(text, state); !slices.Equal(got, want) {
		t.Errorf("the repeated lines are %v, want %v", got, want)
	}
	if got := librarian.RepeatedLines(text, ""); len(got) != 0 {
		t.Errorf("with an empty state, the repeated lines are %v", got)
	}
}
