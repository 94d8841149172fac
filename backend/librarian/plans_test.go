package librarian_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// The date of a plan is read in the common formats.
func TestDaysOfPlans(t *testing.T) {
	for day, ahead := range map[string]bool{
		"May 14, 2024": true, "May-14-2024": true, "14-May-2024": true, "14 May": true, "2024-05-14": true, "May-14": true,
		"February-14-2024": false, "14-Feb-2024": false, "May-14-2023": false,
	} {
		message := turn("My interview with Wyndham Partners is scheduled for "+day+".", "Good luck.")
		message.CreatedAt = time.Date(2024, 3, 1, 9, 0, 0, 0, time.UTC)
		sum := librarian.Parse(librarian.Fallback(librarian.Update{Turns: []chat.Turn{message}}).Summary)
		if got := len(sum.Entries(librarian.OpenTasks)) == 1; got != ahead {
			t.Errorf("%s: open tasks %q", day, sum.Entries(librarian.OpenTasks))
		}
	}
}

// A plan with a future date is kept in preference to newer tasks without a date, both when the summary is made and
// when it is cut to a smaller cap; an overdue task is not.
func TestAFuturePlanOutlastsNewerTasks(t *testing.T) {
	const plan, overdue = "I have an interview with Wyndham Partners on May 14, 2024", "I need to send the tax form by February 2, 2024"
	turns := []chat.Turn{turn(overdue+".", "Noted."), turn(plan+", and I'm a bit nervous.", "Good luck.")}
	for i := range 30 {
		turns = append(turns, turn(fmt.Sprintf("I still need to rewrite the chapter about harbour number %d of the book.", i), "Noted."))
	}
	for i := range turns {
		turns[i].CreatedAt = time.Date(2024, 3, 1+i/2, 9, 0, 0, 0, time.UTC)
	}
	sum := librarian.Fallback(librarian.Update{Turns: turns, Target: 400}).Summary
	for name, text := range map[string]string{"summary": sum, "cut": librarian.Trim(sum, 250, nil)} {
		tasks := librarian.Parse(text).Entries(librarian.OpenTasks)
		has := func(words string) bool {
			return slices.ContainsFunc(tasks, func(e string) bool { return strings.Contains(e, words) })
		}
		if !has("Wyndham Partners") || has("tax form") {
			t.Errorf("%s: open tasks %q", name, tasks)
		}
	}
}
