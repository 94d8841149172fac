package evaluation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
)

// format writes turns as "name=text | name=text", one per line, with their times.
func format(turns []Exchange) string {
	var out []string
	for _, x := range turns {
		line := string(x.User.Role) + x.User.Name + "=" + x.User.RenderedText()
		if x.Answer != nil {
			line += " | " + string(x.Answer.Role) + x.Answer.Name + "=" + x.Answer.RenderedText()
		}
		out = append(out, x.At.Format("06-01-02 15:04 ")+line)
	}
	return strings.Join(out, "\n")
}

func TestExchanges(t *testing.T) {
	for name, c := range map[string]struct{ corpus, want string }{
		"a user and an assistant": {`
			{"conv":"a","session":"1","date":"March-15-2024","speaker":"user","text":"q1"}
			{"conv":"a","session":"1","date":"March-15-2024","speaker":"assistant","text":"a1"}
			{"conv":"a","session":"1","date":"March-15-2024","speaker":"user","text":"lost"}
			{"conv":"a","session":"1","date":"March-15-2024","speaker":"user","text":"q2"}
			{"conv":"a","session":"2","date":"2024-04-01","speaker":"assistant","text":"a3"}`,
			"24-03-15 00:00 user=q1 | assistant=a1\n24-03-15 00:01 user=lost\n24-03-15 00:02 user=q2\n24-04-01 00:00 userassistant=a3"},
		"people": {`
			{"conv":"a","session":1,"date":"1:56 pm on 8 May, 2023","speaker":"Ann","text":"one"}
			{"conv":"a","session":1,"date":"1:56 pm on 8 May, 2023","speaker":"Bob","text":" "}
			{"conv":"a","session":1,"date":"1:56 pm on 8 May, 2023","speaker":"Cem","text":"two"}
			{"conv":"a","session":1,"date":"1:56 pm on 8 May, 2023","speaker":"Bob","text":"three"}
			{"conv":"a","session":2,"date":"9 May 2023","speaker":"Ann","text":"four"}`,
			"23-05-08 13:56 userAnn=one | assistantCem=two\n23-05-08 13:57 userBob=three\n23-05-09 00:00 userAnn=four"},
		"without dates": {`
			{"conv":"a","speaker":"user","text":"one"}
			{"conv":"a","speaker":"assistant","text":"two"}`,
			"01-01-01 00:00 user=one | assistant=two"},
	} {
		got, err := ReadCorpus(strings.NewReader(c.corpus), "c")
		if err != nil || len(got) != 1 || format(got[0].Turns) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, format(got[0].Turns), c.want)
		}
	}
}

// A date is read in the formats of package dates; another one is reported and not replaced.
func TestDatesOfACorpus(t *testing.T) {
	for in, want := range map[string]string{
		"1:56 pm on 8 May, 2023": "2023-05-08 13:56", "March-15-2024": "2024-03-15 00:00", "2024-03-15": "2024-03-15 00:00", "30.12.2023": "2023-12-30 00:00",
		"2023/05/20 (Sat) 02:21": "2023-05-20 02:21", "2024-03-15T10:00:00+02:00": "2024-03-15 08:00", "10:04  am on 19 June, 2023": "2023-06-19 10:04",
		"yesterday": "", "03/04/2024": "", "": "",
	} {
		got, err := ReadCorpus(strings.NewReader(`{"conv":"a","speaker":"user","text":"one","date":"`+in+`"}`), "c")
		if err != nil {
			t.Fatal(err)
		}
		at, unread := got[0].Turns[0].At, got[0].Unread
		if at.IsZero() != (want == "") || want != "" && at.Format("2006-01-02 15:04") != want {
			t.Errorf("%q: %v, want %q", in, at, want)
		}
		if named := strings.Join(unread.Examples, ""); (want == "") != (named == in) || named != "" && unread.Count != 1 {
			t.Errorf("%q: unread dates %+v", in, unread)
		}
	}
}

// An unreadable line is reported, and nothing is read.
func TestMalformedLinesAreNamed(t *testing.T) {
	good := `{"conv":"a","speaker":"user","text":"one"}`
	for _, bad := range []string{"{", `{"conv":"a","text":"x"}`, `{"conv":["a"],"speaker":"user","text":"x"}`, `[]`} {
		_, err := ReadCorpus(strings.NewReader(good+"\n\n"+bad+"\n"), "talk.jsonl")
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "talk.jsonl, line 3:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	for _, bad := range []string{`{"query":"x"}`, `{"id":1}`, `{"id":1,"query":" "}`, "no"} {
		_, err := ReadQuestions(strings.NewReader(bad), "q.jsonl")
		if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), "q.jsonl, line 1:") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if _, err := ReadQuestions(strings.NewReader("no"), "q.jsonl"); !strings.HasSuffix(chat.AsError(err).Message, "line 1: it is not valid JSON.") {
		t.Errorf("%v", err)
	}
	if _, err := ReadQuestions(strings.NewReader("[]"), "q.jsonl"); !strings.HasSuffix(chat.AsError(err).Message, "line 1: it is not a JSON object.") {
		t.Errorf("%v", err)
	}
	if _, err := ReadCorpus(strings.NewReader("\n"), "empty"); chat.CodeOf(err) != chat.CodeInvalid {
		t.Errorf("an empty corpus: %v", err)
	}
	q, err := ReadQuestions(strings.NewReader(`{"id":{"n":1},"conv":7,"query":"what?"}`), "q")
	if err != nil || len(q) != 1 || string(q[0].ID) != `{"n":1}` || q[0].Conv != "7" {
		t.Errorf("%+v %v", q, err)
	}
}

func TestTokens(t *testing.T) {
	for in, want := range map[string]int{"": 0, "abcd": 1, "abcde": 2, "漢字漢字": 1} {
		if got := Tokens(in); got != want {
			t.Errorf("%q: %d, want %d", in, got, want)
		}
	}
}

func TestCalendarAlwaysAdvances(t *testing.T) {
	var c Calendar
	if first := c.Now(); first.Year() != 2000 || !c.Now().After(first) {
		t.Error("the calendar does not advance")
	}
	c.set(time.Date(2023, 5, 8, 0, 0, 0, 0, time.UTC))
	if got := fmt.Sprint(c.Now().Year()); got != "2023" {
		t.Errorf("it is %s", got)
	}
}
