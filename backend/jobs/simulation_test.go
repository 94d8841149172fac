package jobs_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/jobs"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/prompt"
	"contextinfinity/test/testtier"
)

// faulty is a model that returns a correct answer or, at random, one of the typical errors of models.
type faulty struct {
	mu     sync.Mutex
	r      *rand.Rand
	share  float64 // probability of each of the five faults
	calls  int
	limit  int
	over   int // inputs over the limit
	pins   []string
	leaks  int // pinned facts in an input
	onCall func(system, user string)
}

func (*faulty) Name() string      { return "faulty" }
func (f *faulty) InputLimit() int { return f.limit }

func (f *faulty) Complete(_ context.Context, system, user string, _ int) (string, *chat.Usage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if (bytesCount{}).Count("", system)+(bytesCount{}).Count("", user) > f.limit {
		f.over++
	}
	for _, p := range f.pins {
		if strings.Contains(user, p) {
			f.leaks++
		}
	}
	if f.onCall != nil {
		f.onCall(system, user)
	}
	usage := &chat.Usage{InputTokens: len(user) / 4, OutputTokens: 100}
	switch draw := f.r.Float64(); {
	case draw < f.share:
		return "## Facts\n- The user plans something.\n", usage, nil // drops facts
	case draw < 2*f.share:
		return "", nil, context.DeadlineExceeded
	case draw < 3*f.share:
		return keepEntries(system, user) + strings.Repeat("- We decided to use plan after plan, and the answer is plan again.\n", 200), usage, nil
	case draw < 4*f.share:
		return user, usage, nil
	case draw < 5*f.share:
		return "Bananas grow quickly beneath tropical moonlight every evening.", usage, nil
	}
	return keepEntries(system, user), usage, nil
}

// keepEntries keeps every decision and rule of its input, or the last ones if there are too many.
func keepEntries(system, user string) string {
	sections, seen := map[string][]string{}, map[string]bool{}
	for _, line := range strings.Split(user, "\n") {
		for _, s := range strings.SplitAfter(strings.TrimPrefix(line, "- "), ". ") {
			switch s = strings.TrimSpace(s); {
			case seen[s]:
			case strings.HasPrefix(s, "We decided"):
				sections["Decisions"] = append(sections["Decisions"], s)
			case strings.HasPrefix(s, "Never"):
				sections["Constraints"] = append(sections["Constraints"], s)
			}
			seen[s] = true
		}
	}
	var b strings.Builder
	headings := []string{"Facts", "Decisions", "Constraints", "Artifacts", "Open tasks"}
	if strings.Contains(system, "What happened") {
		headings = []string{"What happened", "Decisions", "Constraints"}
		sections["What happened"] = []string{"The user and the assistant went through plans."}
	}
	for _, h := range headings {
		fmt.Fprintf(&b, "## %s\n", h)
		list := sections[h]
		for _, s := range list[max(0, len(list)-30):] {
			b.WriteString("- " + s + "\n")
		}
	}
	return b.String()
}

// TestThousandTurns: 1 000 turns (in the everyday form 400) with a model that makes each of five errors a fifth of the time, with one that is
// right half of the time, and with none. Every turn is committed once, nothing grows, nothing loops, and pinned facts
// do not change.
func TestThousandTurns(t *testing.T) {
	for name, m := range map[string]*faulty{"always bad": {share: 0.2}, "often bad": {share: 0.1}, "none": nil} {
		t.Run(name, func(t *testing.T) { simulate(t, m) })
	}
}

var simulatedTurns = testtier.Size(400, 1000)

// simulation is a long conversation with the plan for its history.
type simulation struct {
	*memory
	budget prompt.Budget
	policy prompt.Policy
	sizes  []prompt.Size
	ranges int // jobs
}

func (s *simulation) plan(context.Context, chat.BranchID) {
	plan, near := prompt.Next(s.sizes, s.budget, s.policy)
	if !near {
		plan = prompt.MakePlan(s.sizes, s.budget, s.policy)
	}
	for _, g := range plan.Ranges {
		if s.enqueue(chat.JobSummarizeRange, s.turns[g.To-2], g.From) {
			s.ranges++
		}
	}
}

func simulate(t *testing.T, m *faulty) {
	s := &simulation{memory: newMemory(), policy: prompt.DefaultPolicy()}
	s.budget = prompt.NewBudget(prompt.Limits{ContextLimit: 16_384, MaxOutput: 2048, ResponseReserve: 1000, SafetyMargin: 500, StateTarget: 600}, s.policy, 1)
	pins := []string{"Never deploy on a Friday", "The budget is 41 312.50 EUR"}
	for _, p := range pins {
		s.pins = append(s.pins, chat.Pin{Text: p + "."})
	}
	d := jobs.Deps{
		Queue: s.memory, Store: s.memory, Publish: &recorder{}, Counter: bytesCount{}, TargetTokens: func() int { return 600 }, Plan: s.plan,
		RangeTarget: func(_ context.Context, _ chat.BranchID, tokens int) int {
			return max(64, min(tokens*15/100, s.budget.Summaries/2))
		},
	}
	if m != nil {
		m.r, m.limit, m.pins = rand.New(rand.NewPCG(7, 7)), 8000, pins // a seeded test
		d.Summarize = func(context.Context, chat.Turn) librarian.Model { return m }
	}
	r := jobs.NewRunner(d)
	for n := range simulatedTurns {
		turn := s.addTurn(fmt.Sprintf("We decided to use plan %d. %s. Tell me about the next one.", n, pins[n%2]), "Here is what there is to say about it, in a few words that matter little.")
		s.sizes = append(s.sizes, prompt.Size{Seq: turn.Seq, Tokens: prompt.Measure(turn, func(s string) int { return bytesCount{}.Count("", s) })})
		calls, ranges := m.callCount(), s.ranges
		if _, err := r.Drain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := m.callCount() - calls; n > 12+8*(s.ranges-ranges) {
			t.Fatalf("turn %d cost %d calls for %d ranges", turn.Seq, n, s.ranges-ranges)
		}
	}
	s.check(t, m)
}

// callCount returns how often a model was called; 0 without a model.
func (f *faulty) callCount() int {
	if f == nil {
		return 0
	}
	return f.calls
}

func (s *simulation) check(t *testing.T, m *faulty) {
	origins := map[chat.StateOrigin]int{}
	for _, st := range s.states {
		origins[st.Origin]++
		if st.TokenCount > 600 || (bytesCount{}).Count("", st.Summary) > 600 {
			t.Fatalf("state #%d has %d tokens", st.Seq, st.TokenCount)
		}
		if strings.Contains(st.Summary, "on a Friday") || st.Origin != chat.StateRoot && st.PinnedFacts != "Never deploy on a Friday.\nThe budget is 41 312.50 EUR." {
			t.Fatalf("state #%d contains a pinned fact:\n%s\n%s", st.Seq, st.PinnedFacts, st.Summary)
		}
	}
	if n := origins[chat.StateLibrarian] + origins[chat.StateFallback]; n != simulatedTurns || s.covers[s.branch.HeadState] != int64(simulatedTurns) {
		t.Errorf("%d states cover %d of %d turns", n, s.covers[s.branch.HeadState], simulatedTurns)
	}
	for _, j := range s.jobs {
		if j.State != chat.JobDone {
			t.Errorf("job %+v", j)
		}
	}
	summaries := map[string]int{}
	for _, x := range s.summaries {
		summaries[x.GeneratedBy]++
		if x.TokenCount >= x.OriginalTokens || (bytesCount{}).Count("", x.Content) != x.TokenCount {
			t.Errorf("the summary of turns %d to %d is not smaller", x.From, x.To-1)
		}
	}
	t.Logf("states %v; %d range jobs, summaries by %v; %d calls of the model", origins, s.ranges, summaries, m.callCount())
	if len(s.summaries) == 0 {
		t.Error("no range was summarized")
	}
	if m == nil {
		return
	}
	if m.over > 0 || m.leaks > 0 {
		t.Errorf("%d inputs over the limit, %d pinned facts in an input", m.over, m.leaks)
	}
	if m.share < 0.2 && (origins[chat.StateLibrarian] < simulatedTurns/2 || summaries["faulty"] == 0) {
		t.Errorf("a model that fails half of the time wrote %d states and %d ranges", origins[chat.StateLibrarian], summaries["faulty"])
	}
}
