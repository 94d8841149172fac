package encoder

const (
	panelWidth = 16 // columns of a panel
	panelRows  = 4  // rows that are computed at a time
)

// matrix is a matrix in panels: of each panelWidth columns, row by row.
type matrix struct {
	w       []float32
	bias    []float32 // added to each row of a product; nil: none
	columns int
}

// times multiplies rows, a multiple of panelRows, by the matrix.
func (m matrix) times(x []float32, rows int) []float32 {
	out := make([]float32, rows*m.columns)
	m.into(out, x, rows)
	for i := 0; m.bias != nil && i < len(out); i += m.columns {
		add(out[i:i+m.columns], m.bias)
	}
	return out
}

func (m matrix) into(out, x []float32, rows int) {
	k := len(m.w) / m.columns
	for c := 0; c < m.columns; c += panelWidth {
		panel := m.w[c*k : (c+panelWidth)*k]
		for i := 0; i < rows; i += panelRows {
			if hasKernel {
				kernel(&out[i*m.columns+c], &x[i*k], &panel[0], k, m.columns)
			} else {
				multiply(out[i*m.columns+c:], x[i*k:(i+panelRows)*k], panel, m.columns)
			}
		}
	}
}

// multiply computes panelRows rows of panelWidth columns; rows of out are stride apart.
func multiply(out, x, panel []float32, stride int) {
	k := len(panel) / panelWidth
	for i := range panelRows {
		row := x[i*k : (i+1)*k]
		for c := 0; c < panelWidth; c += 8 {
			var a, b, d, e, f, g, h, j float32
			for p, v := range row {
				w := (*[8]float32)(panel[p*panelWidth+c:])
				a += v * w[0]
				b += v * w[1]
				d += v * w[2]
				e += v * w[3]
				f += v * w[4]
				g += v * w[5]
				h += v * w[6]
				j += v * w[7]
			}
			*(*[8]float32)(out[i*stride+c:]) = [8]float32{a, b, d, e, f, g, h, j}
		}
	}
}
