package delta

import (
	"slices"
	"time"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

func ChunkTexts(db *gorm.DB, ids []chat.ChunkID) ([]chat.ChunkText, error) {
	return NewSources(db).Chunks(ids)
}

// Sources are the texts that chunks are cut from, each read once.
type Sources struct {
	db        *gorm.DB
	messages  map[sourceKey]sourceMessage
	sessions  map[string]sessionHead
	files     map[string]sourceFile
	fileBytes int // bytes of the documents' texts
}

// maxFileBytes limits the documents kept for later chunks: chunks of a document are adjacent, and all documents
// together may not fit into memory.
const maxFileBytes = 64 << 20

// sourceKey identifies a message. For a chunk of a document it is the turn without a role.
type sourceKey struct {
	turn string
	role chat.Role
}

func keyOf(c schema.ChunkRow) sourceKey {
	if c.FileID != nil {
		return sourceKey{turn: c.SourceTurn}
	}
	return sourceKey{c.SourceTurn, chat.Role(c.Role)}
}

// sourceMessage is a message's rendered text and the person named as its speaker, with the number and time of its turn.
type sourceMessage struct {
	seq           int64
	at            time.Time
	text, speaker string
}

type sessionHead struct{ title, source string }

type sourceFile struct {
	file chat.File
	text string
	ok   bool
}

func NewSources(db *gorm.DB) *Sources {
	return &Sources{db: db, sessions: map[string]sessionHead{}, files: map[string]sourceFile{}}
}

// Chunks reads chunks with their text. Documents of earlier chunks are not read again; messages are kept only during
// one call.
func (s *Sources) Chunks(ids []chat.ChunkID) ([]chat.ChunkText, error) {
	rows, written, err := readChunks(s.db, ids)
	if err != nil {
		return nil, err
	}
	if err := s.readMessages(rows); err != nil {
		return nil, err
	}
	if err := s.readSessions(rows); err != nil {
		return nil, err
	}
	out := make([]chat.ChunkText, 0, len(rows))
	for _, r := range rows {
		c, ok, err := s.chunk(r)
		if err != nil {
			return nil, err
		}
		if ok {
			c.ByLibrarian = written[r.ID]
			out = append(out, c)
		}
	}
	return out, nil
}

// readChunks reads the rows of chunks, in the requested order, and the librarian's summaries of some by id. Rows are scanned by hand: a search reads hundreds, and
// reflection would take half of the time.
func readChunks(db *gorm.DB, ids []chat.ChunkID) (out []schema.ChunkRow, written map[string]string, err error) {
	list, err := chat.MarshalJSON(ids)
	if err != nil {
		return nil, nil, err
	}
	found, err := db.Raw(`SELECT c.id, coalesce(c.n, 0), c.session_id, c.branch_id, c.source_turn, c.file_id, c.ordinal, c.role, c.start_offset, c.end_offset,
		  c.chunk_type, c.token_est, c.chunker_version, c.created_at, c.content_hash, c.summary, c.rendered_text,
		  coalesce((SELECT x.summary FROM chunk_summaries x WHERE x.chunk_id = c.id), '')
		FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value`, string(list)).Rows()
	if err != nil {
		return nil, nil, err
	}
	defer found.Close()
	byID := make(map[string]schema.ChunkRow, len(ids))
	written = map[string]string{}
	for found.Next() {
		var c schema.ChunkRow
		var summary string
		if err := found.Scan(&c.ID, &c.N, &c.SessionID, &c.BranchID, &c.SourceTurn, &c.FileID, &c.Ordinal, &c.Role, &c.StartOffset, &c.EndOffset,
			&c.ChunkType, &c.TokenEst, &c.ChunkerVersion, &c.CreatedAt, &c.ContentHash, &c.Summary, &c.RenderedText,
			&summary); err != nil {
			return nil, nil, err
		}
		if byID[c.ID] = c; summary != "" {
			written[c.ID] = summary
		}
	}
	out = make([]schema.ChunkRow, 0, len(byID))
	for _, id := range ids {
		if c, ok := byID[string(id)]; ok {
			out = append(out, c)
		}
	}
	return out, written, found.Err()
}

// readMessages reads the messages of chunks, each once, and no others of their turns: decoding others took most of
// the time.
func (s *Sources) readMessages(chunks []schema.ChunkRow) error {
	s.messages = map[sourceKey]sourceMessage{}
	var need [][2]string
	seen := map[sourceKey]bool{}
	for _, c := range chunks {
		if key := keyOf(c); !seen[key] {
			seen[key] = true
			need = append(need, [2]string{key.turn, string(key.role)})
		}
	}
	if len(need) == 0 {
		return nil
	}
	list, err := chat.MarshalJSON(need)
	if err != nil {
		return err
	}
	found, err := s.db.Raw(`SELECT t.id, j.value ->> 1, t.turn_seq, t.created_at,
		  CASE j.value ->> 1 WHEN 'user' THEN t.user_message_json WHEN 'assistant' THEN t.final_assistant_message_json END
		FROM json_each(?) j CROSS JOIN turns t ON t.id = j.value ->> 0`, string(list)).Rows()
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var key sourceKey
		var source sourceMessage
		var at string
		var message *string
		if err := found.Scan(&key.turn, &key.role, &source.seq, &at, &message); err != nil {
			return err
		}
		source.at = schema.ParseTime(at)
		if message != nil {
			m, _ := schema.DecodeMessage(key.role, *message) // an unreadable message contains no chunk's text
			source.text, source.speaker = m.IndexedText(), m.Name
		}
		s.messages[key] = source
	}
	return found.Err()
}

// readSessions reads the titles and origins of the chunks' sessions, each once.
func (s *Sources) readSessions(chunks []schema.ChunkRow) error {
	var need []string
	for _, c := range chunks {
		if _, ok := s.sessions[c.SessionID]; !ok && !slices.Contains(need, c.SessionID) {
			need = append(need, c.SessionID)
		}
	}
	if len(need) == 0 {
		return nil
	}
	list, err := chat.MarshalJSON(need)
	if err != nil {
		return err
	}
	found, err := sqlite.All[struct{ ID, Title, Source string }](s.db, `SELECT s.id, s.title, s.source FROM json_each(?) j CROSS JOIN sessions s ON s.id = j.value`, string(list))
	for _, f := range found {
		s.sessions[f.ID] = sessionHead{f.Title, f.Source}
	}
	return err
}

// file returns a document with its text; a deleted one has ok false.
func (s *Sources) file(id string) (sourceFile, error) {
	if f, ok := s.files[id]; ok {
		return f, nil
	}
	row, err := schema.FileByID(s.db, chat.FileID(id))
	if chat.CodeOf(err) == chat.CodeNotFound {
		return sourceFile{}, nil
	}
	if err != nil {
		return sourceFile{}, err
	}
	words, err := schema.FileText(s.db, chat.FileID(id))
	f := sourceFile{row.File(), words, true}
	if s.fileBytes += len(words); s.fileBytes > maxFileBytes {
		clear(s.files)
		s.fileBytes = len(words)
	}
	s.files[id] = f
	return f, err
}

// chunk returns a chunk with its text; false if its source does not contain it.
func (s *Sources) chunk(c schema.ChunkRow) (chat.ChunkText, bool, error) {
	message, hasMessage := s.messages[keyOf(c)]
	session, ok := s.sessions[c.SessionID]
	if !hasMessage || !ok {
		return chat.ChunkText{}, false, nil
	}
	out := chat.ChunkText{
		TurnSeq: message.seq, SessionTitle: session.title, ProjectFile: session.source == chat.SourceFiles, At: message.at,
		Source: message.text, Speaker: message.speaker,
	}
	if c.FileID != nil {
		f, err := s.file(*c.FileID)
		if err != nil || !f.ok {
			return out, false, err
		}
		out.Source, out.File = f.text, &f.file
	}
	text := schema.ChunkText(out.Source, c)
	out.Chunk = c.Chunk(text)
	return out, schema.Spans(out.Source, c.StartOffset, c.EndOffset, text), nil
}
