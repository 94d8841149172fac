package process

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

type importedDoc struct {
	Sessions, Grown, Already, Turns int
	Files                           []struct {
		IDs []string `json:"session_ids"`
	}
}

// checkCompleteImport asserts that both conversations exist once, and that verify finds nothing.
func checkCompleteImport(h *harness.Home, turns int) {
	h.T.Helper()
	var list struct {
		Sessions []struct {
			ID    string `json:"session_id"`
			Title string
		}
	}
	h.OK("sessions", "--json").Document(&list)
	if len(list.Sessions) != 2 {
		h.T.Fatalf("sessions %+v", list)
	}
	for _, s := range list.Sessions {
		got := h.Show(s.ID)
		want, branches := 1, 1
		if s.Title == "Long" {
			want, branches = turns, 1+turns/30
		}
		if len(got.Turns) != want || len(got.Branches) != branches {
			h.T.Errorf("%s has %d turns on %d branches, want %d on %d", s.Title, len(got.Turns), len(got.Branches), want, branches)
		}
		for i, turn := range got.Turns {
			if want > 1 && (turn.User.RenderedText() != fmt.Sprintf("question q%d", i) || turn.Text() != fmt.Sprintf("answer a%d", i)) {
				h.T.Fatalf("turn %d says %q, %q", i, turn.User.RenderedText(), turn.Text())
			}
		}
	}
	h.Clean()
}

// An import that is killed at any step, or stopped by a disk error, is completed by the next one without duplicates,
// and verify finds nothing.
func TestAKilledImportIsCompletedByTheNext(t *testing.T) {
	t.Parallel()
	const turns = 90
	file := harness.ForeignExport(t, t.TempDir(), turns)
	specs := []string{"import.part:1:exit", "import.part:2:exit", "tx.import.write.begun:3:exit", "io.wal.write:40:enospc"}
	for n := 1; n <= 4; n++ {
		specs = append(specs, fmt.Sprintf("tx.import.write.committing:%d:exit", n), fmt.Sprintf("tx.import.write.committed:%d:exit", n),
			fmt.Sprintf("tx.import.write.committing:%d:err", n), fmt.Sprintf("tx.import.write.committed:%d:power", n))
	}
	for _, spec := range testtier.Sample(specs, 4) {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			h := harness.NewHome(t, harness.Shipped(t), "")
			r := h.Using(harness.Breakable(t)).With("CONTEXTINFINITY_FAULT="+spec).Run("import", file, "--json")
			if r.Code == 0 || strings.Contains(r.Stderr, "CONTEXTINFINITY_FAULT") {
				t.Fatalf("nothing happened: %s%s", r.Stdout, r.Stderr)
			}
			h.OK("import", file)
			checkCompleteImport(h, turns)
			var again importedDoc
			h.OK("import", file, "--json").Document(&again)
			if again.Already != 2 || again.Turns != 0 {
				t.Errorf("a third time: %+v", again)
			}
		})
	}
}

// Imported conversations are indexed by background work and found by their words; a program that has the data open
// runs the import for other processes.
func TestImportsAreFoundAndForwarded(t *testing.T) {
	t.Parallel()
	h := harness.NewHome(t, harness.Shipped(t), "")
	file := harness.ForeignExport(t, h.Dir, 31)
	host := h.Host("--model", "recall")
	var doc importedDoc
	h.OK("import", filepath.Base(file), "--json").Document(&doc)
	if doc.Sessions != 2 || doc.Turns != 33 || len(doc.Files) != 1 || len(doc.Files[0].IDs) != 2 {
		t.Fatalf("%+v", doc)
	}
	host.Leave()
	h.OK("reconcile")
	if r := h.OK("search", "--scope", "all", "other answer a29", "-k", "100"); !strings.Contains(r.Stdout, "a29") {
		t.Errorf("search: %s", r.Stdout)
	}
	if r := h.OK("search", "--scope", "all", "a short answer"); !strings.Contains(r.Stdout, "short") {
		t.Errorf("search: %s", r.Stdout)
	}
	if r := h.OK("context", doc.Files[0].IDs[0]); !strings.Contains(r.Stdout, "original") {
		t.Errorf("context: %s", r.Stdout)
	}
	h.Clean()
}

// A plan from an imported, dated conversation is an open task in the state summary if its date is after the end of the
// conversation; otherwise it is not.
func TestImportedPlansReachThePrompt(t *testing.T) {
	t.Parallel()
	h := harness.NewHome(t, harness.Shipped(t), "[budget]\nworking_set_tokens = 6000\n")
	var b strings.Builder
	message := func(day int, role, text string) {
		fmt.Fprintf(&b, `{"conv":"c","date":"May-%02d-2024","role":%q,"text":%q}`+"\n", day, role, text)
	}
	for i := range 40 {
		text := fmt.Sprintf("Tell me more about lighthouse %d.", i)
		switch i {
		case 2:
			text = "The harbour tour is booked for May 8, 2024, so I'm excited."
		case 3:
			text = "My talk at the museum is scheduled for June 21, 2024."
		}
		message(1+i/2, "user", text)
		message(1+i/2, "assistant", strings.Repeat(fmt.Sprintf("The lamp of lighthouse %d shines far over the sea. ", i), 30))
	}
	file := filepath.Join(h.Dir, "dated.jsonl")
	harness.WriteFile(t, file, []byte(b.String()))
	var doc importedDoc
	h.OK("import", file, "--json").Document(&doc)
	h.OK("reconcile")
	text := h.OK("context", doc.Files[0].IDs[0], "--text").Stdout
	_, state, _ := strings.Cut(text, "<state_summary>\n")
	state, _, _ = strings.Cut(state, "</state_summary>")
	_, tasks, _ := strings.Cut(state, "## Open tasks")
	if !strings.Contains(tasks, "June 21") || strings.Contains(tasks, "May 8") || !strings.Contains(state, "May 8") {
		t.Errorf("the state summary of the prompt:\n%s", state)
	}
}
