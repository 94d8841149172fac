package store

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/sqlite"
)

// remember prepares a turn whose memory is these chunks in full, and sends its request.
func (f *fixture) remember(turn chat.Turn, common string, chunks ...chat.ChunkText) ([]byte, []byte, chat.Step) {
	f.Helper()
	var memory strings.Builder
	manifest := []byte(`{"sections":[{"items":[`)
	var list []chat.Retrieval
	for i, c := range chunks {
		words := strings.NewReplacer("\r\n", "\n", "<", "&lt;", "\x07", "\uFFFD").Replace(strings.TrimSpace(c.Text))
		text := fmt.Sprintf("<m>[%s] %s: %s\n", c.At.UTC().Format("2 January 2006"), c.Role, words)
		memory.WriteString(text)
		manifest = fmt.Appendf(manifest, `{"source":"chunk","id":"%s","turn":"%s","form":"full","score":0.%d,"tokens":%d,"bytes":%d,"sha256":"%x"},`,
			c.ID, c.SourceTurn, 1000+i, c.Tokens, len(text), codec.Hash([]byte(text)))
		list = append(list, chat.Retrieval{Chunk: c.ID, Score: 0.5, Rank: i + 1, Packed: chat.PackedFull, Tokens: c.Tokens})
	}
	manifest = append(bytes.TrimSuffix(manifest, []byte(",")), `]}]}`...)
	request, err := chat.MarshalJSON(map[string]string{"history": common, "memory": memory.String()})
	f.ok(err)
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: turn.ID, Manifest: manifest, Retrieved: list}))
	step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: turn.ID, Provider: "p", ModelID: "m", Request: request})
	f.ok(err)
	return manifest, request, step
}

// quoting sends a request that quotes chunks, and returns the id of one of them.
func (f *fixture) quoting(b chat.BranchID) (chat.ChunkID, chat.Step) {
	f.Helper()
	texts := f.remembered(b, 8)
	texts = texts[len(texts)-16:]
	turn := f.accept(b, "what was it?")
	_, _, step := f.remember(turn, "", texts...)
	_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Step: f.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
	f.ok(err)
	return texts[0].ID, step
}

// remembered returns the chunks of indexed turns, each with different text.
func (f *fixture) remembered(b chat.BranchID, n int) []chat.ChunkText {
	f.Helper()
	for i := range n {
		words := longText()[2000*i : 2000*i+1700]
		f.index(f.committed(b, fmt.Sprintf("%d\t\"%s\"\nif a < b && \\c {\r\n✓ 早 \x07", i, words), "answer "+words[:900]).ID)
	}
	ids, err := sqlite.All[chat.ChunkID](f.core.DB.Reader, `SELECT id FROM chunks ORDER BY n`)
	f.ok(err)
	texts, err := f.ChunkTexts(f.ctx, ids)
	f.ok(err)
	return texts
}

// TestQuotedChunksAreNotStoredAgain: a request takes a few bytes for each chunk, whatever its length, comes back
// exactly, and can be found by its chunks.
func TestQuotedChunksAreNotStoredAgain(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	chunks := f.remembered(b.ID, 12)
	common := benchText(3000)
	type sent struct {
		manifest, request []byte
		step              chat.Step
	}
	var all []sent
	for i := range delta.MaxChain + 3 {
		if i%20 == 0 {
			f.reopen()
		}
		turn := f.accept(b.ID, "and then?")
		memory := make([]chat.ChunkText, 8)
		for k := range memory {
			memory[k] = chunks[(i*5+k*7)%len(chunks)]
		}
		manifest, request, step := f.remember(turn, common, memory...)
		all = append(all, sent{manifest, request, step})
		_, err := f.FailTurn(f.ctx, chat.TurnFailure{TurnID: turn.ID, Step: f.ended(step, chat.StepFailed, ""), Outcome: chat.OutcomeFailed})
		f.ok(err)
	}
	for i, s := range all {
		p, err := f.StepPayload(f.ctx, s.step.ID)
		f.ok(err)
		manifest, err := f.Manifest(f.ctx, s.step.TurnID)
		f.ok(err)
		if !bytes.Equal(p.Request, s.request) || !bytes.Equal(manifest, s.manifest) {
			t.Fatalf("request %d came back with %d bytes of %d, its manifest with %d of %d", i, len(p.Request), len(s.request), len(manifest), len(s.manifest))
		}
		if size, depth := f.stored(s.step.ID); depth > 0 && size > 700 {
			t.Errorf("request %d, link %d, takes %d bytes", i, depth, size)
		}
	}
	f.verifyClean()
	if _, depth := f.stored(all[delta.MaxChain].step.ID); depth != 0 {
		t.Errorf("the key frame is link %d", depth)
	}
	if size, _ := f.stored(all[delta.MaxChain].step.ID); size > len(codec.Pack([]byte(common)))+1000 {
		t.Errorf("a key frame takes %d bytes: it quotes nothing", size)
	}
}

// TestQuotationsOutliveTheirRecord: if a turn is prepared again, the chunks that its first request quoted stay linked
// to it.
func TestQuotationsOutliveTheirRecord(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	chunks := f.remembered(b.ID, 3)
	turn := f.accept(b.ID, "and then?")
	_, first, one := f.remember(turn, "", chunks[0], chunks[2])
	f.ok(f.EndStep(f.ctx, *f.ended(one, chat.StepFailed, "")))
	manifest, second, two := f.remember(turn, "", chunks[4])
	f.ok(f.EndStep(f.ctx, *f.ended(two, chat.StepFailed, "")))
	for i, want := range [][]byte{first, second} {
		p, err := f.StepPayload(f.ctx, []chat.Step{one, two}[i].ID)
		f.ok(err)
		if !bytes.Equal(p.Request, want) {
			t.Errorf("request %d came back as %.60q", i, p.Request)
		}
		if size, _ := f.stored([]chat.Step{one, two}[i].ID); size > 200 {
			t.Errorf("request %d takes %d bytes", i, size)
		}
	}
	if got, err := f.Manifest(f.ctx, turn.ID); err != nil || !bytes.Equal(got, manifest) {
		t.Errorf("%.60q, %v", got, err)
	}
	for _, c := range []chat.ChunkText{chunks[0], chunks[2], chunks[4]} {
		turns, err := sqlite.All[string](f.core.DB.Reader, `SELECT DISTINCT t.id FROM retrieved r JOIN chunks c ON c.n = r.chunk_n JOIN turns t ON t.n = r.turn_n WHERE c.id = ?`, c.ID)
		f.ok(err)
		if !slices.Equal(turns, []string{string(turn.ID)}) {
			t.Errorf("the turns that depend on %s are %v", c.ID, turns)
		}
	}
	f.verifyClean()
}

// TestQuotationsInACopy: links refer to numbers that a VACUUM does not change, not to positions in the file.
func TestQuotationsInACopy(t *testing.T) {
	f := newFixture(t)
	_, b := f.session("s")
	chunks := f.remembered(b.ID, 3)
	turn := f.accept(b.ID, "and then?")
	_, request, step := f.remember(turn, "", chunks...)
	f.ok(f.core.DB.Writer.Exec(`DELETE FROM units WHERE chunk_id = ?`, chunks[1].ID).Error)
	f.ok(f.core.DB.Writer.Exec(`VACUUM`).Error)
	f.reopen()
	p, err := f.StepPayload(f.ctx, step.ID)
	f.ok(err)
	if !bytes.Equal(p.Request, request) {
		t.Errorf("%.60q", p.Request)
	}
}

// TestHowChunksAreQuoted pins the bytes of the dictionary, because stored data depends on them.
func TestHowChunksAreQuoted(t *testing.T) {
	c := chat.ChunkText{Chunk: chat.Chunk{ID: "C", SourceTurn: "T", Role: chat.RoleUser, Text: " a\t\"b\" \\ <c>\r\n&lt; ✓\x07\n"}, At: time.Date(2026, 3, 9, 23, 0, 0, 0, time.UTC)}
	if got := string(delta.QuoteArtifact(nil, c)); got != `<m>[9 March 2026] user: a\t\"b\" \\ &lt;c>\n&lt; ✓`+"\x07"+`\n` {
		t.Errorf("%s", got)
	}
	c.Speaker = "Ana"
	if got := string(delta.QuoteArtifact([]byte("x"), c)); !strings.HasPrefix(got, `x<m>[9 March 2026] Ana: a`) {
		t.Errorf("%s", got)
	}
	c.Speaker = ""
	if got := string(delta.QuotePart(nil, c)); got != `{"source":"chunk","id":"C","turn":"T","form":"full","score":,"bytes":49,`+
		`"sha256":"dfc3423796df5f16e6e63707951f411cf43ea40bc869a448d8bc528342e62aa5"},` {
		t.Errorf("%s", got)
	}
}

func TestListsOfQuotations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := rapid.SliceOfN(rapid.Int64Range(1, 1<<40), 0, delta.MaxQuotes).Draw(t, "ns")
		b := delta.EncodeQuotes(ns)
		got, err := delta.DecodeQuotes(b)
		if err != nil || !slices.Equal(got, ns) {
			t.Fatalf("%v, %v", got, err)
		}
		if _, err := delta.DecodeQuotes(append(b, 0x80)); err == nil {
			t.Fatal("a torn list is accepted")
		}
	})
	if _, err := delta.DecodeQuotes(bytes.Repeat([]byte{1}, delta.MaxQuotes+1)); err == nil {
		t.Error("an unterminated list is accepted")
	}
}
