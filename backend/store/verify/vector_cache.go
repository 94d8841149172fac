package verify

import (
	"context"
	"errors"
	"os"
	"slices"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/search"
)

// compareVectorCache compares the cache with the vectors it was built from. A cache that no search would use, because
// the database shows that it is for other vectors, is not a finding.
func (s *Verifier) compareVectorCache(ctx context.Context, a *Audit) error {
	f, err := os.Open(search.VectorCachePath(s.Core))
	if err != nil {
		return nil //nolint:nilerr // no readable cache
	}
	defer func() { _ = f.Close() }()
	space, err := search.Cachable(ctx, s.Core)
	if err != nil || search.EndFits(ctx, s.Core, f, space) != nil {
		return err
	}
	var differs []int64
	_, _, err = search.ReadVectorCache(f, space, func(b chat.VectorBlock) error {
		n, err := s.firstDifference(ctx, space, b)
		if n != 0 {
			differs = append(differs, n)
		}
		return err
	})
	if err != nil || len(differs) == 0 {
		return err
	}
	if now, err := search.Cachable(ctx, s.Core); err != nil || now != space {
		return err // a vector was deleted or changed meanwhile
	}
	a.add(findVector, search.VectorCacheFile, differs[0], "The vector cache differs from the database from this unit on. Nothing is lost: remove the file, and it is created again.")
	return nil
}

var errCompared = errors.New("the block was compared")

// firstDifference returns the first unit of a block with a vector that differs from the database, or 0.
func (s *Verifier) firstDifference(ctx context.Context, space search.CachedSpace, b chat.VectorBlock) (int64, error) {
	i := 0
	err := s.search.VectorRows(ctx, space.Namespace, "", b.N[0]-1, func(r chat.VectorRow) error {
		if i == len(b.N) {
			return errCompared
		}
		single := codec.NewVectorBlock([]chat.VectorRow{r})
		same := r.Codes != nil && b.N[i] == r.N && b.Seq[i] == r.Seq && b.Places[b.Place[i]] == single.Places[0] && b.Scale[i] == single.Scale[0]
		if !same || !slices.Equal(b.Codes[i*space.Dimension:(i+1)*space.Dimension], single.Codes) {
			return errCompared
		}
		i++
		return nil
	})
	if err != nil && !errors.Is(err, errCompared) {
		return 0, err
	}
	if i < len(b.N) {
		return b.N[i], nil
	}
	return 0, nil
}
