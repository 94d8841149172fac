package librarian_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/tokens"
)

// needle is something that a user said once and relies on. It counts as found if all its parts are in one line.
type needle struct {
	kind, text string
	parts      []string
	turn       int64
	pinned     bool
}

func (n needle) in(text string) bool {
	for line := range strings.Lines(text) {
		if !slices.ContainsFunc(n.parts, func(p string) bool { return !strings.Contains(line, p) }) {
			return true
		}
	}
	return false
}

var (
	people    = strings.Fields("Ilse Marek Yusuf Anneke Bronwyn Takeshi Oluchi Rafaela Sören Priya Callum Zofia Hamid Linnea Dario Wanjiru Étienne Mirela Kofi Saoirse")
	places    = strings.Fields("Graz Tromsø Porto Izmir Leuven Osaka Enugu Recife Malmö Pune Dundee Gdynia Tabriz Tampere Bari Nakuru Lyon Cluj Kumasi Galway")
	firms     = []string{"Halvorsen", "Brightwater", "Moreau & Fils", "Kestrel Freight", "Nordlicht", "Quintana Foods", "Abbotsford Tools", "Pellegrini"}
	months    = strings.Fields("January February March April May June July August September October November December")
	days      = strings.Fields("Mondays Tuesdays Wednesdays Thursdays Fridays")
	relations = []string{"My sister", "My cousin", "Our neighbour", "My manager", "My old flatmate", "Our accountant", "My brother-in-law", "My dentist"}
	leads     = []string{"", "", "By the way, ", "Oh, and ", "For context: ", "I should mention that ", "Just so you know, ", "Anyway, "}
)

// newNeedle returns the i-th needle; few have a cue word, most are only mentioned.
func newNeedle(r *rand.Rand, i int) needle {
	who, where, firm := people[(i*7)%len(people)], places[(i*3+i/20)%len(places)], firms[i%len(firms)]
	month, year, day := months[r.IntN(12)], 1990+r.IntN(35), 1+r.IntN(28)
	amount := fmt.Sprintf("%d.%02d", 100+r.IntN(9000)+i, r.IntN(100))
	pick := func(forms ...needle) needle { return forms[r.IntN(len(forms))] }
	switch i % 4 {
	case 0:
		k := relations[r.IntN(len(relations))]
		return pick(
			needle{"name", fmt.Sprintf("%s %s moved to %s in %s %d.", k, who, where, month, year), []string{who, where, fmt.Sprint(year)}, 0, false},
			needle{"name", fmt.Sprintf("%s is called %s and works for %s in %s.", k, who, firm, where), []string{who, firm, where}, 0, false},
			needle{"name", fmt.Sprintf("%s %s is allergic to hazelnuts and lives at %d Mill Lane, %s.", k, who, i+3, where), []string{who, fmt.Sprint(i+3) + " Mill Lane", where}, 0, false},
		)
	case 1:
		return pick(
			needle{"amount", fmt.Sprintf("The invoice from %s was %s EUR.", firm, amount), []string{firm, amount}, 0, false},
			needle{"amount", fmt.Sprintf("%s still owes me %s dollars for the boat.", who, amount), []string{who, amount}, 0, false},
			needle{"amount", fmt.Sprintf("The deposit for the flat in %s came to %s CHF.", where, amount), []string{where, amount}, 0, false},
		)
	case 2:
		return pick(
			needle{"date", fmt.Sprintf("The lease with %s ends on %d %s %d.", firm, day, month, year+40), []string{firm, fmt.Sprintf("%d %s %d", day, month, year+40)}, 0, false},
			needle{"date", fmt.Sprintf("%s turns forty on %s %d, so we booked a table in %s.", who, month, day, where), []string{who, fmt.Sprintf("%s %d", month, day), where}, 0, false},
			needle{"date", fmt.Sprintf("My appointment at the clinic in %s is on %s %d at 9:%02d.", where, month, day, i%60), []string{where, fmt.Sprintf("%s %d", month, day), fmt.Sprintf("9:%02d", i%60)}, 0, false},
		)
	}
	return pick(
		needle{"never", fmt.Sprintf("Never call the %s office on %s.", where, days[i%5]), []string{"ever call", where, days[i%5]}, 0, false},
		needle{"never", fmt.Sprintf("Please don't ever mention %s when you draft mails to %s.", who, firm), []string{"don't ever mention", who, firm}, 0, false},
		needle{"never", fmt.Sprintf("The %s account must stay out of every report, whatever %s says.", firm, who), []string{firm, "must stay out", who}, 0, false},
	)
}

// Filler: other things that people say, many of them with names and numbers too.
var (
	questions = []string{
		"Could you explain how a heat pump works in winter?", "What would be a good way to store fresh basil?", "Can you compare the two approaches for me?",
		"How do I fold a fitted sheet?", "Why does my sourdough come out so dense?", "Is Lisbon pleasant in November or does it rain a lot?",
		"What did Napoleon want in Egypt in 1798?", "Would you say the second paragraph is too long?", "How many litres fit into a barrel?",
		"Which of these three is easier to maintain?", "Do you know a film that is a bit like Amélie?", "What should I read after Middlemarch?",
	}
	chatting = []string{
		"That sounds reasonable to me.", "I tried it yesterday and it was better than I had expected.", "Thanks, that helps a lot.", "Hmm, I am not sure I follow.",
		"The weather has been awful and I am tired.", "I like the second version more, it reads like something a person would write.",
		"Let's look at it from the other side for a moment.", "It took a while, but in the end the sauce thickened.", "I never thought about it that way.",
		"I must say this is more fun than I expected.", "There is always something to repair in an old house.", "My tea is getting cold again.",
		"I read a chapter about Byzantium last night and fell asleep.", "We watched the match against Portugal, what a bore.",
		"Somebody told me that 10 000 steps a day is a myth.", "I don't know what to cook, we have leeks and two eggs.",
		"It feels as if the whole street was being dug up.", "Nothing much happened at work, meetings and more meetings.",
		"The garden needs rain and the tomatoes look sad.", "You always explain it so that it sounds simple.",
	}
	answers = []string{
		"There are a few ways to think about this, and which one fits depends on what you want to optimise for.",
		"First, make sure that the temperature is stable, because small changes matter more than people expect.",
		"In the 19th century this was handled quite differently, especially in Vienna and Prague.",
		"You should always taste as you go, and never add all of the salt at the beginning.",
		"A typical value lies between 20 and 30 percent, although older guides suggest 15 percent.",
		"That is a common worry, and it usually resolves itself after the first few attempts.",
		"If you prefer something simpler, the first option needs less attention and still works well.",
		"Think of it as a conversation between the two parts: one proposes, and the other one answers.",
		"The short answer is that it depends on the material, the humidity and how long you are willing to wait.",
		"As a rule of thumb, plan for 45 minutes, and let it rest for another 10 minutes afterwards.",
		"Many people find it helpful to write the steps down once, so that they do not have to remember them.",
		"It must not be confused with the similar looking variety, which behaves in another way altogether.",
	}
)

func speak(r *rand.Rand, from []string, n int) string {
	var out []string
	for range n {
		out = append(out, from[r.IntN(len(from))])
	}
	return strings.Join(out, " ")
}

// conversation returns n turns with one needle in each interval of turns.
func conversation(r *rand.Rand, n, interval int) ([]chat.Turn, []needle) {
	var turns []chat.Turn
	var needles []needle
	for i := range n {
		sentences := []string{speak(r, chatting, 1+r.IntN(3)), speak(r, questions, 1)}
		if i%interval == interval/2 {
			nd := newNeedle(r, len(needles))
			nd.turn, nd.pinned = int64(i+1), len(needles)%5 == 0
			lead := leads[r.IntN(len(leads))]
			text := nd.text
			if lead != "" && !strings.HasPrefix(text, people[0]) && nd.kind != "amount" {
				text = lead + strings.ToLower(text[:1]) + text[1:]
			}
			sentences = slices.Insert(sentences, r.IntN(2), text)
			needles = append(needles, nd)
		}
		t := turn(strings.Join(sentences, " "), speak(r, answers, 10+r.IntN(8)))
		t.Seq, t.ID = int64(i+1), chat.TurnID(fmt.Sprint("t", i+1))
		turns = append(turns, t)
	}
	return turns, needles
}

// memory keeps a conversation as the program does without a model: a state summary for each turn, and range summaries
// in the background, made from earlier ones.
type memory struct {
	count     func(string) int
	budget    prompt.Budget
	policy    prompt.Policy
	pins      []chat.Pin
	turns     []chat.Turn
	sizes     []prompt.Size
	summaries []prompt.Summary
	head      string
}

func (m *memory) add(t chat.Turn) {
	m.turns = append(m.turns, t)
	m.sizes = append(m.sizes, prompt.Size{Seq: t.Seq, Tokens: prompt.Measure(t, m.count)})
	m.head = librarian.Fallback(librarian.Update{Previous: m.head, Pins: m.pins, Turns: []chat.Turn{t}, Count: m.count}).Summary
	ranges := prompt.MakePlan(m.sizes, m.budget, m.policy).Ranges
	if next, near := prompt.Next(m.sizes, m.budget, m.policy); near {
		ranges = append(ranges, next.Ranges...)
	}
	for _, g := range ranges {
		m.summarize(g)
	}
}

func (m *memory) summarize(g prompt.Range) {
	var pieces []string
	var gaps []chat.Turn
	for at := g.From; at < g.To; {
		best := prompt.Summary{To: at}
		for _, s := range m.summaries {
			if s.From == g.From && s.To == g.To {
				return
			}
			if s.From == at && s.To <= g.To && s.To > best.To {
				best = s
			}
		}
		if best.To > at {
			pieces, at = append(pieces, best.Text), best.To
			continue
		}
		gaps, at = append(gaps, m.turns[at-1]), at+1
	}
	sum := librarian.Librarian{}.SummarizeRange(context.Background(), librarian.Range{
		Pieces: pieces, Turns: gaps, Target: g.Target, Original: g.Tokens, Count: m.count,
	})
	m.summaries = append(m.summaries, prompt.Summary{
		ID: fmt.Sprintf("%d-%d", g.From, g.To), From: g.From, To: g.To, Tokens: sum.Tokens, Text: sum.Text,
	})
}

// history returns what replaces the turns before the cut: range summaries and state summary.
func (m *memory) history() (cut int64, ranges string) {
	plan := prompt.MakePlan(m.sizes, m.budget, m.policy)
	var b strings.Builder
	pieces, _ := prompt.Choose(plan, m.summaries, nil, m.budget, m.policy)
	for _, p := range pieces {
		if i := slices.IndexFunc(m.summaries, func(s prompt.Summary) bool { return s.ID == p.Summary }); i >= 0 {
			b.WriteString(m.summaries[i].Text)
			continue
		}
		b.WriteString(librarian.Extract(m.turns[p.From-1:p.To-1], p.Target, m.count))
	}
	return plan.Cut, b.String()
}

// TestNeedles: of 200 unpinned facts that were mentioned once in 1 000 turns, at least 60 % are still in range
// extracts and state summary at the end, without a model, with a window of 200 000 tokens and a working set of 50
// 000.
func TestNeedles(t *testing.T) {
	for _, seed := range []uint64{1} { // 2 and 3 give 73 %
		t.Run(fmt.Sprint(seed), func(t *testing.T) { findNeedles(t, seed) })
	}
}

// cachedCount returns count with a cache, because most of a summary repeats the previous one.
func cachedCount(count func(string) int) func(string) int {
	counts := map[string]int{}
	return func(s string) int {
		n, ok := counts[s]
		if !ok {
			n = count(s)
			counts[s] = n
		}
		return n
	}
}

func findNeedles(t *testing.T, seed uint64) {
	turns, needles := conversation(rand.New(rand.NewPCG(seed, seed)), 1000, 5) // a seeded test
	count := cachedCount(tokens.New().CountText)
	m := &memory{count: count, policy: prompt.DefaultPolicy()}
	m.budget = prompt.NewBudget(prompt.Limits{
		ContextLimit: 200_000, MaxOutput: 8192, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: 50_000, StateTarget: 1200, Retrieval: 6000,
	}, m.policy, 1)
	for _, n := range needles {
		if n.pinned {
			m.pins = append(m.pins, chat.Pin{Text: n.text})
		}
	}
	for _, x := range turns {
		m.add(x)
	}
	cut, ranges := m.history()
	total, kept := map[string]int{}, map[string]int{}
	size := 0
	for _, n := range needles {
		if n.pinned || n.turn > cut {
			continue
		}
		size += count(n.text)
		for _, k := range []string{n.kind, "all"} {
			total[k]++
			if n.in(ranges) || n.in(m.head) {
				kept[k]++
			}
		}
	}
	t.Logf("cut at turn %d; ranges %d tokens, head %d; %d needles of %d tokens", cut, count(ranges), count(m.head), total["all"], size)
	for _, k := range []string{"name", "amount", "date", "never", "all"} {
		t.Logf("%-6s %d of %d: %.0f %%", k, kept[k], total[k], 100*float64(kept[k])/float64(total[k]))
	}
	if total["all"] < 120 || float64(kept["all"]) < 0.6*float64(total["all"]) {
		t.Errorf("%d of %d needles were kept\nranges:\n%s\nhead:\n%s", kept["all"], total["all"], ranges, m.head)
	}
}
