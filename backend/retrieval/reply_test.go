package retrieval

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lists"
)

// exchange adds a turn with a question and its reply.
func (m *memory) exchange(seq int64, question, reply string) {
	m.add(line{seq: seq, text: question}, line{seq: seq, role: chat.RoleAssistant, text: reply})
}

// copies is a conversation in which the same question is asked eight times; the answer is in a table row among other
// advice.
func copies() *memory {
	m := chatter()
	reply := `Here is what the run on Monday gave, for all the ways in which we tried to move the data to the new cluster.

| Method | Rows copied | Minutes |
|---|---|---|
| Dump and restore | 1 120 000 | 38 |
| Dual writes | 2 410 000 | 52 |
| Replication | 2 395 000 | 47 |

Some general advice for the next attempt:

- Keep an eye on the disk of the target while the copy runs.
- Repeat the measurement at night, when nobody uses the shop.`
	for i, q := range []string{
		"How many rows were copied with dual writes?", "How many rows did dual writes copy?", "Dual writes: how many rows?",
		"What was the number of rows with dual writes?", "How many rows were copied with dual writes again?", "Rows copied with dual writes?",
		"With dual writes, how many rows were copied?", "So how many rows were copied by dual writes?",
	} {
		m.exchange(int64(40+3*i), q, reply)
	}
	return m
}

func TestTheRowThatAnswersIsFoundAmongRepeatedQuestions(t *testing.T) {
	for _, budget := range []int{200, 1500, 6000} {
		res := find(t, copies().engine(), Query{Text: "How many rows were copied with dual writes?", MaxTokens: budget, Limit: 10})
		for i, h := range res.Hits[:2] {
			if h.Role != chat.RoleAssistant || !strings.Contains(h.Source[h.Unit.Start:h.Unit.End], "2 410 000") {
				t.Errorf("budget %d: hit %d is %s %q", budget, i+1, h.Role, h.Source[h.Unit.Start:h.Unit.End])
			}
		}
		packed := ""
		for _, a := range res.Artifacts {
			packed += a.Text + "\n"
		}
		if !strings.Contains(packed, "| Method | Rows copied | Minutes |") || !strings.Contains(packed, "| Dual writes | 2 410 000 | 52 |") {
			t.Errorf("budget %d: the row and its header are not packed:\n%s", budget, packed)
		}
	}
}

// TestAQuestionIsPackedWithItsAnswerOrNotAtAll checks this for many budgets.
func TestAQuestionIsPackedWithItsAnswerOrNotAtAll(t *testing.T) {
	m := chatter()
	m.exchange(40, "How do I rotate the Contoso keys?", "Run `keyctl rotate` on the gateway.")
	m.add(line{seq: 60, text: "Can Contoso keys be rotated?"}) // never answered
	for budget := 20; budget < 200; budget += 6 {
		res := find(t, m.engine(), Query{Text: "rotating Contoso keys", MaxTokens: budget})
		texts := lists.Map(res.Artifacts, func(a Artifact) string { return a.Text })
		all := strings.Join(texts, "\n")
		if strings.Contains(all, "Can Contoso keys be") || strings.Contains(all, "How do I rotate") && !strings.Contains(all, "keyctl") {
			t.Fatalf("budget %d:\n%s", budget, all)
		}
	}
}

func TestTheQueryItselfIsNotItsFirstHit(t *testing.T) {
	m := chatter()
	m.exchange(40, "Our gateway is called Heron.", "Noted.")
	m.add(line{seq: 60, text: "So what is our gateway called?"})
	res := find(t, m.engine(), Query{Text: "what is our gateway called?", Limit: 9})
	if res.Hits[0].TurnSeq != 40 || res.Hits[0].Role != chat.RoleUser {
		t.Errorf("%+v", res.Hits[0])
	}
	at := slices.IndexFunc(res.Hits, func(h Hit) bool { return h.TurnSeq == 60 })
	if at < 1 || !res.Hits[at].Why.Repeats {
		t.Errorf("the repeated question is hit %d: %+v", at+1, res.Hits[at].Why)
	}
}

func TestUniquePairs(t *testing.T) {
	pairs := []struct{ ask, reply, query string }{
		{"How do I list open ports?", "Use `ss -tulpn`; the column Process names the program.", "command that lists the open ports"},
		{"What is a good size for the thumbnail?", "320 by 180 pixels fits most screens.", "size of the thumbnail"},
		{"Which paper should I read on consensus?", "Start with the Raft paper by Ongaro and Ousterhout.", "paper on consensus"},
		{"How long does sourdough need to rise?", "About five hours at 24 degrees.", "how long must the sourdough rise?"},
		{"Where can I park near the museum?", "There is a garage in Lindengasse 4, open all night.", "parking near the museum"},
		{"Who wrote the anthem?", "It was written by Anna Petterson in 1911.", "who wrote the anthem"},
		{"What does error E4711 mean?", "The printer has no toner; E4711 clears after a restart.", "meaning of error E4711"},
		{"How do I undo the last commit?", "Run `git reset --soft HEAD~1`.", "undoing the last commit"},
		{"When is the best time to prune roses?", "In late February, before the buds open.", "time to prune the roses"},
		{"How many calories has a banana?", "Roughly 105.", "calories of a banana"},
		{"What tyre pressure does the bike need?", "4.5 bar in front and 5 bar behind.", "tyre pressure of the bike"},
		{"Which visa is needed for Brazil?", "None for stays of up to 90 days.", "visa for Brazil"},
		{"How do I clean the copper pot?", "With vinegar and salt, then rinse.", "cleaning a copper pot"},
		{"What is the capital gains rate?", "26.375 percent, surcharge included.", "capital gains rate"},
		{"How deep should I plant tulips?", "About 15 centimetres.", "depth for planting tulips"},
		{"Which font is the heading set in?", "The heading is set in Source Serif, 28 points.", "font of the heading"},
		{"How do I reach the plumber?", "Call the plumber at 555 0142 in the morning.", "how to reach the plumber"},
		{"What is the retention of the audit trail?", "400 days, then it is moved to cold storage.", "audit trail retention"},
		{"How is the cache invalidated?", "A version number in the key changes with each release.", "how the cache is invalidated"},
		{"What is the checksum of the image?", "sha256:9f2c, as printed by the build.", "checksum of the image"},
	}
	m := chatter()
	for i, p := range pairs {
		m.exchange(int64(100+2*i), p.ask, p.reply)
	}
	good := 0
	for _, p := range pairs {
		res := find(t, m.engine(), Query{Text: p.query})
		at := slices.IndexFunc(res.Hits, func(h Hit) bool { return h.Text == p.reply })
		if at == 0 || at == 1 {
			good++
		} else {
			t.Logf("%q: the answer is hit %d", p.query, at+1)
		}
	}
	if good < 19 {
		t.Errorf("%d of 20 answers are the first or second hit", good)
	}
}

// TestTheRequestedSpeakersWordsRankFirst: both speakers used the same words, and the query decides whose are meant.
func TestTheRequestedSpeakersWordsRankFirst(t *testing.T) {
	m := chatter()
	m.serving = false
	m.add(line{seq: 40, text: "Contoso gets a discount of ten percent, that is what I want."}, line{seq: 40, role: chat.RoleAssistant, text: "A discount of five percent would do for Contoso."})
	for query, want := range map[string]chat.Role{
		"What discount did you suggest for Contoso?": chat.RoleAssistant,
		"What discount did I want for Contoso?":      chat.RoleUser,
		"Contoso discount":                           chat.RoleUser,
	} {
		if res := find(t, m.engine(), Query{Text: query, MaxTokens: 100}); res.Hits[0].Role != want || res.Artifacts[0].Role != want {
			t.Errorf("%q: hit of %s, packed of %s", query, res.Hits[0].Role, res.Artifacts[0].Role)
		}
	}
}

func TestStandingInstructionsApplyToRequests(t *testing.T) {
	m := chatter()
	m.add(line{seq: 3, text: "Always give dates in ISO form."}, line{seq: 3, role: chat.RoleAssistant, text: "Understood."})
	for i := range 12 {
		m.exchange(int64(40+2*i), fmt.Sprintf("The garden of Heron has number %d and is green.", i), "I see.")
	}
	res := find(t, m.engine(), Query{Text: "What are the dates of the next Heron release?", MaxTokens: 120})
	if !slices.ContainsFunc(res.Artifacts, func(a Artifact) bool { return a.Why.Standing && a.TurnSeq == 3 }) {
		t.Error("the standing instruction was not packed")
	}
}

// TestInstructionsAreRecognizedAsForPins: a passage is called a standing instruction by the rule that suggests pins.
func TestInstructionsAreRecognizedAsForPins(t *testing.T) {
	for text, want := range map[string]bool{
		"We deploy Heron on Sunday at 05:00, never on a Friday.": true,
		"Always deploy Heron with two approvals.":                true,
		"I have never seen how we deploy Heron.":                 false,
		"The deploy of Heron always looks so calm.":              false,
	} {
		m := chatter()
		m.exchange(100, text, "Understood.")
		res := find(t, m.engine(), Query{Text: "deploy Heron", MaxTokens: 200})
		at := slices.IndexFunc(res.Artifacts, func(a Artifact) bool { return a.Role == chat.RoleUser && a.TurnSeq == 100 })
		if at < 0 || res.Artifacts[at].Why.Standing != want || want != (len(intent.StandingInstructions(text)) > 0) {
			t.Errorf("%q: artifact %d of %+v", text, at, res.Artifacts)
		}
	}
}

// TestAnOverviewIsSpreadOverDays: fifty mentions on one day do not fill the budget.
func TestAnOverviewIsSpreadOverDays(t *testing.T) {
	m := newMemory()
	for day := range 5 {
		for i := range 10 {
			text := fmt.Sprintf("On Heron, day %d, item %d: small things.", day, i)
			if day == 2 {
				text = fmt.Sprintf("Heron, Heron and Heron again, item %d.", i)
			}
			m.add(line{seq: int64(24*day + i + 1), text: text})
		}
	}
	days := map[string]bool{}
	for _, a := range find(t, m.engine(), Query{Text: "In which order did we discuss Heron?", MaxTokens: 160}).Artifacts {
		days[a.At.Format(time.DateOnly)] = true
	}
	if len(days) < 5 {
		t.Errorf("packed from %d days of 5", len(days))
	}
}

// TestASummaryOfASubjectIsAboutIt: the beginnings of days are preferred only if the query asks for the whole
// conversation or its order, not if it names a subject.
func TestASummaryOfASubjectIsAboutIt(t *testing.T) {
	for query, openingFirst := range map[string]bool{
		"Please summarize the greenhouse": false, "Fasse bitte das Gewächshaus zusammen": false,
		"Summarize our conversation so far": true, "A brief overview of everything, please": true,
		"In which order did I bring up the greenhouse and other aspects?": true,
	} {
		c := &collector{intent: intentOf(query)}
		c.namedSubject = c.intent.summary && namesSubject(Terms(query))
		for seq, match := range map[int64]float64{1: 0.04, 20: 0.3} {
			c.items = append(c.items, &item{match: match, score: match, unit: &unit{UnitRef: chat.UnitRef{Seq: seq, Role: chat.RoleUser, At: start}}})
		}
		if c.spreadOverDays(); !c.intent.overview || (c.items[0].Seq == 1) != openingFirst {
			t.Errorf("%q: turn %d is first", query, c.items[0].Seq)
		}
	}
}

func TestScoresAndReasons(t *testing.T) {
	m := copies()
	res := find(t, m.engine(), Query{Text: "How many rows were copied with dual writes?", MaxTokens: 900, Limit: 20})
	last := 1.0
	for _, h := range res.Hits {
		if h.Score <= 0 || h.Score > last {
			t.Errorf("hit %d has score %f after %f", h.Rank, h.Score, last)
		}
		last = h.Score
	}
	best := res.Hits[0]
	if best.Score < 0.9 || !slices.Contains(best.Why.Words, "dual") || !strings.Contains(best.Why.Answers, "dual writes") {
		t.Errorf("score %f, %+v", best.Score, best.Why)
	}
	weak := find(t, m.engine(), Query{Text: "dual boot of zebras in quantum gardens"})
	if len(weak.Hits) == 0 || weak.Hits[0].Score > best.Score {
		t.Errorf("%+v", weak.Hits)
	}
	if res := find(t, m.engine(), Query{Text: "rows of dual writes", Limit: 3}); len(res.Hits) != 3 {
		t.Errorf("%d hits, want 3", len(res.Hits))
	}
}

func TestCandidatesGrowWithTheBudget(t *testing.T) {
	s := Measured()
	small, large := s.effective(6000), s.effective(24000)
	if small.candidates < s.candidates || large.candidates != 960 || large.near != 480 {
		t.Errorf("%d, %d, %d", small.candidates, large.candidates, large.near)
	}
}
