package retrieval

import "contextinfinity/backend/internal/lexical"

// MMR: a unit's rank is lowered by how much it repeats higher-ranked ones.
const (
	mmrRelevance = 0.7
	mmrUnits     = 60 // units that are reordered; the others keep their order
)

// mmr orders units by maximal marginal relevance of their words.
func (k *packer) mmr(units []*item) []*item {
	head := units[:min(len(units), mmrUnits)]
	sets := make([]map[string]bool, len(head))
	for i, u := range head {
		c := k.texts[u.Chunk]
		span := bounded(c, u.unit)
		sets[i] = map[string]bool{}
		for _, w := range lexical.Words(c.Source[span.Start:span.End]) {
			sets[i][w] = true
		}
	}
	out := make([]*item, 0, len(units))
	repeats, taken := make([]float64, len(head)), make([]bool, len(head))
	for range head {
		best, bestScore := -1, 0.0
		for i, u := range head {
			if score := mmrRelevance*u.score - (1-mmrRelevance)*repeats[i]; !taken[i] && (best < 0 || score > bestScore) {
				best, bestScore = i, score
			}
		}
		taken[best] = true
		out = append(out, head[best])
		for i := range head {
			if !taken[i] {
				repeats[i] = max(repeats[i], overlap(sets[best], sets[i]))
			}
		}
	}
	return append(out, units[len(head):]...)
}

// overlap is the share of common words among all words of two texts.
func overlap(a, b map[string]bool) float64 {
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if all := len(a) + len(b) - both; all > 0 {
		return float64(both) / float64(all)
	}
	return 0
}
