package codec

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestQuantizeKeepsDirection(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		v := rapid.SliceOfN(rapid.Float32Range(-1e6, 1e6), 2, 600).Draw(rt, "vector")
		v[0]++ // never the zero vector
		b, err := Quantize(v, len(v))
		if err != nil {
			if allZero(v) {
				return
			}
			rt.Fatal(err)
		}
		got, err := Dequantize(b, len(v))
		if err != nil {
			rt.Fatal(err)
		}
		if length := dot(got, got); math.Abs(length-1) > 1e-5 {
			rt.Fatalf("length %g", length)
		}
		// Each dimension is off by at most half a step, which is 1/127 of the largest value.
		if cos := dot(got, v) / math.Sqrt(dot(v, v)); cos < math.Cos(math.Asin(min(1, math.Sqrt(float64(len(v)))/254))) {
			rt.Fatalf("cosine %g", cos)
		}
	})
}

func allZero(v []float32) bool {
	return !slices.ContainsFunc(v, func(x float32) bool { return x != 0 })
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestQuantizeRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for name, c := range map[string]struct {
		v   []float32
		dim int
	}{
		"empty": {[]float32{}, 3}, "too short": {[]float32{1, 0}, 3}, "too long": {[]float32{1, 0, 0, 0}, 3},
		"NaN": {[]float32{1, nan, 0}, 3}, "infinite": {[]float32{1, -inf, 0}, 3}, "zero": {[]float32{0, 0, 0}, 3},
	} {
		if _, err := Quantize(c.v, c.dim); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	good, err := Quantize([]float32{1, -2, 3}, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Dequantize(good, 3); err != nil {
		t.Fatal(err)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"torn": func(b []byte) []byte { return b[:4] }, "empty": func([]byte) []byte { return nil },
		"of another dimension": func(b []byte) []byte { return append(b, 1) },
		"of another format":    func(b []byte) []byte { b[0] = 9; return b },
		"of another scale":     func(b []byte) []byte { b[4] ^= 1; return b },
		"with a byte changed":  func(b []byte) []byte { b[6] ^= 0x40; return b },
		"with scale NaN":       func(b []byte) []byte { b[3], b[4] = 0xff, 0x7f; return b },
		"zero":                 func(b []byte) []byte { clear(b[QuantizedHead:]); return b },
	} {
		if _, err := Dequantize(damage(append([]byte(nil), good...)), 3); err == nil {
			t.Errorf("a damaged vector is accepted: %s", name)
		}
	}
}

func FuzzDequantize(f *testing.F) {
	f.Add([]byte{1, 0, 0, 128, 63, 127}, 1)
	f.Fuzz(func(t *testing.T, b []byte, dimension int) {
		v, err := Dequantize(b, dimension)
		if err == nil && (len(v) != dimension || math.Abs(dot(v, v)-1) > 1e-3) {
			t.Errorf("%v", v)
		}
	})
}

// TestATextMayHaveNoVector: it is stored as one byte, which is intact and no vector.
func TestATextMayHaveNoVector(t *testing.T) {
	b, err := Quantize(nil, 3)
	if err != nil || len(b) != 1 || !IntactVector(b, 3) {
		t.Errorf("%v %v", b, err)
	}
	if v, err := Dequantize(b, 3); err == nil {
		t.Errorf("read as %v", v)
	}
}
