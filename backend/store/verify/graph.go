package verify

// Relations between records: sequences, heads, roots, chunks and units, and the text index.

import (
	"bytes"
	"context"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/chunking"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/ledger"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/search"
	"contextinfinity/backend/store/sqlite"
)

// TurnSequences checks that the turns of a branch continue from its fork without a gap.
func (a *Audit) TurnSequences() {
	a.sequences("turns", `SELECT t.id, t.turn_seq AS seq,
		  coalesce((SELECT max(x.turn_seq) FROM turns x WHERE x.branch_id = t.branch_id AND x.turn_seq < t.turn_seq), b.fork_seq) AS last
		FROM turns t JOIN branches b ON b.id = t.branch_id WHERE `+a.within("b.session_id", "t.id")+` ORDER BY t.branch_id, t.turn_seq`)
}

// StateSequences checks that the state summaries of a branch continue from its base; the root is 0.
func (a *Audit) StateSequences() {
	a.sequences("states", `SELECT s.id, s.state_seq AS seq,
		  coalesce((SELECT max(x.state_seq) FROM states x WHERE x.branch_id = s.branch_id AND x.state_seq < s.state_seq),
		    CASE WHEN b.parent_branch IS NULL THEN -1 ELSE b.base_seq END) AS last
		FROM states s JOIN branches b ON b.id = s.branch_id WHERE `+a.within("b.session_id", "s.id")+` ORDER BY s.branch_id, s.state_seq`)
}

func (a *Audit) sequences(table, query string) {
	rows, err := sqlite.All[struct {
		ID        string
		Seq, Last int64
	}](a.DB, query, a.scope()...)
	a.expect(err == nil, findUnreadable, table, "", "Sequences cannot be read.")
	for _, r := range rows {
		a.expect(r.Seq == r.Last+1, findSequence, table, r.ID, "It is number %d of its branch where %d was expected.", r.Seq, r.Last+1)
	}
}

// Heads checks that a branch's head is its newest state, or its base, that its epoch counts the moves, and that its
// fork point is right.
func (a *Audit) Heads() {
	rows, err := sqlite.All[struct {
		Row       schema.BranchRow `gorm:"embedded"`
		NewestID  *string
		NewestSeq *int64
		Moves     int64
		BaseAt    *int64
		ForkAt    *int64
		ForkOf    *string
		BaseTo    *int64
	}](a.DB, `SELECT b.*, n.id AS newest_id, n.state_seq AS newest_seq,
		  (SELECT count(*) FROM states m WHERE m.branch_id = b.id AND m.origin <> 'root') AS moves,
		  base.state_seq AS base_at, base.covers_seq AS base_to, f.turn_seq AS fork_at, f.branch_id AS fork_of
		FROM branches b
		LEFT JOIN states n ON n.id = (SELECT x.id FROM states x WHERE x.branch_id = b.id ORDER BY x.state_seq DESC LIMIT 1)
		LEFT JOIN states base ON base.id = b.base_state
		LEFT JOIN turns f ON f.id = b.fork_turn WHERE `+a.within("b.session_id", "b.id")+` ORDER BY b.id`, a.scope()...)
	a.expect(err == nil, findUnreadable, "branches", "", "Heads cannot be read.")
	for _, b := range rows {
		r := b.Row
		head, seq := r.BaseState, r.BaseSeq
		if b.NewestID != nil {
			head, seq = *b.NewestID, *b.NewestSeq
		}
		a.expect(r.HeadState == head && r.HeadSeq == seq, findHead, "branches", r.ID, "Its head is not its newest state.")
		a.expect(r.Epoch == b.Moves, findHead, "branches", r.ID, "Its epoch is %d after %d moves of its head.", r.Epoch, b.Moves)
		a.expect(b.BaseAt != nil && *b.BaseAt == r.BaseSeq, findHead, "branches", r.ID, "Its base is not at the position that it records.")
		a.expect(b.BaseTo == nil || r.ParentBranch == nil || *b.BaseTo <= r.ForkSeq, findHead, "branches", r.ID, "Its base covers turns after its fork.")
		if r.ForkTurn != nil {
			a.expect(b.ForkAt != nil && *b.ForkAt == r.ForkSeq && *b.ForkOf == schema.Text(r.ParentBranch), findHead, "branches", r.ID, "Its fork is not a turn of its parent.")
		}
	}
	a.covered()
}

// covered checks that a state summary follows its parent and covers the turns that name it.
func (a *Audit) covered() {
	states, err := sqlite.All[struct{ ID string }](a.DB, `SELECT s.id FROM states s LEFT JOIN states p ON p.id = s.parent_id
		WHERE (s.parent_id IS NOT NULL AND (p.id IS NULL OR p.state_seq <> s.state_seq - 1 OR p.covers_seq > s.covers_seq)
		  OR s.parent_id IS NULL AND (s.state_seq <> 0 OR s.covers_seq <> 0)) AND `+a.within("s.session_id", "s.id")+` ORDER BY s.id`, a.scope()...)
	a.expect(err == nil, findUnreadable, "states", "", "Parents cannot be read.")
	for _, s := range states {
		a.add(findHead, "states", s.ID, "It does not follow its parent.")
	}
	turns, err := sqlite.All[struct{ ID string }](a.DB, `SELECT t.id FROM turns t JOIN states s ON s.id = t.state_after
		WHERE (s.branch_id <> t.branch_id OR s.covers_seq < t.turn_seq) AND `+a.within("t.session_id", "t.id")+` ORDER BY t.id`, a.scope()...)
	a.expect(err == nil, findUnreadable, "turns", "", "The states that cover turns cannot be read.")
	for _, t := range turns {
		a.add(findHead, "turns", t.ID, "The state that it names does not cover it.")
	}
}

// Roots checks that each session has one root state and that one of its own branches is active.
func (a *Audit) Roots() {
	rows, err := sqlite.All[struct {
		ID    string
		Roots int
		Own   bool
	}](a.DB, `SELECT s.id, (SELECT count(*) FROM states r WHERE r.session_id = s.id AND r.origin = 'root') AS roots,
		  EXISTS (SELECT 1 FROM branches b WHERE b.id = s.active_branch AND b.session_id = s.id) AS own
		FROM sessions s WHERE `+a.within("s.id", "s.id")+` ORDER BY s.id`, a.scope()...)
	a.expect(err == nil, findUnreadable, "sessions", "", "Roots cannot be read.")
	for _, r := range rows {
		a.expect(r.Roots == 1, findHead, "sessions", r.ID, "It has %d root states.", r.Roots)
		a.expect(r.Own, findHead, "sessions", r.ID, "Its active branch belongs to another session.")
	}
}

// ProjectFiles checks that the session of a project's file has only the file's turn.
func (a *Audit) ProjectFiles() {
	rows, err := sqlite.All[struct{ ID, Title string }](a.DB, `SELECT s.id, s.title FROM sessions s WHERE s.source = 'files'
		AND EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id AND t.primary_provider <> ?) ORDER BY s.id`, chat.ProviderFiles)
	a.expect(err == nil, findUnreadable, "project_files", "", "Files of projects cannot be read.")
	for _, r := range rows {
		a.add(findHistory, "project_files", r.ID, "Turns were written into the file %q. They are kept, also when the file changes, until its project is deleted.", r.Title)
	}
}

// chunks checks chunks against the messages and documents they are cut from.
func (a *Audit) chunks() {
	var source schema.TurnRow
	var user, assistant, file, document string
	each(a, "chunks", "*", "source_turn, id", func(r schema.ChunkRow) {
		if source.ID != r.SourceTurn {
			source, _ = schema.TurnByID(a.DB, chat.TurnID(r.SourceTurn))
			turn := source.Turn()
			user, assistant = turn.User.RenderedText(), ""
			if turn.Assistant != nil {
				assistant = turn.Assistant.IndexedText()
			}
		}
		message := user
		if chat.Role(r.Role) == chat.RoleAssistant {
			message = assistant
		}
		if r.FileID != nil {
			if file != *r.FileID {
				file = *r.FileID
				document, _ = schema.FileText(a.DB, chat.FileID(file)) // a missing document does not contain the chunk
			}
			message = document
		}
		said := schema.ChunkText(message, r)
		a.expect(bytes.Equal(r.ContentHash, codec.Hash([]byte(said))), FindContent, "chunks", r.ID, "Its text does not match its hash.")
		a.expect(schema.Spans(message, r.StartOffset, r.EndOffset, said), findIndex, "chunks", r.ID, "It differs from the text of its message.")
		a.Have.Chunks[r.ID] = r.ToLedgerRecord(said)
	})
}

// UnitText is a unit's complete text.
const UnitText = `(SELECT x.text FROM unit_texts x WHERE x.n = units.n) AS text`

// indexedUnit is a unit and the version of its chunk.
type indexedUnit struct {
	schema.UnitRow `gorm:"embedded"`
	Version        int
}

// units checks the hashes and the indexed forms of units; the form of an older version is made again in the background.
// Strays compares them with their chunks.
func (a *Audit) units() {
	each(a, "units", "n, id, chunk_id, session_id, branch_id, turn_id, turn_seq, ordinal, message, start_offset, end_offset, tokens, content_hash, pairs, "+
		"(SELECT c.chunker_version FROM chunks c WHERE c.id = units.chunk_id) AS version, "+UnitText, "n", func(r indexedUnit) {
		a.expect(bytes.Equal(r.ContentHash, codec.Hash([]byte(r.Text))), FindContent, "units", r.ID, "Its text does not match its hash.")
		a.expect(r.Version < chunking.Version || schema.Text(r.Pairs) == schema.Text(schema.PairsOf(r.Text)),
			findIndex, "units", r.ID, "Its indexed form is not that of its text.")
		a.Have.Units[r.ID] = &ledger.Unit{
			TurnID: r.TurnID, ChunkID: r.ChunkID, Start: r.StartOffset, End: r.EndOffset,
			Tokens: r.Tokens, Text: ledger.SumOfText(r.Text),
		}
	})
}

// Strays finds chunks and units that do not match what they belong to.
func (a *Audit) Strays() {
	chunks, err := sqlite.All[string](a.DB, `SELECT c.id FROM chunks c JOIN turns t ON t.id = c.source_turn
		WHERE (c.branch_id <> t.branch_id OR c.session_id <> t.session_id) AND `+a.within("c.session_id", "c.source_turn")+` ORDER BY c.id`, a.scope()...)
	a.expect(err == nil, findUnreadable, "chunks", "", "Chunks cannot be joined to their turns.")
	for _, id := range chunks {
		a.add(findIndex, "chunks", id, "It does not agree with its turn.")
	}
	strays, err := sqlite.All[struct{ ID string }](a.DB, `SELECT u.id FROM units u JOIN chunks c ON c.id = u.chunk_id JOIN turns t ON t.id = c.source_turn
		WHERE (u.turn_id <> t.id OR u.turn_seq <> t.turn_seq OR u.branch_id <> t.branch_id OR u.session_id <> t.session_id
		  OR u.message <> c.role OR u.start_offset < c.start_offset OR u.end_offset > c.end_offset) AND `+a.within("u.session_id", "u.turn_id")+` ORDER BY u.n`, a.scope()...)
	a.expect(err == nil, findUnreadable, "units", "", "Units cannot be joined to their chunks.")
	for _, u := range strays {
		a.add(findIndex, "units", u.ID, "It does not agree with its chunk and turn.")
	}
}

func (a *Audit) textIndex() {
	exclude, err := sqlite.All[struct{ ID string }](a.DB, `SELECT id FROM units WHERE n NOT IN (SELECT id FROM units_fts_docsize) ORDER BY n`)
	a.expect(err == nil, findUnreadable, "units_fts", "", "The text index cannot be read.")
	for _, u := range exclude {
		a.add(findIndex, "units", u.ID, "The text index does not contain it.")
	}
	extra, err := sqlite.All[int64](a.DB, `SELECT id FROM units_fts_docsize WHERE id NOT IN (SELECT n FROM units) ORDER BY id`)
	a.expect(err == nil, findUnreadable, "units_fts", "", "The text index cannot be read.")
	for _, n := range extra {
		a.add(findIndex, "units_fts", n, "The text index has a unit that does not exist.")
	}
	a.textIndexForm()
}

// textIndexForm checks what SQLite's own check of the text index accepts because it reads both alike: the case of the
// settings' names, format 5 for 4, text for a blob.
func (a *Audit) textIndexForm() {
	form, err := sqlite.All[string](a.DB, `SELECT k || '=' || v FROM units_fts_config
		UNION ALL SELECT DISTINCT 'data ' || typeof(block) FROM units_fts_data UNION ALL SELECT DISTINCT 'docsize ' || typeof(sz) FROM units_fts_docsize
		UNION ALL SELECT DISTINCT 'idx ' || typeof(term) FROM units_fts_idx`)
	a.expect(err == nil, findUnreadable, "units_fts", "", "The text index cannot be read.")
	for _, entry := range form {
		switch entry {
		case "version=4", "data blob", "docsize blob", "idx blob":
		default:
			a.add(findIndex, "units_fts", entry, "The text index contains values in a form that SQLite does not write; it can be rebuilt from the units.")
		}
	}
}

// CompareTextIndex lets SQLite compare index and units, and looks up each word of the index.
func (a *Audit) CompareTextIndex(db *gorm.DB) (bool, error) {
	err := db.Exec(`INSERT INTO units_fts (units_fts, rank) VALUES ('integrity-check', 1)`).Error
	findsWords := false
	if err == nil {
		findsWords, err = findsItsWords(db)
	}
	return a.indexAgrees(findsWords, err)
}

// indexAgrees adds a finding unless the text index agrees with the units; damage that SQLite finds is a finding too.
func (a *Audit) indexAgrees(agrees bool, err error) (bool, error) {
	if corrupt := chat.CodeOf(sqlite.MapError("", err)) == chat.CodeCorrupt; corrupt || err == nil && !agrees {
		a.add(findIndex, "units_fts", "", "The text index does not agree with the units; it can be rebuilt from them.")
		return false, nil
	}
	return agrees, err
}

// findsItsWords reports whether the text index finds each of its words. SQLite's own check reads the leaves one after
// another and ignores a separator between two of them, but a wrong separator hides words from every search.
func findsItsWords(db *gorm.DB) (bool, error) {
	for _, statement := range []string{
		`DROP TABLE IF EXISTS temp.index_words`, // of a check that was cancelled or failed on the same connection
		`CREATE VIRTUAL TABLE temp.index_words USING fts5vocab(main, units_fts, 'row')`,
	} {
		if err := db.Exec(statement).Error; err != nil {
			return false, err
		}
	}
	hidden, err := sqlite.All[int](db, `SELECT 1 FROM temp.index_words w
		WHERE (SELECT x.doc FROM temp.index_words x WHERE x.term = w.term) IS NOT w.doc LIMIT 1`)
	if err == nil {
		err = db.Exec(`DROP TABLE temp.index_words`).Error
	}
	return len(hidden) == 0, err
}

// LookUpUnits finds the units that the text index does not find, one by one.
func (a *Audit) LookUpUnits(ctx context.Context, db *gorm.DB) error {
	a.DB = db
	each(a, "units", "n, id, "+UnitText, "n", func(r schema.UnitRow) {
		if ctx.Err() == nil {
			a.lookUp(r)
		}
	})
	return ctx.Err()
}

// maxProbe limits the words by which a unit is looked up.
const maxProbe = 64

// lookUp checks that the text index finds a unit by its own words.
func (a *Audit) lookUp(r schema.UnitRow) {
	var terms []string
	for _, word := range lexical.Words(r.Text) {
		if m := search.MatchTerm(word); m != "" && len(terms) < maxProbe {
			terms = append(terms, "("+m+")")
		}
	}
	if len(terms) == 0 {
		return
	}
	match := strings.Join(terms, " AND ")
	hits, err := sqlite.All[int64](a.DB, `SELECT rowid FROM units_fts WHERE units_fts MATCH ? AND rowid = ?`, match, r.N)
	a.expect(err == nil && len(hits) == 1, findIndex, "units", r.ID, "The text index does not find it by its own words.")
}
