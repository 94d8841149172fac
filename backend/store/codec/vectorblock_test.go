package codec

import (
	"reflect"
	"testing"

	"contextinfinity/backend/chat"
)

func aBlock() chat.VectorBlock {
	return NewVectorBlock([]chat.VectorRow{
		{N: 3, Session: "s1", Branch: "b1", Seq: 1, Codes: []int8{127, -128, 0, 5, -1}},
		{N: 4, Session: "s1", Branch: "b1", Seq: 1, Codes: []int8{1, 0, 0, 0, 0}},
		{N: 9, Session: "s2", Branch: "", Seq: -1, Codes: []int8{-127, 3, 3, 3, 64}},
	})
}

func TestABlockOfVectorsRoundTrips(t *testing.T) {
	want := aBlock()
	if len(want.Places) != 2 || want.Scale[1] != 1 {
		t.Fatalf("%+v", want)
	}
	out, err := AppendVectorBlock(nil, want)
	if err != nil {
		t.Fatal(err)
	}
	if len(out) > MaxVectorBlockBytes(5) {
		t.Errorf("%d bytes are more than a block may have", len(out))
	}
	got, err := VectorBlockOf(out, 5)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v; want %+v", got, err, want)
	}
}

// TestADamagedBlockIsRefused: a block with missing, additional or changed bytes is an error, or decodes with all
// indexes in range.
func TestADamagedBlockIsRefused(t *testing.T) {
	out, err := AppendVectorBlock(nil, aBlock())
	if err != nil {
		t.Fatal(err)
	}
	for cut := range out {
		if _, err := VectorBlockOf(out[:cut], 5); err == nil {
			t.Errorf("%d of %d bytes are accepted as a block", cut, len(out))
		}
	}
	if _, err := VectorBlockOf(append(out, 0), 5); err == nil {
		t.Error("an extra byte is accepted as part of a block")
	}
	if _, err := VectorBlockOf(out, 6); err == nil {
		t.Error("a block of another dimension is accepted")
	}
	for at := range out {
		for bit := range 8 {
			out[at] ^= 1 << bit
			b, err := VectorBlockOf(out, 5)
			for i := range b.N {
				if err == nil && (int(b.Place[i]) >= len(b.Places) || i > 0 && b.N[i] <= b.N[i-1] || !(b.Scale[i] > 0)) {
					t.Errorf("bit %d of byte %d: row %d of %+v", bit, at, i, b)
				}
			}
			out[at] ^= 1 << bit
		}
	}
}
