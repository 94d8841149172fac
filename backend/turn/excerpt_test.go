package turn

import (
	"fmt"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/retrieval"
)

// A pasted text can have more words than a document is searched for. The longest are used, from its beginning and its
// end.
func TestWordsSearchedInADocument(t *testing.T) {
	var b strings.Builder
	b.WriteString("Alexandria's lighthouse ")
	for i := range 5000 {
		fmt.Fprintf(&b, "w%d ", i)
	}
	b.WriteString("and the mausoleum")
	got := searchTerms(b.String())
	if len(got) != maxTerms || got[0] != "alexandria" || got[1] != "lighthouse" || got[2] != "mausoleum" {
		t.Errorf("%d terms: %q", len(got), got[:min(len(got), 4)])
	}
}

// If a part of a document is in the prompt, that part is not retrieved again.
func TestPartsInThePromptAreNotRetrieved(t *testing.T) {
	const source = "The first paragraph.\n\nThe second one.\n\nThe third one."
	doc := func(id chat.FileID, text string) chat.Turn {
		return chat.Turn{User: chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{chat.Document{File: id, Text: text}}}}
	}
	shown := excerpts{doc("other", source), doc("file", "The first paragraph."+gap+"The third one.")}
	first, second, third := chat.Span{Start: 0, End: 22}, chat.Span{Start: 22, End: 39}, chat.Span{Start: 39, End: len(source)}
	tests := map[string]struct {
		file  chat.FileID
		form  chat.PackedAs
		spans []chat.Span
		want  bool
	}{
		"whole":                                  {"file", chat.PackedFull, nil, false},
		"both spans in the prompt":               {"file", chat.PackedSlice, []chat.Span{first, third}, true},
		"one span not in the prompt":             {"file", chat.PackedSlice, []chat.Span{first, second}, false},
		"a summary":                              {"file", chat.PackedSummary, nil, false},
		"another document":                       {"third", chat.PackedSlice, []chat.Span{first}, false},
		"a document that is whole in the prompt": {"other", chat.PackedFull, nil, true},
		"no document":                            {"", chat.PackedSlice, []chat.Span{first}, false},
	}
	for name, c := range tests {
		x := retrieval.Artifact{Form: c.form, Slices: c.spans}
		x.Source, x.ChunkText.Text = source, source
		if c.file != "" {
			x.File = &chat.File{ID: c.file}
		}
		if got := shown.contain(x); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
