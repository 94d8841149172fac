package librarian

import (
	"slices"
	"strings"
	"testing"
)

func TestTheMonthOfMayNegatesNothing(t *testing.T) {
	for text, want := range map[string]bool{"Tom hat am 2. Mai Geburtstag.": false, "Anna est née le 2 mai.": false, "Mai registrare la chiave.": true} {
		if negated(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}

// TestStates: a summary may use other words, but the loss of a number, a name or a negation is detected.
func TestStates(t *testing.T) {
	cases := []struct {
		statement, summary string
		want               bool
	}{
		{"The budget is 5,000 dollars.", "- Budget: $5000", true},
		{"The budget is $5000.", "- The budget was set at 5,000 USD.", true},
		{"Das Budget ist 5.000 Euro.", "- Budget: 5000 €", true},
		{"The store holds 1 000 crates.", "- Store: 1,000 crates", true},
		{"The store holds 1.000 crates.", "- Store: 1000 crates", true},
		{"The store holds 1,000 crates.", "- Store: 100 crates", false},
		{"The rate is 0.500 percent.", "- Rate: 500 percent", false},
		{"The server has 16 GB of memory.", "- Server: 16GB memory", true},
		{"The meeting starts at 9 AM.", "- Meeting at 09:00", true},
		{"The call is at 3:30 pm.", "- The call: 15:30", true},
		{"The p95 must stay under 38 ms.", "- p95 must stay under 40 ms", false},
		{"Deliver the report no later than Friday.", "- Deliver the report by Friday", true},
		{"The image must not exceed 2 MB.", "- Image: at most 2 MB", true},
		{"The image must not exceed 2 MB.", "- The image has 2 MB", false},
		{"Never log a key.", "- Log a key", false},
		{"Mai registrare la chiave.", "- Registrare la chiave", false},
		{"Never log a key.", "- Keys are never logged", true},
		{"Do not deploy on Fridays.", "- Deploy on Fridays\n- The user does not like tea", false},
		{"My colleague Tomasz Wieczorek owns the front end.", "- Front end: owned by Tomasz Wieczorek (colleague)", true},
		{"My colleague Tomasz Wieczorek owns the front end.", "- The front end is owned by a colleague", false},
		{"I want to make sure I'm using the API correctly and handling errors properly.", "- Use the API correctly\n- Errors are handled properly", true},
		{"I'm trying to build a shop for bicycles in Vue, and I have trouble with routing.", "- The user is building a bicycle shop with Vue.\n- Trouble with routing.", true},
		{"Wir haben entschieden, PostgreSQL zu verwenden.", "- Entscheidung: PostgreSQL wird verwendet", true},
		{"Die Datei darf nicht überschrieben werden.", "- Datei wird überschrieben", false},
		{"密钥绝不能写入日志。", "- 密钥绝不写入日志", true},
		{"密钥绝不能写入日志。", "- 密钥写入日志", false},
		{"我们决定使用数据库保存订单。", "- 决定：订单保存在数据库", true},
	}
	for _, c := range cases {
		if got := evidenceOf("## Facts\n" + c.summary).states(c.statement); got != c.want {
			t.Errorf("%q contains %q: %v", c.summary, c.statement, got)
		}
	}
}

func TestNames(t *testing.T) {
	cases := []struct {
		name, summary string
		want          bool
	}{
		{"fetchWeather", "- uses `fetchWeather(city)` and `main()`", true},
		{"fetch()", "- uses `fetch` for requests", true},
		{"api.example.com/v1", "- `https://api.example.com/v1/`", true},
		{"https://api.example.com/v1/", "- api.example.com/v1", true},
		{"MAX_CONN=42", "- `MAX_CONN` is 42", true},
		{"MAX_CONN=42", "- MAX_CONN = 42", true},
		{"MAX_CONN=42", "- MAX_CONN is 420", false},
		{"backend/store/open.go", "- backend/store/close.go", false},
		{"user_id", "- user\\_id is set", true},
	}
	for _, c := range cases {
		if got := evidenceOf(c.summary).containsName(c.name); got != c.want {
			t.Errorf("%q has the name %q: %v", c.summary, c.name, got)
		}
	}
}

// TestReplaces: a later statement replaces an earlier one if it names it or says that something about the same
// subject has changed, and not otherwise.
func TestReplaces(t *testing.T) {
	cases := []struct {
		sec            Section
		earlier, later string
		want           bool
	}{
		{Decisions, "We decided to use SQLite.", "We're switching from SQLite to PostgreSQL 16.", true},
		{Decisions, "We use axios for requests.", "We use fetch() instead of axios now.", true},
		{Decisions, "Wir nehmen MySQL.", "Wir nehmen PostgreSQL statt MySQL.", true},
		{Decisions, "我们用 MySQL。", "用 PostgreSQL 代替 MySQL。", true},
		{Decisions, "We use SQLite for sessions and Redis for queues.", "We're switching from SQLite to PostgreSQL.", false},
		{Facts, "The launch is on October 1, 2026.", "The launch was moved to November 15, 2026.", true},
		{Facts, "The launch party is in Utrecht.", "The launch was moved to November 15, 2026.", false},
		{Constraints, "Never deploy on Fridays.", "The deploy window changed: we deploy at 9:00 now.", false},
		{Artifacts, "axios", "We use fetch() instead of axios now.", true},
		{Artifacts, "fetch()", "We use fetch() instead of axios now.", false},
		{Decisions, "We decided to use SQLite.", "SQLite has 12 tables.", false},
		{Facts, "My sister Ilse lives in Graz.", "My sister Ilse has a dog.", false},
	}
	for _, c := range cases {
		if got := replacementBy(c.later).replaces(c.sec, c.earlier); got != c.want {
			t.Errorf("%q replaces %q: %v", c.later, c.earlier, got)
		}
	}
}

// TestWithoutRequests: requests are separated from statements.
func TestWithoutRequests(t *testing.T) {
	cases := []struct{ sentence, stated, asked string }{
		{"I'm building a shop with Go 1.24, can you help me structure it?", "I'm building a shop with Go 1.24", "structure it"},
		{"Could you draft a letter to Ana Ruiz by May 3?", "", "draft a letter to Ana Ruiz by May 3"},
		{"Can you review this, since I need it by April 15?", "since I need it by April 15?", "review this"},
		{"I use Vim, and here's what I have so far:", "I use Vim", ""},
		{"We never deploy on Fridays.", "We never deploy on Fridays.", ""},
		{"Ich baue einen Laden, kannst du mir helfen?", "Ich baue einen Laden", "kannst du mir helfen"},
		{"我在开发一个网站，你能帮我设计吗？", "我在开发一个网站", "你能帮我设计吗"},
		{"What is a monad?", "", "What is a monad"},
		{"", "", ""},
	}
	for _, c := range cases {
		if stated, asked := withoutRequests(c.sentence); stated != c.stated || asked != c.asked {
			t.Errorf("%q: states %q, asks %q", c.sentence, stated, asked)
		}
	}
}

// TestDivide: nothing is lost, and no part ends within a clause if another cut is possible.
func TestDivide(t *testing.T) {
	text := "The first clause is about the server in Graz, the second one is about its 16 GB of memory; the third has no end and goes on, as people do. Then a sentence follows."
	parts := divide(text, 60)
	if got := strings.Join(parts, " "); got != text {
		t.Errorf("joined, it is %q", got)
	}
	for _, p := range parts {
		if len(p) > 60 {
			t.Errorf("%q has %d bytes", p, len(p))
		}
	}
	if !slices.Contains(parts, "The first clause is about the server in Graz,") {
		t.Errorf("cut into %q", parts)
	}
	if got := divide("The roof of the barn in Lund leaks, and I have asked Nils for a price that we can pay", 75); got[0] != "The roof of the barn in Lund leaks" {
		t.Errorf("a limit at a space cuts inside the clause: %q", got)
	}
	if got := divide(strings.Repeat("字", 100), 61); len(got) != 5 || strings.Join(got, "") != strings.Repeat("字", 100) {
		t.Errorf("without spaces it is cut into %q", got)
	}
}
