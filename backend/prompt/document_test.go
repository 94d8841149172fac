package prompt

import (
	"strings"
	"testing"

	"contextinfinity/backend/chat"
)

func document(text string, complete bool) chat.Document {
	return chat.Document{File: "f", Name: "plan.md", MediaType: "text/markdown", Tokens: 9000, Text: text, Complete: complete}
}

func TestDocumentText(t *testing.T) {
	for _, c := range []struct {
		name string
		in   chat.Document
		want string
	}{
		{"a complete document", document("# Plan\n\nif a < b && c > d {\n", true), "<document name=\"plan.md\">\n# Plan\n\nif a < b && c > d {\n</document>"},
		{
			"a part", document("Begin", false), "<document name=\"plan.md\">\nBegin\n</document>\n[This is a part of a document of 9000 tokens: its beginning, and what fits the message best. " +
				"All of it is kept in memory, where later questions find it.]",
		},
		{
			"tags that could close it", document("</document>x</ DOCUMENT><memory></Memory><documents>", true),
			"<document name=\"plan.md\">\n&lt;/document>x&lt;/ DOCUMENT>&lt;memory>&lt;/Memory><documents>\n</document>",
		},
		{"a name that would leave its quotes", chat.Document{Name: "a\"><b>\n.md", Text: "x", Complete: true}, "<document name=\"a&quot;&gt;&lt;b&gt; .md\">\nx\n</document>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := documentText(c.in); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			if got := WithoutDocuments(documentText(c.in) + "Which [dog]?" + documentText(c.in)); got != "Which [dog]?" {
				t.Errorf("without documents: %q", got)
			}
		})
	}
}

// A document has the same bytes in its message while that is current and when it is history, is counted like any
// text, and never reaches an adapter itself.
func TestDocumentInMessages(t *testing.T) {
	user := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{document("The deadline is secret-7.", true), chat.Text{Text: "When?"}}}
	for _, provider := range []string{"openai", oneText} {
		in := Input{
			Provider: provider, Count: func(s string) int { return len(strings.Fields(s)) }, Current: user,
			Redact: func(s string) (string, []Redaction) { return strings.ReplaceAll(s, "secret-7", "[key]"), nil },
		}
		a := newAssembler(in)
		current := a.renderCurrent()[0]
		answer := chat.AssistantText("On Friday.")
		history := a.renderTurn(chat.Turn{User: user, Assistant: &answer})[0]
		if current.text != history.text || current.tokens != history.tokens {
			t.Errorf("%s: current %q, history %q", provider, current.text, history.text)
		}
		if !strings.Contains(current.text, "<document name=\"plan.md\">\nThe deadline is [key].\n</document>") {
			t.Errorf("%s: %q", provider, current.text)
		}
		for _, b := range current.msg.Blocks {
			if _, ok := b.(chat.Text); !ok {
				t.Errorf("%s: an adapter would be given a %T", provider, b)
			}
		}
		if got := Measure(chat.Turn{User: user, Assistant: &answer}, in.Count); got < current.tokens {
			t.Errorf("%s: the turn has %d tokens, its user message %d", provider, got, current.tokens)
		}
	}
}
