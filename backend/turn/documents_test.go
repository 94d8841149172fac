package turn_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/clock"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/turn"
)

// paragraphs returns n numbered paragraphs of ten words each.
func paragraphs(n int) string {
	var sb strings.Builder
	for i := range n {
		fmt.Fprintf(&sb, "paragraph%d b c d e f g h i end%d\n\n", i, i)
	}
	return sb.String()
}

func (w *env) file(name, text string) chat.Document {
	w.t.Helper()
	f, err := w.store.AddFile(context.Background(), chat.NewFile{
		SessionID: w.session.ID, Name: name, MediaType: "text/plain", Content: []byte(text), Tokens: len(strings.Fields(text)),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return chat.Document{File: f.ID, Name: name}
}

func (w *env) sendBlocks(blocks ...chat.Block) (chat.Turn, error) {
	w.t.Helper()
	h, err := w.engine.Send(context.Background(), turn.Message{Branch: w.branch.ID, Content: chat.Message{Role: chat.RoleUser, Blocks: blocks}})
	if err != nil {
		return chat.Turn{}, err
	}
	return w.wait(h), nil
}

// The working set of this test is 50 000 words, so documents share 12 500.
func TestDocumentsAreFrozen(t *testing.T) {
	small, large, huge := paragraphs(10), paragraphs(1200), paragraphs(5000)
	for _, c := range []struct {
		name     string
		texts    []string
		whole    []bool
		minWords []int // words that must be in the message
	}{
		{"one that fits", []string{large}, []bool{true}, []int{12000}},
		{"one that does not fit", []string{huge}, []bool{false}, []int{12000}},
		{"a small one beside a huge one", []string{huge, small}, []bool{false, true}, []int{12000, 100}},
		{"two huge ones share", []string{huge, huge + "x"}, []bool{false, false}, []int{6000, 6000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newEnv(t)
			w.provider.script(answer("fine"))
			var blocks []chat.Block
			for i, text := range c.texts {
				blocks = append(blocks, w.file(fmt.Sprintf("%d.txt", i), text))
			}
			sent, err := w.sendBlocks(append(blocks, chat.Text{Text: "What is in it?"})...)
			if err != nil {
				t.Fatal(err)
			}
			total := 0
			for i, d := range sent.User.Blocks.Documents() {
				words := len(strings.Fields(d.Text))
				total += words
				if d.Complete != c.whole[i] || words < c.minWords[i] || !strings.HasPrefix(c.texts[i], d.Text) || d.Tokens != len(strings.Fields(c.texts[i])) {
					t.Errorf("document %d: whole %v, %d words of %d", i, d.Complete, words, d.Tokens)
				}
				if !d.Complete && !strings.Contains(lastLine(d.Text), "end") {
					t.Errorf("document %d is not cut at a paragraph: %q", i, lastLine(d.Text))
				}
			}
			if total > 12500 {
				t.Errorf("%d words of documents in one message", total)
			}
			w.clean()
		})
	}
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// A message with a large document is answered from the relevant paragraph, not only from the beginning: the paragraph
// that matches the question is in the prompt.
func TestDocumentAnswersItsOwnMessage(t *testing.T) {
	w := newEnv(t)
	w.provider.script(answer("Ottilie"))
	fact := "The lighthouse keeper was called Ottilie."
	text := paragraphs(3000) + fact + "\n\n" + paragraphs(3000)
	sent, err := w.sendBlocks(w.file("book.txt", text), chat.Text{Text: "Who was the lighthouse keeper?"})
	if err != nil {
		t.Fatal(err)
	}
	d := sent.User.Blocks.Documents()[0]
	head, rest, _ := strings.Cut(d.Text, "\n\n[…]\n\n")
	if d.Complete || !strings.HasPrefix(text, head) || rest != fact || len(strings.Fields(d.Text)) > 12500 {
		t.Errorf("whole %v, %d words, and after the beginning %q", d.Complete, len(strings.Fields(d.Text)), rest)
	}
}

// The preview of a message with documents equals the request that is sent.
func TestDocumentsInThePreview(t *testing.T) {
	w := newEnv(t)
	w.close()
	w.clock = clock.NewFake(time.Now()).Now // both requests name the same minute
	w.open()
	w.provider.script(answer("fine"))
	blocks := chat.Blocks{w.file("a.txt", "some words"), w.file("b.txt", paragraphs(1500)), chat.Text{Text: "And?"}}
	p, _, err := w.engine.Preview(t.Context(), w.branch.ID, "", chat.Message{Role: chat.RoleUser, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := w.sendBlocks(blocks...)
	if err != nil {
		t.Fatal(err)
	}
	if m := w.manifest(sent.ID); p.Manifest().SHA256 != m.SHA256 {
		t.Errorf("the preview has %d tokens, the request %d", p.Manifest().TotalTokens, m.TotalTokens)
	}
}

// Without memory the rest of a document could not be retrieved, so the document is sent completely.
func TestDocumentsAreCompleteInPlainChat(t *testing.T) {
	w := newEnv(t)
	w.settings.Policy.History = prompt.HistoryOff
	w.provider.script(answer("fine"))
	sent, err := w.sendBlocks(w.file("a.txt", paragraphs(1500)), chat.Text{Text: "?"})
	if err != nil {
		t.Fatal(err)
	}
	if d := sent.User.Blocks.Documents(); len(d) != 1 || !d[0].Complete {
		t.Errorf("documents: %d", len(d))
	}
}

func TestDocumentNamedTwiceOrDeleted(t *testing.T) {
	w := newEnv(t)
	w.provider.script(answer("fine"))
	d := w.file("a.txt", "some words")
	sent, err := w.sendBlocks(d, d)
	if err != nil {
		t.Fatal(err)
	}
	if got := sent.User.Blocks.Documents(); len(got) != 1 || got[0].Text != "some words" {
		t.Errorf("documents: %+v", got)
	}
	_, err = w.sendBlocks(chat.Document{File: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Name: "gone.txt"})
	if chat.CodeOf(err) != chat.CodeInvalid || !strings.Contains(err.Error(), `"gone.txt" is no longer stored; nothing was sent`) {
		t.Errorf("error: %v", err)
	}
}

// A queued message's documents are frozen when it is sent, and its context can be rebuilt.
func TestDocumentOfAQueuedMessage(t *testing.T) {
	w := newEnv(t)
	_, gate := w.running(answer("two"))
	message := chat.Message{Role: chat.RoleUser, Blocks: chat.Blocks{w.file("a.txt", "some words"), chat.Text{Text: "?"}}}
	if h, err := w.engine.SendOrQueue(context.Background(), turn.Message{Branch: w.branch.ID, Content: message}); err != nil || h != nil {
		t.Fatal(h, err)
	}
	close(gate)
	var last chat.Turn
	for last.Seq != 2 || !last.Phase.Finalized() {
		var err error
		if last, _, err = w.store.LastTurn(context.Background(), w.branch.ID); err != nil {
			t.Fatal(err)
		}
	}
	if d := last.User.Blocks.Documents(); len(d) != 1 || d[0].Text != "some words" || !d[0].Complete {
		t.Errorf("documents: %+v", d)
	}
	w.clean()
}

func answer(s string) call { return call{events: []string{text(s), done}} }
