package verify

import (
	"context"
	"errors"
	"math"

	"gorm.io/gorm"

	"contextinfinity/backend/store/core"
	"contextinfinity/backend/store/sqlite"
)

// SQLite's own check compares the text index with the units by one checksum: a weak sum for each word at each place,
// joined by exclusive or. Equal changes of two words cancel each other out in it, for example a wrong letter of a word
// that occurs in two units. It also believes what its connection read of the index earlier. Here the words of the
// units are indexed again, a part at a time in memory, and the strong hashes of all words at their places are added up
// on both sides.

// partOfUnits is how many units are indexed again at a time.
const partOfUnits = 2000

// wordSums are the sums of the upper and the lower halves of the hashes of words at their places. The order of the
// words does not matter, so the sums of parts can be added.
type wordSums struct{ Upper, Lower int64 }

// sumWords adds up the words of a fts5vocab table. Without LIMIT, SQLite would calculate each hash twice. The only
// column of an index is indexed_text; a damaged one may name another.
func sumWords(db *gorm.DB, vocabulary string) (wordSums, error) {
	return sqlite.One[wordSums](db, vocabulary, "", `SELECT coalesce(sum(h >> 32), 0) AS upper, coalesce(sum(h & 0xffffffff), 0) AS lower
		FROM (SELECT row_hash(CAST(term AS BLOB), doc, col = 'indexed_text', "offset") AS h FROM temp.`+vocabulary+` LIMIT -1)`)
}

// compareWords reports whether the text index contains exactly the words of the units. It reads one state of the data
// on a connection of its own, so that it blocks no writer and works where nothing can be written.
func compareWords(ctx context.Context, s *core.Core) (agrees bool, err error) {
	place := s.Place
	if s.DB.Writer != nil {
		place = sqlite.Place{Path: s.Path()}
	}
	pool, err := sqlite.ConnectAt(place, sqlite.CommonPragmas, 2) // a pool of one would begin a writing transaction
	if err != nil {
		return false, err
	}
	err = pool.WithContext(ctx).Transaction(func(db *gorm.DB) error {
		for _, table := range []string{
			`index_words USING fts5vocab(main, units_fts, 'instance')`,
			`part USING fts5(indexed_text, content='', columnsize=0, tokenize='porter unicode61')`, // as units_fts
			`part_words USING fts5vocab(temp, part, 'instance')`,
		} {
			if err := db.Exec(`CREATE VIRTUAL TABLE temp.` + table).Error; err != nil {
				return err
			}
		}
		found, err := sumWords(db, "index_words")
		if err != nil {
			return err
		}
		expected, err := wordsOfUnits(db)
		agrees = found == expected
		return err
	})
	if err = errors.Join(err, sqlite.Disconnect(pool)); err != nil && ctx.Err() != nil {
		err = ctx.Err() // database/sql may say only that the transaction has ended
	}
	return agrees, err
}

// wordsOfUnits indexes the units again and adds up their words.
func wordsOfUnits(db *gorm.DB) (sums wordSums, err error) {
	for last := int64(math.MinInt64); ; {
		end, err := sqlite.One[int64](db, "units", last, `SELECT coalesce(max(n), ?) FROM (SELECT n FROM units WHERE n > ? ORDER BY n LIMIT ?)`, last, last, partOfUnits)
		if err != nil || end == last {
			return sums, err
		}
		if err := db.Exec(`INSERT INTO temp.part (part) VALUES ('delete-all')`).Error; err != nil {
			return sums, err
		}
		if err := db.Exec(`INSERT INTO temp.part (rowid, indexed_text) SELECT n, indexed_text FROM unit_index WHERE n > ? AND n <= ?`, last, end).Error; err != nil {
			return sums, err
		}
		part, err := sumWords(db, "part_words")
		if err != nil {
			return sums, err
		}
		sums.Upper += part.Upper
		sums.Lower += part.Lower
		last = end
	}
}
