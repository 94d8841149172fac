package retrieval

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// Attached creates artifacts of the chunks that the user chose, in their order. A chunk that does not fit is
// represented by its beginning or else its summary. A deleted chunk is left out, and so is one for which no space
// remains. count nil: four bytes per token.
func (e *Engine) Attached(ctx context.Context, ids []chat.ChunkID, maxTokens int, count func(string) int) ([]Artifact, error) {
	if len(ids) == 0 || maxTokens <= 0 {
		return nil, nil
	}
	texts, err := e.Store.ChunkTexts(ctx, ids)
	if err != nil {
		return nil, searchError(err)
	}
	k := newPacker(Query{MaxTokens: maxTokens, Count: count}, Settings{})
	for _, c := range texts {
		if k.chunks[c.ID] != nil {
			continue
		}
		u := wholeUnit(&unit{UnitRef: chat.UnitRef{Chunk: c.ID, Start: c.Start, End: c.End}})
		if !k.add(c, u, bounded(c, u.unit)) && !k.addBeginning(c, u) {
			k.summarize(c, u)
		}
	}
	return k.artifacts(), nil
}

// minBeginning is the minimum number of tokens of a chunk worth quoting.
const minBeginning = 60

// addBeginning adds as much of a chunk's beginning as fits.
func (k *packer) addBeginning(c chat.ChunkText, u *item) bool {
	full := bounded(c, u.unit)
	cost := prompt.ArtifactCost(Render(c, chat.PackedFull, nil), k.count)
	for size := (full.End - full.Start) * k.remaining / max(cost, 1); k.remaining >= minBeginning && size > minBeginning; size = size * 4 / 5 {
		to := boundaryBefore(c.Source[full.Start:full.End], size, size/4)
		if to > 0 && k.add(c, u, chat.Span{Start: full.Start, End: full.Start + to}) {
			return true
		}
	}
	return false
}
