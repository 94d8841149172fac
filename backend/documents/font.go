package documents

import (
	"strings"

	"github.com/ledongthuc/pdf"
)

// font describes how a font's codes are decoded and how wide they are. It is built once per font, because the library
// parses the file again on every access.
type font struct {
	encoder pdf.TextEncoding
	unicode map[int]string // the file's own map of codes, which takes precedence over the encoding
	decoded [256]*string   // cache of the encoder's results for one-byte codes
	wide    bool           // two bytes per code
	widths  map[int]float64
	width   float64 // of codes that have no width, in thousandths of the size
	drawn   bool    // Type 3: the glyphs are drawings with their own scale
}

// averageWidth is used for fonts without widths.
const averageWidth = 500

// maxWidths limits the number of widths of a font.
const maxWidths = 1 << 16

// fontNamed returns a font of the current resources.
func (p *page) fontNamed(name string, resources pdf.Value) *font {
	if f, ok := p.fonts[name]; ok {
		return f
	}
	f := readFont(resources.Key("Font").Key(name))
	p.fonts[name] = f
	return f
}

func readFont(v pdf.Value) *font {
	f := &font{widths: map[int]float64{}, width: averageWidth}
	if v.IsNull() {
		return f
	}
	f.encoder = (&pdf.Font{V: v}).Encoder()
	f.unicode = readUnicode(v.Key("ToUnicode"))
	if v.Key("Subtype").Name() == "Type0" {
		f.wide = true
		f.readWide(v.Key("DescendantFonts").Index(0))
		return f
	}
	f.drawn = v.Key("Subtype").Name() == "Type3"
	first, widths := int(v.Key("FirstChar").Int64()), v.Key("Widths")
	for i := range min(widths.Len(), 256) {
		f.widths[first+i] = widths.Index(i).Float64()
	}
	return f
}

// readWide reads the widths of a font with two-byte codes: lists [c [w w ...]] and ranges [from to w].
func (f *font) readWide(v pdf.Value) {
	f.width = 1000
	if dw := v.Key("DW"); !dw.IsNull() {
		f.width = dw.Float64()
	}
	w := v.Key("W")
	for i := 0; i+1 < w.Len() && len(f.widths) < maxWidths; {
		first := int(w.Index(i).Int64())
		if run := w.Index(i + 1); run.Kind() == pdf.Array {
			for j := range min(run.Len(), maxWidths) {
				f.widths[first+j] = run.Index(j).Float64()
			}
			i += 2
			continue
		}
		for c := first; c <= min(int(w.Index(i+1).Int64()), first+maxWidths); c++ {
			f.widths[c] = w.Index(i + 2).Float64()
		}
		i += 3
	}
}

// codes returns the number of characters in raw.
func (f *font) codes(raw string) int {
	if f.wide {
		return len(raw) / 2
	}
	return len(raw)
}

// read returns the text of a string, its width in thousandths of the size, and the number of single-byte spaces in
// it, which get extra spacing.
func (f *font) read(raw string) (text string, width float64, spaces int) {
	if f.wide && f.unicode == nil && f.encoder != nil {
		text = f.encoder.Decode(raw)
	}
	var sb strings.Builder
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i+step <= len(raw); i += step {
		code := int(raw[i])
		if f.wide {
			code = code<<8 | int(raw[i+1])
		} else if code == ' ' {
			spaces++
		}
		w, ok := f.widths[code]
		if !ok {
			w = f.width
		}
		width += w
		sb.WriteString(f.textOfCode(code))
	}
	return text + sb.String(), width, spaces
}

// textOfCode returns the text of one code; empty for two-byte codes that the encoder decodes.
func (f *font) textOfCode(code int) string {
	if s, ok := f.unicode[code]; ok || f.wide {
		return s
	}
	if f.encoder == nil {
		return string(rune(code))
	}
	if f.decoded[code] == nil {
		s := f.encoder.Decode(string([]byte{byte(code)}))
		f.decoded[code] = &s
	}
	return *f.decoded[code]
}
