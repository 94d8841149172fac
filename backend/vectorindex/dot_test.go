package vectorindex

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDot compares the dot product that packs two products into one multiplication with the plain one, at lengths
// around a word and with the largest numbers.
func TestDot(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for n := 1; n <= maxCodes; n += 1 + n/16 {
		for _, extreme := range []bool{false, true} {
			v, q := randomVector(r, n), randomVector(r, n)
			if extreme {
				for i := range n {
					v[i], q[i] = 1, -float32(1/math.Sqrt(float64(n)))
				}
			}
			c := newCodes(n)
			c.add(stored(v))
			m, _ := roundQuery(q)
			want := int32(0)
			for i, code := range stored(v) {
				want += int32(math.Round(float64(q[i])*queryScale)) * int32(code)
			}
			if got := m.dot(c.row(0)); got != want {
				t.Errorf("length %d, extreme %v: %d, want %d", n, extreme, got, want)
			}
		}
	}
}

func BenchmarkDot(b *testing.B) {
	v := randomVector(rand.New(rand.NewPCG(3, 4)), 256)
	c := newCodes(len(v))
	c.add(stored(v))
	m, _ := roundQuery(v)
	row, sum := c.row(0), int32(0)
	for b.Loop() {
		sum += m.dot(row)
	}
	if sum == 1 {
		b.Log(sum)
	}
}
