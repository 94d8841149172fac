package cli_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/llm"
)

const threeModels = configText + `
[models.second]
provider = "chatcompletions"
base_url = "http://127.0.0.1:1/v1"
model_id = "test-2"
context_limit = 32000
max_output = 1000

[models.third]
provider = "chatcompletions"
base_url = "http://127.0.0.1:1/v1"
model_id = "test-3"
context_limit = 32000
max_output = 1000
`

// answersDoc is the document of answers and of send with several models.
type answersDoc struct {
	Answers []struct {
		sent
		Label   string `json:"branch_label"`
		Active  bool
		Later   int `json:"later_turns"`
		Problem string
	}
}

func (d answersDoc) texts() []string {
	var out []string
	for _, a := range d.Answers {
		out = append(out, a.Model+": "+a.Text)
	}
	return out
}

// newThreeModelHome returns a home with three models.
func newThreeModelHome(t *testing.T) *home {
	t.Helper()
	h := newHome(t)
	h.configure(threeModels)
	h.provider.byModel = map[string]answer{"test-1": say("one says blue"), "test-2": say("two says red"), "test-3": say("three says green")}
	return h
}

func TestSendToSeveralModels(t *testing.T) {
	t.Parallel()
	h := newThreeModelHome(t)
	h.send("--new", "Hello")
	started := make(chan struct{})
	first := say("one says blue")
	first.start = started // it sends nothing before the last model answers, so asking one after the other would never end
	last := say("three says green")
	last.end = func(context.Context) error { close(started); return nil }
	h.provider.byModel["test-1"], h.provider.byModel["test-3"] = first, last

	var doc answersDoc
	h.run("send", "--json", "--model", "test", "--model", "second", "--model", "third", "Which colour?").exits(0).into(&doc)
	want := []string{"test: one says blue", "second: two says red", "third: three says green"}
	if got := doc.texts(); !slices.Equal(got, want) {
		t.Fatalf("%q", got)
	}
	for i, a := range doc.Answers {
		if a.Seq != 2 || a.Outcome != "completed" || a.Active != (i == 0) || i > 0 && a.Label != "from #2: "+a.Model {
			t.Errorf("%+v", a)
		}
		if i > 0 && a.BranchID == doc.Answers[0].BranchID {
			t.Error("two answers are on one branch")
		}
	}
	// Each answer leads to the whole set, in another process too.
	for _, a := range doc.Answers {
		var found answersDoc
		h.run("answers", "--json", a.TurnID).exits(0).into(&found)
		if got := found.texts(); !slices.Equal(got, want) {
			t.Errorf("from %s: %q", a.Model, got)
		}
	}
	if r := h.run("answers", doc.Answers[1].TurnID).exits(0); !strings.Contains(r.out, "two says red") || !strings.Contains(r.out, doc.Answers[2].BranchID) {
		t.Errorf("%s", r.out)
	}
	h.run("switch", doc.Answers[1].SessionID, doc.Answers[1].BranchID).exits(0)
	if next := h.send("Go on"); next.BranchID != doc.Answers[1].BranchID || next.Seq != 3 {
		t.Errorf("%+v", next)
	}
	var found answersDoc
	h.run("answers", "--json", doc.Answers[0].TurnID).exits(0).into(&found)
	if len(found.Answers) != 3 || found.Answers[1].Later != 1 || !found.Answers[1].Active || found.Answers[0].Active {
		t.Errorf("%+v", found)
	}
	h.run("verify").exits(0)
}

func TestSendToSeveralPrintsEachAnswerInFull(t *testing.T) {
	t.Parallel()
	h := newThreeModelHome(t)
	r := h.run("send", "--new", "--model", "second", "--model", "third", "Which colour?").exits(0)
	two, three := strings.Index(r.out, "# second (branch "), strings.Index(r.out, "# third (branch ")
	if two != 0 || three < strings.Index(r.out, "two says red") || !strings.HasSuffix(strings.TrimSpace(r.out), "three says green") {
		t.Errorf("%s", r.out)
	}
	if got := h.onlySession(); got.Session.Title != "Which colour?" || got.Turns[0].Assistant.RenderedText() != "two says red" {
		t.Errorf("%+v", got)
	}
}

func TestSendToSeveralRejectsInvalidModels(t *testing.T) {
	t.Parallel()
	h := newThreeModelHome(t)
	s := h.send("--new", "Hello")
	for name, c := range map[string]struct {
		args []string
		code string
		exit int
	}{
		"twice":    {[]string{"--model", "second", "--model", "second"}, "invalid", 1},
		"too many": {[]string{"--model", "test", "--model", "second", "--model", "third", "--model", "a", "--model", "b"}, "invalid", 1},
		"unknown":  {[]string{"--model", "test", "--model", "nope"}, "config", 1},
	} {
		r := h.run(append([]string{"send", "--json", "hi"}, c.args...)...).exits(c.exit)
		if f := r.failure(); f.Code != c.code {
			t.Errorf("%s: %+v", name, f)
		}
	}
	h.run("send", "--events", "--model", "test", "--model", "second", "hi").exits(2)
	if got := h.show(s.SessionID); len(got.Turns) != 1 {
		t.Errorf("%d turns: a refused message was sent", len(got.Turns))
	}
	var branches struct{ Branches []any }
	h.run("branches", "--json", s.SessionID).exits(0).into(&branches)
	if len(branches.Branches) != 1 {
		t.Errorf("%d branches: an unused one was created", len(branches.Branches))
	}
}

func TestOneOfSeveralFails(t *testing.T) {
	t.Parallel()
	h := newThreeModelHome(t)
	h.provider.byModel["test-2"] = refuse(&llm.Error{Code: chat.CodeAuth, Status: 401, Message: "bad key"})
	r := h.run("send", "--json", "--new", "--model", "test", "--model", "second", "--model", "third", "hi").exits(1)
	var doc answersDoc
	r.into(&doc)
	if f := r.failure(); f.Code != "auth" || len(doc.Answers) != 3 || doc.Answers[1].Phase != "Failed" || doc.Answers[2].Text != "three says green" {
		t.Fatalf("%+v, %+v", f, doc)
	}
	// A retried answer replaces the failure.
	h.provider.byModel["test-2"] = say("two after all")
	h.run("retry", "--json", doc.Answers[1].TurnID).exits(0)
	for _, from := range doc.Answers {
		var found answersDoc
		h.run("answers", "--json", from.TurnID).exits(0).into(&found)
		if got := found.texts(); len(got) != 3 || got[1] != "second: two after all" {
			t.Errorf("from %s: %q", from.Model, got)
		}
	}
}

func TestAnswerAlsoAndMerge(t *testing.T) {
	t.Parallel()
	h := newThreeModelHome(t)
	s := h.send("--new", "Which colour?")
	if f := h.run("answers", "merge", "--json", s.TurnID, "--model", "third").exits(1).failure(); f.Code != "conflict" {
		t.Errorf("one answer was merged: %+v", f)
	}
	var also sent
	h.run("answers", "also", "--json", s.TurnID, "--model", "second").exits(0).into(&also)
	if also.Text != "two says red" || also.Seq != 1 || also.BranchID == s.BranchID {
		t.Errorf("%+v", also)
	}
	branches := h.run("branches", "--json", s.SessionID).exits(0).out
	if r := h.run("answers", "merge", s.TurnID, "--model", "recall"); r.code == 0 || !strings.Contains(r.err, "recall quotes your history and cannot merge answers. Nothing was sent.") {
		t.Errorf("recall merged: %d %q", r.code, r.err)
	}
	if after := h.run("branches", "--json", s.SessionID).exits(0).out; after != branches {
		t.Errorf("a branch was created for a merge that was refused: %s", after)
	}
	h.provider.byModel["test-3"] = say("purple")
	var merged sent
	h.run("answers", "merge", "--json", also.TurnID, "--model", "third").exits(0).into(&merged)
	shown := h.show(s.SessionID)
	if merged.Text != "purple" || merged.Seq != 1 || len(shown.Turns) != 1 || shown.Turns[0].ID != merged.TurnID {
		t.Fatalf("%+v, %+v", merged, shown)
	}
	text := shown.Turns[0].User.RenderedText()
	for _, want := range []string{"Which colour?", "by test ===", "one says blue", "by second ===", "two says red"} {
		if !strings.Contains(text, want) {
			t.Errorf("the message lacks %q:\n%s", want, text)
		}
	}
	// The conversation contains what was sent.
	if request := h.provider.requests[len(h.provider.requests)-1]; !strings.Contains(request, "is an instruction to you") || !strings.Contains(request, "two says red") {
		t.Errorf("%s", request)
	}
	// The merged answer belongs to another message, so it is not part of the set.
	var found answersDoc
	h.run("answers", "--json", s.TurnID).exits(0).into(&found)
	if got := found.texts(); !slices.Equal(got, []string{"test: one says blue", "second: two says red"}) {
		t.Errorf("%q", got)
	}
}

// If another model answers the message of a retried turn, the answers belong together and can be merged.
func TestAnotherModelAnswersAfterARetry(t *testing.T) {
	t.Parallel()
	h := newThreeModelHome(t)
	s := h.send("--new", "Hello.")
	works := h.provider.byModel["test-1"]
	h.provider.byModel["test-1"] = refuse(&llm.Error{Code: chat.CodeAuth, Status: 401, Message: "bad key"})
	var failed, retried, also sent
	h.run("send", "--json", "--session", s.SessionID, "Which colour?").exits(1).into(&failed)
	h.provider.byModel["test-1"] = works
	h.run("retry", "--json", failed.TurnID).exits(0).into(&retried)
	h.run("answers", "also", "--json", retried.TurnID, "--model", "second").exits(0).into(&also)
	for _, from := range []string{failed.TurnID, retried.TurnID, also.TurnID} {
		var found answersDoc
		h.run("answers", "--json", from).exits(0).into(&found)
		if got := found.texts(); !slices.Equal(got, []string{"test: one says blue", "second: two says red"}) {
			t.Errorf("from %s: %q", from, got)
		}
	}
	h.run("answers", "merge", "--json", retried.TurnID, "--model", "third").exits(0)
}

// TestDocumentsOfSeveralAnswers pins the documents that programs read.
func TestDocumentsOfSeveralAnswers(t *testing.T) {
	t.Parallel()
	h := newThreeModelHome(t)
	m := &masks{ids: map[string]string{}, paths: []string{h.dir, h.config}}
	doc := h.run("send", "--json", "--new", "--model", "test", "--model", "second", "Which colour?").exits(0).document()
	m.golden(t, "send_several", doc)
	turn := doc["answers"].([]any)[0].(map[string]any)["turn_id"].(string)
	m.golden(t, "answers", h.run("answers", "--json", turn).exits(0).document())
}
