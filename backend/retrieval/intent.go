package retrieval

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"contextinfinity/backend/internal/intent"
	"contextinfinity/backend/internal/lexical"
)

// aim is the speaker whose words a question asks for.
type aim uint8

const (
	aimAny   aim = iota // either
	aimUser             // the user asks about themselves: "did I", "have I", "I told you"
	aimReply            // the user asks about an earlier answer: "did you tell me", "your advice"
)

// questionIntent is what the wording of a question reveals about its answer.
type questionIntent struct {
	aim      aim
	asksOwn  bool // the user asks what they said or asked
	overview bool // the user asks for an overview: a summary, the order of events
	summary  bool // the user asks for a summary, but not for an order
	amount   bool // the user asks for a number
	day      bool // the user asks for a time or a date
}

// replyCues ask what the assistant said before. They name the assistant as the actor, in the past: "can you list" is
// a request and does not ask about earlier answers.
var replyCues = lexical.Phrases(`did you, have you, had you, you told, you tell me, you said, you gave, you suggested, you recommended, you advised, you proposed, you mentioned,
	you explained, you wrote, you showed, you listed, you named, you answered, you provided, you described, you calculated, you came up with, you used, you were,
	you've, you had, was i told, was i advised, was i given, was recommended, was suggested, were recommended, were suggested, was the answer,
	your answer, your answers, your suggestion, your suggestions, your recommendation, your recommendations, your advice, your example, your explanation,
	your reply, your replies, your response, your proposal, your estimate, your command, your query, your script, your code, your table, your list,
	according to you, the assistant, the answer you,
	hast du, hattest du, haben sie, hatten sie, du gesagt, du mir, sie mir, dein vorschlag, deine empfehlung, deine antwort, dein rat, deiner antwort,
	as-tu, as tu, avez-vous, avez vous, tu m'as, vous m'avez, tu as dit, vous avez dit, ta réponse, votre réponse, ton conseil, votre conseil,
	me dijiste, dijiste, me recomendaste, recomendaste, me sugeriste, sugeriste, me diste, diste, tu respuesta, tu recomendación, has dicho, me ha dicho,
	você disse, você me, você recomendou, você sugeriu, sua resposta, hai detto, mi hai, hai consigliato, hai suggerito, la tua risposta,
	heb je, had je, je zei, jouw antwoord, powiedziałeś, poleciłeś, twoja odpowiedź, söyledin, önerdin, verdiğin,
	ты сказал, ты говорил, ты посоветовал, ты предложил, вы сказали, вы посоветовали, твой ответ, ваш ответ, ти казав, ти порадив`)

// userCues ask about the user: what they did, have, said. Possessives are not cues: "my form" may be text that
// the assistant wrote.
var userCues = lexical.Phrases(`did i, have i, had i, was i, were we, have we, did we, do i have, do i use, do i usually, do i want, do i prefer, i told, i tell, i said, i say,
	i mention, i mentioned, i brought, i bring, i gave, i asked, i wanted, i want, i was, i am, i'm, i've, i'd, i had, i have, i use, i used, i chose, i decided, i planned, i plan,
	i completed, i finished, i started, habe ich, hatte ich, bin ich, ich habe, ich hatte, ai-je, j'ai, je suis, tengo, dije, eu, ho detto, heb ik, ik heb, я`)

// ownCues ask what the user said or asked.
var ownCues = lexical.Phrases(`did i tell, did i say, did i ask, did i mention, did i bring, did i describe, did i write, did i give, have i told, have i asked, have i said, have i mentioned,
	i told, i said, i mentioned, i mention, i asked, i brought, i bring, i described, i wrote, my question, my questions, my messages, habe ich gesagt, habe ich gefragt, habe ich erwähnt,
	ich gesagt, ich gefragt, ich erwähnt, meine frage, meine fragen, j'ai dit, j'ai demandé, ma question, mes questions, te dije, te pregunté, mi pregunta, mis preguntas,
	я сказал, я говорил, я спросил, мой вопрос`)

// A request for an overview asks for the course of events: what happened when, in which order, or a summary. It
// contains few words of its answer.
var (
	courseCues = lexical.Phrases(`timeline, chronological, chronologically, in order, the order, order in which, in which order, in what order, sequence of,
	over time, throughout, evolve, evolved, history of, how did my, step by step history, walk me through our,
	reihenfolge, verlauf, chronologisch, l'ordre, chronologie, orden, cronología, ordem, ordine, volgorde, kolejność, sıra, порядок, хронология`)
	summaryCues = lexical.Phrases(`summarize, summarise, summary, overview, recap, zusammenfassung, fasse, überblick, fais un résumé, résume-moi, aperçu, resumen,
	resumo, riassunto, riassumi, samenvatting, overzicht, podsumowanie, özet, итог, обзор, підсумок`)
)

// formWords are words in a request for an overview that describe the form of the answer rather than its subject.
var formWords = lexical.Phrases(`order, list, walk, brought, bring, bringing, aspect, aspects, different, various, topic, topics, subject, subjects, conversation, conversations, chat, chats, discussion, discussions,
	mention, mentioned, item, items, sequence, chronological, chronologically, timeline, summary, summarize, summarise, overview, recap, throughout, evolve, evolved, history,
	one, two, three, four, five, six, seven, eight, nine, ten,
	reihenfolge, verlauf, überblick, zusammenfassung, thema, themen, verschiedene, verschiedenen, gespräch, gespräche, gesprächen, liste, aufzählung, ordre, résumé, aperçu, sujet, sujets, différents, différentes,
	orden, resumen, tema, temas, distintos, distintas, conversación, conversaciones, ordem, resumo, ordine, riassunto, argomenti, volgorde, samenvatting, onderwerp, onderwerpen, gesprek, gesprekken`)

// coverageWords are words in a request for an overview that say how much of a conversation it should cover.
var coverageWords = lexical.Phrases(`far, today, yesterday, week, weeks, month, months, day, days, everything, whole, entire, thing, things, went, going, happened, beginning, end, start, begin, now, point, last, first, short, brief,
	briefly, quick, heute, gestern, woche, wochen, monat, bisher, bislang, alles, ganze, ganzen, anfang, ende, kurz, kurze, jusqu, ici, tout, début, hasta, ahora, todo, todas, principio`)

// namesSubject reports whether a request for an overview names its subject.
func namesSubject(terms []string) bool {
	return slices.ContainsFunc(terms, func(t string) bool { return !formWords[t] && !coverageWords[t] })
}

// amountCues ask for a number.
var amountCues = lexical.Phrases(`how many, how much, how long, how often, how big, how large, how old, how far, how fast, how high, what number, which number, what percentage,
	wie viele, wie viel, wieviel, wie lange, wie oft, wie groß, wie hoch, wie alt, combien, cuánto, cuánta, cuántos, cuántas,
	quanto, quanta, quanti, quante, quantos, quantas, hoeveel, hoe lang, ile, kaç, сколько, скільки`)

// dayCues ask for a time or a date.
var dayCues = lexical.Phrases(`what time, what date, which date, what day, which day, what month, which month, what weekday, which weekday, welcher tag, an welchem tag, welches datum, um wie viel uhr,
	à quelle heure, quelle date, quel jour, a qué hora, qué día, qué fecha, che giorno, a che ora, que dia, que horas, welke dag, hoe laat`)

// whenCues ask for a time as the first word; elsewhere they join clauses.
var whenCues = lexical.Phrases(`when, wann, quand, cuándo, quando, wanneer, kiedy, когда, коли`)

// unspacedAims are cues in scripts without spaces between words.
var unspacedAims = []struct {
	cue string
	aim aim
}{
	{"你告诉", aimReply},
	{"你说", aimReply},
	{"你建议", aimReply},
	{"你推荐", aimReply},
	{"你给", aimReply},
	{"你的回答", aimReply},
	{"您说", aimReply},
	{"您建议", aimReply},
	{"教えてくれた", aimReply},
	{"言ってた", aimReply},
	{"おすすめしてくれた", aimReply},
	{"提案してくれた", aimReply},
	{"알려준", aimReply},
	{"추천해", aimReply},
	{"말해준", aimReply},
	{"我", aimUser},
	{"私", aimUser},
	{"내가", aimUser},
	{"제가", aimUser},
}

var (
	unspacedCourse  = []string{"顺序", "时间线", "順番", "순서"}
	unspacedSummary = []string{"总结", "概述", "まとめ", "概要", "요약"}
)

// longestIntentCue is the maximum number of words in a cue.
const longestIntentCue = 4

// intentOf classifies a question by cue words. It uses no grammar: a wrong guess only changes the order of results.
func intentOf(text string) questionIntent {
	words, ends := intent.Words(text)
	var in questionIntent
	user, course := false, false
	for i, phrase := range phrases(words, ends) {
		if replyCues[phrase] {
			in.aim = aimReply
		}
		in.asksOwn = in.asksOwn || ownCues[phrase]
		user = user || userCues[phrase]
		course, in.summary = course || courseCues[phrase], in.summary || summaryCues[phrase]
		in.amount = in.amount || amountCues[phrase]
		in.day = in.day || dayCues[phrase] || i == 0 && whenCues[phrase]
	}
	for _, j := range unspacedAims {
		if strings.Contains(text, j.cue) && in.aim == aimAny {
			in.aim = j.aim
		}
	}
	contains := func(cue string) bool { return strings.Contains(text, cue) }
	course = course || slices.ContainsFunc(unspacedCourse, contains)
	in.summary = in.summary || slices.ContainsFunc(unspacedSummary, contains)
	in.overview = in.summary || course
	in.summary = in.summary && !course
	if user && in.aim == aimAny {
		in.aim = aimUser
	}
	return in
}

// anyCue reports whether a text contains a cue.
func anyCue(text string, set map[string]bool) bool {
	words, ends := intent.Words(text)
	return hasCue(words, ends, set)
}

// hasCue reports whether the words, with these ends, contain a cue.
func hasCue(words string, ends []int, set map[string]bool) bool {
	for _, phrase := range phrases(words, ends) {
		if set[phrase] {
			return true
		}
	}
	return false
}

// phrases yields what may be a cue: each word, by its number, with up to the longest cue's number of words after it.
func phrases(words string, ends []int) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		start := 0
		for i, end := range ends {
			for _, to := range ends[i:min(i+longestIntentCue, len(ends))] {
				if !yield(i, words[start:to]) {
					return
				}
			}
			start = end + 1
		}
	}
}

// selfCues are words by which users state something about themselves inside a question.
var selfCues = lexical.Phrases(`i'm, i am, i've, i have, i'd, i was, i want, i need, i use, i used, i got, i had, i think, i prefer, i like, i tried, i keep, we're, we are, we've, we have, my, our, i'll,
	ich bin, ich habe, ich will, ich möchte, mein, meine, meinen, wir haben, unser, unsere, je suis, j'ai, mon, ma, mes, notre, tengo, estoy, mi, mis, nuestro, tenho, estou, meu, minha,
	sono, mio, mia, ik ben, ik heb, mijn, mam, jestem, mój, moja, у меня, мой, моя, мои, я, у нас`)

// maxQuestionWords is the maximum number of words in a text that is only a question: longer ones describe what they ask
// about.
const maxQuestionWords = 14

// onlyAsks reports whether a text consists of questions and states nothing: "I use Redis, can it expire keys?" states
// something, "Can Redis expire keys?" does not.
func onlyAsks(text string) bool {
	if len(text) > 16*maxQuestionWords || !asks(text) {
		return false
	}
	question := false
	for _, r := range text {
		switch {
		case intent.EndsSentence(r):
			if question = isQuestionMark(r); !question {
				return false
			}
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			question = false
		}
	}
	_, ends := intent.Words(text)
	return question && len(ends) <= maxQuestionWords && !anyCue(text, selfCues)
}

// asks reports whether a text ends with a question.
func asks(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimSpace(text))
	return isQuestionMark(last)
}

func isQuestionMark(r rune) bool { return r == '?' || r == '？' || r == '؟' }

// queryWords are the words of a query, to recognize earlier messages that ask the same.
type queryWords map[string]bool

func newQueryWords(query string) queryWords {
	set := queryWords{}
	for _, t := range Terms(query) {
		set[lexical.Stem(t)] = true
	}
	return set
}

// repeatedBy reports whether a text asks nearly the same.
func (q queryWords) repeatedBy(text string) bool {
	if len(q) < 2 || len(text) > 64*(len(q)+8) {
		return false
	}
	shared, union, seen := 0, len(q), map[string]bool{}
	for _, term := range Terms(text) {
		word := lexical.Stem(term)
		if seen[word] {
			continue
		}
		seen[word] = true
		if q[word] {
			shared++
		} else if union++; 4*union > 5*len(q) {
			return false // true of most messages long before their last word
		}
	}
	return 5*shared >= 4*union
}
