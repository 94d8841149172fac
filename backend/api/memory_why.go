package api

import (
	"context"
	"slices"
	"strings"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/prompt"
	"contextinfinity/backend/retrieval"
)

// matchWhy is a match as the window shows it. similarity is nil where vectors did not find
// the text.
func matchWhy(m retrieval.Match, role chat.Role, similarity *float64) MatchWhy {
	reason := m.String()
	return MatchWhy{
		Words: append([]string{}, m.Words...), Similarity: similarity, Role: string(role),
		Reason: strings.ToUpper(reason[:1]) + reason[1:] + ".",
	}
}

// similarityOf is the calibrated similarity, or nil where there was no cosine.
func similarityOf(cosine, similarity float64) *float64 {
	if cosine == 0 && similarity == 0 {
		return nil
	}
	return &similarity
}

// scoreScale is what raw scores are divided by so that none is above 1: the best of
// them, if that is more. Contexts stored by older versions hold scores up to 2.2.
func scoreScale(scores ...float64) float64 { return slices.Max(append(scores, 1)) }

// explain adds to each recalled chunk of a context where it comes from and why it is there.
func (c *Core) explain(ctx context.Context, v *ContextView, m prompt.Manifest, session chat.SessionID) error {
	parts := m.Chunks()
	ids, scores := make([]chat.ChunkID, len(parts)), make([]float64, len(parts))
	for i, p := range parts {
		ids[i], scores[i] = chat.ChunkID(p.ID), p.Score
	}
	known, err := c.chunks(ctx, ids)
	if err != nil {
		return err
	}
	question, scale, n := v.messageText(), scoreScale(scores...), 0
	for i := range v.Sections {
		for j := range v.Sections[i].Items {
			it := &v.Sections[i].Items[j]
			if it.Source != "chunk" {
				continue
			}
			p := parts[n]
			n++
			it.TurnID = p.Turn
			it.Memory = &RecalledView{Rank: n, Score: p.Score / scale, Form: string(p.Form), Attached: p.Attached}
			t, ok := known[chat.ChunkID(p.ID)]
			it.Memory.Why = partWhy(p, question, t, it.Text)
			if ok {
				row := chunkRow(t, passageStart(p, t))
				it.Memory.Chunk = &row
			}
		}
	}
	return nil
}

// passageStart is where in a chunk's text the part begins that was sent.
func passageStart(p prompt.Part, c chat.ChunkText) int {
	if p.Form == chat.PackedSlice && len(p.Slices) > 0 {
		return p.Slices[0].Start - c.Start
	}
	return 0
}

func partWhy(p prompt.Part, question string, c chat.ChunkText, text string) MatchWhy {
	if p.Attached {
		return matchWhy(retrieval.Match{Attached: true}, c.Role, nil)
	}
	m := retrieval.MatchOf(question, text, p, c.TurnSeq)
	return matchWhy(m, c.Role, similarityOf(p.Vector, p.Similarity))
}

// messageText is the user's message in a context.
func (v *ContextView) messageText() string {
	var texts []string
	for _, s := range v.Sections {
		for _, it := range s.Items {
			if it.Source == "message" {
				texts = append(texts, it.Text)
			}
		}
	}
	return strings.Join(texts, "\n")
}
