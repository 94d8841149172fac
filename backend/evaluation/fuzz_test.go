package evaluation

import (
	"bytes"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

// FuzzReadCorpus: any file gives conversations or an error that names a line; every message occurs once, with its
// speaker.
func FuzzReadCorpus(f *testing.F) {
	for _, s := range []string{
		`{"conv":"a","speaker":"Ann","text":"hello","date":"2026-01-02"}` + "\n" + `{"conv":"a","speaker":"Bob","text":"hi"}`,
		`{"conv":7,"session":1,"date":"1:56 pm on 8 May, 2023","speaker":"assistant","text":"x"}`, "\uFEFF{}\n", `{"speaker":"A","text":null}`, "[]", "{\"speaker\":\"A\",\"text\":\"\xff\\ud800\"}",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		conversations, err := ReadCorpus(bytes.NewReader(data), "file")
		if err != nil {
			if chat.CodeOf(err) != chat.CodeInvalid || !strings.HasPrefix(err.Error(), "file") {
				t.Fatalf("error %v", err)
			}
			return
		}
		seen, turns := map[string]bool{}, 0
		for _, c := range conversations {
			if seen[c.ID] {
				t.Fatalf("conversation %q twice", c.ID)
			}
			seen[c.ID] = true
			turns += len(c.Turns)
			for _, e := range c.Turns {
				if e.User.Role != chat.RoleUser || e.Answer != nil && e.Answer.Role != chat.RoleAssistant {
					t.Fatalf("turn %+v", e)
				}
			}
		}
		if lines := bytes.Count(data, []byte("\n")) + 1; turns > lines || len(conversations) == 0 {
			t.Fatalf("%d turns of %d lines", turns, lines)
		}
	})
}

// FuzzReadQuestions is FuzzReadCorpus for questions.
func FuzzReadQuestions(f *testing.F) {
	f.Add([]byte(`{"id":1,"conv":"a","query":"who?"}` + "\n\n" + `{"id":"x","query":"when?"}`))
	f.Add([]byte(`{"query":"who?"}`))
	f.Add([]byte("\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		questions, err := ReadQuestions(bytes.NewReader(data), "file")
		if err != nil {
			if chat.CodeOf(err) != chat.CodeInvalid || !strings.HasPrefix(err.Error(), "file") {
				t.Fatalf("error %v", err)
			}
			return
		}
		for _, q := range questions {
			if len(q.ID) == 0 || strings.TrimSpace(q.Text) == "" {
				t.Fatalf("question %+v", q)
			}
		}
	})
}
