package retrieval

import (
	"context"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
)

// Attached creates artifacts of the chunks that the user chose, in their order. A chunk that does not fit is
// represented by its beginning or else its summary; a deleted one, or one without space, is left out. count nil: four
// bytes per token.
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
		if !k.add(c, u, bounded(c, u.unit)) && !k.beginning(c, u) {
			k.summarize(c, u)
		}
	}
	return k.artifacts(), nil
}

// leastBeginning is the minimum number of tokens of a chunk worth quoting.
const leastBeginning = 60

// beginning takes as much of a chunk's beginning as fits.
func (k *packer) beginning(c chat.ChunkText, u *item) bool {
	whole := bounded(c, u.unit)
	cost := prompt.ArtifactCost(Render(c, chat.PackedFull, nil), k.count)
	for size := (whole.End - whole.Start) * k.left / max(cost, 1); k.left >= leastBeginning && size > leastBeginning; size = size * 4 / 5 {
		to := border(c.Source[whole.Start:whole.End], size, size/4)
		if to > 0 && k.add(c, u, chat.Span{Start: whole.Start, End: whole.Start + to}) {
			return true
		}
	}
	return false
}
