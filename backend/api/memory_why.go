package api

import (
	"context"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/inspecting"
	"contextinfinity/backend/internal/lists"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
)

// matchView describes a match for the window. similarity is nil if vectors did not find the text.
func matchView(m retrieval.Match, role chat.Role, similarity *float64) MatchView {
	return MatchView{
		Words: append([]string{}, m.Words...), Similarity: similarity, Role: string(role),
		Reason: m.Phrase(),
	}
}

// similarityOf returns the calibrated similarity, or nil if there was no cosine.
func similarityOf(cosine, similarity float64) *float64 {
	if cosine == 0 && similarity == 0 {
		return nil
	}
	return &similarity
}

// scoreScale returns the divisor for raw scores so that none exceeds 1: the best score, if it is above 1. Contexts
// stored by older versions contain scores up to 2.2.
func scoreScale(scores ...float64) float64 { return slices.Max(append(scores, 1)) }

// explain adds to each recalled chunk of a context its origin and why it was recalled.
func (c *Core) explain(ctx context.Context, v *ContextView, m prompt.Manifest, texts []prompt.Text) error {
	recalled, err := c.Inspecting.Recalled(ctx, m, texts)
	if err != nil {
		return err
	}
	scale, n := scoreScale(lists.Map(recalled, func(r inspecting.Recalled) float64 { return r.Score })...), 0
	for i := range v.Sections {
		for j := range v.Sections[i].Items {
			it := &v.Sections[i].Items[j]
			if it.Source != "chunk" {
				continue
			}
			r := recalled[n]
			n++
			it.TurnID = r.Turn
			it.Memory = &RecalledView{Rank: n, Score: r.Score / scale, Form: string(r.Form), Attached: r.Attached, Match: recalledMatch(r)}
			if r.Chunk != nil {
				row := chunkRow(*r.Chunk, passageStart(r.Part, *r.Chunk))
				it.Memory.Chunk = &row
			}
		}
	}
	return nil
}

func recalledMatch(r inspecting.Recalled) MatchView {
	var role chat.Role
	if r.Chunk != nil {
		role = r.Chunk.Role
	}
	if r.Attached {
		return matchView(r.Match, role, nil)
	}
	return matchView(r.Match, role, similarityOf(r.Vector, r.Similarity))
}

// passageStart returns where in a chunk's text the sent part begins.
func passageStart(p prompt.Part, c chat.ChunkText) int {
	if p.Form == chat.PackedSlice && len(p.Slices) > 0 {
		return p.Slices[0].Start - c.Start
	}
	return 0
}
