package store

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/store/sqlite"
)

// deltas returns an answer as stream events of a few characters each.
func deltas(answer string) []chat.RawEvent {
	var out []chat.RawEvent
	for len(answer) > 0 {
		n := min(12, len(answer))
		piece, _ := json.Marshal(answer[:n])
		out = append(out, chat.RawEvent{Type: "content_block_delta", Data: fmt.Appendf(nil,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`, piece)})
		answer = answer[n:]
	}
	return out
}

// wire encodes a context as a provider's request.
func wire(c prompt.PreparedContext) []byte {
	b, _ := chat.MarshalJSON(map[string]any{"model": "m", "system": c.System(), "messages": c.Messages(), "max_tokens": c.MaxOutput(), "stream": true})
	return b
}

// exchange stores a turn with a context from the assembler.
func (f *fixture) exchange(b chat.Branch, sp *speaker, rec *retriever) int {
	f.Helper()
	user, answer := sp.say(120), sp.say(280)
	t := f.accept(b.ID, user)
	c := f.assembled(b, rec, t)
	rec.compare(c)
	manifest, err := chat.MarshalJSON(c.Manifest())
	f.ok(err)
	request, retrieved := wire(c), recorded(c.Manifest())
	started := time.Now()
	f.ok(f.Prepare(f.ctx, chat.Preparation{TurnID: t.ID, Manifest: manifest, Tokens: c.Tokens(), Retrieved: retrieved}))
	step, err := f.BeginStep(f.ctx, chat.StepStart{TurnID: t.ID, Provider: "p", ModelID: "m", Request: request})
	f.ok(err)
	if len(retrieved) > 0 {
		rec.stored = append(rec.stored, time.Since(started))
	}
	end := f.ended(step, chat.StepCompleted, answer)
	end.Events = chat.EventsOf(deltas(answer))
	_, err = f.Finalize(f.ctx, chat.Finalization{TurnID: t.ID, Step: end, Message: chat.AssistantText(answer), Outcome: chat.OutcomeCompleted})
	f.ok(err)
	branch, err := f.Branch(f.ctx, b.ID)
	f.ok(err)
	_, err = f.Commit(f.ctx, chat.Commit{
		BranchID: b.ID, Epoch: branch.Epoch, Turns: []chat.TurnID{t.ID}, Summary: sp.state(), TokenCount: 1200, Origin: chat.StateLibrarian,
	})
	f.ok(err)
	rec.index(f, t.ID)
	return len(user) + len(answer)
}

func (f *fixture) assembled(b chat.Branch, rec *retriever, t chat.Turn) prompt.PreparedContext {
	f.Helper()
	sizes, err := f.Sizes(f.ctx, b.ID, "bytes")
	f.ok(err)
	for i, z := range sizes {
		if z.Tokens < 0 {
			turn, err := f.Turn(f.ctx, z.TurnID)
			f.ok(err)
			sizes[i].Tokens = prompt.Measure(turn, tokensOf)
			f.ok(f.PutSizes(f.ctx, "bytes", sizes[i:i+1]))
		}
	}
	branch, err := f.Branch(f.ctx, b.ID)
	f.ok(err)
	head, err := f.State(f.ctx, branch.HeadState)
	f.ok(err)
	in := prompt.Input{
		Model: "m", Provider: "p", Count: tokensOf, Policy: prompt.DefaultPolicy(), Calibration: 1, Head: head, Current: t.User,
		Limits: prompt.Limits{ContextLimit: 200_000, MaxOutput: 8192, ResponseReserve: 4000, SafetyMargin: 1500, WorkingSet: 50_000, StateTarget: 1200, Retrieval: 6000},
		System: "You are a helpful assistant.",
		Fetch: func(from, to int64) ([]chat.Turn, error) {
			return f.Lineage(f.ctx, chat.LineageQuery{Branch: b.ID, FromSeq: from, ToSeq: to - 1})
		},
		Extract: func(turns []chat.Turn, target int) string { return extractOf(turns, target) },
	}
	for _, z := range sizes {
		in.Sizes = append(in.Sizes, prompt.Size{Seq: z.Seq, Tokens: z.Tokens, Pending: z.Pending})
	}
	if raw, _, err := f.PreviousManifest(f.ctx, b.ID, t.Seq); err == nil && raw != nil {
		var m prompt.Manifest
		f.ok(json.Unmarshal(raw, &m))
		in.Previous = &m.History
	}
	d, err := prompt.NewDraft(in)
	f.ok(err)
	c, err := d.Finish(rec.recall(f, b, in, d), chat.Phrase{})
	f.ok(err)
	return c
}

// extractOf is a fake of the librarian's extract that takes the beginning of each turn.
func extractOf(turns []chat.Turn, target int) string {
	var b strings.Builder
	for _, t := range turns {
		text := t.User.RenderedText() + " " + t.Assistant.RenderedText()
		b.WriteString(text[:min(len(text), max(20, 3*target/len(turns)))])
		b.WriteByte('\n')
	}
	return b.String()
}

// BenchmarkDisk measures the disk space of 1 000 turns of 400 tokens for each byte of the transcript, with contexts
// of 50 000 tokens, each with up to 6 000 tokens of memory (SPEC 14: under 12, vectors and snapshots included). It
// also measures how much of a context repeats the beginning of the previous one (SPEC 14: over 65 %). The text has no
// topics, so less memory is found again for the next turn than in a real conversation.
func BenchmarkDisk(b *testing.B) {
	turns := size(400, 1000)
	for b.Loop() {
		f := newFixture(b)
		_, branch := f.session("disk")
		sp, rec, textBytes := newSpeaker(), f.retriever(), 0
		started := time.Now()
		for i := range turns {
			textBytes += f.exchange(branch, sp, rec)
			if i%50 == 49 || i == turns-1 { // when a snapshot is due, as in the program
				_, _, err := f.Snapshot(f.ctx)
				f.ok(err)
			}
		}
		b.ReportMetric(float64(time.Since(started).Milliseconds())/float64(turns), "ms/turn")
		if rec.full > 0 {
			slices.Sort(rec.stored)
			b.ReportMetric(float64(rec.stored[len(rec.stored)*95/100].Microseconds())/1000, "p95-ms-before-sending")
			b.ReportMetric(100*rec.reused/float64(rec.full), "%reused-prefix(target:>65)")
			b.Logf("memory in %d of %d contexts: %d artifacts of %d tokens in all on average, %d %% of them in the context before too",
				rec.full, turns, rec.packed/rec.full, rec.tokens/rec.full, 100*rec.stayed/max(rec.packed, 1))
		}
		f.checkpoint()
		f.reportDisk(b, textBytes)
	}
}

func (f *fixture) reportDisk(b *testing.B, textBytes int) {
	st, err := f.Stats(f.ctx)
	f.ok(err)
	ratio := func(bytes int64) float64 { return float64(bytes) / float64(textBytes) }
	b.ReportMetric(ratio(st.Bytes), "times-transcript(target:<12)")
	parts, err := sqlite.All[struct {
		Name  string
		Bytes int64
	}](f.core.DB.Reader, `SELECT m.tbl_name AS name, sum(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_master m ON m.name = d.name
		GROUP BY m.tbl_name ORDER BY bytes DESC LIMIT 12`)
	f.ok(err)
	kinds, err := sqlite.All[struct {
		Name  string
		Bytes int64
	}](f.core.DB.Reader, `SELECT type AS name, sum(length(payload)) AS bytes FROM events GROUP BY type ORDER BY bytes DESC LIMIT 6`)
	f.ok(err)
	var lines []string
	for _, p := range append(parts, kinds...) {
		lines = append(lines, fmt.Sprintf("%s %.2f", p.Name, ratio(p.Bytes)))
	}
	b.Log(strings.Join(lines, ", ")) // a benchmark's log shows only ten lines
	var columns struct{ Requests, Events, Items, Manifests, Messages int64 }
	f.ok(f.core.DB.Reader.Raw(`SELECT (SELECT sum(length(request_json)) FROM steps) AS requests, (SELECT sum(length(raw_events)) FROM steps) AS events,
		(SELECT sum(length(normalized_items_json) + coalesce(length(items_z), 0)) FROM steps) AS items, (SELECT sum(length(manifest)) FROM turns) AS manifests,
		(SELECT sum(length(user_message_json) + length(final_assistant_message_json)) FROM turns) AS messages`).Scan(&columns).Error)
	b.Logf("of these: requests %.2f, raw events %.2f, items %.2f, manifests %.2f, messages %.2f", ratio(columns.Requests), ratio(columns.Events),
		ratio(columns.Items), ratio(columns.Manifests), ratio(columns.Messages))
	b.Logf("%.1f times the transcript, the target is under 12 (SPEC 14)", ratio(st.Bytes))
}
