package cli

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/retrieval"
)

func hit(id, text string, rank int, similarity float64) retrieval.Hit {
	h := retrieval.Hit{Rank: rank, Similarity: similarity, Score: 1 / float64(rank)}
	h.ID, h.Text = chat.ChunkID(id), text
	return h
}

// found is what the document of a search says about the results.
type found struct {
	Packed        int `json:"packed_tokens"`
	PackedResults int `json:"packed_results"`
	Results       []struct {
		PackedAs chat.PackedAs `json:"packed_as"`
		Matched  []string      `json:"matched_words"`
		Why      string        `json:"why"`
	} `json:"results"`
}

func documentOf(t *testing.T, r reply) (doc found) {
	t.Helper()
	raw, err := json.Marshal(r.doc)
	if err == nil {
		err = json.Unmarshal(raw, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// Only the requested number of results is listed, even if more would be packed; packed results are marked.
func TestResultsAreBounded(t *testing.T) {
	a, b, c := hit("a", "one", 1, 0.9), hit("b", "two", 2, 0.8), hit("c", "three", 3, 0.7)
	doc := documentOf(t, newSearch("one", chat.Within{}, retrieval.Result{
		Hits: []retrieval.Hit{a, b}, Tokens: 30,
		Artifacts: []retrieval.Artifact{{Hit: a, Form: chat.PackedFull, Tokens: 10}, {Hit: c, Form: chat.PackedFull, Tokens: 20}},
	}, 0))
	if len(doc.Results) != 2 || doc.Packed != 30 || doc.PackedResults != 2 {
		t.Fatalf("%+v", doc)
	}
	if doc.Results[0].PackedAs != chat.PackedFull || doc.Results[1].PackedAs != "" {
		t.Errorf("packed as %q and %q", doc.Results[0].PackedAs, doc.Results[1].PackedAs)
	}
}

// A result shows which words of the question it contains and how similar it is, in the document and in the text; the
// excerpt shows the words.
func TestWhyAResultWasFound(t *testing.T) {
	long := strings.Repeat("nothing of it here, ", 40)
	for _, c := range []struct {
		text       string
		similarity float64
		matched    []string
		why        string
	}{
		{"Orders is deployed on Sundays.", 0.913, []string{"deployed", "Orders"}, "matched: deployed, Orders · more similar than 91 % of unrelated text"},
		{"deploys and Deploys", 0, []string{"deploys"}, "matched: deploys"},
		{"When do we do it?", 0.5, nil, "more similar than 50 % of unrelated text"},
		{"And then?", 0, nil, "next to a passage that matches"},
		{long + "Orders are last", 0, []string{"Orders"}, "matched: Orders"},
	} {
		hits := []retrieval.Hit{hit("a", c.text, 1, c.similarity)}
		answer := newSearch(`When do we "deploy" the orders?`, chat.Within{}, retrieval.Result{Hits: hits}, 0)
		r := documentOf(t, answer).Results[0]
		if !slices.Equal(r.Matched, c.matched) || r.Why != c.why {
			t.Errorf("%q: %q, %q", c.text, r.Matched, r.Why)
		}
		var out bytes.Buffer
		answer.text(newOutput(&out))
		if !strings.Contains(out.String(), c.why) || len(c.matched) > 0 && !strings.Contains(out.String(), c.matched[0]) {
			t.Errorf("%q: printed %s", c.text, out.String())
		}
	}
}
