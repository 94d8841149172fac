package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"contextinfinity/backend/chat"
)

// The format of a block of vectors: the numbers of places and rows; the places, each as session and branch with their
// lengths before them; then the columns N, Seq, Place, Scale, Codes. All numbers are little endian.

const (
	// MaxVectorBlock is the maximum number of rows in a block.
	MaxVectorBlock = 4096
	maxPlaceID     = 1 << 10 // bytes
	vectorRow      = 8 + 8 + 4 + 4
	blockHead      = 4 + 4
)

// MaxVectorBlockBytes returns the size of the largest block of vectors of a dimension.
func MaxVectorBlockBytes(dimension int) int {
	return blockHead + MaxVectorBlock*(2*(2+maxPlaceID)+vectorRow+dimension)
}

// NewVectorBlock creates a block of rows, all with intact vectors of one dimension.
func NewVectorBlock(rows []chat.VectorRow) chat.VectorBlock {
	var b chat.VectorBlock
	at := map[chat.VectorPlace]uint32{}
	for _, r := range rows {
		p := chat.VectorPlace{Session: r.Session, Branch: r.Branch}
		i, known := at[p]
		if !known {
			i = uint32(len(b.Places)) // at most MaxVectorBlock
			at[p] = i
			b.Places = append(b.Places, p)
		}
		square := 0
		for _, c := range r.Codes {
			square += int(c) * int(c)
			b.Codes = append(b.Codes, byte(c)) // the stored bytes are signed
		}
		b.N, b.Seq, b.Place, b.Scale = append(b.N, r.N), append(b.Seq, r.Seq), append(b.Place, i), append(b.Scale, scaleOf(float64(square)))
	}
	return b
}

// AppendVectorBlock appends a block to bytes.
func AppendVectorBlock(out []byte, b chat.VectorBlock) ([]byte, error) {
	le := binary.LittleEndian
	out = le.AppendUint32(out, uint32(len(b.Places))) // at most MaxVectorBlock
	out = le.AppendUint32(out, uint32(len(b.N)))      // as above
	for _, p := range b.Places {
		for _, id := range []string{string(p.Session), string(p.Branch)} {
			if len(id) > maxPlaceID {
				return nil, fmt.Errorf("an id of %d bytes", len(id))
			}
			out = append(le.AppendUint16(out, uint16(len(id))), id...) // bounded
		}
	}
	for _, n := range b.N {
		out = le.AppendUint64(out, uint64(n)) // its bits are kept
	}
	for _, n := range b.Seq {
		out = le.AppendUint64(out, uint64(n)) // as above
	}
	for _, n := range b.Place {
		out = le.AppendUint32(out, n)
	}
	for _, x := range b.Scale {
		out = le.AppendUint32(out, math.Float32bits(x))
	}
	return append(out, b.Codes...), nil
}

var errVectorBlock = errors.New("the block is not a block of vectors")

// VectorBlockOf reads a block of vectors of a dimension. Its codes alias the input.
func VectorBlockOf(in []byte, dimension int) (b chat.VectorBlock, err error) {
	le := binary.LittleEndian
	if len(in) < blockHead {
		return b, errVectorBlock
	}
	places, rows := int(le.Uint32(in)), int(le.Uint32(in[4:]))
	if in = in[blockHead:]; rows == 0 || rows > MaxVectorBlock || places > rows {
		return b, errVectorBlock
	}
	id := func() string {
		if len(in) < 2 || len(in) < 2+int(le.Uint16(in)) {
			err = errVectorBlock
			return ""
		}
		end := 2 + int(le.Uint16(in))
		text := string(in[2:end])
		in = in[end:]
		return text
	}
	b.Places = make([]chat.VectorPlace, places)
	for i := range b.Places {
		b.Places[i] = chat.VectorPlace{Session: chat.SessionID(id()), Branch: chat.BranchID(id())}
	}
	if err != nil || len(in) != rows*(vectorRow+dimension) {
		return b, errVectorBlock
	}
	b.N, b.Seq, b.Place, b.Scale = make([]int64, rows), make([]int64, rows), make([]uint32, rows), make([]float32, rows)
	for i := range rows {
		b.N[i] = int64(le.Uint64(in[8*i:]))          // its bits are kept
		b.Seq[i] = int64(le.Uint64(in[8*(rows+i):])) // as above
		b.Place[i] = le.Uint32(in[16*rows+4*i:])
		b.Scale[i] = math.Float32frombits(le.Uint32(in[20*rows+4*i:]))
		if int(b.Place[i]) >= places || !(b.Scale[i] > 0 && b.Scale[i] <= 1) || i > 0 && b.N[i] <= b.N[i-1] {
			return b, errVectorBlock
		}
	}
	b.Codes = in[vectorRow*rows:]
	return b, nil
}
