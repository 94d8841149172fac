package store

import (
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/verify"
)

func (f *fixture) file(session chat.SessionID, name, words string) chat.File {
	f.Helper()
	file, err := f.AddFile(f.ctx, chat.NewFile{SessionID: session, Name: name, MediaType: "text/plain", Content: []byte(words), Tokens: len(words) / 4})
	f.ok(err)
	return file
}

func naming(files ...chat.File) chat.Message {
	m := chat.Message{Role: chat.RoleUser}
	for _, d := range files {
		m.Blocks = append(m.Blocks, chat.Document{File: d.ID, Name: d.Name, MediaType: d.MediaType, Tokens: d.Tokens, Text: "its text", Complete: true})
	}
	m.Blocks = append(m.Blocks, chat.Text{Text: "what does it say?"})
	return m
}

// attach sends a message with documents and completes the answer.
func (f *fixture) attach(branch chat.BranchID, files ...chat.File) chat.Turn {
	f.Helper()
	t, err := f.Accept(f.ctx, chat.Acceptance{BranchID: branch, User: naming(files...), Provider: "recall", Model: "recall"})
	f.ok(err)
	step := f.respond(t)
	answer := chat.AssistantText("as written")
	done, err := f.Finalize(f.ctx, chat.Finalization{
		TurnID: t.ID, Message: answer, Outcome: chat.OutcomeCompleted,
		Step: &chat.StepEnd{StepID: step.ID, Outcome: chat.StepOutcome{Status: chat.StepCompleted}},
	})
	f.ok(err)
	return done
}

func (f *fixture) turnFiles(turn chat.TurnID) []string {
	f.Helper()
	files, err := f.TurnFiles(f.ctx, turn)
	f.ok(err)
	return lists.Map(files, func(file chat.FileText) string { return file.Name + ": " + file.Text })
}

func (f *fixture) verified() {
	f.Helper()
	found, err := f.Verify(f.ctx)
	f.ok(err)
	for _, x := range found {
		f.Errorf("verify: %+v", x)
	}
}

func TestFileIsStoredOncePerSession(t *testing.T) {
	f := newFixture(t)
	s, _ := f.session("one")
	other, _ := f.session("two")
	first := f.file(s.ID, "a.txt", "the same words")
	again := f.file(s.ID, "b.txt", "the same words")
	elsewhere := f.file(other.ID, "a.txt", "the same words")
	if again.ID != first.ID || again.Name != "b.txt" || elsewhere.ID == first.ID {
		t.Errorf("first %+v, again %+v, elsewhere %+v", first, again, elsewhere)
	}
	words, err := f.FileText(f.ctx, first.ID)
	f.ok(err)
	content := f.fileContent(first.ID)
	if words != "the same words" || string(content) != words {
		t.Errorf("text %q, content %q", words, content)
	}
	list := f.files(s.ID)
	if len(list) != 1 || list[0].Hash != chat.HashText(words) {
		t.Errorf("files of the session: %+v", list)
	}
}

func TestFileWithExtractedText(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("pdf")
	file, err := f.AddFile(f.ctx, chat.NewFile{SessionID: s.ID, Name: "a.pdf", MediaType: "application/pdf", Content: []byte("%PDF\x00\xff"), Text: "what it says", Tokens: 3})
	f.ok(err)
	turn := f.attach(b.ID, file)
	if got := f.turnFiles(turn.ID); len(got) != 1 || got[0] != "a.pdf: what it says" {
		t.Errorf("files of the turn: %q", got)
	}
	f.verified()
}

func TestFileRefused(t *testing.T) {
	f := newFixture(t)
	s, _ := f.session("one")
	for name, n := range map[string]chat.NewFile{
		"no text":    {SessionID: s.ID, Content: []byte(" \n\t")},
		"not UTF-8":  {SessionID: s.ID, Content: []byte("a\xff")},
		"a NUL":      {SessionID: s.ID, Content: []byte("a\x00b")},
		"empty text": {SessionID: s.ID},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.AddFile(f.ctx, n)
			f.refused(err, chat.CodeInvalid)
		})
	}
	_, err := f.AddFile(f.ctx, chat.NewFile{SessionID: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Content: []byte("words")})
	f.refused(err, chat.CodeNotFound)
}

// A document is bound to its turn, in the ledger too, when the message is accepted. A document that is missing or
// belongs to another session refuses the message and leaves nothing.
func TestAcceptBindsFiles(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("one")
	other, _ := f.session("two")
	mine, theirs := f.file(s.ID, "a.txt", "mine"), f.file(other.ID, "b.txt", "theirs")
	gone := chat.File{ID: "01JZZZZZZZZZZZZZZZZZZZZZZZ", Name: "gone.txt"}
	for _, bad := range []chat.File{theirs, gone} {
		_, err := f.Accept(f.ctx, chat.Acceptance{BranchID: b.ID, User: naming(mine, bad), Provider: "recall", Model: "recall"})
		f.refused(err, chat.CodeInvalid)
	}
	if kept, err := f.File(f.ctx, mine.ID); err != nil || kept.TurnID != "" {
		t.Errorf("after a refused message: %+v, %v", kept, err)
	}
	turn := f.attach(b.ID, mine)
	kept, err := f.File(f.ctx, mine.ID)
	f.ok(err)
	if kept.TurnID != turn.ID {
		t.Errorf("the document belongs to turn %q, want %q", kept.TurnID, turn.ID)
	}
	f.verified()
}

// A document is indexed once in a lineage. A sibling branch, which does not see it, indexes it again.
func TestTurnFilesOncePerLineage(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("one")
	file := f.file(s.ID, "a.txt", "the words")
	before := f.full(b.ID, "hello", "hello")
	first := f.attach(b.ID, file)
	file.Name = "renamed.txt"
	second := f.attach(b.ID, file)
	f.commitAll(b.ID)
	sibling := f.fork(b.ID, before.ID)
	third := f.attach(sibling.ID, file)
	child := f.fork(b.ID, second.ID)
	fourth := f.attach(child.ID, file)
	for _, c := range []struct {
		turn chat.TurnID
		want string
	}{{first.ID, "a.txt: the words"}, {second.ID, ""}, {third.ID, "renamed.txt: the words"}, {fourth.ID, ""}, {before.ID, ""}} {
		if got := strings.Join(f.turnFiles(c.turn), "|"); got != c.want {
			t.Errorf("turn %s has the files %q, want %q", c.turn, got, c.want)
		}
	}
	f.verified()
}

// The first turn with the document failed, so the next one indexes it.
func TestTurnFilesAfterFailure(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("one")
	file := f.file(s.ID, "a.txt", "the words")
	failed, err := f.Accept(f.ctx, chat.Acceptance{BranchID: b.ID, User: naming(file), Provider: "recall", Model: "recall"})
	f.ok(err)
	_, err = f.FailTurn(f.ctx, chat.TurnFailure{TurnID: failed.ID, Outcome: chat.OutcomeDiscarded, Failure: &chat.Failure{Code: chat.CodeCancelled, Message: "no"}})
	f.ok(err)
	turn := f.attach(b.ID, file)
	if got := f.turnFiles(turn.ID); len(got) != 1 {
		t.Errorf("the turn after a failed one has the files %q", got)
	}
}

func TestSweepFiles(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("one")
	sent, drafted, left := f.file(s.ID, "sent.txt", "one"), f.file(s.ID, "drafted.txt", "two"), f.file(s.ID, "left.txt", "three")
	queued := f.file(s.ID, "queued.txt", "five")
	_, err := f.Enqueue(f.ctx, b.ID, chat.Message{Role: chat.RoleUser, Blocks: append(naming(queued).Blocks, chat.Text{Text: "?"})}, 0, false)
	f.ok(err)
	f.attach(b.ID, sent)
	f.ok(f.SaveDraft(f.ctx, chat.Draft{BranchID: b.ID, Message: naming(drafted)}))
	sweep := func(want int) {
		t.Helper()
		n, err := f.SweepFiles(f.ctx)
		f.ok(err)
		if n != want {
			t.Errorf("swept %d documents, want %d", n, want)
		}
	}
	f.clock.Advance(23 * time.Hour)
	sweep(0)
	f.clock.Advance(2 * time.Hour)
	fresh := f.file(s.ID, "fresh.txt", "four")
	sweep(1)
	for _, id := range []chat.FileID{sent.ID, drafted.ID, queued.ID, fresh.ID} {
		if _, err = f.File(f.ctx, id); err != nil {
			t.Error(err)
		}
	}
	_, err = f.File(f.ctx, left.ID)
	f.refused(err, chat.CodeNotFound)
	f.verified()
}

func TestVerifyFindsDamagedFiles(t *testing.T) {
	for name, c := range map[string]struct{ sql, kind string }{
		"content":        {`UPDATE files SET content = CAST('other' AS BLOB)`, verify.FindContent},
		"extracted text": {`UPDATE files SET text = 'other'`, verify.FindReplay},
		"name":           {`UPDATE files SET name = 'other'`, verify.FindReplay},
		"loosened":       {`UPDATE files SET turn_id = NULL`, verify.FindReplay},
		"deleted":        {`DELETE FROM files`, verify.FindReplay},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			s, b := f.session("one")
			f.attach(b.ID, f.file(s.ID, "a.txt", "the words"))
			f.ok(f.core.DB.Writer.Exec(c.sql).Error)
			found, err := f.Verify(f.ctx)
			f.ok(err)
			for _, x := range found {
				if x.Table == "files" && x.Kind == c.kind {
					return
				}
			}
			t.Errorf("findings: %+v", found)
		})
	}
}

// While a turn is in the prompt as an original, its message is not retrieved, but its document is if the prompt
// contains only a part of it.
func TestDocumentsBeyondThePrompt(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("one")
	hello := f.full(b.ID, "hello", "hello")
	file := f.file(s.ID, "a.txt", "a harbour in the middle of the document")
	turn := f.attach(b.ID, file)
	f.commitAll(b.ID)
	chunk := func(role chat.Role, id chat.FileID, words string) chat.Chunk {
		return chat.Chunk{Role: role, File: id, End: len(words), Text: words, Type: chat.ChunkOther, Tokens: 3, Version: 2, Units: []chat.Unit{
			{Role: role, End: len(words), Tokens: 3, Text: words},
		}}
	}
	f.ok(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Status: chat.IndexOK, Chunks: []chat.Chunk{
		chunk(chat.RoleUser, file.ID, "a harbour in the middle of the document"), chunk(chat.RoleUser, "", "what does it say?"),
	}}))
	for _, scope := range []chat.Scope{chat.ScopeLineage, chat.ScopeSession, chat.ScopeAll} {
		in := chat.Within{Scope: scope, Branch: b.ID, Before: turn.Seq}
		none, err := f.SearchUnits(f.ctx, []string{"harbour"}, in, 10)
		f.ok(err)
		if len(none) != 0 {
			t.Errorf("%s: an original is in reach", scope)
		}
		in.Shortened = []chat.TurnID{turn.ID}
		all, err := f.SearchUnits(f.ctx, []string{"say"}, in, 10)
		f.ok(err)
		if len(all) != 1 {
			t.Errorf("%s: %d units of a message that is partly in the prompt", scope, len(all))
		}
		in.Shortened = nil
		in.Beyond = []chat.TurnID{turn.ID}
		hits, err := f.SearchUnits(f.ctx, []string{"harbour"}, in, 10)
		f.ok(err)
		messageHits, err := f.SearchUnits(f.ctx, []string{"say"}, in, 10)
		f.ok(err)
		if len(hits) != 1 || len(messageHits) != 0 {
			t.Errorf("%s: %d units of the document, %d of the message", scope, len(hits), len(messageHits))
		}
		refs, err := f.Units(f.ctx, in, []int64{hits[0].N})
		f.ok(err)
		near, err := f.UnitsNear(f.ctx, in, []chat.SeqSpan{{Branch: b.ID, From: turn.Seq, To: turn.Seq}})
		f.ok(err)
		if len(refs) != 1 || refs[0].File != file.ID || len(near) != 1 {
			t.Errorf("%s: units %+v, near %+v", scope, refs, near)
		}
		scope, err := f.ScopeFilter(f.ctx, in)
		f.ok(err)
		if after, upTo, ok := scope.Span(s.ID, b.ID); !ok || turn.Seq <= after || turn.Seq > upTo {
			t.Errorf("%s: the scope excludes the document", scope)
		}
	}
	sibling := f.fork(b.ID, hello.ID)
	for _, scope := range []chat.Scope{chat.ScopeLineage, chat.ScopeAll} {
		for _, before := range []int64{0, 1, turn.Seq} {
			in := chat.Within{Scope: scope, Branch: sibling.ID, Before: before, Beyond: []chat.TurnID{turn.ID}, Shortened: []chat.TurnID{turn.ID}}
			if hits, err := f.SearchUnits(f.ctx, []string{"harbour"}, in, 10); err != nil || len(hits) != 0 {
				t.Errorf("%s: a sibling's document is in reach: %v, %v", scope, hits, err)
			}
			scope, err := f.ScopeFilter(f.ctx, in)
			f.ok(err)
			if after, upTo, ok := scope.Span(s.ID, b.ID); ok && turn.Seq > after && turn.Seq <= upTo {
				t.Errorf("%s: the scope lets a sibling's document through", scope)
			}
		}
	}
	f.verified()
}

// The memory browser finds chunks of documents by their words, including documents with extracted text.
func TestChunksOfDocumentsAreListedByTheirWords(t *testing.T) {
	f := newFixture(t)
	s, b := f.session("one")
	index := func(file chat.File, paragraphs ...string) {
		t.Helper()
		turn := f.attach(b.ID, file)
		f.commitAll(b.ID)
		var chunks []chat.Chunk
		at := 0
		for i, words := range paragraphs {
			chunks = append(chunks, chat.Chunk{Role: chat.RoleUser, File: file.ID, Ordinal: i, Start: at, End: at + len(words), Text: words,
				Type: chat.ChunkOther, Tokens: 3, Version: 2, Units: []chat.Unit{{Role: chat.RoleUser, Start: at, End: at + len(words), Tokens: 3, Text: words}}})
			at += len(words) + 1
		}
		f.ok(f.Index(f.ctx, chat.Indexing{TurnID: turn.ID, Status: chat.IndexOK, Chunks: chunks}))
		f.clock.Advance(time.Hour)
	}
	index(f.file(s.ID, "a.txt", "Harbour dues\nthe harbour master\na 100% fee"), "Harbour dues", "the harbour master", "a 100% fee")
	pdf, err := f.AddFile(f.ctx, chat.NewFile{SessionID: s.ID, Name: "b.pdf", MediaType: "application/pdf", Content: []byte("%PDF harbour"), Text: "no boats\nHARBOUR walls"})
	f.ok(err)
	index(pdf, "no boats", "HARBOUR walls")
	for words, want := range map[string][]string{
		"harbour": {"HARBOUR walls", "Harbour dues", "the harbour master"}, "boats": {"no boats"}, "0% f": {"a 100% fee"}, "PDF": {}, "dues\nthe": {}, "": {
			"no boats", "HARBOUR walls", "Harbour dues", "the harbour master", "a 100% fee",
		},
	} {
		f.expectChunks(chat.ChunkQuery{Text: words}, want...)
	}
}
