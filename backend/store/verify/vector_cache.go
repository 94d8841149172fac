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
	of, err := search.Cachable(ctx, s.Core)
	if err != nil || search.EndFits(ctx, s.Core, f, of) != nil {
		return err
	}
	var differs []int64
	_, _, err = search.ReadVectorCache(f, of, func(b chat.VectorBlock) error {
		n, err := s.firstOther(ctx, of, b)
		if n != 0 {
			differs = append(differs, n)
		}
		return err
	})
	if err != nil || len(differs) == 0 {
		return err
	}
	if now, err := search.Cachable(ctx, s.Core); err != nil || now != of {
		return err // a vector was deleted or changed meanwhile
	}
	a.add(findVector, search.VectorCacheFile, differs[0], "The vector cache differs from the database from this unit on. Nothing is lost: remove the file, and it is made again.")
	return nil
}

var errCompared = errors.New("the block was compared")

// firstOther is the first unit of a block with a vector that differs from the database, or 0.
func (s *Verifier) firstOther(ctx context.Context, of search.CachedSpace, b chat.VectorBlock) (int64, error) {
	i := 0
	err := s.search.VectorRows(ctx, of.Namespace, "", b.N[0]-1, func(r chat.VectorRow) error {
		if i == len(b.N) {
			return errCompared
		}
		one := codec.NewVectorBlock([]chat.VectorRow{r})
		same := r.Codes != nil && b.N[i] == r.N && b.Seq[i] == r.Seq && b.Places[b.Place[i]] == one.Places[0] && b.Scale[i] == one.Scale[0]
		if !same || !slices.Equal(b.Codes[i*of.Dimension:(i+1)*of.Dimension], one.Codes) {
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
