package documents

import (
	"slices"
	"strings"

	"github.com/ledongthuc/pdf"

	"contextinfinity/backend/internal/lists"
)

// nearlyWhite is the brightness from which text cannot be seen on white paper; white has 1.
const nearlyWhite = 0.99

// ink is what is known about a colour, to decide whether text in it can be seen.
type ink struct {
	white bool
	plain bool // its colour space is one whose white values are known, see isPlain
}

// colour tracks the fill and stroke colours. White text is invisible on a page that nothing has been painted on yet;
// on a dark shape, a dark line or a picture it is visible.
func (p *page) colour(op string, values []pdf.Value, resources pdf.Value) {
	switch op {
	case "g", "rg", "k", "cs", "sc", "scn":
		p.fill.set(op, values, resources)
	case "G", "RG", "K", "CS", "SC", "SCN":
		p.stroke.set(strings.ToLower(op), values, resources)
	case "f", "F", "f*":
		p.painted = p.painted || !p.fill.white
	case "S", "s":
		p.painted = p.painted || !p.stroke.white
	case "B", "B*", "b", "b*":
		p.painted = p.painted || !p.fill.white || !p.stroke.white
	case "sh", "BI", "ID", "EI":
		p.painted = true
	}
}

// set applies an operator, whose name is that of the operator for the fill colour.
func (c *ink) set(op string, values []pdf.Value, resources pdf.Value) {
	args := lists.Map(values, pdf.Value.Float64)
	switch op {
	case "g":
		c.white = isWhite(args, 1)
	case "rg":
		c.white = isWhite(args, 3)
	case "k":
		c.white = isWhite(args, 4)
	case "cs": // the first colour of a space is black, or unknown
		c.white, c.plain = false, len(values) == 1 && isPlain(values[0].Name(), resources)
	case "sc", "scn":
		c.white = c.plain && isWhite(args, len(args))
	}
}

// isPlain reports whether the values of a colour space are gray, RGB or CMYK.
func isPlain(name string, resources pdf.Value) bool {
	if space := resources.Key("ColorSpace").Key(name); space.Kind() == pdf.Array {
		name = space.Index(0).Name()
	}
	return slices.Contains([]string{"DeviceGray", "DeviceRGB", "DeviceCMYK", "CalGray", "CalRGB", "ICCBased"}, name)
}

func isWhite(args []float64, n int) bool {
	if len(args) != n {
		return false
	}
	switch n {
	case 1, 3:
		return slices.Min(args) >= nearlyWhite
	case 4:
		return slices.Max(args) <= 1-nearlyWhite
	}
	return false
}
