package crash

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"contextinfinity/test/harness"
	"contextinfinity/test/testtier"
)

// damaged is one way to damage a copy of the sample, with the expected result.
type damaged struct {
	name string
	do   func(context.Context, *home) error
	// expected are texts that one finding of verify must contain; empty: any result is right.
	expected []string
	// harmless: verify may find nothing if everything reads as before.
	harmless bool
	// untouched are the sessions that must read as before.
	untouched []string
	checkMore func(context.Context, *home, func(string, ...any)) error
}

// TestDamageIsReportedAndTheRestIsReadable damages copies of data directories in all known ways.
func TestDamageIsReportedAndTheRestIsReadable(t *testing.T) {
	t.Parallel()
	r := newSetup(t, 3)
	interrupted, quiet := r.samples(t)
	rng := rand.New(rand.NewPCG(r.seed, 4))
	for _, g := range []struct {
		what   string
		sample *sample
		cases  func(*sample, *rand.Rand) ([]damaged, error)
	}{
		{"journals torn and flipped", interrupted, journalDamage},
		{"write-ahead log cut and flipped", interrupted, walDamage},
		{"index tables damaged", quiet, indexDamage},
		{"single values flipped", quiet, valueDamage},
		{"the database's file flipped and cut", quiet, fileDamage},
	} {
		cases, err := g.cases(g.sample, rng)
		if err != nil {
			t.Fatalf("%s: %v", g.what, err)
		}
		rng.Shuffle(len(cases), func(i, j int) { cases[i], cases[j] = cases[j], cases[i] })
		for _, c := range testtier.Sample(cases, 1) {
			t.Run(g.what+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				dir, err := os.MkdirTemp(r.work, "damaged-")
				if err != nil {
					t.Fatal(err)
				}
				found, err := g.sample.try(t.Context(), c, dir)
				if report(t, found, err); !t.Failed() {
					_ = os.RemoveAll(dir)
				}
			})
		}
	}
}

// try damages a copy and checks how the program handles it.
func (s *sample) try(ctx context.Context, c damaged, dir string) (found []string, err error) {
	add := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	h, err := s.copy(dir)
	if err != nil {
		return nil, err
	}
	if err := c.do(ctx, h); err != nil {
		return nil, err
	}
	if err := s.checkFindings(ctx, h, c, add); err != nil {
		return found, err
	}
	for _, id := range c.untouched {
		if now, err := h.show(ctx, id); err != nil || now != s.shows[id] {
			add("session %s was not damaged, but reads differently (%v)", id, err)
		}
	}
	for _, args := range [][]string{
		{"sessions"}, {"show", s.sessions[0]}, {"search", "deploy Orders", "--session", s.sessions[0]}, {"reconcile"}, {"stats"},
		{"send", "--session", s.sessions[1], "--incomplete", "discard", "Go on. [[good 9999]]"}, {"verify"},
	} {
		var doc struct {
			Error *struct{ Code, Message string }
		}
		r, err := h.document(ctx, &doc, args...)
		if err != nil {
			add("%v", err)
		}
		if r.crashed() || r.code > 3 || r.code == 1 && (doc.Error == nil || doc.Error.Message == "") {
			add("%s", r)
		}
	}
	if c.checkMore != nil {
		err = c.checkMore(ctx, h, add)
	}
	return found, err
}

// checkFindings checks what verify reports about the damage.
func (s *sample) checkFindings(ctx context.Context, h *home, c damaged, add func(string, ...any)) error {
	var doc struct {
		OK       bool
		Findings []struct{ Kind, Table, ID, Message string }
	}
	r, err := h.document(ctx, &doc, "verify")
	if err != nil {
		add("%v", err)
		return nil
	}
	if r.crashed() || r.code != 0 && r.code != 3 || (r.code == 3) != (len(doc.Findings) > 0) || doc.OK != (r.code == 0) {
		add("verify: %s", r)
	}
	if len(c.expected) == 0 {
		return nil
	}
	for _, f := range doc.Findings {
		if !slices.ContainsFunc(c.expected, func(part string) bool { return !strings.Contains(f.Table+" "+f.ID+" "+f.Message, part) }) {
			return nil
		}
	}
	if c.harmless && len(doc.Findings) == 0 {
		for _, id := range s.sessions {
			if now, err := h.show(ctx, id); err != nil || now != s.shows[id] {
				add("verify finds nothing, but session %s reads differently (%v)", id, err)
			}
		}
		return nil
	}
	add("verify does not name %q: %s", c.expected, harness.Clip(r.stdout))
	return nil
}

func journalDamage(s *sample, rng *rand.Rand) ([]damaged, error) {
	var out []damaged
	for step, turn := range s.steps {
		journal, err := os.ReadFile(s.journal(step))
		if err != nil {
			return nil, err
		}
		offset := 0
		for number, line := range bytes.SplitAfter(journal, []byte("\n")) {
			if len(line) == 0 {
				break
			}
			lineStart := offset
			put := func(data []byte) func(context.Context, *home) error {
				return func(_ context.Context, h *home) error { return os.WriteFile(h.journal(step), data, 0o600) }
			}
			checkText := s.containsOnly(turn, journal[:lineStart])
			for _, cut := range []int{0, 1 + rng.IntN(len(line)-1)} {
				out = append(out, damaged{
					name: fmt.Sprintf("journal cut in line %d after %d bytes", number+1, cut), do: put(journal[:lineStart+cut]), checkMore: checkText,
				})
			}
			for range 3 {
				flipped := bytes.Clone(journal)
				i, bit := rng.IntN(len(line)), rng.IntN(8)
				flipped[lineStart+i] ^= 1 << bit
				out = append(out, damaged{
					name: fmt.Sprintf("journal line %d, bit %d of byte %d", number+1, bit, i), do: put(flipped), expected: []string{step}, checkMore: checkText,
				})
			}
			offset += len(line)
		}
	}
	return out, nil
}

// containsOnly returns a check that a turn contains exactly the text of these lines of its journal.
func (s *sample) containsOnly(turn string, lines []byte) func(context.Context, *home, func(string, ...any)) error {
	want := ""
	for line := range bytes.Lines(lines) {
		var e struct {
			Payload struct {
				Choices []struct{ Delta struct{ Content string } }
			}
		}
		if json.Unmarshal(line, &e) == nil && len(e.Payload.Choices) > 0 {
			want += e.Payload.Choices[0].Delta.Content
		}
	}
	return func(ctx context.Context, h *home, add func(string, ...any)) error {
		for _, session := range s.sessions {
			var doc shown
			if err := h.ok(ctx, &doc, "show", session); err != nil {
				add("%v", err)
				continue
			}
			for _, t := range doc.Turns {
				if t.ID == turn && (t.text() != want || t.Outcome == "completed") {
					add("the turn is %s and contains %q, its readable lines %q", t.Outcome, harness.Clip(t.text()), harness.Clip(want))
				}
			}
		}
		return nil
	}
}

// walDamage cuts the log at and inside its frames. Acknowledged data at its end is lost, as in any truncated file,
// but the rest must be consistent.
func walDamage(s *sample, rng *rand.Rand) ([]damaged, error) {
	wal, err := os.ReadFile(s.database() + "-wal")
	if err != nil {
		return nil, err
	}
	const header = 32
	if len(wal) < header {
		return nil, fmt.Errorf("the log has %d bytes", len(wal))
	}
	frame := 24 + int(binary.BigEndian.Uint32(wal[8:])) // with its page
	var out []damaged
	put := func(name string, data []byte) {
		out = append(out, damaged{name: name, do: func(_ context.Context, h *home) error {
			return os.WriteFile(h.database()+"-wal", data, 0o600)
		}})
	}
	for _, n := range []int{0, 1, 16, header} {
		put(fmt.Sprintf("log cut to %d bytes", n), wal[:min(n, len(wal))])
	}
	for at := header; at < len(wal); at += frame {
		put(fmt.Sprintf("log cut to %d frames", (at-header)/frame), wal[:at])
		put(fmt.Sprintf("log cut within frame %d", (at-header)/frame), wal[:min(len(wal), at+1+rng.IntN(frame-1))])
		flipped := bytes.Clone(wal)
		flipped[min(len(wal)-1, at+rng.IntN(frame))] ^= 1 << rng.IntN(8)
		put(fmt.Sprintf("log flipped in frame %d", (at-header)/frame), flipped)
	}
	return out, nil
}

// indexDamage damages data that is derived from the transcript and can be rebuilt.
func indexDamage(s *sample, _ *rand.Rand) ([]damaged, error) {
	var out []damaged
	for _, c := range []struct{ query, expected string }{
		{`UPDATE units_fts_data SET block = zeroblob(length(block)) WHERE id > 10`, "units_fts"},
		{`DELETE FROM units_fts_data WHERE id > 10`, "units_fts"}, {`DELETE FROM units_fts_docsize`, "text index"}, {`DROP TABLE units_fts`, "units_fts"},
		{`UPDATE unit_embeddings SET vector = zeroblob(3)`, "unit_embeddings"}, {`DELETE FROM unit_embeddings`, ""},
		{`DELETE FROM namespaces`, ""}, {`UPDATE namespaces SET dimension = 7`, "namespaces"}, {`DELETE FROM units`, "units"}, {`DELETE FROM chunks`, "chunks"},
		{`DELETE FROM snapshots`, ""}, {`DELETE FROM jobs`, ""}, {`DELETE FROM metrics`, ""}, {`DELETE FROM turn_tokens`, ""},
	} {
		d := damaged{name: c.query, untouched: s.sessions, do: func(ctx context.Context, h *home) error { return h.statement(ctx, c.query) }}
		if c.expected != "" {
			d.expected = []string{c.expected}
		}
		out = append(out, d)
	}
	return out, nil
}

// contentColumns are all columns with content or data derived from it, and the expressions for the ids of their
// records.
var contentColumns = []struct{ table, columns, id string }{
	{"sessions", "title", "id"}, {"branches", "label", "id"}, {"turns", "user_message_json final_assistant_message_json usage_json manifest user_hash assistant_hash", "id"},
	{"steps", "request_json raw_events normalized_items_json items_z outcome_json usage_json", "id"}, {"states", "summary summary_z pinned_facts validation_json content_hash", "id"},
	{"pins", "text content_hash", "id"}, {"files", "content content_hash name", "id"}, {"chunks", "content_hash", "id"}, {"units", "text content_hash", "id"},
	{"events", "payload payload_hash prev_hash hash entity_id created_at", "session_id || '/' || event_seq"},
}

func valueDamage(s *sample, rng *rand.Rand) ([]damaged, error) {
	db, err := sql.Open("sqlite", s.database())
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	var out []damaged
	for _, t := range contentColumns {
		for _, name := range strings.Fields(t.columns) {
			cases, err := flips(db, t.table, name, t.id, rng)
			if err != nil {
				return nil, err
			}
			out = append(out, cases...)
		}
	}
	return out, nil
}

// flips returns flips of some bits of some values of a column.
func flips(db *sql.DB, table, name, id string, rng *rand.Rand) ([]damaged, error) {
	rows, err := db.Query(fmt.Sprintf(`SELECT rowid, %s, CAST(%s AS BLOB) FROM %s WHERE length(%[2]s) > 0 ORDER BY rowid`, id, name, table))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []damaged
	for rows.Next() {
		var rowid int64
		var record string
		var value []byte
		if err := rows.Scan(&rowid, &record, &value); err != nil {
			return nil, err
		}
		at, bit := rng.IntN(len(value)), rng.IntN(8)
		value[at] ^= 1 << bit
		query := fmt.Sprintf(`UPDATE %s SET %s = CASE typeof(%[2]s) WHEN 'text' THEN CAST(? AS TEXT) ELSE ? END WHERE rowid = ?`, table, name)
		all = append(all, damaged{
			name: fmt.Sprintf("%s.%s of %s, bit %d of byte %d", table, name, record, bit, at), expected: []string{table, record}, harmless: true,
			do: func(ctx context.Context, h *home) error { return h.statement(ctx, query, string(value), value, rowid) },
		})
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(len(all), 3)], nil
}

// fileDamage flips bits of the database file at random places, and cuts it. The program must report clearly what cannot
// be read.
func fileDamage(s *sample, rng *rand.Rand) ([]damaged, error) {
	content, err := os.ReadFile(s.database())
	if err != nil {
		return nil, err
	}
	var out []damaged
	put := func(name string, data []byte) {
		out = append(out, damaged{name: name, do: func(_ context.Context, h *home) error { return os.WriteFile(h.database(), data, 0o600) }})
	}
	for range 60 {
		flipped := bytes.Clone(content)
		at, bit := rng.IntN(len(content)), rng.IntN(8)
		flipped[at] ^= 1 << bit
		put(fmt.Sprintf("database, bit %d of byte %d", bit, at), flipped)
	}
	for at := range 24 { // the header of the file
		flipped := bytes.Clone(content)
		flipped[at*4] ^= 1 << rng.IntN(8)
		put(fmt.Sprintf("database, byte %d", at*4), flipped)
	}
	for range 12 {
		n := rng.IntN(len(content))
		put(fmt.Sprintf("database cut to %d bytes", n), content[:n])
	}
	return out, nil
}
