package delta

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/schema"
	"contextinfinity/backend/store/sqlite"
)

// The memory in a request is already stored, as chunks of messages and documents. The words of these chunks are part of
// the request's dictionary, so a quote costs a few bytes whatever its length. The dictionary of a manifest has the
// names and hashes of its chunks. The link lists the chunks by their n, in dictionary order.
//
// Chunks and their sources never change. A chunk cannot be deleted before the values that quote it are repacked. The
// table retrieved finds these: a chunk quoted by a link is listed there for its turn, even if only an earlier context
// of the turn contained it.
//
// How a chunk is written into a dictionary is a storage format: changing a byte of QuoteArtifact or QuotePart makes
// stored values unreadable.

// MaxQuotes and maxQuoted limit what one value quotes: the number of chunks and their bytes.
const (
	MaxQuotes = 500
	maxQuoted = 1 << 20
)

// EncodeQuotes writes chunk numbers as varints; nil for none.
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

// ReadQuoted reads the chunks of lists of quotes, each once. Missing ones are left out.
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

// quotable returns the chunks that a value may quote, and their list for the link: those unchanged since they were
// cut, within the limits.
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

// ArtifactOf formats a complete chunk as an artifact of a context's memory, without escaping.
func ArtifactOf(c chat.ChunkText) string {
	who := string(c.Role)
	who = cmp.Or(c.Speaker, who)
	text := strings.NewReplacer("\r\n", "\n", "<", "&lt;").Replace(strings.TrimSpace(c.Text))
	return "<m>[" + c.At.UTC().Format("2 January 2006") + "] " + who + ": " + text + "\n"
}

// QuoteArtifact writes a chunk as it appears in a request: inside a JSON string.
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

// QuotePart writes the part of a chunk's manifest entry that does not depend on the query.
func QuotePart(b []byte, c chat.ChunkText) []byte {
	text := ArtifactOf(c)
	return fmt.Appendf(b, `{"source":"chunk","id":"%s","turn":"%s","form":"full","score":,"bytes":%d,"sha256":"%s"},`,
		c.ID, c.SourceTurn, len(text), schema.HexHash([]byte(text)))
}
