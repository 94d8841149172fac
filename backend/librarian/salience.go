package librarian

import (
	"strings"
	"unicode"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
	"contextinfinity/backend/internal/pattern"
)

// enoughDetails is the salience from which a user's sentence without a cue word is kept.
const enoughDetails = 3

// manyDetails is the salience of a sentence with several numbers, dates and names.
const manyDetails = 7

// noContent is the highest score of an entry that is only a manner of speaking.
const noContent = 1

// opinionCues are phrases with a cue word that contain nothing worth keeping.
var opinionCues = strings.Split("never mind|i must say|i must admit|must have been|always wondered|always thought|always liked|always enjoy"+
	"|i don't know|i don't think|don't worry|i don't understand|i don't see|i don't remember|i don't mind|i do not know|i do not think"+
	"|always something|always explain|can't wait|cannot wait|cannot thank|i need to know|need to understand|at least i|i guess", "|")

// guesses are the words of assumptions about a situation: "That must be hard." Other such sentences are requirements:
// "Passwords must be hashed", "The page must be fast".
var (
	guessing = lexical.Set("you that it this there he she they who these those")
	guesses  = lexical.Set(`nice hard tough great so exciting difficult amazing wonderful fun tired kidding joking proud incredible awesome really such a an the very
		feeling rewarding challenging frustrating stressful lovely beautiful cool rough happy thrilled crazy wild quite pretty some something nothing another
		wondering thinking mistaken wrong right true annoying sad boring confusing overwhelming scary lonely nervous worried`)
)

// experience matches a "never" or "always" about the past: "I've never been there."
var experience = pattern.New(`(?:'ve|\bhave|\bhas|\bhad|'d) (?:never|always)\b|'s (?:never|always) been\b`)

// isOpinion reports whether a sentence with a constraint's cue word constrains nothing.
func isOpinion(sentence string) bool {
	lower := strings.ReplaceAll(strings.ToLower(sentence), "’", "'")
	for _, cue := range opinionCues {
		if strings.Contains(lower, cue) {
			return true
		}
	}
	if (strings.Contains(lower, "never") || strings.Contains(lower, "always")) && experience().MatchString(lower) && !strings.Contains(lower, "must") && !strings.Contains(lower, "make sure") {
		return true
	}
	before, after, ok := strings.Cut(" "+lower, " must be ")
	if !ok {
		return false
	}
	subject := before[strings.LastIndexByte(before, ' ')+1:]
	next, _, _ := strings.Cut(after, " ")
	next = strings.TrimRight(next, ".,!")
	if subject == "that" || subject == "you" || subject == "there" {
		return !strings.HasSuffix(next, "ed") && !strings.ContainsFunc(after, isDigit)
	}
	return guessing[subject] && guesses[next]
}

// purposes are words with which people say who they are and what they want to achieve.
var purposes = strings.Split("i'm building|i am building|we're building|we are building"+
	"|i'm trying to build|i'm working on|i am working on|we're working on|i'm planning|i am planning|i plan to|i'm preparing|i am preparing|i'm developing|i am developing"+
	"|i'm applying|i am applying|my goal|our goal|the goal|i aim to|i hope to|deadline|my name|i am called|the user is|the user wants|the user's name|the user's goal"+
	"|ich heiße|mein ziel|unser ziel|ich arbeite an|wir bauen|wir entwickeln|ich bewerbe mich|mon objectif|notre objectif|je m'appelle"+
	"|mi objetivo|me llamo|meu objetivo|mi chiamo|我叫|我的目标|我们的目标|我在开发|меня зовут|моя цель", "|")

// isPurpose reports whether an entry states who the user is or what they want to achieve.
func isPurpose(entry string) bool {
	if strings.HasPrefix(entry, assistantMark) {
		return false
	}
	lower := strings.ReplaceAll(strings.ToLower(entry), "’", "'")
	for _, p := range purposes {
		if strings.Contains(lower, p) {
			return true
		}
	}
	rest, ok := strings.CutPrefix(entry, "I'm ")
	if !ok {
		rest, ok = strings.CutPrefix(entry, "I am ")
	}
	return ok && isName(rest)
}

// requests begin a sentence that asks for something.
var requests = lexical.Set(`yeah yep yup awesome perfect please can could would will explain show tell give write help how what why which where when who is are does do did
	should may let let's make fix describe compare summarize summarise list suggest continue see look check open run read try thanks thank hi hello hey ok okay great nice cool
	sorry yes no sure wow bitte kannst könntest erkläre zeige wie was warum danke merci comment pourquoi peux pouvez gracias cómo puedes`)

// firstPerson are words with which people speak about themselves.
var firstPerson = lexical.Set(`i i'm i've i'd i'll my mine me we we're we've our ours us myself
	ich mein meine meiner meinen wir unser unsere je j'ai mon ma mes nous notre nos yo mi mis nosotros nuestro nuestra
	eu meu minha io mio mia noi nostro я мой моя мы наш наша`)

// calendar are names of months and days, which make a sentence a dated fact.
var calendar = lexical.Set(`january february march april may june july august september october november december
	jan feb mar apr jun jul aug sep sept oct nov dec monday tuesday wednesday thursday friday saturday sunday
	mondays tuesdays wednesdays thursdays fridays saturdays sundays birthday anniversary deadline
	januar februar märz mai juni juli oktober dezember montag dienstag mittwoch donnerstag freitag samstag sonntag
	janvier février mars avril juin juillet août septembre octobre novembre décembre lundi mardi mercredi jeudi vendredi samedi dimanche
	enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo`)

var currencies = lexical.Set("eur euro euros usd dollar dollars gbp pound pounds chf franc francs jpy yen sek nok dkk pln czk € $ £ ¥ 元 円")

// salience measures how much unpredictable information a sentence has: names, numbers, dates, and facts about the
// speaker. Questions have none.
func salience(sentence string) int {
	if strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, "？") {
		return 0
	}
	score := details(sentence)
	if first, _, _ := strings.Cut(sentence, " "); isRequest(first) {
		score -= enoughDetails
	}
	return max(score, 0)
}

// isRemark reports whether a user's sentence is a remark with little unpredictable information: it is kept, but dropped
// first.
func isRemark(sentence string) bool {
	first, _, _ := strings.Cut(sentence, " ")
	if sentence == "" || isRequest(first) || isOpinion(sentence) || isPromise(sentence) || !aboutSpeaker(sentence) {
		return false
	}
	_, isStatement := intent.Of(sentence)
	return isStatement && len(contentStems(sentence)) >= 3
}

func aboutSpeaker(sentence string) bool { return intent.HasWord(sentence, firstPerson) }

// maxWords is the length above which a sentence is not a single statement.
const maxWords = 120

// details measures how much unpredictable information a sentence has, whether it is a statement or a question.
func details(sentence string) int {
	sentence = strings.TrimPrefix(strings.TrimPrefix(sentence, assistantMark), requestMark)
	words := strings.FieldsFunc(sentence, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"“”()[]—", r) })
	if len(words) < 3 || len(words) > maxWords {
		return 0
	}
	names, numbers, dates, mine, money := 0, 0, 0, 0, 0
	for i, w := range words {
		w = strings.TrimRight(w, ".,;:!…")
		lower := strings.ReplaceAll(strings.ToLower(w), "’", "'")
		switch {
		case artifactKind(w) != "": // kept as a name
		case firstPerson[lower]:
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
	score := 2*min(names, 3) + 2*min(numbers, 2) + min(numbers, 1) + dates + mine
	if numbers > 0 && measured(sentence) {
		score++
	}
	if numbers > 0 && money > 0 {
		score += 2
	}
	return score
}

func isRequest(word string) bool {
	return requests[strings.ToLower(strings.TrimRight(word, ",.!"))]
}

// isName reports whether a word is capitalized and looks like a name.
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

// standingWorth ranks a standing instruction above every other constraint.
const standingWorth = 20

// entryScore is the score by which the entries of a section are ordered.
func entryScore(sec Section, text string) int {
	score := salience(text)
	if sec == Facts {
		if isPurpose(text) {
			score += 2
		}
		return score
	}
	if sec == Constraints && isOpinion(text) {
		return min(score, noContent)
	}
	if sec == Constraints && intent.IsStanding(text) {
		score += standingWorth
	}
	return score + 2
}

// leadIns are beginnings that can be removed without a change of meaning, longest first if one begins another.
var leadIns = strings.Split("just so you know, |just so you know: |for what it's worth, |for the record, |for context, |for context: |by the way, |by the way: "+
	"|i should mention that |i should mention, |i forgot to mention that |i forgot to say that |i forgot to say, |one more thing: |one more thing, |one thing: "+
	"|before i forget: |before i forget, |oh, and |oh and |oh, |also, |and also |also |btw, |btw |fyi, |fyi: |fyi |note that |please note that |please note: "+
	"|as i said, |as mentioned, |remember that |please remember that |keep in mind that |please keep in mind that |well, |so, |anyway, |actually, |incidentally, "+
	"|you should know that |it may help to know that |and, |and |but |ok, |okay, |übrigens, |nebenbei, |au fait, |por cierto, ", "|")

// withoutLeadIn is a sentence without its lead-in.
func withoutLeadIn(s string) string {
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
