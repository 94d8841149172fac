package desktop

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	goruntime "runtime"
)

// iconSize is the size of the tray icon in pixels: panels scale it down, and do not scale up well.
const iconSize = 64

// badges show the state by shape and colour: a disc for work, two bars for paused, a disc with a bar for problems.
var badges = map[trayState]struct {
	fill color.NRGBA
	bar  func(x, y int) bool // cut out of the disc; relative to its centre
}{
	working:   {color.NRGBA{0x2f, 0x81, 0xf7, 0xff}, func(int, int) bool { return false }},
	paused:    {color.NRGBA{0x8b, 0x94, 0x9e, 0xff}, func(x, y int) bool { return abs(y) <= 6 && abs(x) >= 2 && abs(x) <= 5 }},
	attention: {color.NRGBA{0xda, 0x36, 0x33, 0xff}, func(x, y int) bool { return abs(x) <= 1 && (y >= -8 && y <= 2 || y >= 5 && y <= 8) }},
}

const (
	badgeRadius = 13
	badgeRim    = 2 // transparent border around it
)

// drawIcons creates an icon for each tray state from the program's picture. It returns none if the picture cannot be
// decoded; the tray then shows only the title.
func drawIcons(picture []byte) map[trayState][]byte {
	images := map[trayState][]byte{}
	full, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		return images
	}
	plain := shrink(full, iconSize)
	for m := idle; m <= attention; m++ {
		img := image.NewNRGBA(plain.Bounds())
		copy(img.Pix, plain.Pix)
		mark(img, m)
		images[m] = encode(img)
	}
	return images
}

// shrink scales a square picture down by averaging.
func shrink(from image.Image, side int) *image.NRGBA {
	to := image.NewNRGBA(image.Rect(0, 0, side, side))
	b := from.Bounds()
	for y := range side {
		for x := range side {
			to.Set(x, y, average(from, image.Rect(
				b.Min.X+x*b.Dx()/side, b.Min.Y+y*b.Dy()/side,
				max(b.Min.X+(x+1)*b.Dx()/side, b.Min.X+x*b.Dx()/side+1), max(b.Min.Y+(y+1)*b.Dy()/side, b.Min.Y+y*b.Dy()/side+1))))
		}
	}
	return to
}

// average weights colours by opacity, because RGBA values are premultiplied.
func average(from image.Image, r image.Rectangle) color.Color {
	var sum [4]uint64
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			red, green, blue, alpha := from.At(x, y).RGBA()
			for i, v := range [...]uint32{red, green, blue, alpha} {
				sum[i] += uint64(v)
			}
		}
	}
	n := uint64(r.Dx() * r.Dy())
	return color.RGBA64{uint16(sum[0] / n), uint16(sum[1] / n), uint16(sum[2] / n), uint16(sum[3] / n)}
}

// mark draws the badge of a tray state in the lower right corner.
func mark(img *image.NRGBA, m trayState) {
	badge, ok := badges[m]
	if !ok {
		return
	}
	c := iconSize - badgeRadius - 1
	for y := range iconSize {
		for x := range iconSize {
			dx, dy := x-c, y-c
			switch d := dx*dx + dy*dy; {
			case d <= badgeRadius*badgeRadius && badge.bar(dx, dy):
				img.SetNRGBA(x, y, color.NRGBA{0xff, 0xff, 0xff, 0xff})
			case d <= badgeRadius*badgeRadius:
				img.SetNRGBA(x, y, badge.fill)
			case d <= (badgeRadius+badgeRim)*(badgeRadius+badgeRim):
				img.SetNRGBA(x, y, color.NRGBA{})
			}
		}
	}
}

// encode returns the image as PNG; on Windows as an icon file that contains the PNG.
func encode(img image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil // encoding our own image in memory cannot fail
	}
	if goruntime.GOOS != "windows" {
		return b.Bytes()
	}
	return asICO(b.Bytes())
}

// asICO returns an icon file with one PNG: a header of 6 bytes, one directory entry of 16 bytes, and the PNG.
func asICO(picture []byte) []byte {
	const header, entry = 6, 16
	out := []byte{0, 0, 1, 0, 1, 0, iconSize, iconSize, 0, 0, 1, 0, 32, 0}
	out = binary.LittleEndian.AppendUint32(out, uint32(len(picture)))
	out = binary.LittleEndian.AppendUint32(out, header+entry)
	return append(out, picture...)
}

func abs(n int) int { return max(n, -n) }
