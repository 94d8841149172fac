package codec

import (
	"encoding/binary"
	"errors"
)

// MaxDepth is the maximum length of a chain of values based on each other, including the first.
const MaxDepth = 16

// Base is the decoded value that another is based on; the zero value means none.
type Base struct {
	Value []byte
	Depth int
	Ref   int64
}

// PackOn packs a value against a base; nil if it is better packed alone.
func (r Base) PackOn(value []byte) []byte {
	if len(r.Value) < MinLinked || len(value) < MinLinked || r.Depth+1 >= MaxDepth {
		return nil
	}
	z, err := PackAgainst(r.Value, value)
	if err != nil || z == nil {
		return nil
	}
	head := binary.AppendUvarint([]byte{PackedOn, byte(r.Depth + 1)}, uint64(r.Ref))
	return append(head, z[1:]...)
}

// BaseOf reports whether a packed value is based on another, and on which.
func BaseOf(packed []byte) (depth int, ref int64, ok bool) {
	if len(packed) < 3 || packed[0] != PackedOn {
		return 0, 0, false
	}
	n, size := binary.Uvarint(packed[2:])
	return int(packed[1]), int64(n), size > 0 && packed[1] >= 1 && packed[1] < MaxDepth
}

// UnpackOn decodes a value with the decoded one it is based on.
func UnpackOn(base, packed []byte) ([]byte, error) {
	if _, _, ok := BaseOf(packed); !ok {
		return nil, errors.New("packed value without a base")
	}
	_, size := binary.Uvarint(packed[2:])
	return UnpackAgainst(base, append([]byte{PackedLinked}, packed[2+size:]...))
}

// MinLinked is the size below which a value is always packed alone.
const MinLinked = 512
