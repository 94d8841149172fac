package documents

import (
	"slices"

	"github.com/ledongthuc/pdf"
)

// nearlyWhite is the share of white from which text on white paper cannot be seen.
const nearlyWhite = 0.99

// colour follows the colour that shapes and text are filled with, as far as it decides
// whether white text can be seen. Text in white on a page that nothing was painted on
// yet is not seen; on a dark shape or a picture it is.
func (p *page) colour(op string, values []pdf.Value, resources pdf.Value) {
	args := make([]float64, len(values))
	for i, v := range values {
		args[i] = v.Float64()
	}
	switch op {
	case "g":
		p.white = isWhite(args, 1)
	case "rg":
		p.white = isWhite(args, 3)
	case "k":
		p.white = isWhite(args, 4)
	case "cs": // the first colour of a space is black, or unknown
		p.white, p.plain = false, len(values) == 1 && isPlain(values[0].Name(), resources)
	case "sc", "scn":
		p.white = p.plain && isWhite(args, len(args))
	case "f", "F", "f*", "B", "B*", "b", "b*":
		p.painted = p.painted || !p.white
	case "sh", "BI", "ID", "EI":
		p.painted = true
	}
}

// isPlain reports a colour space whose numbers are gray, or red, green and blue, or inks.
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
