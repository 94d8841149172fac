package search

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"gorm.io/gorm"

	"contextinfinity/backend/chat"
	"contextinfinity/backend/internal/faultfs"
	"contextinfinity/backend/internal/seal"
	"contextinfinity/backend/store/codec"
	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// The vector cache is a file beside the database with the vectors of the serving namespace, in index order: reading
// them row by row from the database takes fifteen times as long. It is derived. The writer appends blocks of rows,
// and deletes the file when a vector in it may have been deleted or changed, which the generation of the vectors
// shows. It is not fsynced: each block has a checksum, and a block whose checksum fails is not used.
//
// If the database was replaced by an older one, the same numbers and generation may mean other vectors. That can only
// affect the end, so the last rows of the file are compared with the database before any of it is used.

// VectorCacheFile is the name of the cache in the data directory.
const VectorCacheFile = "vectors.cache"

const (
	// maxCachedDimension is the dimension above which an index reads candidates from the database.
	maxCachedDimension = 512
	comparedRows       = 16 // at the end of the file

	cacheMagic     = "CINFVEC1"
	CacheHead      = 8 + 8 + 8 + 4 + 4
	CacheBlockHead = 4 + 4
)

// CachedRows is the number of vectors per block of the cache.
var CachedRows = codec.MaxVectorBlock

// ErrStaleCache means that a cache and the database have different vectors.
var ErrStaleCache = errors.New("the vector cache does not match the database")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CachedSpace identifies the vectors of a cache.
type CachedSpace struct {
	Namespace  int64 `gorm:"column:id"`
	Generation int64
	Dimension  int
}

func (c CachedSpace) head() []byte {
	le := binary.LittleEndian
	out := le.AppendUint64([]byte(cacheMagic), uint64(c.Namespace)) // its bits are kept
	out = le.AppendUint64(out, uint64(c.Generation))                // as above
	out = le.AppendUint32(out, uint32(c.Dimension))                 // at most maxDimension
	return le.AppendUint32(out, crc32.Checksum(out, castagnoli))
}

// vectorCache is the writer's side. Only the holder of its lock creates or removes the file.
type vectorCache struct {
	sync.Mutex
	space CachedSpace // zero value: the file's content is unknown
	end   int64       // of its last complete block, in bytes
	last  int64       // N of its last row
}

// CachedVectors yields the vectors in the cache for a namespace and generation, in the order of N: all up to the last
// one it yields, possibly none. The result is valid only if it returns nil, and Codes only during the call.
func (s *Search) CachedVectors(ctx context.Context, ns, generation int64, yield func(chat.VectorBlock) error) error {
	f, err := os.Open(VectorCachePath(s.Core))
	if err != nil {
		return nil //nolint:nilerr // no readable cache
	}
	defer func() { _ = f.Close() }()
	var dimension int
	if err := s.Read(ctx, "vector.cached", func(db *gorm.DB) (err error) {
		dimension, err = dimensionOf(db, ns)
		return err
	}); err != nil {
		return err
	}
	tail, _, err := ReadVectorCache(f, CachedSpace{ns, generation, dimension}, yield)
	if err != nil {
		return err
	}
	return s.Read(ctx, "vector.cached", func(db *gorm.DB) error { return tail.compare(db, ns, dimension) })
}

func VectorCachePath(s *core.Core) string { return filepath.Join(s.Dir, VectorCacheFile) }

// VectorTail is the last rows of a cache.
type VectorTail struct {
	n     []int64
	codes []byte
}

func tailOf(b chat.VectorBlock, dimension int) VectorTail {
	first := max(0, len(b.N)-comparedRows)
	return VectorTail{b.N[first:], slices.Clone(b.Codes[first*dimension:])}
}

// ReadVectorCache yields the complete blocks of a cache, and returns its last rows and the end of the last block: 0
// if the file is missing or has other vectors.
func ReadVectorCache(f io.Reader, space CachedSpace, yield func(chat.VectorBlock) error) (tail VectorTail, end int64, err error) {
	head := space.head()
	have := make([]byte, len(head))
	if _, err := io.ReadFull(f, have); err != nil || !slices.Equal(have, head) {
		return tail, 0, nil //nolint:nilerr // none of it is used
	}
	end = CacheHead
	var buffer []byte
	for {
		body, err := readCacheBlock(f, codec.MaxVectorBlockBytes(space.Dimension), &buffer)
		if err != nil {
			return tail, end, nil //nolint:nilerr // it ends here, or is damaged from here on
		}
		b, err := codec.VectorBlockOf(body, space.Dimension)
		if err != nil || len(tail.n) > 0 && b.N[0] <= tail.n[len(tail.n)-1] {
			return tail, end, nil //nolint:nilerr // as above
		}
		if err := yield(b); err != nil {
			return tail, end, err
		}
		end += int64(CacheBlockHead + len(body))
		tail = tailOf(b, space.Dimension)
	}
}

// readCacheBlock reads a block with a valid checksum into a buffer.
func readCacheBlock(f io.Reader, limit int, buffer *[]byte) ([]byte, error) {
	var head [CacheBlockHead]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return nil, err
	}
	size := int(binary.LittleEndian.Uint32(head[:]))
	if size > limit {
		return nil, ErrStaleCache
	}
	*buffer = slices.Grow((*buffer)[:0], size)[:size]
	if _, err := io.ReadFull(f, *buffer); err != nil {
		return nil, err
	}
	if crc32.Checksum(*buffer, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, ErrStaleCache
	}
	return *buffer, nil
}

// compare returns ErrStaleCache unless the database has these rows.
func (t VectorTail) compare(db *gorm.DB, ns int64, dimension int) error {
	if len(t.n) == 0 {
		return nil
	}
	rows, err := sqlite.All[struct {
		N      int64
		Vector []byte
	}](db, `SELECT unit_n AS n, vector FROM unit_embeddings WHERE namespace_id = ? AND unit_n IN ?`, ns, t.n)
	if err != nil {
		return err
	}
	for _, r := range rows {
		i := slices.Index(t.n, r.N)
		if len(r.Vector) != codec.QuantizedHead+dimension || !slices.Equal(r.Vector[codec.QuantizedHead:], t.codes[i*dimension:(i+1)*dimension]) {
			return ErrStaleCache
		}
	}
	if len(rows) != len(t.n) {
		return ErrStaleCache
	}
	return nil
}

// SaveVectors appends the missing serving vectors to the vector cache, in complete blocks; the rest is quick to read.
// A cache of other vectors is deleted first.
func (s *Search) SaveVectors(ctx context.Context) error {
	if s.DB.Writer == nil || s.Scratch {
		return nil
	}
	if _, _, sealed := seal.Current(); sealed { // its vectors would tell the text; the database is read instead
		return nil
	}
	c := &s.cache
	c.Lock()
	defer c.Unlock()
	space, err := Cachable(ctx, s.Core)
	if err != nil {
		return err
	}
	if c.space != space || c.end == 0 || !sqlite.Exists(s.Dir, VectorCacheFile) {
		if err := s.openVectorCache(ctx, space); err != nil {
			return err
		}
	}
	if space.Namespace == 0 {
		return nil
	}
	if more, err := s.hasBlock(ctx, space, c.last); err != nil || !more {
		return err
	}
	err = s.appendVectors(ctx, space)
	if current, nerr := Cachable(context.WithoutCancel(ctx), s.Core); nerr != nil || current != space {
		err = errors.Join(err, nerr, s.removeVectorCache()) // what was read may be deleted by now
	}
	return err
}

// Cachable identifies the vectors that the cache should contain; the zero value: there should be no cache.
func Cachable(ctx context.Context, s *core.Core) (space CachedSpace, err error) {
	err = s.Read(ctx, "vector.cached", func(db *gorm.DB) error {
		rows, err := sqlite.All[CachedSpace](db, `SELECT id, dimension, (SELECT generation FROM vector_generation) AS generation
			FROM namespaces WHERE state = 'serving' AND dimension <= ? ORDER BY id LIMIT 1`, maxCachedDimension)
		space = append(rows, CachedSpace{})[0]
		return err
	})
	return space, err
}

// openVectorCache finds the end of the cache. A cache that does not match is deleted.
func (s *Search) openVectorCache(ctx context.Context, space CachedSpace) error {
	c := &s.cache
	c.space, c.end, c.last = space, 0, 0
	f, err := os.Open(VectorCachePath(s.Core))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return sqlite.MapError("vector.cached", err)
	}
	tail, end, err := ReadVectorCache(f, space, func(b chat.VectorBlock) error {
		c.last = b.N[len(b.N)-1]
		return context.Cause(ctx)
	})
	_ = f.Close()
	if err == nil {
		err = s.Read(ctx, "vector.cached", func(db *gorm.DB) error { return tail.compare(db, space.Namespace, space.Dimension) })
	}
	if c.end = end; err == nil && end > 0 && space.Namespace != 0 {
		return nil
	}
	removed := s.removeVectorCache()
	c.space = space
	if err != nil && !errors.Is(err, ErrStaleCache) {
		return errors.Join(err, removed)
	}
	return removed
}

// CheckVectorCache deletes a cache that does not match the database, which may have been replaced by an older one. It
// reads little, so that short-lived programs do not wait for it.
func CheckVectorCache(ctx context.Context, s *Search) error {
	f, err := os.Open(VectorCachePath(s.Core))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		var space CachedSpace
		if space, err = Cachable(ctx, s.Core); err == nil {
			err = EndFits(ctx, s.Core, f, space)
		}
		_ = f.Close()
	}
	if err == nil {
		return nil
	}
	removed := DeleteVectorCache(s)
	if errors.Is(err, ErrStaleCache) {
		err = nil
	}
	return errors.Join(err, removed)
}

// EndFits returns ErrStaleCache unless the last rows of a cache are in the database.
func EndFits(ctx context.Context, s *core.Core, f *os.File, space CachedSpace) error {
	tail, ok := lastOfCache(f, space)
	if !ok {
		return ErrStaleCache
	}
	return s.Read(ctx, "vector.cached", func(db *gorm.DB) error { return tail.compare(db, space.Namespace, space.Dimension) })
}

// lastOfCache reads the last rows of a cache and skips the blocks before; false if it has other vectors, or its end
// is damaged.
func lastOfCache(f io.ReaderAt, space CachedSpace) (tail VectorTail, ok bool) {
	head := space.head()
	have := make([]byte, len(head))
	if _, err := f.ReadAt(have, 0); err != nil || !slices.Equal(have, head) {
		return tail, false
	}
	limit := int64(codec.MaxVectorBlockBytes(space.Dimension))
	last := int64(-1)
	for at := int64(CacheHead); ; {
		var size [CacheBlockHead]byte
		if _, err := f.ReadAt(size[:], at); err != nil {
			break
		}
		last, at = at, at+CacheBlockHead+int64(binary.LittleEndian.Uint32(size[:]))
	}
	if last < 0 {
		return tail, true
	}
	var buffer []byte
	body, err := readCacheBlock(io.NewSectionReader(f, last, CacheBlockHead+limit), int(limit), &buffer)
	if err != nil {
		return tail, false
	}
	b, err := codec.VectorBlockOf(body, space.Dimension)
	if err != nil {
		return tail, false
	}
	return tailOf(b, space.Dimension), true
}

// hasBlock reports whether a complete block of vectors follows a unit.
func (s *Search) hasBlock(ctx context.Context, space CachedSpace, after int64) (more bool, err error) {
	err = s.Read(ctx, "vector.cached", func(db *gorm.DB) error {
		rows, err := sqlite.All[int64](db, `SELECT unit_n FROM unit_embeddings WHERE namespace_id = ? AND unit_n > ? ORDER BY unit_n LIMIT 1 OFFSET ?`,
			space.Namespace, after, CachedRows-1)
		more = len(rows) > 0
		return err
	})
	return more, err
}

// errDamagedVector ends a cache before an unreadable vector; readers of the rows report that.
var errDamagedVector = errors.New("a vector cannot be read")

// appendVectors writes the blocks missing in the cache.
func (s *Search) appendVectors(ctx context.Context, space CachedSpace) error {
	c := &s.cache
	f, err := faultfs.OpenFile(faultfs.Data, VectorCachePath(s.Core), os.O_RDWR|os.O_CREATE|faultfs.NoFollow, 0o600)
	if err != nil {
		return sqlite.MapError("vector.cached", err)
	}
	put := func(data []byte) error {
		if _, err := f.WriteAt(data, c.end); err != nil {
			return errors.Join(err, f.Truncate(c.end))
		}
		c.end += int64(len(data))
		return nil
	}
	if c.end == 0 {
		err = errors.Join(f.Truncate(0), put(space.head()))
	}
	rows := make([]chat.VectorRow, 0, CachedRows)
	if err == nil {
		err = s.VectorRows(ctx, space.Namespace, "", c.last, func(r chat.VectorRow) error {
			if r.Codes == nil {
				return errDamagedVector
			}
			if rows = append(rows, r); len(rows) < CachedRows {
				return nil
			}
			block, err := codec.AppendVectorBlock(nil, codec.NewVectorBlock(rows))
			if err != nil {
				return err
			}
			if err := put(Sealed(block)); err != nil {
				return err
			}
			c.last, rows = r.N, rows[:0]
			return context.Cause(ctx)
		})
	}
	if err = errors.Join(err, f.Close()); errors.Is(err, errDamagedVector) {
		err = nil
	}
	return sqlite.MapError("vector.cached", err)
}

// Sealed returns a block as the file contains it: after its length and checksum.
func Sealed(block []byte) []byte {
	le := binary.LittleEndian
	out := le.AppendUint32(make([]byte, 0, CacheBlockHead+len(block)), uint32(len(block))) // at most MaxVectorBlockBytes
	return append(le.AppendUint32(out, crc32.Checksum(block, castagnoli)), block...)
}

// DeleteVectorCache deletes the cache. It is rebuilt later.
func DeleteVectorCache(s *Search) error {
	s.cache.Lock()
	defer s.cache.Unlock()
	return s.removeVectorCache()
}

// removeVectorCache empties the file before removing it: Windows cannot remove a file that is being read. The caller
// holds the lock.
func (s *Search) removeVectorCache() error {
	s.cache.space, s.cache.end, s.cache.last = CachedSpace{}, 0, 0
	if info, err := os.Lstat(VectorCachePath(s.Core)); err == nil && !info.Mode().IsRegular() {
		return sqlite.MapError("vector.cached", faultfs.Remove(faultfs.Data, VectorCachePath(s.Core))) // may be a link; nothing was written through it
	}
	f, err := faultfs.OpenFile(faultfs.Data, VectorCachePath(s.Core), os.O_RDWR|faultfs.NoFollow, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return sqlite.MapError("vector.cached", err)
	}
	if err := errors.Join(f.Truncate(0), f.Close()); err != nil {
		return sqlite.MapError("vector.cached", err)
	}
	if err := faultfs.Remove(faultfs.Data, VectorCachePath(s.Core)); err != nil {
		s.Log.Warn("the empty vector cache cannot be removed", "err", err)
	}
	return sqlite.MapError("vector.cached", faultfs.SyncDir(faultfs.Data, s.Dir))
}
