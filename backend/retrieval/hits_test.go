package retrieval

import (
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/internal/lists"
)

// TestAnswersRankBeforeTheirQuestions: the answer is the first hit, before the request that led to it and before later
// remarks about it.
func TestAnswersRankBeforeTheirQuestions(t *testing.T) {
	exchanges := []struct{ ask, reply, query, answer string }{
		{"How big should the Kestrel instance be and what does it cost", "Take 8 GB. The size is called m6.large, for 210 EUR a month.", "size and cost of the Kestrel instance", "210 EUR"},
		{"can you give me the reconciliation query for invoices", "Sure: SELECT id FROM ledger EXCEPT SELECT id FROM bank.", "the reconciliation query for invoices", "EXCEPT"},
		{"Write me a short status about the tannery migration", "Status: the tannery is at 80 percent.", "short status about the tannery migration", "80 percent"},
		{"when exactly is the cutover, I mix up the dates", "The cutover is on Sunday at 04:00.", "When is the cutover?", "Sunday"},
		{"I'm wondering what glaze suits the porcelain kiln", "For the porcelain kiln a celadon glaze.", "Which glaze for the porcelain kiln?", "celadon"},
		{"Kannst du mir sagen, welche Hefe ins Roggenbrot kommt", "Ins Roggenbrot kommen 20 g Frischhefe.", "Welche Hefe kommt ins Roggenbrot?", "20 g"},
	}
	m := chatter()
	for i, x := range exchanges {
		m.exchange(int64(100+2*i), x.ask, x.reply)
		m.exchange(int64(101+2*i), "Thanks, that makes sense!", "You are welcome.")
	}
	for _, x := range exchanges {
		res := find(t, m.engine(), Query{Text: x.query})
		if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, x.answer) {
			t.Errorf("%q: %q is not the first hit of %q", x.query, x.answer, textsOf(res.Hits))
		}
	}
}

// TestStatementsOfTheUserRankBeforeReplies: a message that states the answer and asks something else ranks before
// replies that only mention the subject.
func TestStatementsOfTheUserRankBeforeReplies(t *testing.T) {
	m := chatter()
	m.exchange(100, "I'm having trouble with Orion. I've set Orion up with 3 workers, can you review it?", "Orion looks good. More memory would help it.")
	m.exchange(102, "What about logs for Orion?", "Send the logs of Orion to a file.")
	for _, query := range []string{"How many workers did I set up for Orion?", "workers of Orion"} {
		res := find(t, m.engine(), Query{Text: query})
		if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, "3 workers") {
			t.Errorf("%q: %q", query, textsOf(res.Hits))
		}
	}
}

// TestUnrelatedInstructionsRankBelowAnswers: a standing instruction that has nothing to do with the query ranks below
// the answer.
func TestUnrelatedInstructionsRankBelowAnswers(t *testing.T) {
	m := chatter()
	m.exchange(100, "Always give exact figures.", "I will.")
	m.exchange(101, "What does the lighthouse weigh?", "The lighthouse weighs 410 tonnes.")
	res := find(t, m.engine(), Query{Text: "What is the weight of the lighthouse?", Limit: 9})
	texts := textsOf(res.Hits)
	order, answer := slices.Index(texts, "Always give exact figures."), slices.Index(texts, "The lighthouse weighs 410 tonnes.")
	if answer != 0 || order >= 0 && order < answer {
		t.Errorf("%q", texts)
	}
}

func textsOf(hits []Hit) []string {
	return lists.Map(hits, func(h Hit) string { return h.Text })
}

// TestStatementsArePackedBeforeRequests: of two messages of the user with the same words, the one that states them is
// preferred.
func TestStatementsArePackedBeforeRequests(t *testing.T) {
	m := chatter()
	m.exchange(100, "The heron pump is in the cellar, tell me more.", "Noted.")
	m.exchange(110, "I am here, tell me more of the heron pump.", "Noted as well.")
	res := find(t, m.engine(), Query{Text: "heron pump", MaxTokens: 200})
	if len(res.Artifacts) < 2 || !strings.Contains(res.Artifacts[0].Text, "cellar") {
		t.Errorf("%+v", res.Artifacts)
	}
	if res.Artifacts[0].TurnSeq != 100 {
		t.Errorf("turn %d first", res.Artifacts[0].TurnSeq)
	}
}

// TestALaterAnswerRanksAboveWhatItCorrects: if a value was changed, the later answer ranks first; a message about
// another subject does not count as a change.
func TestALaterAnswerRanksAboveWhatItCorrects(t *testing.T) {
	for name, tt := range map[string]struct{ older, later, query, first string }{
		"number":        {"The pump of Heron needs a pressure of 4 bar.", "Since the test the pump of Heron needs a higher pressure, 6 bar.", "pressure of the Heron pump", "6 bar"},
		"nearly alike":  {"The Heron crew meets on Tuesday in the boat house.", "The Heron crew meets on Thursday in the large boat house.", "Where and when does the Heron crew meet?", "Thursday"},
		"other subject": {"The pump of Heron needs a pressure of 4 bar.", "Pump and valves of Heron were bought in 2019 from a shipyard that went out of business.", "Heron pump", "4 bar"},
	} {
		m := chatter()
		m.exchange(40, "Tell me.", tt.older)
		m.exchange(80, "Please go on.", tt.later)
		res := find(t, m.engine(), Query{Text: tt.query})
		if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, tt.first) {
			t.Errorf("%s: %q", name, textsOf(res.Hits))
		}
	}
}

// TestHitsContainARequestedNumber: a passage without a number does not answer "how many".
func TestHitsContainARequestedNumber(t *testing.T) {
	m := chatter()
	m.serving = false
	m.exchange(40, "Tell me.", "The berths at Heron quay: 14 of them rented.")
	m.exchange(80, "Please go on.", "The berths at Heron quay: all of them rented.")
	for query, want := range map[string]string{"How many berths at Heron quay are rented?": "14", "Are the berths at Heron quay rented?": "all of them"} {
		if res := find(t, m.engine(), Query{Text: query}); len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, want) {
			t.Errorf("%q: %q", query, textsOf(res.Hits))
		}
	}
}

// TestSpelledOutNumbersAndDaysCount: a number or a day that is spelled out counts like digits.
func TestSpelledOutNumbersAndDaysCount(t *testing.T) {
	for _, x := range []struct{ query, answer, other string }{
		{"How many berths at Heron quay are rented?", "The berths at Heron quay: twelve of them are rented.", "The berths at Heron quay: all of them are rented."},
		{"Wie viele Boote liegen am Kai von Heron?", "Am Kai von Heron liegen zwölf von den Boote genannten.", "Am Kai von Heron liegen alle von den Boote genannten."},
		{"When does the Heron crew meet?", "The Heron crew will meet on Thursday, as usual.", "The Heron crew will meet on deck, as usual."},
		{"Quel jour se réunit l'équipage Heron?", "L'équipage Heron se réunit jeudi, comme toujours.", "L'équipage Heron se réunit ensemble, comme toujours."},
	} {
		m := chatter()
		m.exchange(40, "Tell me.", x.answer)
		m.exchange(80, "Please go on.", x.other)
		if res := find(t, m.engine(), Query{Text: x.query}); len(res.Hits) == 0 || res.Hits[0].Text != x.answer {
			t.Errorf("%q: %q", x.query, textsOf(res.Hits))
		}
	}
}

// TestNumbersHoweverTheyAreWritten: a number with group separators equals the same number without them, in search, in
// the order of hits and in corrections.
func TestNumbersHoweverTheyAreWritten(t *testing.T) {
	for _, written := range []string{"4,200", "4.200", "4 200", "4\u00a0200", "4’200", "4200"} {
		for _, query := range []string{"4,200", "4.200", "4 200", "4200"} {
			m := chatter()
			m.exchange(40, "Report.", "The Heron depot holds "+written+" crates of rope.")
			m.exchange(80, "Report.", "The Heron depot holds 200 crates of rope, and 4 of chain.")
			res := find(t, m.engine(), Query{Text: "crates at the Heron depot: " + query})
			if len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, written) || !slices.ContainsFunc(res.Hits[0].Why.Words, func(w string) bool { return w == "4200" }) {
				t.Errorf("%q requested as %q: %q %+v", written, query, textsOf(res.Hits), res.Hits[:min(1, len(res.Hits))])
			}
		}
	}
}

// TestANamedDayCounts: among equal passages, the one from the named day is first.
func TestANamedDayCounts(t *testing.T) {
	m := chatter()
	m.exchange(31, "We are away in June and July.", "Have a good time.")
	const day = 24 // the turns of this memory are an hour apart
	m.exchange(33*day, "Report.", "The stock of the Heron chandlery is 70 ropes and some buoys.")
	m.exchange(53*day, "Report.", "The stock of the Heron chandlery is 55 ropes and some buoys.")
	m.exchange(72*day, "Report.", "The stock of the Heron chandlery is 38 ropes and some buoys.")
	for query, want := range map[string]string{"stock of the Heron chandlery on 4 June": "70 ropes", "stock of the Heron chandlery on 24 June": "55 ropes", "stock of the Heron chandlery on 13 July": "38 ropes"} {
		if res := find(t, m.engine(), Query{Text: query}); len(res.Hits) == 0 || !strings.Contains(res.Hits[0].Text, want) {
			t.Errorf("%q: %q", query, textsOf(res.Hits))
		}
	}
}
