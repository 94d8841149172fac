package delta

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// What memory puts into a request is stored already: as a chunk's place in a message
// or a document. A request is packed with the words of its chunks as part of its
// dictionary, so that a quotation costs a few bytes whatever its length; a manifest,
// which describes the request, with the names and hashes of its chunks. Which chunks they are
// is in the link, by their n, in the order of the dictionary.
//
// Chunks, and what they are cut from, never change. One cannot be deleted before what
// quotes it is packed again, which retrieved tells by chunk: what a link quotes, stands
// there for its turn, even if only in a context of the turn that was made before.
//
// How a chunk is written into a dictionary is a storage format: a change of a byte of
// quoteArtifact or quotePart makes what was stored unreadable.

// maxQuotes and maxQuoted bound what one value quotes: chunks, and bytes of them.
const (
	MaxQuotes = 500
	maxQuoted = 1 << 20
)

// EncodeQuotes writes numbers of chunks as varints; nil for none.
func EncodeQuotes(ns []int64) []byte {
	var b []byte
	for _, n := range ns {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func DecodeQuotes(b []byte) ([]int64, error) {
	var ns []int64
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || len(ns) == MaxQuotes {
			return nil, errors.New("its quotes are not a list of chunks")
		}
		ns, b = append(ns, int64(n)), b[size:]
	}
	return ns, nil
}

// QuotedTexts are chunks by their n.
type QuotedTexts map[int64]chat.ChunkText

// ReadQuoted reads the chunks of lists of quotes, each once. Those that are not there
// are left out.
func ReadQuoted(db *gorm.DB, lists ...[]byte) (QuotedTexts, error) {
	var ns []int64
	known := map[int64]bool{}
	for _, b := range lists {
		list, err := DecodeQuotes(b)
		if err != nil {
			return nil, err
		}
		for _, n := range list {
			if !known[n] {
				known[n] = true
				ns = append(ns, n)
			}
		}
	}
	return chunksByNumber(db, ns)
}

func chunksByNumber(db *gorm.DB, ns []int64) (QuotedTexts, error) {
	out := make(QuotedTexts, len(ns))
	if len(ns) == 0 {
		return out, nil
	}
	list, err := chat.MarshalJSON(ns)
	if err != nil {
		return nil, err
	}
	rows, err := sqlite.All[struct {
		ID chat.ChunkID
		N  int64
	}](db, `SELECT c.id, c.n FROM json_each(?) j CROSS JOIN chunks c ON c.n = j.value`, string(list))
	if err != nil {
		return nil, err
	}
	ids, number := make([]chat.ChunkID, len(rows)), make(map[chat.ChunkID]int64, len(rows))
	for i, r := range rows {
		ids[i], number[r.ID] = r.ID, r.N
	}
	texts, err := ChunkTexts(db, ids)
	for _, c := range texts {
		out[number[c.ID]] = c
	}
	return out, err
}

// quotable are the chunks that a value may quote, with their list for the link: those
// that are as they were when they were cut, within the bounds.
func quotable(db *gorm.DB, ns []int64) (QuotedTexts, []byte, error) {
	texts, err := chunksByNumber(db, ns[:min(len(ns), MaxQuotes)])
	if err != nil {
		return nil, nil, err
	}
	var quoted []int64
	size := 0
	for _, n := range ns[:min(len(ns), MaxQuotes)] {
		c, ok := texts[n]
		if size += len(c.Text); ok && size <= maxQuoted && c.ContentHash == schema.HexHash([]byte(c.Text)) {
			quoted = append(quoted, n)
		}
	}
	return texts, EncodeQuotes(quoted), nil
}

// ArtifactOf is a chunk as it is, whole, in a context's memory, where nothing in
// its words has to be made visible.
func ArtifactOf(c chat.ChunkText) string {
	who := string(c.Role)
	if c.Speaker != "" {
		who = c.Speaker
	}
	words := strings.NewReplacer("\r\n", "\n", "<", "&lt;").Replace(strings.TrimSpace(c.Text))
	return "<m>[" + c.At.UTC().Format("2 January 2006") + "] " + who + ": " + words + "\n"
}

// QuoteArtifact writes a chunk as it is in a request: as in a JSON string.
func QuoteArtifact(b []byte, c chat.ChunkText) []byte {
	text := ArtifactOf(c)
	for i := range len(text) {
		switch ch := text[i]; ch {
		case '\n':
			b = append(b, '\\', 'n')
		case '\t':
			b = append(b, '\\', 't')
		case '"', '\\':
			b = append(b, '\\', ch)
		default:
			b = append(b, ch)
		}
	}
	return b
}

// QuotePart writes what a manifest says of a chunk that does not depend on the
// question.
func QuotePart(b []byte, c chat.ChunkText) []byte {
	text := ArtifactOf(c)
	return fmt.Appendf(b, `{"source":"chunk","id":"%s","turn":"%s","form":"full","score":,"bytes":%d,"sha256":"%s"},`,
		c.ID, c.SourceTurn, len(text), schema.HexHash([]byte(text)))
}
