package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A stored vector is one byte: none, or one byte of format, a float32 scale (little endian) and one signed byte per dimension: a quarter
// of its size in memory. The scale is the reciprocal of the bytes' length, so a decoded vector has length 1.

const (
	none          byte = 0 // an embedder knows nothing of the text
	quantized     byte = 1
	QuantizedHead int  = 5
)

// Quantize packs a vector of the given dimension; nil: that of a text without one. It refuses a zero vector.
func Quantize(v []float32, dimension int) ([]byte, error) {
	if v == nil {
		return []byte{none}, nil
	}
	if len(v) != dimension {
		return nil, fmt.Errorf("a vector of %d dimensions where %d are expected", len(v), dimension)
	}
	var largest float64
	for _, x := range v {
		a := math.Abs(float64(x))
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return nil, errors.New("a vector that is not made of numbers")
		}
		largest = max(largest, a)
	}
	if largest == 0 {
		return nil, errors.New("a vector of length zero")
	}
	out := make([]byte, QuantizedHead+len(v))
	out[0] = quantized
	var square float64
	for i, x := range v {
		q := math.Round(float64(x) / largest * math.MaxInt8)
		out[QuantizedHead+i] = byte(int8(q))
		square += q * q
	}
	binary.LittleEndian.PutUint32(out[1:], math.Float32bits(scaleOf(square)))
	return out, nil
}

// scaleOf returns the scale of a vector whose bytes have this sum of squares.
func scaleOf(square float64) float32 { return float32(1 / math.Sqrt(square)) }

// IntactVector reports whether a stored vector is exactly as Quantize wrote it: changing any byte, except to its
// negative, changes the scale.
func IntactVector(b []byte, dimension int) bool {
	if len(b) == 1 && b[0] == none {
		return true
	}
	codes, scale, err := CodesOf(b, dimension)
	if err != nil {
		return false
	}
	square := 0
	for _, q := range codes {
		square += int(q) * int(q)
	}
	return scale == scaleOf(float64(square))
}

// lengthTolerance is how far the length of a decoded vector may be from 1.
const lengthTolerance = 1e-4

// Dequantize decodes a vector; it returns an error if it is damaged or of another dimension.
func Dequantize(b []byte, dimension int) ([]float32, error) {
	codes, scale, err := CodesOf(b, dimension)
	if err != nil {
		return nil, err
	}
	v := make([]float32, dimension)
	for i, q := range codes {
		v[i] = float32(q) * scale
	}
	return v, nil
}

// CodesOf returns a vector's bytes and scale, with the checks of Dequantize.
func CodesOf(b []byte, dimension int) (codes []int8, scale float32, err error) {
	if len(b) != QuantizedHead+dimension || dimension == 0 {
		return nil, 0, fmt.Errorf("%d bytes are not a vector of %d dimensions", len(b), dimension)
	}
	if b[0] != quantized {
		return nil, 0, fmt.Errorf("a vector of unknown format %d", b[0])
	}
	scale = math.Float32frombits(binary.LittleEndian.Uint32(b[1:]))
	codes = make([]int8, dimension)
	square := 0
	for i, q := range b[QuantizedHead:] {
		n := int(int8(q))
		square += n * n
		codes[i] = int8(q) // the stored bytes are signed
	}
	if length := float64(scale) * math.Sqrt(float64(square)); !(math.Abs(length-1) < lengthTolerance) {
		return nil, 0, fmt.Errorf("a vector of length %g", length)
	}
	return codes, scale, nil
}
