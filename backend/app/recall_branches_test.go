package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm/llmtest"
	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// tree is a session that is forked at random.
type tree struct {
	*fixture
	session string
	said    map[string][]string // branch -> words of its lineage
	turns   map[string][]string // branch -> turns of its lineage
}

// SPEC 2.7: whatever branches a session has, a request on one of them contains no word from a sibling, in its memory
// block or elsewhere; its own past is recalled.
func TestBranchesNeverRecallTheirSiblings(t *testing.T) {
	t.Parallel()
	for seed := range testtier.Size(uint64(2), 4) { // one of each scope
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := harness.ChatWire
			r := harness.NewRelay(t, w, func(n int) llmtest.Step {
				return llmtest.Stream(w.TextStream(true, "It is noted. ", strings.Repeat("Go on. ", 40))...)
			}, nil)
			scope := []string{"lineage", "all"}[seed%2]
			d := newFixture(t, w.Windowed("m", r.URL, 2600)+"[librarian]\nmodel = \"\"\n[retrieval]\nscope = \""+scope+"\"\n")
			tr := tree{fixture: d, said: map[string][]string{}, turns: map[string][]string{}}
			rnd := rand.New(rand.NewPCG(seed, 7))
			tr.grow(rnd)
			recalled := 0
			for branch := range tr.said {
				d.OK("switch", tr.session, branch)
				s := d.send(tr.session, "Which zebra names were noted about the river?", "--model", "m")
				v := d.contextView(tr.session, "--branch", branch, "--turn", s.TurnID)
				for _, word := range zebras.FindAllString(string(r.LastBody(t)), -1) {
					if !slices.Contains(tr.said[branch], word) {
						t.Errorf("the request of branch %s contains %s, which only a sibling mentioned", branch, word)
					}
				}
				recalled += v.Sources()["chunk"]
				if !v.Same {
					t.Errorf("%s", v.Note)
				}
			}
			if recalled < len(tr.said) {
				t.Errorf("%d memories on %d branches: too few for the test", recalled, len(tr.said))
			}
			d.Clean()
		})
	}
}

var zebras = regexp.MustCompile(`zebra\d+`)

// grow sends a unique word in each turn, and forks at random.
func (tr *tree) grow(rnd *rand.Rand) {
	tr.t.Helper()
	branch := ""
	for i := range testtier.Size(24, 36) {
		word := fmt.Sprintf("zebra%d", 100+i)
		s := tr.send(tr.session, fmt.Sprintf("The zebra that came to the river is called %s. %s", word, chatter(i)), "--model", "m", "--wait", "indexed")
		if tr.session == "" {
			tr.session, branch = s.SessionID, s.BranchID
		}
		tr.said[branch] = append(slices.Clone(tr.said[branch]), word)
		tr.turns[branch] = append(slices.Clone(tr.turns[branch]), s.TurnID)
		if rnd.IntN(5) == 0 {
			branch = tr.fork(rnd)
		}
	}
}

// fork starts a branch after a random turn of a random branch, and switches to it.
func (tr *tree) fork(rnd *rand.Rand) string {
	tr.t.Helper()
	all := slices.Sorted(func(yield func(string) bool) {
		for b := range tr.said {
			if !yield(b) {
				return
			}
		}
	})
	from := all[rnd.IntN(len(all))]
	at := rnd.IntN(len(tr.turns[from]))
	b, err := tr.Branches.After(context.Background(), chat.TurnID(tr.turns[from][at]), "", true)
	if err != nil {
		tr.t.Fatal(err)
	}
	tr.said[string(b.ID)] = slices.Clone(tr.said[from][:at+1])
	tr.turns[string(b.ID)] = slices.Clone(tr.turns[from][:at+1])
	return string(b.ID)
}
