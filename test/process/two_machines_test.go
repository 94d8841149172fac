package process

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/test/harness"
)

// Two machines go on with one session and exchange bundles by hand, three times: each then has one session, finds what
// both said, and verify finds nothing.
func TestTwoMachinesByHand(t *testing.T) {
	t.Parallel()
	bin := harness.Shipped(t)
	one, two := harness.NewHome(t, bin, ""), harness.NewHome(t, bin, "")
	session := one.OK("send", "--new", "--model", "recall", "--wait", "indexed", "--json", "the first question about the garden").Sent().SessionID
	exchange := func(round int, from, to *harness.Home) string {
		file := filepath.Join(t.TempDir(), fmt.Sprintf("round %d.cinf", round))
		from.OK("export", session, "--format", "bundle", "-o", file)
		return to.OK("import", file).Stdout
	}
	exchange(0, one, two)
	var said []string
	for round := range 3 {
		for name, h := range map[string]*harness.Home{"one": one, "two": two} {
			word := fmt.Sprintf("zebra%s%d", name, round)
			h.OK("send", "--session", session, "--model", "recall", "--wait", "indexed", "say something about "+word)
			said = append(said, word)
		}
		first := exchange(round, one, two)
		second := exchange(round, two, one)
		for _, text := range []string{first, second} {
			if !strings.Contains(text, "Merged: 1 turn from ") {
				t.Fatalf("round %d: the import says %q", round, text)
			}
		}
	}
	for _, h := range []*harness.Home{one, two} {
		var list struct {
			Sessions []struct {
				ID string `json:"session_id"`
			}
		}
		h.OK("sessions", "--json").Document(&list)
		if len(list.Sessions) != 1 || list.Sessions[0].ID != session {
			t.Fatalf("sessions %+v", list)
		}
		for _, word := range said {
			if got := h.OK("search", word).Stdout; !strings.Contains(got, word) {
				t.Errorf("%q is not found: %s", word, got)
			}
		}
		h.Clean()
	}
}
