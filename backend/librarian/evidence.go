package librarian

import (
	"slices"
	"strings"
	"unicode"

	"contextinfinity/backend/internal/display"
	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/numerals"
)

// evidence is a text prepared for checking whether it says something, in any wording.
type evidence struct {
	text    string // in lower case, without markup
	stems   map[string]bool
	numbers map[string]bool
	lines   []evidenceLine
}

type evidenceLine struct {
	stems   map[string]bool
	numbers map[string]bool
	negated bool
	bounded bool // "at most", "by", "under": a limit without a negation
}

func evidenceOf(text string) evidence {
	e := evidence{text: bareName(text), stems: map[string]bool{}, numbers: map[string]bool{}}
	for line := range strings.Lines(text) {
		if _, isHeading := headingText(strings.TrimSpace(line)); isHeading {
			continue
		}
		l := evidenceLine{stems: contentStems(line), numbers: numerals.In(line), negated: negated(line) || reversed(line), bounded: bounded(line)}
		for word := range strings.FieldsFuncSeq(strings.ToLower(line), func(r rune) bool { return !unicode.IsLetter(r) }) {
			if n := numberWords[word]; n != "" {
				l.numbers[n] = true
			}
		}
		for s := range l.stems {
			e.stems[s] = true
		}
		for n := range l.numbers {
			e.numbers[n] = true
		}
		e.lines = append(e.lines, l)
	}
	return e
}

// Shares of a statement that a text must contain to say the same: of its words, spread over the text or together in
// one line, and of its names.
const (
	spreadShare = 0.6
	lineShare   = 0.5
	nameShare   = 2.0 / 3

	// For pairs of characters the share is lower: pairs that span two words are lost if the words are reordered.
	unspacedShare = 0.4
)

// states reports whether the text says what a statement says: its numbers, its names, most of its other words, and a
// negation or a limit if it has one.
func (e evidence) states(statement string) bool {
	numbers := numerals.In(statement)
	for n := range numbers {
		if !e.numbers[n] {
			return false
		}
	}
	q := content{words: contentStems(statement), names: nameStems(statement), numbers: numbers, spread: spreadShare, line: lineShare, name: nameShare}
	if 2*len(q.names) > len(q.words) {
		q.name = lineShare // a language that capitalizes nouns, or a list of names
	}
	if strings.ContainsFunc(statement, lexical.IsUnspaced) {
		q.spread, q.line = unspacedShare, unspacedShare
	}
	if shareOf(q.names, e.stems) < q.name {
		return false
	}
	if len(q.words) == 0 {
		return len(numbers) > 0 || strings.Contains(e.text, bareName(statement))
	}
	if shareOf(q.words, e.stems) < q.spread && !e.inOneLine(q) {
		return false
	}
	return !negated(statement) || e.negates(statement, q.words)
}

// content is the content of a statement, and which shares of it must be found.
type content struct {
	words, names, numbers map[string]bool
	spread, line, name    float64
}

func (e evidence) inOneLine(q content) bool {
	for _, l := range e.lines {
		if shareOf(q.words, l.stems) >= q.line && shareOf(q.names, l.stems) >= q.name && shareOf(q.numbers, l.numbers) == 1 {
			return true
		}
	}
	return false
}

// negates reports whether a line on the same subject contains a negation too, or expresses the same limit without one:
// "by Friday" is "no later than Friday".
func (e evidence) negates(statement string, words map[string]bool) bool {
	isLimit := hasNegatedLimit(statement)
	for _, l := range e.lines {
		if (l.negated || isLimit && l.bounded) && shareOf(words, l.stems) >= nameShare/2 {
			return true
		}
	}
	return false
}

// containsName reports whether the text contains a name in any form: an address with or without its scheme, a call
// with or without its arguments, an assignment with or without spaces.
func (e evidence) containsName(name string) bool {
	name = bareName(name)
	if strings.Contains(e.text, name) {
		return true
	}
	if bare := strings.TrimSuffix(name, "()"); bare != name && strings.Contains(e.text, bare) {
		return true
	}
	key, value, ok := strings.Cut(name, "=")
	if !ok {
		return false
	}
	value = strings.Trim(value, ` "'`)
	for line := range strings.Lines(e.text) {
		if containsWord(line, strings.TrimSpace(key)) && containsWord(line, value) {
			return true
		}
	}
	return false
}

var unmarked = strings.NewReplacer("`", "", `\`, "", "**", "", " = ", "=", "https://", "", "http://", "", "’", "'")

// bareName is a text in the form in which names are compared: in lower case, because a summary may begin a sentence
// with a name.
func bareName(s string) string {
	return strings.TrimRight(strings.ToLower(unmarked.Replace(s)), "/")
}

// shareOf is the share of the given words that are in a set, 1 if there are no words.
func shareOf(words, set map[string]bool) float64 {
	if len(words) == 0 {
		return 1
	}
	n := 0
	for w := range words {
		if set[w] {
			n++
		}
	}
	return float64(n) / float64(len(words))
}

// fillers are words of requests and plans that a summary expresses differently or leaves out.
var fillers = lexical.Set(`want wants wanted need needs trying try tries help make making makes sure like going get getting got use used using user assistant
	please asked know think feel really very much also still currently project work working look looking figure best way ways one two able new bit lot
	möchte will wollen brauche hilfe bitte versuche gerade`)

// contentStems returns the stems of the words that carry the subject of a text, and pairs of characters of scripts
// without spaces. Numbers are compared separately.
func contentStems(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !lexical.IsUnspaced(r) && r != '\'' && r != '’'
	}) {
		w = strings.Trim(strings.ReplaceAll(strings.ToLower(w), "’", "'"), "'")
		w, _, _ = strings.Cut(w, "'")
		runes := []rune(w)
		switch {
		case strings.ContainsFunc(w, lexical.IsUnspaced):
			addPairs(out, w)
		case len(runes) < 3 || unicode.IsNumber(runes[0]) || lexical.IsStopWord(w) || fillers[w] || negations[w] || lastingWords[w] || currencies[w] || limitWords[w] || numberWords[w] != "":
		default:
			out[stem(root(w))] = true
		}
	}
	return out
}

// lastingWords are not compared as words: negated and intent.IsStanding evaluate them.
var lastingWords = lexical.Set("always must should shall immer muss müssen soll toujours doit siempre debe sempre deve")

// limitWords are not compared as words: bounded evaluates them.
var limitWords = lexical.Set("max maximum maximal minimum minimal most least höchstens mindestens spätestens")

// numberWords are small numbers in words: "three seats" says the same as "3 seats".
var numberWords = map[string]string{
	"two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
	"zwei": "2", "drei": "3", "vier": "4", "fünf": "5", "sechs": "6", "sieben": "7", "acht": "8", "neun": "9", "zehn": "10", "elf": "11", "zwölf": "12",
	"deux": "2", "trois": "3", "quatre": "4", "cinq": "5", "sept": "7", "huit": "8", "neuf": "9", "dix": "10",
	"dos": "2", "tres": "3", "cuatro": "4", "cinco": "5", "seis": "6", "siete": "7", "ocho": "8", "nueve": "9", "diez": "10",
}

// root is a word without the most common English endings: "logged" and "logs" become "log".
func root(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s", "e"} {
		rest, ok := strings.CutSuffix(w, end)
		if !ok || len(rest) < 3 || end == "s" && strings.HasSuffix(rest, "s") {
			continue
		}
		if n := len(rest); (end == "ing" || end == "ed") && n > 3 && rest[n-1] == rest[n-2] {
			rest = rest[:n-1]
		}
		return rest
	}
	return w
}

// stem is the beginning of a word: enough to distinguish words, and little enough to match other forms.
func stem(word string) string {
	runes := []rune(word)
	return string(runes[:min(len(runes), stemRunes)])
}

// nameStems returns the stems of a statement's names: capitalized words, except for the first.
func nameStems(text string) map[string]bool {
	_, rest, _ := strings.Cut(strings.TrimPrefix(text, requestMark), " ")
	var names []string
	for _, w := range strings.Fields(rest) {
		w = strings.TrimLeft(w, "\"'(“„«`")
		if isName(w) && !firstPerson[strings.ToLower(strings.TrimRight(w, ",.;:!?"))] {
			names = append(names, w)
		}
	}
	return contentStems(strings.Join(names, " "))
}

// negations are the words whose loss turns a statement into its opposite.
var negations = lexical.Set(`never no not none nor without don't doesn't didn't mustn't can't cannot won't isn't aren't shouldn't shan't forbidden prohibited
	avoid except nie niemals nicht kein keine keinen ohne verboten jamais pas ne non sans interdit nunca no jamás sin prohibido não nunca jamais sem
	non senza vietato nooit niet geen nigdy nie bez не никогда нельзя без ні ніколи`)

var unspacedNegations = []string{"不", "没", "沒", "禁", "绝", "絕", "ない", "ません", "禁止", "않", "못", "금지", "말"}

func negated(text string) bool {
	return intent.HasWord(text, negations) || intent.SaysMai(text) || containsAny(text, unspacedNegations)
}

// reversals express a negation without a negating word: "Piran dropped" is "no Piran".
var reversals = lexical.Set(`nothing nobody instead rather dropped drops skip skips skipped cancelled canceled removed refused rejected excluded free
	nichts niemand statt anstatt gestrichen entfällt abgesagt rien personne annulé nada nadie cancelado`)

func reversed(text string) bool { return intent.HasWord(text, reversals) }

// Limits, expressed with a negation and without one.
var (
	negatedLimits = strings.Split("no later than|no more than|no less than|no longer than|not exceed|not more than|not later than|not over|not above|not below|not be more|not be later"+
		"|nicht mehr als|nicht später als|nicht über|pas plus de|pas plus tard|no más de|no más tarde|не более|не позднее|не больше|不超过|不得超过|不晚于", "|")
	plainLimits = strings.Split(" by | at most | under | below | within | up to | maximum | max | before | until | at least | minimum | only | limit| less than | fewer than "+
		"| bis | höchstens | maximal | spätestens | unter | mindestens | au plus | avant | maximum | como máximo | antes de | до |最多|以内|之前|至少", "|")
)

func hasNegatedLimit(text string) bool { return containsAny(strings.ToLower(text), negatedLimits) }

func bounded(text string) bool {
	return hasNegatedLimit(text) || strings.ContainsAny(text, "≤<") || containsAny(" "+strings.ToLower(display.OneLine(text))+" ", plainLimits)
}

func containsAny(text string, list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(text, s) })
}
