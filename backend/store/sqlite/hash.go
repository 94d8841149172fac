package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"fmt"
	"hash/maphash"

	gosqlite "github.com/glebarez/go-sqlite"
)

// rowHash is the SQL function row_hash(value, ...): a 64-bit hash of its arguments, which are numbers, blobs and NULL.
// Its key is random, so hashes are only comparable within one process. It is called for each word of the text index:
// the arguments are encoded into a buffer on the stack, each distinguishable from the next.
func rowHash(_ *gosqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
	b := make([]byte, 0, 64)
	for _, arg := range args {
		switch v := arg.(type) {
		case int64:
			b = binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(v)) // its bits are hashed
		case []byte:
			b = append(binary.LittleEndian.AppendUint64(append(b, 'b'), uint64(len(v))), v...)
		case nil:
			b = append(b, 'n')
		default:
			return nil, fmt.Errorf("row_hash of a %T", arg) // a text would be cut off at its first zero byte
		}
	}
	return int64(maphash.Bytes(rowHashKey, b)), nil // its bits are kept
}

var rowHashKey = maphash.MakeSeed()

func init() { gosqlite.MustRegisterDeterministicScalarFunction("row_hash", -1, rowHash) }
