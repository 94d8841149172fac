package retrieval

import "context"

// plain is the ranking of SRD 8.2: a weighted sum of similarity and words, a boost for recent units, and a threshold
// applied afterwards. The similarity is calibrated (SPEC 8): a raw cosine of 0.72 means near identity for one
// embedder and is common for another. A unit that shares words with the query is never dropped.
func (p *pool) plain() {
	age := p.ages()
	for i := range p.units {
		u := &p.units[i]
		boost := p.s.Recency * age(u)
		if u.keyword == 0 && u.similar+boost < p.s.Threshold {
			continue
		}
		u.score = (p.share*u.similar+(1-p.share)*u.keyword)*p.decision(u) + boost
	}
}

// selected returns the units of the TopK chunks that the plain ranking packs: the best ones or, with MMR, those that
// repeat each other least.
func (k *packer) selected(ctx context.Context, store Store, ranked []*item) ([]*item, error) {
	if k.s.MMR {
		if err := k.read(ctx, store, unitsOf(ranked)); err != nil {
			return nil, err
		}
		ranked = k.mmr(ranked)
	}
	return inSameChunks(ranked, bestOfChunks(ranked, k.s.TopK)), nil
}
