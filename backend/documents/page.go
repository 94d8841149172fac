package documents

import (
	"math"
	"strings"

	"contextinfinity/backend/internal/lists"

	"github.com/ledongthuc/pdf"
)

// matrix is a PDF transformation [a b c d e f].
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// then returns the transformation that applies m, then n.
func (m matrix) then(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// page builds a page's text from the positions at which strings are drawn, because a PDF has no words or lines: a
// different height starts a new line, a gap starts a new word.
//
// Text that a reader of the page cannot see is collected separately: recognized text under a scan, and text hidden
// for programs to find.
type page struct {
	seen, unseen flow
	box          box
	painted      bool // something other than white was painted
	fonts        map[string]*font

	textState
	saved []textState
}

// flow is text in drawing order.
type flow struct {
	out strings.Builder
	// Position and size of the last string, in the page's units.
	drawn      bool
	endX, endY float64
	height     float64
}

// box is the visible part of a page; the zero value means unknown.
type box struct{ left, bottom, right, top float64 }

// boxOf returns the page's crop box, or else its media box.
func boxOf(v pdf.Value) box {
	for _, key := range []string{"CropBox", "MediaBox"} {
		if n := numbers(inherited(v, key)); len(n) == 4 {
			return box{min(n[0], n[2]), min(n[1], n[3]), max(n[0], n[2]), max(n[1], n[3])}
		}
	}
	return box{}
}

// misses reports whether a string drawn from (x, y) to (endX, endY) with this height lies outside the box.
func (b box) misses(x, y, endX, endY, height float64) bool {
	return b != box{} && (max(x, endX) < b.left || min(x, endX) > b.right || max(y, endY)+height < b.bottom || min(y, endY)-height > b.top)
}

// textState is the state that q saves and Q restores, together with the text state.
type textState struct {
	scale        matrix // the current transformation
	at, line     matrix // text matrix, line matrix
	font         *font
	size         float64
	leading      float64
	chars, words float64 // extra spacing after each character and each space
	stretch      float64 // horizontal scale - 1
	mode         int     // text rendering mode
	fill, stroke ink     // fill and stroke colours
}

// Text rendering modes. modeInvisible and modeClip draw nothing visible.
const (
	modeFill      = 0
	modeInvisible = 3
	modeClip      = 7
)

// minTextSize is the size up to which text is unreadable, in points.
const minTextSize = 1.0

// Gaps as shares of the text height. Kerning is smaller than wordGap, a space is wider.
const (
	wordGap = 0.18
	lineGap = 0.5
	paraGap = 1.9
)

// maxForms limits the nesting of forms.
const maxForms = 8

// run interprets a content stream.
func (p *page) run(content, resources pdf.Value, depth int) {
	if content.Kind() != pdf.Stream && content.Kind() != pdf.Array {
		return
	}
	pdf.Interpret(content, func(stk *pdf.Stack, op string) {
		args := make([]pdf.Value, stk.Len())
		for i := len(args) - 1; i >= 0; i-- {
			args[i] = stk.Pop()
		}
		p.trackColour(op, args, resources)
		if op == "Do" && len(args) == 1 && depth < maxForms {
			p.form(resources.Key("XObject").Key(args[0].Name()), resources, depth)
			return
		}
		if op == "Tf" && len(args) == 2 {
			p.font, p.size = p.fontNamed(args[0].Name(), resources), args[1].Float64()
			return
		}
		if !p.show(op, args) {
			p.set(op, args)
		}
	})
}

// form draws a form XObject, or notes that an image was painted.
func (p *page) form(x, resources pdf.Value, depth int) {
	if x.Key("Subtype").Name() != "Form" {
		p.painted = true
		return
	}
	if own := x.Key("Resources"); !own.IsNull() {
		resources = own
	}
	before := p.textState
	if m, ok := matrixOf(numbers(x.Key("Matrix"))); ok {
		p.scale = m.then(p.scale)
	}
	outer := p.fonts
	p.fonts = map[string]*font{}
	p.run(x, resources, depth+1)
	p.fonts, p.textState = outer, before
}

// show handles the operators that draw text.
func (p *page) show(op string, args []pdf.Value) bool {
	switch {
	case op == "Tj" && len(args) == 1:
		p.draw(args[0].RawString())
	case op == "'" && len(args) == 1:
		p.move(0, -p.leading)
		p.draw(args[0].RawString())
	case op == "\"" && len(args) == 3:
		p.words, p.chars = args[0].Float64(), args[1].Float64()
		p.move(0, -p.leading)
		p.draw(args[2].RawString())
	case op == "TJ" && len(args) == 1:
		for i := range args[0].Len() {
			if x := args[0].Index(i); x.Kind() == pdf.String {
				p.draw(x.RawString())
			} else {
				p.advance(-x.Float64() / 1000 * p.size * (1 + p.stretch))
			}
		}
	default:
		return false
	}
	return true
}

// set handles the operators that change the position or style of text.
func (p *page) set(op string, values []pdf.Value) {
	args := lists.Map(values, pdf.Value.Float64)
	switch {
	case op == "q":
		p.saved = append(p.saved, p.textState)
	case op == "Q" && len(p.saved) > 0:
		p.textState, p.saved = p.saved[len(p.saved)-1], p.saved[:len(p.saved)-1]
	case op == "BT":
		p.at, p.line = identity, identity
	case op == "T*":
		p.move(0, -p.leading)
	case op == "cm":
		if m, ok := matrixOf(args); ok {
			p.scale = m.then(p.scale)
		}
	case op == "Tm":
		if m, ok := matrixOf(args); ok {
			p.at, p.line = m, m
		}
	case op == "Td" && len(args) == 2:
		p.move(args[0], args[1])
	case op == "TD" && len(args) == 2:
		p.leading = -args[1]
		p.move(args[0], args[1])
	case len(args) != 1:
	case op == "TL":
		p.leading = args[0]
	case op == "Tc":
		p.chars = args[0]
	case op == "Tw":
		p.words = args[0]
	case op == "Tz":
		p.stretch = args[0]/100 - 1
	case op == "Tr":
		p.mode = int(args[0])
	}
}

// move moves the text position relative to the beginning of the line.
func (p *page) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.then(p.line)
	p.at = p.line
}

// advance moves the text position along the line.
func (p *page) advance(x float64) { p.at = matrix{1, 0, 0, 1, x, 0}.then(p.at) }

// draw adds a string at the current text position.
func (p *page) draw(raw string) {
	if p.font == nil {
		p.font = &font{}
	}
	text, width, spaces := p.font.read(raw)
	if text == "" {
		return
	}
	if p.seen.out.Len()+p.unseen.out.Len() > MaxText {
		panic(errLong)
	}
	m := p.at.then(p.scale)
	height := math.Abs(p.size) * math.Hypot(m[2], m[3])
	codes := float64(p.font.codes(raw))
	p.advance((width/1000*p.size + codes*p.chars + float64(spaces)*p.words) * (1 + p.stretch))
	end := p.at.then(p.scale)
	f := &p.seen
	if p.isInvisible(m, end, height) {
		f = &p.unseen
	}
	f.write(text, m, end, height)
}

// isInvisible reports whether a string drawn between two positions is invisible.
func (p *page) isInvisible(from, to matrix, height float64) bool {
	minSize := minTextSize
	if p.font.drawn {
		minSize = 0
	}
	width := math.Abs(p.size*(1+p.stretch)) * math.Hypot(from[0], from[1])
	return p.mode == modeInvisible || p.mode == modeClip || p.fill.white && !p.painted && p.mode == modeFill || height <= minSize || width <= minSize ||
		p.box.misses(from[4], from[5], to[4], to[5], height)
}

// write adds a string, after the separator from the previous one.
func (f *flow) write(text string, from, to matrix, height float64) {
	f.separate(from[4], from[5], height)
	f.out.WriteString(text)
	f.drawn, f.endX, f.endY, f.height = true, to[4], to[5], height
}

// separate writes a line break or a space, depending on where the next string begins.
func (f *flow) separate(x, y, height float64) {
	if !f.drawn {
		return
	}
	unit := max(f.height, height)
	down, right := math.Abs(y-f.endY), x-f.endX
	switch {
	case down > paraGap*unit:
		f.out.WriteString("\n\n")
	case down > lineGap*unit || right < -unit:
		f.out.WriteString("\n")
	case right > wordGap*unit:
		f.out.WriteString(" ")
	}
}

func numbers(v pdf.Value) []float64 {
	out := make([]float64, v.Len())
	for i := range out {
		out[i] = v.Index(i).Float64()
	}
	return out
}

func matrixOf(n []float64) (matrix, bool) {
	if len(n) != 6 {
		return identity, false
	}
	return matrix(n), true
}
