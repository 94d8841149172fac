package librarian

import (
	"strings"
	"unicode"
)

// tellsEnough is the salience from which a user's sentence is kept although no
// cue word marks it.
const tellsEnough = 3

// idle is the worth of what is only a manner of speaking.
const idle = 1

// opinionCues are phrases with a cue word that state nothing to be kept.
var opinionCues = strings.Split("never mind|must say|must admit|must be|must have been|always wondered|always thought|always liked|always enjoy"+
	"|don't know|don't think|don't worry|don't understand|don't see|don't remember|don't mind|do not know|do not think"+
	"|always something|always explain|can't wait|cannot wait|cannot thank|i need to know|need to understand|at least i|i guess", "|")

// requests begin a sentence that asks for something rather than tells.
var requests = setOf(`please can could would will explain show tell give write help how what why which where when who is are does do did
	should may let let's make fix describe compare summarize summarise list suggest continue thanks thank hi hello hey ok okay great nice cool
	sorry yes no sure wow bitte kannst könntest erkläre zeige wie was warum danke merci comment pourquoi peux pouvez gracias cómo puedes`)

// own are words with which people speak of themselves.
var own = setOf(`i i'm i've i'd i'll my mine me we we're we've our ours us myself
	ich mein meine meiner meinen wir unser unsere je j'ai mon ma mes nous notre nos yo mi mis nosotros nuestro nuestra
	eu meu minha io mio mia noi nostro я мой моя мы наш наша`)

// calendar are names of months and days, which make a sentence a dated fact.
var calendar = setOf(`january february march april may june july august september october november december
	jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
	mondays tuesdays wednesdays thursdays fridays saturdays sundays birthday anniversary deadline
	januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
	janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche
	enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo`)

var currencies = setOf("eur euro euros usd dollar dollars gbp pound pounds chf franc francs jpy yen sek nok dkk pln czk € $ £ ¥ 元 円")

// salience is how much a sentence tells that nobody could guess: names, numbers,
// dates, and things about the one who speaks. Questions tell nothing.
func salience(sentence string) int {
	sentence = strings.TrimPrefix(sentence, assistantMark)
	if strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？") {
		return 0
	}
	words := strings.FieldsFunc(sentence, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"“”()[]—", r) })
	if len(words) < 3 || len(words) > 60 {
		return 0
	}
	names, numbers, dates, mine, money := 0, 0, 0, 0, 0
	for i, w := range words {
		w = strings.TrimRight(w, ".,;:!…")
		lower := strings.ReplaceAll(strings.ToLower(w), "’", "'")
		switch {
		case own[lower]:
			mine = 1
		case calendar[lower] && (lower != "may" && lower != "march" || w != lower):
			dates = 1
		case currencies[lower]:
			money = 1
		case strings.ContainsFunc(w, isDigit):
			numbers++
			if strings.ContainsAny(w, "€$£¥") {
				money = 1
			}
		case i > 0 && isName(w):
			names++
		}
	}
	score := 2*min(names, 3) + 2*min(numbers, 2) + dates + mine
	if numbers > 0 && measured(sentence) {
		score++
	}
	if numbers > 0 && money > 0 {
		score += 2
	}
	if isRequest(words[0]) {
		score -= tellsEnough
	}
	return max(score, 0)
}

func isRequest(word string) bool {
	return requests[strings.ToLower(strings.TrimRight(word, ",.!"))]
}

// isName reports a capital followed by something, as names have it.
func isName(w string) bool {
	for i, r := range w {
		if i == 0 && !unicode.IsUpper(r) {
			return false
		}
		if i > 0 && unicode.IsLetter(r) {
			return true
		}
	}
	return false
}

// worth orders entries of one section.
func worth(sec Section, text string) int {
	score := salience(text)
	if sec == Facts {
		return score
	}
	lower := strings.ToLower(text)
	for _, cue := range opinionCues {
		if strings.Contains(lower, cue) {
			return min(score, idle)
		}
	}
	return score + 2
}

// leadIns are the beginnings that can go without a change of meaning, longest
// first where one begins another.
var leadIns = strings.Split("just so you know, |just so you know: |for what it's worth, |for the record, |for context, |for context: |by the way, |by the way: "+
	"|i should mention that |i should mention, |i forgot to mention that |i forgot to say that |i forgot to say, |one more thing: |one more thing, |one thing: "+
	"|before i forget: |before i forget, |oh, and |oh and |oh, |also, |and also |also |btw, |btw |fyi, |fyi: |fyi |note that |please note that |please note: "+
	"|as i said, |as mentioned, |remember that |please remember that |keep in mind that |please keep in mind that |well, |so, |anyway, |actually, |incidentally, "+
	"|you should know that |it may help to know that |and, |and |but |ok, |okay, |übrigens, |nebenbei, |au fait, |por cierto, ", "|")

// plainly is a sentence without the words before what it says.
func plainly(s string) string {
	for range 3 {
		cut := s
		for _, lead := range leadIns {
			if len(s) > len(lead)+8 && strings.EqualFold(s[:len(lead)], lead) {
				cut = strings.TrimSpace(s[len(lead):])
				break
			}
		}
		if cut == s {
			break
		}
		s = cut
	}
	return s
}
