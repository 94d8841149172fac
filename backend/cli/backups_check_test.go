package cli

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// Damaged backups, which cannot be restored, are distinguished from readable ones that contain problems.
func TestProblemsFoundInBackups(t *testing.T) {
	damaged, faulty := chat.Backup{Problem: "torn", Problems: 1}, chat.Backup{Problems: 2}
	for name, c := range map[string]struct {
		list []chat.Backup
		want string // empty: no error
		hint string
	}{
		"none":     {},
		"intact":   {list: []chat.Backup{{}, {}}},
		"damaged":  {[]chat.Backup{{}, damaged}, "1 backup cannot be restored.", "make a new one"},
		"problems": {[]chat.Backup{faulty, faulty}, "verify finds problems in 2 backups, which restoring does not repair.", "contextinfinity verify"},
		"both":     {[]chat.Backup{faulty, damaged}, "1 backup cannot be restored. verify finds problems in 1 backup, which", "contextinfinity verify"},
	} {
		err := backupProblems(c.list)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if e := chat.AsError(err); e == nil || e.Code != chat.CodeCorrupt || !strings.HasPrefix(e.Message, c.want) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestProblemsOfBackupsAreListed(t *testing.T) {
	var text strings.Builder
	found := []chat.Finding{{Kind: "content", Table: "turns", ID: "7", Message: "The hash does not match."}}
	backupList([]chat.Backup{{Path: "/a.db", Problems: 3, Findings: found}, {Path: "/b.db"}}, true).text(&output{w: &text})
	for _, want := range []string{"now: 3 problems", "verify finds 3 problems in /a.db:\n  content: turns 7: The hash does not match."} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in %s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "in /b.db") {
		t.Errorf("%s", text.String())
	}
}
