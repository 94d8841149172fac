package documents

import (
	"slices"
	"strings"

	"github.com/ledongthuc/pdf"

	"contextinfinity/backend/internal/lists"
)

// nearlyWhite is the brightness at and above which text cannot be seen on white paper; white has brightness 1.
const nearlyWhite = 0.99

// ink is the current fill or stroke colour, as far as it decides whether text is visible.
type ink struct {
	white      bool
	knownSpace bool // the values of white in the current colour space are known, see isKnownSpace
}

// trackColour applies an operator that sets a colour or paints. White text counts as invisible until something that is
// not white has been painted on the page: a shape, a line or a picture.
func (p *page) trackColour(op string, values []pdf.Value, resources pdf.Value) {
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

// set applies an operator that sets the colour. For the stroke colour too, op is the name of the fill operator.
func (c *ink) set(op string, values []pdf.Value, resources pdf.Value) {
	args := lists.Map(values, pdf.Value.Float64)
	switch op {
	case "g":
		c.white, c.knownSpace = isWhite(args, 1), true
	case "rg":
		c.white, c.knownSpace = isWhite(args, 3), true
	case "k":
		c.white, c.knownSpace = isWhite(args, 4), true
	case "cs": // the initial colour of a colour space is black or unknown
		c.white, c.knownSpace = false, len(values) == 1 && isKnownSpace(values[0].Name(), resources)
	case "sc", "scn":
		c.white = c.knownSpace && isWhite(args, len(args))
	}
}

// isKnownSpace reports whether the values of a colour space are gray, RGB or CMYK.
func isKnownSpace(name string, resources pdf.Value) bool {
	if space := resources.Key("ColorSpace").Key(name); space.Kind() == pdf.Array {
		name = space.Index(0).Name()
	}
	return slices.Contains([]string{"DeviceGray", "DeviceRGB", "DeviceCMYK", "CalGray", "CalRGB", "ICCBased"}, name)
}

// isWhite reports whether args are the n components of white: 1 for gray, 3 for RGB, 4 for CMYK.
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
