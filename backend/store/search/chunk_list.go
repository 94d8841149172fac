package search

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/delta"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// listed selects the chunks c with a unit in scope: chunks of an older chunker are no longer found, and not listed
// either.
const listed = `FROM (SELECT DISTINCT u.chunk_id AS id FROM units u WHERE true`

// Chunks lists the content of memory, newest turn first and in text order, with the total number of chunks.
func (s *Search) Chunks(ctx context.Context, q chat.ChunkQuery) (page []chat.ChunkText, total int, err error) {
	err = s.Read(ctx, "chunk.list", func(db *gorm.DB) error {
		r, err := scopeOf(db, q.Within)
		if err != nil {
			return err
		}
		c, err := r.units()
		if err != nil {
			return err
		}
		if q.Text != "" {
			page, total, err = chunksWithText(ctx, db, c, q)
			return err
		}
		args := append(c.head, c.args...)
		total, err = sqlite.One[int](db, "chunks", "", c.with+`SELECT count(*) `+listed+c.where+`)`, args...)
		if err != nil {
			return err
		}
		ids, err := chunkIDs(db, c, ``, nil, q.Limit, q.Offset)
		if err != nil {
			return err
		}
		page, err = delta.ChunkTexts(db, ids)
		return err
	})
	return page, total, err
}

// chunkIDs returns the chunks in scope, in list order.
func chunkIDs(db *gorm.DB, c condition, where string, more []any, limit, offset int) ([]chat.ChunkID, error) {
	if limit <= 0 {
		limit = -1
	}
	args := append(append(append([]any{}, c.head...), c.args...), more...)
	return sqlite.All[chat.ChunkID](db, c.with+`SELECT c.id `+listed+c.where+`) x CROSS JOIN chunks c ON c.id = x.id
		CROSS JOIN turns t ON t.id = c.source_turn `+where+`
		ORDER BY t.created_at DESC, t.id DESC, c.ordinal, c.id LIMIT ? OFFSET ?`, append(args, limit, max(offset, 0))...)
}

// chunkBatch is how many chunks are searched at a time.
const chunkBatch = 200

// chunksWithText searches the texts of chunks. Messages whose JSON shows that they cannot contain them are not decoded;
// documents are searched once, not once per chunk.
func chunksWithText(ctx context.Context, db *gorm.DB, c condition, q chat.ChunkQuery) (page []chat.ChunkText, total int, err error) {
	where, args := "", []any{}
	if pattern, ok := likePattern(q.Text); ok {
		where = `WHERE CASE WHEN c.file_id IS NOT NULL THEN c.file_id IN (SELECT f.id FROM files f WHERE coalesce(f.text, CAST(f.content AS TEXT)) LIKE ? ESCAPE '\')
			WHEN c.role = 'user' THEN t.user_message_json LIKE ? ESCAPE '\' ELSE t.final_assistant_message_json LIKE ? ESCAPE '\' END`
		args = append(args, pattern, pattern, pattern)
	}
	ids, err := chunkIDs(db, c, where, args, 0, 0)
	if err != nil {
		return nil, 0, err
	}
	words := strings.ToLower(q.Text)
	from := delta.NewSources(db)
	for len(ids) > 0 {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		batch := ids[:min(len(ids), chunkBatch)]
		ids = ids[len(batch):]
		texts, err := from.Chunks(batch)
		if err != nil {
			return nil, 0, err
		}
		for _, chunk := range texts {
			if !strings.Contains(strings.ToLower(chunk.Text), words) {
				continue
			}
			if total >= q.Offset && (q.Limit <= 0 || len(page) < q.Limit) {
				page = append(page, chunk)
			}
			total++
		}
	}
	return page, total, nil
}

// maxPattern limits the length of a LIKE pattern.
const maxPattern = 1000

// likePattern returns a pattern that any JSON text with the words matches; false if the words may be encoded
// differently there, escaped or in another case outside ASCII.
func likePattern(words string) (string, bool) {
	if len(words) > maxPattern {
		return "", false
	}
	for _, b := range []byte(words) {
		if b < 0x20 || b > 0x7e || b == '"' || b == '\\' {
			return "", false
		}
	}
	return "%" + strings.NewReplacer(`%`, `\%`, `_`, `\_`).Replace(words) + "%", true
}

// ChunkUses returns the contexts that contained a chunk, and the turns whose models looked it up, newest first.
func (s *Search) ChunkUses(ctx context.Context, id chat.ChunkID) ([]chat.ChunkUse, error) {
	var rows []struct {
		Named     schema.NamedRetrieval `gorm:"embedded"`
		TurnID    string
		TurnSeq   int64
		SessionID string
		CreatedAt string
	}
	var lookedUp []chat.ChunkUse
	err := s.Read(ctx, "chunk.uses", func(db *gorm.DB) (err error) {
		if lookedUp, err = lookedUpIn(db, id); err != nil {
			return err
		}
		return db.Raw(`SELECT r.*, t.id AS turn_id, t.turn_seq, t.session_id, t.created_at FROM chunks c
			JOIN retrieved r ON r.chunk_n = c.n AND r.rank > 0 JOIN turns t ON t.n = r.turn_n WHERE c.id = ? ORDER BY t.created_at DESC, t.id DESC`, id).Scan(&rows).Error
	})
	out := make([]chat.ChunkUse, len(rows))
	for i, r := range rows {
		use := r.Named.Retrieval()
		out[i] = chat.ChunkUse{
			Turn: chat.TurnID(r.TurnID), TurnSeq: r.TurnSeq, Session: chat.SessionID(r.SessionID), Rank: use.Rank,
			Score: use.Score, Packed: use.Packed, At: schema.ParseTime(r.CreatedAt),
		}
	}
	out = append(out, lookedUp...)
	slices.SortStableFunc(out, func(a, b chat.ChunkUse) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Turn, a.Turn), cmp.Compare(a.Tool, b.Tool))
	})
	return out, err
}

// ChunkEmbeddings returns the embedders for which a chunk has vectors: the serving one first, without retired ones.
func (s *Search) ChunkEmbeddings(ctx context.Context, id chat.ChunkID) ([]chat.EmbedderID, error) {
	rows, err := core.All[NamespaceRow](ctx, s, "chunk.embeddings", `SELECT * FROM namespaces s WHERE state <> 'retired' AND EXISTS (SELECT 1 FROM units u
			JOIN unit_embeddings e ON e.namespace_id = s.id AND e.unit_n = u.n WHERE u.chunk_id = ?) ORDER BY state DESC, id`, id)
	return lists.Map(rows, NamespaceRow.Embedder), err
}

// ChunkTexts reads chunks with their text, in the requested order. Missing ones, and those with an unreadable source,
// are left out; verify reports them.
func (s *Search) ChunkTexts(ctx context.Context, ids []chat.ChunkID) ([]chat.ChunkText, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	return core.Query(ctx, s, "chunk.read", func(db *gorm.DB) ([]chat.ChunkText, error) { return delta.ChunkTexts(db, ids) })
}
