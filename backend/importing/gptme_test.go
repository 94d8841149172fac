package importing_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"contextinfinity/backend/chat"
)

// TestBranchesOfGptme: gptme stores each branch as a separate log in a folder below the conversation; its
// events and shortened views are not conversations.
func TestBranchesOfGptme(t *testing.T) {
	e := newEnv(t)
	line := func(role, text string, second int) string {
		return fmt.Sprintf(`{"role":%q,"content":%q,"timestamp":"2025-03-01T10:00:%02d"}`+"\n", role, text, second)
	}
	begin := line("user", "One?", 1) + line("assistant", "One.", 2)
	e.file("logs/2025-03-01-count-boats/conversation.jsonl", begin+line("user", "Two?", 3)+line("assistant", "Two.", 4))
	e.file("logs/2025-03-01-count-boats/branches/main-edit-0.jsonl", begin+line("user", "Three?", 5)+line("assistant", "Three.", 6))
	e.file("logs/2025-03-01-count-boats/views/compacted-001.jsonl", line("system", "A summary.", 7)+line("user", "Two?", 3))
	e.file("logs/2025-03-01-count-boats/events.jsonl", `{"seq":1,"ts":"2025-03-01T10:00:01+00:00","type":"message_append","payload":{"message":{"role":"user","content":"One?"}}}`+"\n")

	report := e.mustImport(e.dir + "/logs")
	if len(report.SessionIDs) == 0 || report.Sessions != 1 || report.Turns != 3 || report.SkippedCount != 0 {
		t.Fatalf("%+v", report)
	}
	texts := slices.Sorted(maps.Values(e.texts(report.SessionIDs[0])))
	if len(texts) != 2 {
		t.Errorf("branches: %q", texts)
	}
	session, err := e.Session(t.Context(), report.SessionIDs[0])
	if err != nil || session.Title != "count boats" {
		t.Errorf("the title is %q, %v", session.Title, err)
	}
	turns, err := e.Lineage(t.Context(), chat.LineageQuery{Branch: session.ActiveBranch})
	if err != nil || turns[len(turns)-1].User.RenderedText() != "Two?" {
		t.Errorf("the conversation continues on another branch: %v", err)
	}
	if again := e.mustImport(e.dir + "/logs"); again.Sessions != 0 || again.Turns != 0 {
		t.Errorf("again: %+v", again)
	}
}
