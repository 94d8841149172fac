package api

import (
	"regexp"
	"strings"
)

// countIn matches a count in a sentence: four digits or more, and what is counted. A year, a port, an id or a path is
// not followed by such a word.
var countIn = regexp.MustCompile(`(^|[^\w.,:/#=-])(\d{4,})( (?:tokens?|turns?|sessions?|messages?|records?|events?|files?|passages?|chunks?|bytes?|characters?|pages?|entries|vectors?|[kM]?B|KB)\b)`)

// groupedCounts formats the counts in a sentence like the window: "12 345 turns", with narrow no-break spaces.
func groupedCounts(text string) string {
	return countIn.ReplaceAllStringFunc(text, func(found string) string {
		parts := countIn.FindStringSubmatch(found)
		digits, out := parts[2], strings.Builder{}
		for i, digit := range digits {
			if i > 0 && (len(digits)-i)%3 == 0 {
				out.WriteRune('\u202f')
			}
			out.WriteRune(digit)
		}
		return parts[1] + out.String() + parts[3]
	})
}
