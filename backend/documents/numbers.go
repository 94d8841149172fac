package documents

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// cellFormat is the part of a number format that changes what a number means: a date, a time or a percentage.
// Currencies, thousands separators and colours are ignored, and the number is written in full.
type cellFormat struct {
	day, clock, elapsed, percent bool
}

// Ids of the built-in formats, which spreadsheet files use without defining them (ECMA-376, 18.8.30).
var (
	builtInDays   = []int{14, 15, 16, 17, 22, 27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58}
	builtInClocks = []int{18, 19, 20, 21, 22, 32, 33, 34, 35, 45, 46, 47, 55, 56}
)

// formatOf returns the format with an id; codes are the formats that the file defines.
func formatOf(id string, codes map[string]string) cellFormat {
	if code, ok := codes[id]; ok {
		return readFormat(code)
	}
	n, _ := strconv.Atoi(id)
	return cellFormat{
		day: slices.Contains(builtInDays, n), clock: slices.Contains(builtInClocks, n), elapsed: n == 46,
		percent: n == 9 || n == 10,
	}
}

// readFormat reads a format code such as `yyyy-mm-dd` or `[h]:mm`. Only the section for positive numbers counts,
// without quoted or bracketed parts. The letter m is ignored: it means minutes only next to hours or seconds, and
// months otherwise.
func readFormat(code string) cellFormat {
	var f cellFormat
	for i := 0; i < len(code); i++ {
		switch c := code[i]; c {
		case ';':
			return f
		case '"', '[':
			end := strings.IndexByte(code[i+1:], map[byte]byte{'"': '"', '[': ']'}[c])
			if end < 0 {
				return f
			}
			if inside := code[i+1 : i+1+end]; c == '[' && (strings.EqualFold(inside, "h") || strings.EqualFold(inside, "hh")) {
				f.clock, f.elapsed = true, true
			}
			i += end + 1
		case '\\', '_', '*':
			i++ // skips the character after it, which is a literal
		case 'y', 'Y', 'd', 'D':
			f.day = true
		case 'h', 'H', 's', 'S':
			f.clock = true
		case '%':
			f.percent = true
		case 'G', 'g':
			if strings.HasPrefix(strings.ToLower(code[i:]), "general") {
				i += len("general") - 1
			}
		}
	}
	return f
}

const lastDay = 2_958_466 // the day after 9999-12-31

func (f cellFormat) shown(number float64, from1904 bool) string {
	switch {
	case (f.day || f.clock) && number >= 0 && number < lastDay:
		return f.date(number, from1904)
	case f.percent:
		return plainNumber(number*100) + "%"
	}
	return plainNumber(number)
}

// date formats a day number. Excel treats 1900 as a leap year, so days before 1900-03-01 are off by one.
func (f cellFormat) date(number float64, from1904 bool) string {
	seconds := int64(math.Round(number * 86_400))
	if f.elapsed {
		return fmt.Sprintf("%d:%02d:%02d", seconds/3600, seconds/60%60, seconds%60)
	}
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case from1904:
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case number < 60:
		first = time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	at := first.AddDate(0, 0, int(seconds/86_400)).Add(time.Duration(seconds%86_400) * time.Second)
	clock := "15:04"
	if at.Second() != 0 {
		clock = "15:04:05"
	}
	switch {
	case !f.clock:
		return at.Format("2006-01-02")
	case !f.day:
		return at.Format(clock)
	}
	return at.Format("2006-01-02 " + clock)
}

// plainNumber formats a number with fifteen significant digits, as spreadsheet programs do.
func plainNumber(number float64) string {
	if math.Abs(number) >= 1e15 || number != 0 && math.Abs(number) < 1e-9 {
		return strconv.FormatFloat(number, 'g', 15, 64)
	}
	rounded, _ := strconv.ParseFloat(strconv.FormatFloat(number, 'g', 15, 64), 64)
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
