package intent

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/lexical"
)

// abbreviations do not end a sentence with their full stop.
var abbreviations = lexical.Set(`e.g i.e vs approx nos incl dept jr sr z.b bzw d.h u.a usw ggf evtl inkl p.ex p.ej núm`)

// titles are abbreviations before a name, with a capital letter: "Ms. Ito", but not "38 ms."
var titles = lexical.Set(`Mr Mrs Ms Dr Prof St Fr Hr Fig Nr Sra Srta Mme Mlle`)

// months follow an ordinal number in languages that write one with a full stop.
var months = lexical.Set(`januar jänner februar märz april mai juni juli august september oktober november dezember
	januari februari maart mei juni augustus sentyabr leden února stycznia lutego marca kwietnia maja czerwca lipca sierpnia
	września października listopada grudnia`)

// beforeOrdinal are German words before an ordinal number: "im 2. Stock", but "it costs 14. Then ...".
var beforeOrdinal = lexical.Set(`am im vom zum zur beim der den dem des das ab bis seit ein eine einen einem einer eines`)

// Sentences splits the text covered by a span into sentences, without surrounding white space.
func Sentences(text string, within Span) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		start := within.Start
		for i := within.Start; i < within.End; {
			r, size := utf8.DecodeRuneInString(text[i:within.End])
			i += size
			if !EndsSentence(r) {
				continue
			}
			end := i + closers(text[i:within.End])
			if r <= unicode.MaxLatin1 && !endsAt(text, Span{start, i}, Span{end, within.End}, r) {
				continue
			}
			if s := trimSpan(text, Span{start, end}); s.Start < s.End && !yield(s) {
				return
			}
			start, i = end, end
		}
		if s := trimSpan(text, Span{start, within.End}); s.Start < s.End {
			yield(s)
		}
	}
}

// closers is the length of the marks that belong to the preceding sentence: further end marks, closing quotes and
// brackets, emphasis.
func closers(s string) int {
	return len(s) - len(strings.TrimLeft(s, ".!?\"')]”’»*_。！？」』"))
}

// endsAt reports whether the mark at the end of before ends a sentence, given the text after it.
func endsAt(text string, before, after Span, mark rune) bool {
	rest := text[after.Start:after.End]
	next, _ := utf8.DecodeRuneInString(rest)
	if rest != "" && !unicode.IsSpace(next) {
		return false
	}
	if mark != '.' || rest == "" {
		return true
	}
	head := text[before.Start : before.End-1]
	word := head[strings.LastIndexAny(head, " \t\n(")+1:]
	lower := strings.ToLower(word)
	following := strings.ToLower(strings.TrimRightFunc(firstField(rest), func(r rune) bool { return !unicode.IsLetter(r) }))
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(rest, unicode.IsSpace))
	switch {
	case abbreviations[lower], titles[word], lower == "no" && unicode.IsDigit(first):
		return false
	case utf8.RuneCountInString(word) == 1 && unicode.IsUpper([]rune(word)[0]) && word != "I":
		return false // the initial of a name
	case strings.Contains(word, ".") && unicode.IsLower(first) && len(word) <= 5:
		return false // "a.m."
	case len(word) > 0 && len(word) <= 2 && strings.Trim(word, "0123456789") == "":
		previous := strings.Fields(strings.ToLower(head[:len(head)-len(word)]))
		return !months[following] && head != word && // "3. Mai", "1. first"
			!(len(previous) > 0 && beforeOrdinal[previous[len(previous)-1]])
	}
	return true
}

func firstField(s string) string {
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if n := strings.IndexFunc(s, unicode.IsSpace); n >= 0 {
		return s[:n]
	}
	return s
}
