package librarian_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/librarian"
)

// readTurns reads a conversation from testdata, with messages under "### User" and "### Assistant".
func readTurns(t *testing.T, name string) []chat.Turn {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name)) // a fixed name
	if err != nil {
		t.Fatal(err)
	}
	var turns []chat.Turn
	for part := range strings.SplitSeq(string(raw), "### User\n") {
		user, assistant, ok := strings.Cut(part, "### Assistant\n")
		if ok {
			turns = append(turns, turn(strings.TrimSpace(user), strings.TrimSpace(assistant)))
			turns[len(turns)-1].Seq = int64(len(turns))
		}
	}
	return turns
}

// clinicEssentials were written by hand after reading the conversation.
var clinicEssentials = []essential{
	{"the user's name", []string{"nadia"}},
	{"her role", []string{"practice manager"}},
	{"the clinic", []string{"linden street clinic+utrecht"}},
	{"what is built, for whom", []string{"booking service+14 doctors"}},
	{"British English", []string{"british english"}},
	{"24-hour format", []string{"24-hour"}},
	{"no reminders on Sundays", []string{"never+sundays"}},
	{"small pull requests", []string{"small pull requests+300 lines"}},
	{"no paid services", []string{"never+paid services"}},
	{"bcrypt", []string{"passwords+bcrypt+12"}},
	{"no national id in logs", []string{"never+national id+logs"}},
	{"the database that is used now", []string{"postgresql 16"}},
	{"memory of the server", []string{"16 gb"}},
	{"budget", []string{"€5,000", "€5000"}},
	{"the file with the settings", []string{"/etc/lindenbook/app.toml"}},
	{"the limit of connections", []string{"max_conn=42", "max_conn = 42"}},
	{"who owns the front end", []string{"tomasz wieczorek+front end"}},
	{"the file of the front end", []string{"web/src/booking.ts"}},
	{"the function for booking", []string{"bookslot"}},
	{"the address for slots", []string{"api.lindenbook.example/v1/slots"}},
	{"cancelling", []string{"cancelled+24 hours"}},
	{"appointments a day", []string{"28 appointments"}},
	{"the migration", []string{"db/migrations/0007_limits.sql"}},
	{"the ticket", []string{"lind-482"}},
	{"the new date of the launch", []string{"november 15, 2026"}},
	{"tablets to order", []string{"6 tablets"}},
	{"whom the email is for", []string{"okafor+sint maarten"}},
	{"the date of the export", []string{"september 9"}},
	{"the size of the export", []string{"18,250 referrals", "18250 referrals"}},
	{"the staging address", []string{"staging.lindenbook.example/admin"}},
	{"the contact", []string{"it@lindenstreet.example"}},
}

// clinicNoise must not be in a memory: headings and agenda items, table rows and footnotes, advice, replaced
// statements, and names that are ordinary words.
var clinicNoise = []string{
	"Opening Statements", "Follow-Up", "Agenda", "Next Steps", "| SQLite |", "2,000 writes", "12,000 writes", "on a laptop", "three copies",
	"skip user interviews", "We decided to use SQLite", "October 1, 2026", "console.log", "response.json", "annoying",
}

// clinicState returns the state summary after the whole conversation, made only by rules.
func clinicState(t *testing.T, target int) string {
	t.Helper()
	summary, count := "", counter()
	for _, tn := range readTurns(t, "clinic.md") {
		summary = librarian.Fallback(librarian.Update{Previous: summary, Turns: []chat.Turn{tn}, Count: count, Target: target}).Summary
	}
	return summary
}

func TestConversationFallback(t *testing.T) {
	summary := clinicState(t, 0)
	if missing := missingEssentials(summary, clinicEssentials); len(missing) > 1 {
		t.Errorf("the state lacks %q:\n%s", missing, summary)
	}
	body, _, _ := strings.Cut(summary, "## Last exchange")
	for _, noise := range clinicNoise {
		if strings.Contains(body, noise) {
			t.Errorf("%q is in the state:\n%s", noise, summary)
		}
	}
	s := librarian.Parse(summary)
	for _, e := range s.Entries(librarian.Constraints) {
		if strings.Contains(e, "You should") || strings.Contains(e, "Make sure") {
			t.Errorf("advice is a constraint: %q", e)
		}
	}
	for _, name := range s.Entries(librarian.Artifacts) {
		if name == "to" || name == "with" || name == "the" || strings.HasSuffix(name, "$") {
			t.Errorf("%q is not an artifact", name)
		}
	}
}

// TestStandingInstructionsAreKeptLongest: if there is little space, the standing instructions are kept.
func TestStandingInstructionsAreKeptLongest(t *testing.T) {
	summary := clinicState(t, 300)
	orders := clinicEssentials[4:9]
	if missing := missingEssentials(summary, orders); len(missing) > 0 {
		t.Errorf("in 300 tokens there is no %q:\n%s", missing, summary)
	}
	turns := readTurns(t, "clinic.md")
	if extract := librarian.Extract(turns, 200, counter()); len(missingEssentials(extract, orders)) > 0 {
		t.Errorf("in an extract of 200 tokens there is no %q:\n%s", missingEssentials(extract, orders), extract)
	}
}

// TestConversationRepaired: if a model forgets required facts, nothing that the user said is lost.
func TestConversationRepaired(t *testing.T) {
	summary, count := "", counter()
	for _, tn := range readTurns(t, "clinic.md") {
		m := &script{answers: []string{"## Facts\n- Nadia of the clinic builds a booking service.\n"}}
		got := librarian.Librarian{}.Update(t.Context(), librarian.Update{Previous: summary, Turns: []chat.Turn{tn}, Count: count, Model: m})
		if got.Origin != chat.StateLibrarian || len(m.requests) > 2 {
			t.Fatalf("turn %d: %s after %d calls: %s", tn.Seq, got.Origin, len(m.requests), got.Validation)
		}
		summary = got.Summary
	}
	lasting := append(clinicEssentials[4:12:12], clinicEssentials[20:22]...) // constraints and decisions
	if missing := missingEssentials(summary, lasting); len(missing) > 0 {
		t.Errorf("the state lacks %q:\n%s", missing, summary)
	}
	if strings.Contains(summary, "We decided to use SQLite") {
		t.Errorf("what was replaced is still in\n%s", summary)
	}
}

// TestLanguages: conversations in German and Chinese are remembered by rules, and a model's summary of them in its
// own words is accepted.
func TestLanguages(t *testing.T) {
	cases := map[string]struct {
		turns      []chat.Turn
		answer     string
		essentials []essential
		noise      []string
	}{
		"German": {
			turns: []chat.Turn{
				turn("Ich heiße Anke und wir entwickeln eine Bestell-App für 12 Bäckereien in Köln. Kannst du mir bei der Struktur helfen?", "### Nächste Schritte\n1. **Planung** (2 Stunden)\n\nDu solltest immer zuerst testen."),
				turn("Wir haben uns für MySQL entschieden. Passwörter müssen mit bcrypt gehasht werden. Antworte ab jetzt immer auf Deutsch.", "Gut. Man muss immer drei Sicherungen haben."),
				turn("Wir nehmen jetzt PostgreSQL statt MySQL. Der Start ist am 3. Mai 2027, das Budget beträgt 5.000 Euro.", "Verstanden."),
			},
			answer: "## Facts\n- Anke entwickelt mit ihrem Team eine Bestell-App für 12 Bäckereien in Köln.\n- Start: 3. Mai 2027; Budget: 5000 Euro\n## Decisions\n- PostgreSQL (vorher MySQL)\n" +
				"## Constraints\n- Passwörter mit bcrypt hashen\n- Immer auf Deutsch antworten\n## Artifacts\n## Open tasks\n",
			essentials: []essential{
				{"name", []string{"anke"}}, {"app", []string{"bestell-app+12 bäckereien+köln"}}, {"database", []string{"postgresql"}}, {"bcrypt", []string{"passwörter+bcrypt"}},
				{"language", []string{"immer auf deutsch"}}, {"start", []string{"3. mai 2027"}}, {"budget", []string{"5.000 euro", "5000 euro"}},
			},
			noise: []string{"Planung", "drei Sicherungen", "zuerst testen", "Wir haben uns für MySQL"},
		},
		"Chinese": {
			turns: []chat.Turn{
				turn("我叫李明，我们在开发一个图书管理系统。你能帮我设计数据库吗？", "### 步骤\n1. **设计表**\n\n你必须总是先备份。"),
				turn("我们决定使用MySQL。密码必须用bcrypt加密。从现在起请用中文回答。", "好的。"),
				turn("预算是5000元，上线时间是2027年5月3日。配置文件是config/app.yaml。", "明白。"),
			},
			answer: "## Facts\n- 用户李明在开发图书管理系统。\n- 预算5000元，上线时间2027年5月3日\n## Decisions\n- 使用MySQL\n## Constraints\n- 密码必须用bcrypt加密\n- 从现在起用中文回答\n## Artifacts\n- config/app.yaml\n## Open tasks\n",
			essentials: []essential{
				{"name", []string{"李明"}}, {"system", []string{"图书管理系统"}}, {"database", []string{"mysql"}}, {"bcrypt", []string{"密码+bcrypt"}},
				{"language", []string{"中文回答"}}, {"budget", []string{"5000元"}}, {"start", []string{"2027年5月3日"}}, {"file", []string{"config/app.yaml"}},
			},
			noise: []string{"设计表", "先备份"},
		},
	}
	for name, c := range cases {
		summary := librarian.Fallback(librarian.Update{Turns: c.turns, Count: quarter}).Summary
		body, _, _ := strings.Cut(summary, "## Last exchange")
		if missing := missingEssentials(body, c.essentials); len(missing) > 0 {
			t.Errorf("%s: the state lacks %q:\n%s", name, missing, summary)
		}
		for _, noise := range c.noise {
			if strings.Contains(body, noise) {
				t.Errorf("%s: %q is in the state:\n%s", name, noise, summary)
			}
		}
		m := &script{answers: []string{c.answer}}
		got := librarian.Librarian{}.Update(t.Context(), librarian.Update{Turns: c.turns, Count: quarter, Model: m})
		v := validation(t, got)
		if got.Origin != chat.StateLibrarian || len(m.requests) != 1 || len(v.Added) > 1 || len(missingEssentials(got.Summary, c.essentials)) > 0 {
			t.Errorf("%s: %s after %d calls: %s\n%s", name, got.Origin, len(m.requests), got.Validation, got.Summary)
		}
	}
}
