package delta

import (
	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
)

// chunkTextRow is a chunk with its position.
type chunkTextRow struct {
	Chunk        schema.ChunkRow
	TurnSeq      int64
	SessionTitle string
	Source       string // of the session
	TurnAt       string
}

func ChunkTexts(db *gorm.DB, ids []chat.ChunkID) ([]chat.ChunkText, error) {
	return NewSources(db).Chunks(ids)
}

// Sources are the texts that chunks are cut from, each read once.
type Sources struct {
	db    *gorm.DB
	said  map[sourceKey]saying
	files map[string]sourceFile
	held  int // bytes of the documents' texts
}

// mostHeld limits the documents kept for later chunks: chunks of a document are adjacent, and all documents together
// may not fit into memory.
const mostHeld = 64 << 20

type sourceKey struct {
	turn string
	role chat.Role
}

// saying is a message's rendered text, and the person named as its speaker.
type saying struct{ text, speaker string }

type sourceFile struct {
	file chat.File
	text string
	ok   bool
}

func NewSources(db *gorm.DB) *Sources {
	return &Sources{db: db, files: map[string]sourceFile{}}
}

// Chunks reads chunks with their text. Documents of earlier chunks are not read again; messages are kept only during
// one call.
func (s *Sources) Chunks(ids []chat.ChunkID) ([]chat.ChunkText, error) {
	list, err := chat.MarshalJSON(ids)
	if err != nil {
		return nil, err
	}
	rows, err := readChunkTexts(s.db, string(list))
	if err != nil {
		return nil, err
	}
	if err := s.readMessages(rows); err != nil {
		return nil, err
	}
	out := make([]chat.ChunkText, 0, len(rows))
	for _, r := range rows {
		c, ok, err := s.chunk(r)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, c)
		}
	}
	return out, nil
}

// readChunkTexts reads the rows of a JSON list of chunks, in its order. Rows are scanned by hand: a search reads
// hundreds, and reflection would take half of the time.
func readChunkTexts(db *gorm.DB, ids string) ([]chunkTextRow, error) {
	found, err := db.Raw(`SELECT c.id, coalesce(c.n, 0), c.session_id, c.branch_id, c.source_turn, c.file_id, c.ordinal, c.role, c.start_offset, c.end_offset,
		  c.chunk_type, c.token_est, c.chunker_version, c.created_at, c.content_hash, c.summary, c.rendered_text, t.turn_seq, s.title, s.source, t.created_at
		FROM json_each(?) j CROSS JOIN chunks c ON c.id = j.value
		CROSS JOIN turns t ON t.id = c.source_turn CROSS JOIN sessions s ON s.id = c.session_id ORDER BY j.key`, ids).Rows()
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var out []chunkTextRow
	for found.Next() {
		var r chunkTextRow
		c := &r.Chunk
		if err := found.Scan(&c.ID, &c.N, &c.SessionID, &c.BranchID, &c.SourceTurn, &c.FileID, &c.Ordinal, &c.Role, &c.StartOffset, &c.EndOffset,
			&c.ChunkType, &c.TokenEst, &c.ChunkerVersion, &c.CreatedAt, &c.ContentHash, &c.Summary, &c.RenderedText, &r.TurnSeq, &r.SessionTitle, &r.Source, &r.TurnAt); err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, found.Err()
}

// readMessages reads only the messages that the rows need: decoding others took most of the time.
func (s *Sources) readMessages(rows []chunkTextRow) error {
	s.said = map[sourceKey]saying{}
	var need [][2]string
	for _, r := range rows {
		key := sourceKey{r.Chunk.SourceTurn, chat.Role(r.Chunk.Role)}
		if _, ok := s.said[key]; !ok && r.Chunk.FileID == nil {
			s.said[key] = saying{}
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
	found, err := s.db.Raw(`SELECT t.id, j.value ->> 1,
		  CASE j.value ->> 1 WHEN 'user' THEN t.user_message_json ELSE t.final_assistant_message_json END
		FROM json_each(?) j CROSS JOIN turns t ON t.id = j.value ->> 0`, string(list)).Rows()
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
		var key sourceKey
		var message *string
		if err := found.Scan(&key.turn, &key.role, &message); err != nil {
			return err
		}
		if message != nil {
			m, _ := schema.DecodeMessage(key.role, *message) // an unreadable message contains no chunk's words
			s.said[key] = saying{m.IndexedText(), m.Name}
		}
	}
	return found.Err()
}

// file is a document with its text; ok is false if it is missing.
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
	if s.held += len(words); s.held > mostHeld {
		clear(s.files)
		s.held = len(words)
	}
	s.files[id] = f
	return f, err
}

// chunk is a chunk with its text; false if its source does not contain it.
func (s *Sources) chunk(r chunkTextRow) (chat.ChunkText, bool, error) {
	out := chat.ChunkText{TurnSeq: r.TurnSeq, SessionTitle: r.SessionTitle, ProjectFile: r.Source == chat.SourceFiles, At: schema.Moment(r.TurnAt)}
	if r.Chunk.FileID == nil {
		said := s.said[sourceKey{r.Chunk.SourceTurn, chat.Role(r.Chunk.Role)}]
		out.Source, out.Speaker = said.text, said.speaker
	} else {
		f, err := s.file(*r.Chunk.FileID)
		if err != nil || !f.ok {
			return out, false, err
		}
		out.Source, out.File = f.text, &f.file
	}
	words := schema.ChunkText(out.Source, r.Chunk)
	out.Chunk = r.Chunk.Chunk(words)
	return out, schema.Spans(out.Source, r.Chunk.StartOffset, r.Chunk.EndOffset, words), nil
}
