package transfer

import (
	"testing"

	"contextinfinity/backend/chat"
)

func TestMarksOfChatGPT(t *testing.T) {
	for text, want := range map[string]string{
		"Finished in 1889\ue200cite\ue202turn0search0\ue202turn0search3\ue201. More.":                    "Finished in 1889. More.",
		"Built by \ue200entity\ue202[\"people\",\"Gustave Eiffel\",0]\ue201 and others.":                 "Built by Gustave Eiffel and others.",
		"See \ue200link_title\ue202Tower history\ue202turn0search3\ue201.\ue200i\ue202turn0image1\ue201": "See Tower history.",
		"cut \ue200cite\ue202turn0":                  "cut citeturn0",
		"\ue200entity\ue202{not a list\ue201 stays ": " stays ",
		"no mark, ü 漢":                               "no mark, ü 漢",
	} {
		if got := withoutMarks(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestTheContextOfAnEditorIsNotTheRequest(t *testing.T) {
	c := readOne(t, "rollout-1.jsonl", `{"type":"session_meta","payload":{"id":"s"}}
{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"# Context from my IDE setup:\n\n## Open tabs:\n- A.md: A.md\n\n## My request for Codex:\nWrite the test\n"}]}}
{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Written."}]}}`)
	if c.Title != "Write the test" || c.Turns[0].User.RenderedText() != "Write the test" {
		t.Errorf("title %q, message %q", c.Title, c.Turns[0].User.RenderedText())
	}
}

// TestMarksAreNotInKeys: what is shown has no marks and keeps the references; the keys are those of the text with marks, so
// that an import by an earlier version is not repeated.
func TestMarksAreNotInKeys(t *testing.T) {
	file := func(text string) string {
		return `[{"id":"c","mapping":{"u":{"message":{"author":{"role":"user"},"content":{"content_type":"text","parts":["When?"]}},"parent":null},
			"a":{"message":{"author":{"role":"assistant"},"content":{"content_type":"text","parts":["` + text + `"]},
			"metadata":{"content_references":[{"url":"https://example.com"}]}},"parent":"u"}}}]`
	}
	read := func(text string) Turn {
		t.Helper()
		turns := readOne(t, "conversations.json", file(text)).Turns
		if len(turns) != 1 {
			t.Fatalf("%+v", turns)
		}
		return turns[0]
	}
	marked, plain := read(`In 1889\ue200cite\ue202turn0search0\ue201.`), read(`In 1889.`)
	if got := marked.Assistant.RenderedText(); got != "In 1889." {
		t.Errorf("the answer is %q", got)
	}
	if text, ok := marked.Assistant.Blocks[0].(chat.Text); !ok || len(text.Annotations) != 1 {
		t.Errorf("the references are lost: %+v", marked.Assistant.Blocks)
	}
	if marked.ContentKey == plain.ContentKey {
		t.Error("the key does not depend on what the source wrote")
	}
}
