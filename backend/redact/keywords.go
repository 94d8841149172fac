package redact

import "strings"

// finder looks for the keywords of all rules in one pass. Few pairs of bytes begin a keyword, so at almost every
// position a single table lookup is enough.
type finder struct {
	pairs [1 << 16]uint8 // index into lists, 0: none
	lists [][]keyword
}

type keyword struct {
	text string
	rule int
}

var keywords = newFinder()

func newFinder() *finder {
	f := &finder{lists: [][]keyword{nil}}
	for i, r := range rules {
		for _, k := range r.keywords {
			p := pair(k[0], k[1])
			if f.pairs[p] == 0 {
				f.pairs[p] = uint8(len(f.lists)) // a test checks that there are fewer than 256 prefixes
				f.lists = append(f.lists, nil)
			}
			f.lists[f.pairs[p]] = append(f.lists[f.pairs[p]], keyword{k, i})
		}
	}
	return f
}

func pair(a, b byte) int { return int(lower(a))<<8 | int(lower(b)) }

// keywordsIn returns the positions of each rule's keywords in a text, ignoring case.
func keywordsIn(s string) [][]int {
	positions := make([][]int, len(rules))
	for i := 0; i+1 < len(s); i++ {
		list := keywords.pairs[pair(s[i], s[i+1])]
		if list == 0 {
			continue
		}
		for _, k := range keywords.lists[list] {
			if i+len(k.text) <= len(s) && strings.EqualFold(s[i:i+len(k.text)], k.text) && mayMatch(&rules[k.rule], s, i, len(k.text)) {
				positions[k.rule] = append(positions[k.rule], i)
			}
		}
	}
	return positions
}

// mayMatch reports whether the expression of a rule could match at a keyword.
func mayMatch(r *rule, s string, pos, length int) bool {
	return r.gate == nil || r.gate(s, pos, length)
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}
