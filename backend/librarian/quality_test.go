package librarian_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// stateOf returns the state summary after some exchanges, each given as the user's message and the answer.
func stateOf(day string, exchanges ...[2]string) librarian.Summary {
	summary := ""
	for _, e := range exchanges {
		t := turn(e[0], e[1])
		t.CreatedAt, _ = time.Parse(time.DateOnly, day)
		summary = librarian.Fallback(librarian.Update{Previous: summary, Turns: []chat.Turn{t}, Count: quarter}).Summary
	}
	return librarian.Parse(summary)
}

func userTurns(lines ...string) (out [][2]string) {
	for _, l := range lines {
		out = append(out, [2]string{l, "Understood."})
	}
	return out
}

// TestConstraintsAndDecisions: intentions, feelings and promises are not constraints, and a worry is not a decision.
func TestConstraintsAndDecisions(t *testing.T) {
	cases := []struct {
		sentence string
		want     map[librarian.Section][]string // the required entries of each section
	}{
		{"I'll be careful to read all of it and make sure I understand the lease.", map[librarian.Section][]string{librarian.Constraints: nil, librarian.Decisions: nil}},
		{"I want to make sure the bathroom in our Lisbon flat is dry by May 4.", map[librarian.Section][]string{
			librarian.Constraints: nil, librarian.OpenTasks: {"I want to make sure the bathroom in our Lisbon flat is dry by May 4."}}},
		{"I'll make sure to water the tomatoes as you suggest.", map[librarian.Section][]string{librarian.Constraints: nil, librarian.Facts: nil}},
		{"I'll never forget the smell of that bakery.", map[librarian.Section][]string{librarian.Constraints: nil}},
		{"Make sure every export has a header row.", map[librarian.Section][]string{librarian.Constraints: {"Make sure every export has a header row."}}},
		{"Please use tests to make sure nothing breaks, and never skip them.", map[librarian.Section][]string{
			librarian.Constraints: {"Please use tests to make sure nothing breaks, and never skip them."}}},
		{"We never ship on Fridays.", map[librarian.Section][]string{librarian.Constraints: {"We never ship on Fridays."}}},
		{"The build says `cannot find package tar` on Linux 6.1 today.", map[librarian.Section][]string{librarian.Constraints: nil}},
		{"I'm really nervous about the oven, but I chose the Bosch for 900 euros.", map[librarian.Section][]string{
			librarian.Decisions: {"I chose the Bosch for 900 euros."}}},
		{"I'm stressed about the big decision.", map[librarian.Section][]string{librarian.Decisions: nil}},
		{"I'll follow the steps and keep to the required format.", map[librarian.Section][]string{librarian.Constraints: nil}},
		{"I know I need to go to the bank.", map[librarian.Section][]string{librarian.OpenTasks: nil}},
		{"I need to go to the bank.", map[librarian.Section][]string{librarian.OpenTasks: {"I need to go to the bank."}}},
		{"We decided to rent in Porto.", map[librarian.Section][]string{librarian.Decisions: {"We decided to rent in Porto."}}},
		{"I'll use these ideas.", map[librarian.Section][]string{librarian.Decisions: nil}},
	}
	for _, c := range cases {
		s := stateOf("2026-03-01", userTurns(c.sentence)...)
		for sec, want := range c.want {
			if got := s.Entries(sec); !slices.Equal(got, want) {
				t.Errorf("%q: %s contains %q, want %q", c.sentence, sec.Heading(), got, want)
			}
		}
	}
}

// TestRepeatedOnce: a statement that is repeated in nearly the same words is kept once, in the newest wording.
func TestRepeatedOnce(t *testing.T) {
	cases := []struct {
		first, second string
		want          int
	}{
		{"I prefer short emails with a clear subject line to customers.", "I'd prefer short emails to customers with a really clear subject line.", 1},
		{"I prefer dark wooden shelves with rounded corners over metal ones for warmth.", "I prefer wooden shelves with rounded corners over metal.", 1},
		{"We decided to paint the kitchen walls pale green.", "We decided to paint the walls of the kitchen in pale green.", 1},
		{"Never call the Graz office on Mondays about open invoices.", "Never call the Porto office on Mondays about open invoices.", 2},
		{"Always quote prices with tax in the weekly report.", "Never quote prices with tax in the weekly report.", 2},
		{"We decided to order 12 oak chairs for the hall.", "We decided to order 30 oak chairs for the hall.", 2},
		{"Never mention salaries.", "Never mention budgets.", 2},
	}
	for _, c := range cases {
		s := stateOf("2026-03-01", userTurns(c.first, c.second)...)
		got := append(slices.Clone(s.Entries(librarian.Decisions)), s.Entries(librarian.Constraints)...)
		if len(got) != c.want || got[len(got)-1] != c.second {
			t.Errorf("%q, then %q: the state contains %q", c.first, c.second, got)
		}
		extract := librarian.Extract([]chat.Turn{turn(c.first, ""), turn(c.second, "")}, 400, quarter)
		if n := strings.Count(extract, "\n- "); n < c.want || !strings.Contains(extract, c.second) || c.want == 1 && strings.Contains(extract, c.first) {
			t.Errorf("%q, then %q: the extract is\n%s", c.first, c.second, extract)
		}
	}
}

// TestArtifactsAreTheUsers: placeholders in templates, suggested links and invented addresses are not artifacts; what
// the user names and what code contains are.
func TestArtifactsAreTheUsers(t *testing.T) {
	answer := "Save it as `.odt` or `.rtf` and send it to `[Hiring Manager]`. Write to mara.lind@mail.example for `<role>`.\n\n" +
		"Sites to try:\n\n- **HomeFinder**: https://homefinder.io/\n- **FlatHub**: https://flathub-rent.io/search\n\n" +
		"HomeFinder is the best, with h_c = 4 and x_1. Run `make seed-db` and see cmd/seed/main.go. Use your_api_key and https://example.com/api.\n\n```sh\ncurl https://rent.internal:8443/v2/offers\n```"
	s := stateOf("2026-03-01", [2]string{"My notes are in home/rent.ods and my address is jo@kade.nl, not `your-name@example.org`.", answer})
	got := s.Entries(librarian.Artifacts)
	for _, want := range []string{"home/rent.ods", "jo@kade.nl", "cmd/seed/main.go", "https://rent.internal:8443/v2/offers"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	for _, noise := range []string{".odt", ".rtf", "Hiring", "mara.lind", "role", "homefinder", "HomeFinder", "flathub", "h_c", "x_1", "your_api_key", "your-name", "example.com"} {
		if strings.Contains(strings.Join(got, "\n"), noise) {
			t.Errorf("%q is among %q", noise, got)
		}
	}
	s = stateOf("2026-03-01", [2]string{"Where can I look for flats?", answer}, [2]string{"I signed up at HomeFinder.", "Good."})
	if !slices.Contains(s.Entries(librarian.Artifacts), "HomeFinder") {
		t.Errorf("what the user accepted is not among %q", s.Entries(librarian.Artifacts))
	}
}

// TestSamplesAreNotFacts: examples and drafts that an assistant writes are not facts.
func TestSamplesAreNotFacts(t *testing.T) {
	samples := []string{
		`Example: "The team saved 40 hours a month."`,
		"For example, a shop with 12 employees saved 30 hours.",
		"### Sample letter\n\nDuring 2019 the orchard grew to 400 trees.",
		"Here is a draft:\n\nDuring 2019 the orchard grew to 400 trees.",
		"My orchard has grown to 400 trees since 2019.",
		"The fee of [Amount Due] was paid on May 2.",
	}
	for _, sample := range samples {
		if got := stateOf("2026-03-01", [2]string{"Can you write it?", sample}).Entries(librarian.Facts); len(got) > 0 {
			t.Errorf("%q became the facts %q", sample, got)
		}
	}
	facts := stateOf("2026-03-01", [2]string{"How fast is it?", "### Result\n\nThe import took 38 ms."}).Entries(librarian.Facts)
	if !slices.Equal(facts, []string{"Assistant: The import took 38 ms."}) {
		t.Errorf("the facts of the result are %q", facts)
	}
}

// TestPlansAreOpenTasks: a plan of the user is an open task until its date has passed, and then a fact.
func TestPlansAreOpenTasks(t *testing.T) {
	const plan = "My hearing at the Riga court is scheduled for June 9."
	summary := librarian.Summary{}
	update := func(day string, previous string, lines ...string) string {
		u := librarian.Update{Previous: previous, Count: quarter}
		for _, l := range lines {
			tn := turn(l, "Noted.")
			tn.CreatedAt, _ = time.Parse(time.DateOnly, day)
			u.Turns = append(u.Turns, tn)
		}
		text := librarian.Fallback(u).Summary
		summary = librarian.Parse(text)
		return text
	}
	text := update("2026-05-30", "", plan, "I met Olga in Tartu on May 3.", "I submitted the form to the Riga court on May 30.")
	if got := summary.Entries(librarian.OpenTasks); !slices.Equal(got, []string{plan}) {
		t.Errorf("before the day the open tasks are %q", got)
	}
	text = update("2026-06-09", text, "The weather in Riga is fine, 20 °C.")
	if got := summary.Entries(librarian.OpenTasks); !slices.Equal(got, []string{plan}) {
		t.Errorf("on the day the open tasks are %q", got)
	}
	update("2026-06-12", text, "The weather in Riga is bad, 9 °C.")
	if got := summary.Entries(librarian.OpenTasks); len(got) > 0 || !slices.Contains(summary.Entries(librarian.Facts), plan) {
		t.Errorf("after the day the open tasks are %q, the facts %q", got, summary.Entries(librarian.Facts))
	}
	update("2026-05-30", "", "My flight to Oslo leaves on 2 January 2027.", "My visa is due on 2024-02-01.")
	if got := summary.Entries(librarian.OpenTasks); !slices.Equal(got, []string{"My flight to Oslo leaves on 2 January 2027."}) {
		t.Errorf("with years the open tasks are %q", got)
	}
}

// TestOutcomesBeforeRemarks: if there is little space, statements with numbers and names are kept, and a newer value
// replaces an older one.
func TestOutcomesBeforeRemarks(t *testing.T) {
	outcome := "Our stall in Ghent sold 340 jars on April 6, up from 210 in Bruges."
	lines := []string{outcome}
	for _, thing := range strings.Fields("jam honey bread cheese soap candles baskets pottery flowers herbs mustard cider") {
		lines = append(lines, "Yeah, thanks, I think "+thing+" is a lovely thing to have around at the market stall.")
	}
	summary := ""
	for _, l := range lines {
		summary = librarian.Fallback(librarian.Update{Previous: summary, Turns: []chat.Turn{turn(l, "Nice.")}, Target: 150, Count: quarter}).Summary
	}
	if !strings.Contains(summary, outcome) || strings.Contains(strings.Split(summary, "## Last exchange")[0], "Yeah, thanks") {
		t.Errorf("the state is\n%s", summary)
	}
	s := stateOf("2026-03-01", userTurns("I have 3 stalls at the harbour market.", "I've increased the stalls at the harbour market to 5.")...)
	if got := s.Entries(librarian.Facts); !slices.Equal(got, []string{"I've increased the stalls at the harbour market to 5."}) {
		t.Errorf("the facts are %q", got)
	}
}

// TestLinesEndWithClauses: a long sentence is split at the end of a clause, without the comma and the conjunction.
func TestLinesEndWithClauses(t *testing.T) {
	long := "I have a viewing of the flat in Antwerp on May 7, and I've asked the landlord about the boiler, especially since the last one broke twice in the winter of 2024 and cost 600 euros, " +
		"and I'm also looking forward to the meeting on May 12 with the neighbours, which includes Pieter from the second floor, who has 3 dogs and a boat in Ostend, and my sister comes along."
	s := stateOf("2026-03-01", userTurns(long)...)
	extract := librarian.Parse(librarian.Extract([]chat.Turn{turn(long+" What should I ask?", "")}, 400, quarter))
	got := append(slices.Clone(s.Entries(librarian.Facts)), s.Entries(librarian.OpenTasks)...)
	got = append(got, extract.Entries(librarian.Facts)...)
	if len(got) < 3 {
		t.Fatalf("the entries are %q", got)
	}
	for _, line := range got {
		first, _, _ := strings.Cut(line, " ")
		if strings.HasSuffix(line, ",") || strings.HasSuffix(line, "…") || strings.HasSuffix(line, " and") || first == "and" || first == "," || !strings.Contains(long, line) {
			t.Errorf("a line is %q", line)
		}
	}
	topic := "Could we talk about the boiler of the flat in Antwerp that the landlord would not repair, because I would like to know what the law of Belgium says about such repairs in rented homes?"
	for line := range strings.Lines(librarian.Extract([]chat.Turn{turn(topic, "")}, 400, quarter)) {
		if strings.Contains(line, "…") {
			t.Errorf("a topic is cut inside a clause: %q", line)
		}
	}
}
